//! Rules between the numbers of a profile.
//!
//! The error of a rule has the key, its value, and what is expected. A machine that broke one would
//! deadlock, as with a queue too short for a message, or look like a bug.

use node::MESSAGE_WORDS;

use crate::schedule::Ticks;

use super::{GROUP_WORDS, NetworkModel, NicModel, Profile, ProfileError};

/// Bytes of the longest message.
const MESSAGE_BYTES: u64 = node::MESSAGE_BYTES as u64;

const WORD_BYTES: u32 = 8;

/// Words of the longest message in a core's transmit words: its header, its group and its own.
const WAITING_WORDS: u32 = (1 + GROUP_WORDS + MESSAGE_WORDS) as u32;

/// A packet has its transmit buffer and a flag in one byte.
const MOST_TRANSMIT_BUFFERS: u32 = 128;

/// A NIC's memory of received messages has a byte for the rank.
const MOST_RANKS_PER_NIC: u32 = 256;

/// A multicast has seven bits for the uplink on its way.
const MOST_UPLINKS: u32 = 128;

/// More links than any switch has; the number of switches fits 32 bits.
const MOST_LINKS: u32 = 4096;

/// More cores than share a NIC; each takes memory.
const MOST_CORES: u32 = 1024;

/// More words, entries or buffers than a NIC has; sums fit 32 bits.
const MOST_ENTRIES: u32 = 1 << 20;

/// A picosecond, which is faster than any core.
const SHORTEST_TICK_FS: u64 = 1_000;

/// A microsecond, which is too coarse for the latencies of a network.
const LONGEST_TICK_FS: u64 = 1_000_000_000;

type Checked = Result<(), ProfileError>;

impl Profile {
    pub(super) fn check(&self) -> Checked {
        for (key, text) in [("name", &self.name), ("description", &self.description)] {
            let is_line = !text.trim().is_empty() && !text.contains(char::is_control);
            rule(is_line, &format!("{key} is {text:?}"), "one line of text")?;
        }
        rule(
            (SHORTEST_TICK_FS..=LONGEST_TICK_FS).contains(&self.tick_fs),
            &format!("tick_ps is {}", self.tick_fs as f64 / 1e3),
            "the length of a cycle, 1 to 1000000",
        )?;
        let cores = self.core.cores_per_rank;
        at_most("core.cores_per_rank", cores, MOST_CORES)?;
        let words = self.core.transmit_words;
        rule(
            words >= WAITING_WORDS,
            &format!("core.transmit_words is {words}"),
            &format!("at least {WAITING_WORDS}, the longest message with its headers"),
        )?;
        at_most("core.transmit_words", words, MOST_ENTRIES)?;
        sizes(&self.nic)?;
        buffers(&self.nic)?;
        shape(&self.network)?;
        self.room()?;
        self.ranks()?;
        self.timeout()
    }

    /// A packet that is not lost must not time out: otherwise every message is sent twice, and with
    /// a much too short timeout a run never ends.
    pub(super) fn timeout(&self) -> Checked {
        let (timeout, trip) = (self.nic.timeout_cycles, self.round_trip());
        let [link, switch] =
            [self.link(), self.switch()].map(|ticks| ticks.0 as f64 * self.tick_fs as f64 / 1e6);
        rule(
            timeout >= trip,
            &format!("nic.timeout_cycles is {timeout}"),
            &format!(
                "at least {trip}, a round trip over links of {link} ns and switches of {switch} ns"
            ),
        )
    }

    /// The time from the first flit of the longest message until its ACK is back, over the top
    /// layer of an idle network.
    pub(super) fn round_trip(&self) -> Ticks {
        let NetworkModel {
            layers, flit_bytes, ..
        } = self.network;
        let switches = 2 * u64::from(layers) - 1;
        let way = self.link() * (switches + 1) + self.switch() * switches;
        let NicModel {
            header_bytes,
            control_bytes,
            segment_bytes,
            ..
        } = self.nic;
        let segments = (MESSAGE_BYTES as u32).div_ceil(segment_bytes);
        let there = segments * header_bytes + MESSAGE_BYTES as u32;
        let flits = |bytes: u32| Ticks(u64::from(bytes.div_ceil(flit_bytes)));
        way * 2 + flits(there) + self.nic.receive_cycles + flits(control_bytes)
    }

    /// A queue must have room for one packet.
    fn room(&self) -> Checked {
        let packet = u64::from(self.nic.header_bytes + self.nic.segment_bytes);
        let room = self.network.queue_bytes.unwrap_or(packet);
        rule(
            room >= packet,
            &format!("network.queue_bytes is {room}"),
            &format!("room for a packet of {packet} bytes"),
        )
    }

    /// Ranks have numbers of 32 bits.
    fn ranks(&self) -> Checked {
        let NetworkModel {
            layers,
            down_links,
            top_links,
            ..
        } = self.network;
        let leaves = u128::from(down_links).pow(layers - 2) * u128::from(top_links);
        let ranks = leaves * u128::from(down_links) * u128::from(self.core.ranks_per_nic);
        rule(
            ranks <= u128::from(u32::MAX),
            &format!("the topology holds {ranks} ranks"),
            &format!("at most {}", u32::MAX),
        )?;
        at_most(
            "core.ranks_per_nic",
            self.core.ranks_per_nic,
            MOST_RANKS_PER_NIC,
        )?;
        at_most("network.up_links", self.network.up_links, MOST_UPLINKS)
    }
}

fn sizes(nic: &NicModel) -> Checked {
    let NicModel {
        header_bytes,
        control_bytes,
        segment_bytes,
        ..
    } = *nic;
    let longest = MESSAGE_BYTES as u32;
    rule(
        (longest / 2..=longest).contains(&segment_bytes)
            && segment_bytes.is_multiple_of(WORD_BYTES),
        &format!("nic.segment_bytes is {segment_bytes}"),
        &format!(
            "words of {WORD_BYTES} bytes, {} to {longest} bytes in all",
            longest / 2
        ),
    )?;
    rule(
        header_bytes <= control_bytes,
        &format!("nic.header_bytes is {header_bytes}"),
        &format!("at most nic.control_bytes, {control_bytes}"),
    )?;
    rule(
        control_bytes <= segment_bytes,
        &format!("nic.control_bytes is {control_bytes}"),
        &format!("at most nic.segment_bytes, {segment_bytes}"),
    )
}

fn buffers(nic: &NicModel) -> Checked {
    let (all, large) = (nic.transmit_buffers, nic.large_transmit_buffers);
    at_most("nic.transmit_buffers", all, MOST_TRANSMIT_BUFFERS)?;
    rule(
        large <= all,
        &format!("nic.large_transmit_buffers is {large}"),
        &format!("at most nic.transmit_buffers, {all}"),
    )?;
    at_most("nic.receive_buffers", nic.receive_buffers, MOST_ENTRIES)?;
    at_most("nic.entry_bytes", nic.entry_bytes, MOST_ENTRIES)?;
    at_most("nic.queue_entries", nic.queue_entries, MOST_ENTRIES)?;
    at_most("nic.all_entries", nic.all_entries, MOST_ENTRIES)?;
    let held = u64::from(nic.queue_entries) * u64::from(nic.entry_bytes);
    rule(
        held >= MESSAGE_BYTES,
        &format!("nic.queue_entries is {}, {held} bytes", nic.queue_entries),
        &format!("room for a message of {MESSAGE_BYTES} bytes"),
    )?;
    rule(
        nic.all_entries >= nic.queue_entries,
        &format!("nic.all_entries is {}", nic.all_entries),
        &format!("at least nic.queue_entries, {}", nic.queue_entries),
    )
}

fn shape(network: &NetworkModel) -> Checked {
    let NetworkModel {
        layers,
        down_links,
        up_links,
        top_links,
        flit_bytes,
        ..
    } = *network;
    rule(
        matches!(layers, 2 | 3),
        &format!("network.layers is {layers}"),
        "2 or 3",
    )?;
    for (key, links) in [
        ("down_links", down_links),
        ("up_links", up_links),
        ("top_links", top_links),
    ] {
        at_most(&format!("network.{key}"), links, MOST_LINKS)?;
    }
    rule(
        WORD_BYTES.is_multiple_of(flit_bytes),
        &format!("network.flit_bytes is {flit_bytes}"),
        "1, 2, 4 or 8: whole flits in a word",
    )
}

fn at_most(key: &str, value: u32, most: u32) -> Checked {
    let (found, expected) = (format!("{key} is {value}"), format!("at most {most}"));
    rule(value <= most, &found, &expected)
}

fn rule(holds: bool, found: &str, expected: &str) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(ProfileError::new(format!("{found}: expected {expected}")))
    }
}
