//! Rules between the numbers of a profile.
//!
//! The error of a rule has the key, its value, and what is expected. A machine that broke one would
//! deadlock, as with a queue too short for a message, or look like a bug.

use node::MESSAGE_WORDS;

use crate::schedule::Ticks;

use super::{GROUP_WORDS, NetworkModel, NicModel, Profile, ProfileError};

const MESSAGE_BYTES: u64 = node::MESSAGE_BYTES as u64;

const WORD_BYTES: u32 = 8;

/// Words of the longest message in a core's transmit words: its header, its group and its own.
const WAITING_WORDS: u32 = (1 + GROUP_WORDS + MESSAGE_WORDS) as u32;

/// A packet has its transmit buffer and a flag in one byte.
const MOST_TRANSMIT_BUFFERS: u32 = 128;

/// A NIC's memory of received messages has a byte for the rank.
pub(super) const MOST_RANKS_PER_NIC: u32 = 256;

/// A multicast has seven bits for the uplink on its way.
const MOST_UPLINKS: u32 = 128;

/// More links than any switch has; the number of switches fits 32 bits.
pub(super) const MOST_LINKS: u32 = 4096;

/// More cores than share a NIC; each takes memory.
const MOST_CORES: u32 = 1024;

/// More words, entries or buffers than a NIC has; sums fit 32 bits.
const MOST_ENTRIES: u32 = 1 << 20;

/// A picosecond, which is faster than any core.
const SHORTEST_TICK_FS: u64 = 1_000;

/// A microsecond, which is too coarse for the latencies of a network.
const LONGEST_TICK_FS: u64 = 1_000_000_000;

/// The broken rules, each with its key, its value, and what is expected.
#[derive(Default)]
struct Rules(Vec<String>);

impl Profile {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        let mut rules = Rules::default();
        for (key, text) in [("name", &self.name), ("description", &self.description)] {
            let is_line = !text.trim().is_empty() && !text.contains(char::is_control);
            rules.rule(is_line, &format!("{key} is {text:?}"), "one line of text");
        }
        rules.rule(
            (SHORTEST_TICK_FS..=LONGEST_TICK_FS).contains(&self.tick_fs),
            &format!("tick_ps is {}", self.tick_fs as f64 / 1e3),
            "the length of a cycle, 1 to 1000000",
        );
        let cores = self.core.cores_per_rank;
        rules.at_most("core.cores_per_rank", cores, MOST_CORES);
        let words = self.core.transmit_words;
        rules.rule(
            words >= WAITING_WORDS,
            &format!("core.transmit_words is {words}"),
            &format!("at least {WAITING_WORDS}, the longest message with its headers"),
        );
        rules.at_most("core.transmit_words", words, MOST_ENTRIES);
        sizes(&self.nic, &mut rules);
        buffers(&self.nic, &mut rules);
        shape(&self.network, self.graph.is_some(), &mut rules);
        // The rest computes with these numbers.
        rules.none()?;
        self.room(&mut rules);
        self.ranks(&mut rules);
        self.latencies(&mut rules);
        self.timeout(&mut rules);
        rules.none()
    }

    /// A packet that is not lost must not time out: otherwise every message is sent twice, and with
    /// a much too short timeout a run never ends.
    fn timeout(&self, rules: &mut Rules) {
        let (timeout, trip) = (self.nic.timeout_cycles, self.round_trip());
        let [link, switch] =
            [self.link(), self.switch()].map(|ticks| ticks.0 as f64 * self.tick_fs as f64 / 1e6);
        let way = match &self.graph {
            None => format!("links of {link} ns and switches of {switch} ns"),
            Some(graph) => {
                let switches = graph.reach(self, 0).0;
                format!("the longest way, which has {switches} switches")
            }
        };
        rules.rule(
            timeout >= trip,
            &format!("nic.timeout_cycles is {timeout}"),
            &format!("at least {trip}, a round trip over {way}"),
        )
    }

    /// In a graph a packet is simulated a link ahead.
    fn latencies(&self, rules: &mut Rules) {
        let is_used = self.graph.is_some();
        rules.rule(
            !is_used || self.link() > Ticks(0),
            &format!("network.link_ns is {}", self.network.link_ns.value()),
            "a tick or more, in a machine with a [graph]",
        );
    }

    /// The time from the first flit of the longest message until its ACK is back, over the longest
    /// way of an idle network.
    pub(super) fn round_trip(&self) -> Ticks {
        let NetworkModel {
            layers, flit_bytes, ..
        } = self.network;
        let NicModel {
            header_bytes,
            control_bytes,
            segment_bytes,
            ..
        } = self.nic;
        let segments = (MESSAGE_BYTES as u32).div_ceil(segment_bytes);
        let there = segments * header_bytes + MESSAGE_BYTES as u32;
        let flits = |bytes: u32| bytes.div_ceil(flit_bytes);
        let ways = match &self.graph {
            None => {
                let switches = 2 * u64::from(layers) - 1;
                (self.link() * (switches + 1) + self.switch() * switches) * 2
            }
            // Slow links take a packet as a whole.
            Some(graph) => graph.reach(self, flits(there).into()).1 * 2,
        };
        let ticks = |bytes: u32| Ticks(u64::from(flits(bytes)));
        ways + ticks(there) + self.nic.receive_cycles + ticks(control_bytes)
    }

    /// A queue must have room for one packet.
    fn room(&self, rules: &mut Rules) {
        let packet = u64::from(self.nic.header_bytes + self.nic.segment_bytes);
        let room = self.network.queue_bytes.unwrap_or(packet);
        rules.rule(
            room >= packet,
            &format!("network.queue_bytes is {room}"),
            &format!("room for a packet of {packet} bytes"),
        );
    }

    /// Ranks have numbers of 32 bits.
    fn ranks(&self, rules: &mut Rules) {
        let NetworkModel {
            layers,
            down_links,
            top_links,
            ..
        } = self.network;
        let nics = match &self.graph {
            None => u128::from(down_links).pow(layers - 1) * u128::from(top_links),
            Some(graph) => graph.nics().into(),
        };
        let ranks = nics * u128::from(self.core.ranks_per_nic);
        rules.rule(
            ranks <= u128::from(u32::MAX),
            &format!("the topology holds {ranks} ranks"),
            &format!("at most {}", u32::MAX),
        );
        rules.at_most(
            "core.ranks_per_nic",
            self.core.ranks_per_nic,
            MOST_RANKS_PER_NIC,
        );
        rules.at_most("network.up_links", self.network.up_links, MOST_UPLINKS);
    }
}

fn sizes(nic: &NicModel, rules: &mut Rules) {
    let NicModel {
        header_bytes,
        control_bytes,
        segment_bytes,
        ..
    } = *nic;
    let longest = MESSAGE_BYTES as u32;
    rules.rule(
        (longest / 2..=longest).contains(&segment_bytes)
            && segment_bytes.is_multiple_of(WORD_BYTES),
        &format!("nic.segment_bytes is {segment_bytes}"),
        &format!(
            "words of {WORD_BYTES} bytes, {} to {longest} bytes in all",
            longest / 2
        ),
    );
    rules.rule(
        header_bytes <= control_bytes,
        &format!("nic.header_bytes is {header_bytes}"),
        &format!("at most nic.control_bytes, {control_bytes}"),
    );
    rules.rule(
        control_bytes <= segment_bytes,
        &format!("nic.control_bytes is {control_bytes}"),
        &format!("at most nic.segment_bytes, {segment_bytes}"),
    );
}

fn buffers(nic: &NicModel, rules: &mut Rules) {
    let (all, large) = (nic.transmit_buffers, nic.large_transmit_buffers);
    rules.at_most("nic.transmit_buffers", all, MOST_TRANSMIT_BUFFERS);
    rules.rule(
        large <= all,
        &format!("nic.large_transmit_buffers is {large}"),
        &format!("at most nic.transmit_buffers, {all}"),
    );
    rules.at_most("nic.receive_buffers", nic.receive_buffers, MOST_ENTRIES);
    rules.at_most("nic.entry_bytes", nic.entry_bytes, MOST_ENTRIES);
    rules.at_most("nic.queue_entries", nic.queue_entries, MOST_ENTRIES);
    rules.at_most("nic.all_entries", nic.all_entries, MOST_ENTRIES);
    let held = u64::from(nic.queue_entries) * u64::from(nic.entry_bytes);
    rules.rule(
        held >= MESSAGE_BYTES,
        &format!("nic.queue_entries is {}, {held} bytes", nic.queue_entries),
        &format!("room for a message of {MESSAGE_BYTES} bytes"),
    );
    rules.rule(
        nic.all_entries >= nic.queue_entries,
        &format!("nic.all_entries is {}", nic.all_entries),
        &format!("at least nic.queue_entries, {}", nic.queue_entries),
    );
}

fn shape(network: &NetworkModel, has_graph: bool, rules: &mut Rules) {
    let NetworkModel {
        layers,
        down_links,
        up_links,
        top_links,
        flit_bytes,
        ..
    } = *network;
    rules.rule(
        has_graph || matches!(layers, 2 | 3),
        &format!("network.layers is {layers}"),
        "2 or 3",
    );
    for (key, links) in [
        ("down_links", down_links),
        ("up_links", up_links),
        ("top_links", top_links),
    ] {
        rules.at_most(&format!("network.{key}"), links, MOST_LINKS);
    }
    rules.rule(
        WORD_BYTES.is_multiple_of(flit_bytes),
        &format!("network.flit_bytes is {flit_bytes}"),
        "1, 2, 4 or 8: whole flits in a word",
    );
}

impl Rules {
    fn at_most(&mut self, key: &str, value: u32, most: u32) {
        let (found, expected) = (format!("{key} is {value}"), format!("at most {most}"));
        self.rule(value <= most, &found, &expected);
    }

    fn rule(&mut self, holds: bool, found: &str, expected: &str) {
        if !holds {
            self.0.push(format!("{found}: expected {expected}"));
        }
    }

    fn none(&self) -> Result<(), ProfileError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(ProfileError::new(self.0.join("; ")))
        }
    }
}
