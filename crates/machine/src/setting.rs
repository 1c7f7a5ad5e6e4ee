//! What a run asks of its machine beside the profile.

use node::Rank;

use crate::Profile;
use crate::network::topology::Topology;

/// How to run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How many ranks.
    pub ranks: u32,
    /// Decides all that is drawn.
    pub seed: u64,
    /// Threads of this computer to run on; the results do not depend on them.
    pub threads: usize,
    /// Whether switches carry one message to a group.
    pub multicast: bool,
    /// How the NIC's receive queues are divided.
    pub queues: Queues,
    /// Ticks added to some messages on their way.
    pub tail: u64,
    /// How many of them: parts of 2^32.
    pub tail_parts: u32,
    /// How many packets are lost on each link: parts of 2^32.
    pub loss_parts: u32,
    /// Measures from a message's first flit in to the next message's last flit out, at this rank's
    /// NIC.
    pub tap: Option<Rank>,
    /// How many ranks' stages to write down for a trace; 0 for none.
    pub traced: u32,
}

/// How the NIC's receive queues are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queues {
    /// One for each core.
    #[default]
    ByCore,
    /// One for each port of a core: what keeps steps apart in hardware (NanoSort, section 5.2).
    ByPort,
    /// One for all cores: a NIC that matches steps itself.
    Shared,
}

impl Setting {
    /// `ranks` ranks on one thread, nothing drawn but what programs draw.
    pub fn new(ranks: u32) -> Setting {
        Setting {
            ranks,
            seed: 1,
            threads: 1,
            multicast: true,
            queues: Queues::default(),
            tail: 0,
            tail_parts: 0,
            loss_parts: 0,
            tap: None,
            traced: 0,
        }
    }
}

/// A share of 1 in parts of 2^32.
pub fn parts(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * f64::from(u32::MAX)).round() as u32
}

/// A run that cannot begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError(pub String);

impl std::fmt::Display for SetupError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}

/// Ranks that the simulator can number: NICs and switches are found by multiplication.
const MOST_RANKS: u64 = (1 << 23) - 1;

/// Switches are numbered in 16 bits.
const MOST_SWITCHES: u32 = u16::MAX as u32 - 1;

impl Setting {
    pub(crate) fn check(&self, profile: &Profile) -> Result<(), SetupError> {
        let most = profile.most_ranks().min(MOST_RANKS);
        if self.ranks > 0 && u64::from(self.ranks) <= most {
            let switches = Topology::new(profile, self.ranks).switches;
            if switches > MOST_SWITCHES {
                return Err(SetupError(format!(
                    "{} cores of {} need {switches} switches: the simulator numbers {MOST_SWITCHES}",
                    self.ranks, profile.name
                )));
            }
        }
        if self.ranks == 0 {
            return Err(SetupError("a machine has at least one core".to_owned()));
        }
        if u64::from(self.ranks) > most {
            return Err(SetupError(format!(
                "{} cores do not fit: the topology of {} holds {most}",
                self.ranks, profile.name
            )));
        }
        Ok(())
    }
}
