//! A machine in numbers: what `machines/*.toml` say.
//!
//! Each number is stated once, as a field of a model with the name of its key. Cycles are ticks of
//! the profile (nanoPU: one cycle of 312.5 ps). The files give each number's source.
//!
//! ```text
//!   name or path --- BUILT_IN, or a file --- parse (serde, unit) --- check --- Profile
//!                                                    with_network: other links and switches
//! ```

#[cfg(test)]
mod calibration;
mod check;
mod parse;
#[cfg(test)]
mod tests;
mod unit;
mod work;

use std::fmt;

use node::Costs;
use serde::Deserialize;

use crate::schedule::Ticks;
pub use unit::Nanoseconds;

/// Words in front of a multicast message that name its group.
pub(crate) const GROUP_WORDS: usize = 2;

/// A simulated machine. Its fields are the keys of its file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Length of a tick in femtoseconds.
    #[serde(rename = "tick_ps", deserialize_with = "unit::thousandths")]
    pub tick_fs: u64,
    /// Cores and their registers to the NIC.
    pub core: CoreModel,
    /// The cost of work on a core.
    #[serde(deserialize_with = "work::costs")]
    pub work: Costs,
    /// NICs.
    pub nic: NicModel,
    /// Links and switches.
    pub network: NetworkModel,
    /// Hash of the file it was read from.
    #[serde(skip)]
    pub hash: u64,
}

/// A core and its registers to the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreModel {
    /// Cores of one rank: tasks of a rank share them.
    #[serde(deserialize_with = "unit::count")]
    pub cores_per_rank: u32,
    /// Ranks behind one NIC.
    #[serde(deserialize_with = "unit::count")]
    pub ranks_per_nic: u32,
    /// From a message's arrival until a polling core sees it.
    pub notice_cycles: Ticks,
    /// To begin with a message: is one there, from whom, how long.
    pub receive_cycles: Ticks,
    /// To read a word of a message.
    pub receive_word_cycles: Ticks,
    /// To be done with a message: paid when the next one is asked for.
    pub receive_done_cycles: Ticks,
    /// To begin a message.
    pub send_cycles: Ticks,
    /// To write a word of a message.
    pub send_word_cycles: Ticks,
    /// To begin a message that is passed on; its words cost nothing more.
    pub forward_cycles: Ticks,
    /// Words that may wait to leave for each core; a core that finds no room waits.
    #[serde(deserialize_with = "unit::count")]
    pub transmit_words: u32,
}

/// A NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NicModel {
    /// From a packet's last flit in until its message is at the core.
    pub receive_cycles: Ticks,
    /// From a message's last word in until its first flit is out.
    pub transmit_cycles: Ticks,
    /// When the served core changes.
    pub turn_cycles: Ticks,
    /// Messages on their way out, freed when all their packets are acknowledged.
    #[serde(deserialize_with = "unit::count")]
    pub transmit_buffers: u32,
    /// The transmit buffers that hold a message of more than one segment.
    #[serde(deserialize_with = "unit::count")]
    pub large_transmit_buffers: u32,
    /// Messages on their way in that no core's queue has taken.
    #[serde(deserialize_with = "unit::count")]
    pub receive_buffers: u32,
    /// Bytes of a receive queue's entry; a message takes whole ones.
    #[serde(deserialize_with = "unit::count")]
    pub entry_bytes: u32,
    /// Entries of one core's (or port's) receive queue.
    #[serde(deserialize_with = "unit::count")]
    pub queue_entries: u32,
    /// Entries of all receive queues of the NIC.
    #[serde(deserialize_with = "unit::count")]
    pub all_entries: u32,
    /// Bytes of headers of a packet on the wire.
    #[serde(deserialize_with = "unit::count")]
    pub header_bytes: u32,
    /// Bytes of an acknowledgement, and of a packet cut down to its header.
    #[serde(deserialize_with = "unit::count")]
    pub control_bytes: u32,
    /// Most bytes of a message in one packet.
    #[serde(deserialize_with = "unit::count")]
    pub segment_bytes: u32,
    /// A packet that is not acknowledged for this long is sent again.
    #[serde(deserialize_with = "unit::long_time")]
    pub timeout_cycles: Ticks,
    /// Of MAC and serial I/O in both directions; reported apart and not simulated.
    pub mac_ns: Nanoseconds,
}

/// Links and switches of a folded Clos network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkModel {
    /// Layers of switches: 2 (leaf, spine) or 3 (leaf, aggregation, core).
    #[serde(deserialize_with = "unit::count")]
    pub layers: u32,
    /// Links of a leaf, and of an aggregation switch, downward.
    #[serde(deserialize_with = "unit::count")]
    pub down_links: u32,
    /// Links of a leaf, and of an aggregation switch, upward.
    #[serde(deserialize_with = "unit::count")]
    pub up_links: u32,
    /// Links of a switch of the top layer.
    #[serde(deserialize_with = "unit::count")]
    pub top_links: u32,
    /// Bytes that a link carries in a tick.
    #[serde(deserialize_with = "unit::count")]
    pub flit_bytes: u32,
    /// From end to end of a link.
    pub link_ns: Nanoseconds,
    /// From a packet's first flit in to its first flit out of a switch.
    pub switch_ns: Nanoseconds,
    /// Bytes that wait at a port in each of its two queues; `None`: without limit.
    #[serde(default, deserialize_with = "unit::bytes")]
    pub queue_bytes: Option<u64>,
}

/// Round trips that a timeout is, as in nanopu.toml.
const PATIENT_TRIPS: u64 = 10;

impl Profile {
    /// The machines that come with the program, each with the text of its file.
    pub const BUILT_IN: [(&str, &str); 6] = [
        ("nanopu", include_str!("../../../machines/nanopu.toml")),
        (
            "nanopu-nodes",
            include_str!("../../../machines/nanopu-nodes.toml"),
        ),
        (
            "nanopu-3-layer",
            include_str!("../../../machines/nanopu-3-layer.toml"),
        ),
        ("nebula", include_str!("../../../machines/nebula.toml")),
        ("erpc", include_str!("../../../machines/erpc.toml")),
        ("ramcloud", include_str!("../../../machines/ramcloud.toml")),
    ];

    /// The built-in machine of this name.
    pub fn named(name: &str) -> Option<Profile> {
        let (_, text) = Profile::BUILT_IN
            .into_iter()
            .find(|(known, _)| *known == name)?;
        Some(Profile::parse(text).expect("a test reads every built-in machine"))
    }

    /// This machine with other latencies of links and switches, in nanoseconds; `None` keeps a
    /// latency. The NIC's timeout is at least ten round trips, since a change of the network must
    /// not make a NIC send everything twice. The hash stays that of the file.
    ///
    /// # Errors
    /// When a latency is negative, not a number, or beyond a second.
    pub fn with_network(
        mut self,
        link_ns: Option<f64>,
        switch_ns: Option<f64>,
    ) -> Result<Profile, ProfileError> {
        if let Some(ns) = link_ns {
            self.network.link_ns = latency("link_ns", ns)?;
        }
        if let Some(ns) = switch_ns {
            self.network.switch_ns = latency("switch_ns", ns)?;
        }
        let is_other = link_ns.is_some() || switch_ns.is_some();
        if is_other {
            let patient = self.round_trip() * PATIENT_TRIPS;
            let timeout = &mut self.nic.timeout_cycles;
            *timeout = patient.max(*timeout);
        }
        Ok(self)
    }

    /// The tick nearest to a time in nanoseconds.
    pub fn ticks(&self, ns: f64) -> u64 {
        (ns * 1e6 / self.tick_fs as f64).round() as u64
    }

    /// From end to end of a link.
    pub fn link(&self) -> Ticks {
        Ticks(self.ticks(self.network.link_ns.value()))
    }

    /// From a packet's first flit in to its first flit out of a switch.
    pub fn switch(&self) -> Ticks {
        Ticks(self.ticks(self.network.switch_ns.value()))
    }

    /// A time in microseconds.
    pub fn microseconds(&self, ticks: u64) -> f64 {
        ticks as f64 * self.tick_fs as f64 * 1e-9
    }

    /// The most ranks that the topology holds.
    pub fn most_ranks(&self) -> u64 {
        let NetworkModel {
            layers,
            down_links,
            top_links,
            ..
        } = self.network;
        let nics = u64::from(down_links).pow(layers - 1) * u64::from(top_links);
        nics * u64::from(self.core.ranks_per_nic)
    }
}

fn latency(key: &str, ns: f64) -> Result<Nanoseconds, ProfileError> {
    const SECOND_NS: f64 = 1e9;
    if (0.0..=SECOND_NS).contains(&ns) {
        return Ok(Nanoseconds::of(ns));
    }
    Err(ProfileError::new(format!(
        "{key} is {ns}: expected a number from 0 to {SECOND_NS}"
    )))
}

/// A profile that is none: one line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    file: String,
    what: String,
}

impl ProfileError {
    fn new(what: String) -> ProfileError {
        ProfileError {
            file: "machine".to_owned(),
            what,
        }
    }

    fn in_file(self, file: &str) -> ProfileError {
        ProfileError {
            file: file.to_owned(),
            ..self
        }
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.file, self.what)
    }
}

impl std::error::Error for ProfileError {}
