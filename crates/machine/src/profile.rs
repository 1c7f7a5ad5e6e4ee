//! A machine in numbers: what `machines/*.toml` say.
//!
//! Times of cores and NICs are in ticks of the profile (nanoPU: one cycle of 312.5 ps), times of
//! the network in nanoseconds in the file and in ticks here. The files give each number's source.
//!
//! ```text
//!   name or path --- BUILT_IN, or a file --- parse (layout, numbers) --- check --- Profile
//!                                                    with_network: other links and switches
//! ```

#[cfg(test)]
mod calibration;
mod check;
mod number;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

use node::Costs;

/// Words in front of a multicast message that name its group.
pub(crate) const GROUP_WORDS: usize = 2;

/// A simulated machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Length of a tick in femtoseconds.
    pub tick_fs: u64,
    /// What a core can do.
    pub core: CoreModel,
    /// What a NIC can do.
    pub nic: NicModel,
    /// What links and switches do.
    pub network: NetworkModel,
    /// Hash of the file it was read from.
    pub hash: u64,
}

/// A core and its registers to the NIC; all in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreModel {
    /// Cores of one rank: tasks of a rank share them.
    pub per_rank: u32,
    /// Ranks behind one NIC.
    pub ranks_per_nic: u32,
    /// What work costs.
    pub costs: Costs,
    /// From a message's arrival to a core that polls for it seeing it.
    pub notice: u64,
    /// To begin with a message: is one there, from whom, how long.
    pub receive: u64,
    /// To read a word of a message.
    pub receive_word: u64,
    /// To be done with a message: paid when the next one is asked for.
    pub receive_done: u64,
    /// To begin a message.
    pub send: u64,
    /// To write a word of a message.
    pub send_word: u64,
    /// To begin a message that is passed on; its words cost nothing more.
    pub forward: u64,
    /// Words that wait to leave for each core; a core that finds no room waits.
    pub transmit_words: u32,
}

/// A NIC; times in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicModel {
    /// From a packet's last flit in to its message being at the core.
    pub receive: u64,
    /// From a message's last word in to its first flit out.
    pub transmit: u64,
    /// When the served core changes.
    pub turn: u64,
    /// Messages on their way out, freed when all their packets are acknowledged.
    pub transmit_buffers: u32,
    /// How many of them hold a message of more than one segment.
    pub large_transmit_buffers: u32,
    /// Messages on their way in that no core's queue has taken.
    pub receive_buffers: u32,
    /// Bytes of a receive queue's entry; a message takes whole ones.
    pub entry_bytes: u32,
    /// Entries of one core's (or port's) receive queue.
    pub queue_entries: u32,
    /// Entries of all receive queues of the NIC.
    pub all_entries: u32,
    /// Bytes of headers of a packet on the wire.
    pub header_bytes: u32,
    /// Bytes of an acknowledgement, and of a packet cut down to its header.
    pub control_bytes: u32,
    /// Most bytes of a message in one packet.
    pub segment_bytes: u32,
    /// A packet that is not acknowledged so long is sent again.
    pub timeout: u64,
    /// Of MAC and serial I/O in both directions, told apart and not simulated, in picoseconds.
    pub mac_ps: u64,
}

/// Links and switches of a folded Clos network; times in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkModel {
    /// Layers of switches: 2 (leaf, spine) or 3 (leaf, aggregation, core).
    pub layers: u32,
    /// Links of a leaf, and of an aggregation switch, downward.
    pub down: u32,
    /// Links of a leaf, and of an aggregation switch, upward.
    pub up: u32,
    /// Links of a switch of the top layer.
    pub top: u32,
    /// Bytes that a link carries in a tick.
    pub flit_bytes: u32,
    /// From end to end of a link.
    pub link: u64,
    /// From a packet's first flit in to its first flit out of a switch.
    pub switch: u64,
    /// Bytes that wait at a port in each of its two queues; `None`: as many as come.
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

    /// The same machine with other latencies of links and switches, in nanoseconds; `None` leaves
    /// what it has. Where that makes a round trip long, the NIC's timeout is ten of them: whoever
    /// changes the network means no NIC that sends everything twice. The hash stays that of the
    /// file.
    ///
    /// # Errors
    /// When a latency is negative, not a number, or beyond a second.
    pub fn with_network(
        mut self,
        link_ns: Option<f64>,
        switch_ns: Option<f64>,
    ) -> Result<Profile, ProfileError> {
        if let Some(ns) = link_ns {
            self.network.link = self.latency("link_ns", ns)?;
        }
        if let Some(ns) = switch_ns {
            self.network.switch = self.latency("switch_ns", ns)?;
        }
        let is_other = link_ns.is_some() || switch_ns.is_some();
        if is_other {
            self.nic.timeout = self.nic.timeout.max(PATIENT_TRIPS * self.round_trip());
        }
        Ok(self)
    }

    fn latency(&self, key: &str, ns: f64) -> Result<u64, ProfileError> {
        const SECOND_NS: f64 = 1e9;
        if (0.0..=SECOND_NS).contains(&ns) {
            return Ok(self.ticks(ns));
        }
        Err(ProfileError::new(format!(
            "{key} is {ns}: expected a number from 0 to {SECOND_NS}"
        )))
    }

    /// Ticks of so many nanoseconds, to the nearest.
    pub fn ticks(&self, ns: f64) -> u64 {
        ticks_of(ns, self.tick_fs)
    }

    /// Microseconds of so many ticks.
    pub fn microseconds(&self, ticks: u64) -> f64 {
        ticks as f64 * self.tick_fs as f64 * 1e-9
    }

    /// The most ranks that the topology holds.
    pub fn most_ranks(&self) -> u64 {
        let NetworkModel {
            layers, down, top, ..
        } = self.network;
        let nics = u64::from(down).pow(layers - 1) * u64::from(top);
        nics * u64::from(self.core.ranks_per_nic)
    }
}

fn ticks_of(ns: f64, tick_fs: u64) -> u64 {
    (ns * 1e6 / tick_fs as f64).round() as u64
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
