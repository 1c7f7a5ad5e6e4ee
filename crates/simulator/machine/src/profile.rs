//! Profiles: the numbers of a machine, from `machines/*.toml`.
//!
//! Each number is a field with the name of its key in the file, which gives its source. Cycles are
//! ticks of the profile (nanoPU: one cycle of 312.5 ps).
//!
//! ```text
//!   name or path --- BUILT_IN, or a file --- parse (serde, unit) --- check --- Profile
//!                                                    changed: other links, memory, NICs
//! ```

#[cfg(test)]
mod calibration;
mod changed;
mod check;
mod graph;
mod parse;
mod sketch;
mod tables;
#[cfg(test)]
mod tests;
mod unit;
mod work;

use std::fmt;
use std::sync::Arc;

use node::Costs;
use serde::Deserialize;

use crate::schedule::Ticks;
pub use changed::Raised;
pub(crate) use graph::Times;
pub use graph::{Graph, LinkModel, LinkTimes, SwitchModel, Ways};
pub use unit::Nanoseconds;

/// Words in front of a multicast that name its group.
pub(crate) const GROUP_WORDS: usize = 2;

/// A simulated machine, with a field per key of its file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name by which a built-in machine is chosen.
    pub name: String,
    /// Description for people, in one line.
    pub description: String,
    /// Length of a tick in femtoseconds.
    #[serde(rename = "tick_ps", deserialize_with = "unit::thousandths")]
    pub tick_fs: u64,
    /// Cores, and their registers to the NIC.
    pub core: CoreModel,
    /// Costs of work on a core.
    #[serde(deserialize_with = "work::costs")]
    pub work: Costs,
    /// Stages, buffers and sizes of a NIC.
    pub nic: NicModel,
    /// Links and switches.
    pub network: NetworkModel,
    /// The network as a graph, instead of a folded Clos network.
    #[serde(skip)]
    pub graph: Option<Arc<Graph>>,
    /// FNV-1a hash of the file's text.
    #[serde(skip)]
    pub hash: u64,
}

/// A core and its registers to the NIC. Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreModel {
    /// Cores that the tasks of a rank share.
    #[serde(deserialize_with = "unit::count")]
    pub cores_per_rank: u32,
    /// Ranks behind one NIC.
    #[serde(deserialize_with = "unit::count")]
    pub ranks_per_nic: u32,
    /// From a message's arrival until a polling core notices it.
    pub notice_cycles: Ticks,
    /// To find out a message's sender and length.
    pub receive_cycles: Ticks,
    /// To read a word of a message.
    pub receive_word_cycles: Ticks,
    /// To finish a message, before the next is received.
    pub receive_done_cycles: Ticks,
    /// To start a message.
    pub send_cycles: Ticks,
    /// To write a word of a message.
    pub send_word_cycles: Ticks,
    /// To forward a received message with all its words.
    pub forward_cycles: Ticks,
    /// Time that a loaded line occupies the L2 that the cores of a NIC share; 0 if they do not wait
    /// for each other.
    #[serde(default)]
    pub l2_line_cycles: Ticks,
    /// Words of a core that may wait for its NIC; without room the core waits.
    #[serde(deserialize_with = "unit::count")]
    pub transmit_words: u32,
}

/// A NIC. Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NicModel {
    /// From a packet's last flit in until its message is at the core.
    pub receive_cycles: Ticks,
    /// From a message's last word in until its first flit is out.
    pub transmit_cycles: Ticks,
    /// To change the core that the arbiter serves.
    pub turn_cycles: Ticks,
    /// From a packet's last flit out until the next packet of data may start (LogP's g, less the
    /// time of the packet itself).
    #[serde(default)]
    pub gap_cycles: Ticks,
    /// Ticks that are added to that for each flit of the packet, in thousandths (LogGP's G, less the link's).
    #[serde(default, deserialize_with = "unit::thousandths")]
    pub gap_per_flit: u64,
    /// Messages under way that are not acknowledged as a whole.
    #[serde(deserialize_with = "unit::count")]
    pub transmit_buffers: u32,
    /// Those of them that may hold a message of two segments.
    #[serde(deserialize_with = "unit::count")]
    pub large_transmit_buffers: u32,
    /// Received messages that are not in a receive queue yet.
    #[serde(deserialize_with = "unit::count")]
    pub receive_buffers: u32,
    /// Bytes of a receive queue's entry; a message takes whole entries.
    #[serde(deserialize_with = "unit::count")]
    pub entry_bytes: u32,
    /// Entries of the receive queue of a core or port.
    #[serde(deserialize_with = "unit::count")]
    pub queue_entries: u32,
    /// Entries of all receive queues of the NIC.
    #[serde(deserialize_with = "unit::count")]
    pub all_entries: u32,
    /// Header bytes of a packet on the wire.
    #[serde(deserialize_with = "unit::count")]
    pub header_bytes: u32,
    /// Bytes of a control packet: ACK, NACK, PULL or trimmed header.
    #[serde(deserialize_with = "unit::count")]
    pub control_bytes: u32,
    /// Bytes of a message per packet.
    #[serde(deserialize_with = "unit::count")]
    pub segment_bytes: u32,
    /// Time until an unacknowledged packet is sent again.
    #[serde(deserialize_with = "unit::long_time")]
    pub timeout_cycles: Ticks,
    /// MAC and serial I/O in both directions; reported, not simulated.
    pub mac_ns: Nanoseconds,
}

/// Links and switches of a folded Clos network. Its first four numbers are 0 if there is a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkModel {
    /// Layers of switches: 2 (leaf, spine) or 3 (leaf, aggregation, core).
    #[serde(default, deserialize_with = "unit::count")]
    pub layers: u32,
    /// Downlinks of a leaf or aggregation switch.
    #[serde(default, deserialize_with = "unit::count")]
    pub down_links: u32,
    /// Uplinks of a leaf or aggregation switch.
    #[serde(default, deserialize_with = "unit::count")]
    pub up_links: u32,
    /// Links of a switch of the top layer.
    #[serde(default, deserialize_with = "unit::count")]
    pub top_links: u32,
    /// Bytes that a link carries per tick.
    #[serde(deserialize_with = "unit::count")]
    pub flit_bytes: u32,
    /// Latency of a link.
    pub link_ns: Nanoseconds,
    /// Latency of a switch, from first flit in to first flit out.
    pub switch_ns: Nanoseconds,
    /// Bytes of each of a port's two queues; `None` is unlimited.
    #[serde(default, deserialize_with = "unit::bytes")]
    pub queue_bytes: Option<u64>,
}

impl Profile {
    /// The built-in machines: their names, and the texts of their files.
    pub const BUILT_IN: [(&str, &str); 13] = [
        ("nanopu", include_str!("../machines/nanopu.toml")),
        (
            "nanopu-nodes",
            include_str!("../machines/nanopu-nodes.toml"),
        ),
        (
            "nanopu-3-layer",
            include_str!("../machines/nanopu-3-layer.toml"),
        ),
        ("nebula", include_str!("../machines/nebula.toml")),
        ("erpc", include_str!("../machines/erpc.toml")),
        ("ramcloud", include_str!("../machines/ramcloud.toml")),
        ("now", include_str!("../machines/now.toml")),
        ("paragon", include_str!("../machines/paragon.toml")),
        ("cs-2", include_str!("../machines/cs-2.toml")),
        ("sp-2", include_str!("../machines/sp-2.toml")),
        ("t3d", include_str!("../machines/t3d.toml")),
        ("now-network", include_str!("../machines/now-network.toml")),
        (
            "now-subcluster",
            include_str!("../machines/now-subcluster.toml"),
        ),
    ];

    /// The built-in machine of this name, if there is one.
    pub fn named(name: &str) -> Option<Profile> {
        let text = Profile::text_of(name)?;
        Some(Profile::parse(text).expect("a test reads every built-in machine"))
    }

    /// Nanoseconds as ticks, rounded.
    pub fn ticks(&self, ns: f64) -> u64 {
        (ns * 1e6 / self.tick_fs as f64).round() as u64
    }

    /// Latency of a link.
    pub fn link(&self) -> Ticks {
        Ticks(self.ticks(self.network.link_ns.value()))
    }

    /// Latency of a switch, from first flit in to first flit out.
    pub fn switch(&self) -> Ticks {
        Ticks(self.ticks(self.network.switch_ns.value()))
    }

    /// Ticks as microseconds.
    pub fn microseconds(&self, ticks: u64) -> f64 {
        ticks as f64 * self.tick_fs as f64 * 1e-9
    }

    /// The number of ranks of the full topology.
    pub fn most_ranks(&self) -> u64 {
        let NetworkModel {
            layers,
            down_links,
            top_links,
            ..
        } = self.network;
        let nics = match &self.graph {
            None => u64::from(down_links).pow(layers - 1) * u64::from(top_links),
            Some(graph) => graph.nics(),
        };
        nics * u64::from(self.core.ranks_per_nic)
    }
}

/// An invalid profile; the message is one line for people.
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
