//! Rules between the numbers of a profile, without which the machine cannot work.
//!
//! Each rule names the key, what it is and what is expected. A machine that breaks one would stand
//! still (a queue that can never take a message), or could not be told apart from a bug.

use node::MESSAGE_WORDS;

use crate::schedule::Ticks;

use super::{GROUP_WORDS, NetworkModel, NicModel, Profile, ProfileError};

/// Longest message that programs send.
const MESSAGE_BYTES: u64 = node::MESSAGE_BYTES as u64;

const WORD_BYTES: u32 = 8;

/// The longest message as it waits to leave: its header word, its group and its own words.
const WAITING_WORDS: u32 = (1 + GROUP_WORDS + MESSAGE_WORDS) as u32;

/// The engine names the transmit buffers of a NIC, and the two segments of a message, in one byte.
const MOST_TRANSMIT_BUFFERS: u32 = 128;

/// A NIC tells its ranks apart by a byte where it remembers what it received.
const MOST_RANKS_PER_NIC: u32 = 256;

/// A multicast names the uplink it came by in seven bits.
const MOST_UPLINKS: u32 = 128;

/// More links than any switch has; keeps the count of switches in 32 bits.
const MOST_LINKS: u32 = 4096;

/// Cores of a rank: each has a place in the rank's memory, and more share no NIC.
const MOST_CORES: u32 = 1024;

/// Words, entries or buffers of a NIC: far more than registers or rings hold, and sums fit 32 bits.
const MOST_ENTRIES: u32 = 1 << 20;

/// Femtoseconds of a picosecond: a faster core is none.
const SHORTEST_TICK_FS: u64 = 1_000;

/// A microsecond: a slower one could not tell the latencies of a network apart.
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
        rule(
            cores <= MOST_CORES,
            &format!("core.cores_per_rank is {cores}"),
            &format!("at most {MOST_CORES}"),
        )?;
        let words = self.core.transmit_words;
        rule(
            words >= WAITING_WORDS,
            &format!("core.transmit_words is {words}"),
            &format!("at least {WAITING_WORDS}, the longest message with its headers"),
        )?;
        few("core.transmit_words", words)?;
        sizes(&self.nic)?;
        buffers(&self.nic)?;
        shape(&self.network)?;
        self.room()?;
        self.ranks()?;
        self.patience()
    }

    /// A packet that is not lost must not be sent again: else every message is sent twice, and a
    /// machine whose timeout is far too short never ends.
    pub(super) fn patience(&self) -> Checked {
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

    /// From the first flit out of the longest message until its acknowledgement is back, over the
    /// top of the network, when nothing is in the way.
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

    /// A switch must be able to hold one whole packet.
    fn room(&self) -> Checked {
        let packet = u64::from(self.nic.header_bytes + self.nic.segment_bytes);
        let room = self.network.queue_bytes.unwrap_or(packet);
        rule(
            room >= packet,
            &format!("network.queue_bytes is {room}"),
            &format!("room for a packet of {packet} bytes"),
        )
    }

    /// Ranks are numbered in 32 bits.
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
        rule(
            self.core.ranks_per_nic <= MOST_RANKS_PER_NIC,
            &format!("core.ranks_per_nic is {}", self.core.ranks_per_nic),
            &format!("at most {MOST_RANKS_PER_NIC}"),
        )?;
        rule(
            self.network.up_links <= MOST_UPLINKS,
            &format!("network.up_links is {}", self.network.up_links),
            &format!("at most {MOST_UPLINKS}"),
        )
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
    rule(
        all <= MOST_TRANSMIT_BUFFERS,
        &format!("nic.transmit_buffers is {all}"),
        &format!("at most {MOST_TRANSMIT_BUFFERS}"),
    )?;
    rule(
        large <= all,
        &format!("nic.large_transmit_buffers is {large}"),
        &format!("at most nic.transmit_buffers, {all}"),
    )?;
    few("nic.receive_buffers", nic.receive_buffers)?;
    few("nic.entry_bytes", nic.entry_bytes)?;
    few("nic.queue_entries", nic.queue_entries)?;
    few("nic.all_entries", nic.all_entries)?;
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
        rule(
            links <= MOST_LINKS,
            &format!("network.{key} is {links}"),
            &format!("at most {MOST_LINKS}"),
        )?;
    }
    rule(
        WORD_BYTES.is_multiple_of(flit_bytes),
        &format!("network.flit_bytes is {flit_bytes}"),
        "1, 2, 4 or 8: whole flits in a word",
    )
}

fn few(key: &str, count: u32) -> Checked {
    rule(
        count <= MOST_ENTRIES,
        &format!("{key} is {count}"),
        &format!("at most {MOST_ENTRIES}"),
    )
}

fn rule(holds: bool, found: &str, expected: &str) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(ProfileError::new(format!("{found}: expected {expected}")))
    }
}
