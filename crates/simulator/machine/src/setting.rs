//! The settings of a run, in addition to the profile of its machine.

use node::Rank;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Number of ranks.
    pub ranks: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Threads of this computer; the results do not depend on them.
    pub threads: usize,
    /// How switches carry multicasts.
    pub multicast: Multicast,
    /// Whether switches keep multicasts and aggregate their ACKs. If not, they only copy, and each
    /// member acknowledges to the sender.
    pub aggregates_acks: bool,
    /// How NICs recover and pace messages, and what a full queue of a switch does.
    pub transport: Transport,
    /// How a NIC divides its receive queues.
    pub queues: Queues,
    /// Extra latency of some messages in ticks.
    pub tail: u64,
    /// The share of those messages, in parts of 2^32.
    pub tail_parts: u32,
    /// The share of packets that each link loses, in parts of 2^32.
    pub loss_parts: u32,
    /// Measures the time from a message's first flit in to the next message's last flit out, at the
    /// NIC of this rank.
    pub tap: Option<Rank>,
    /// Number of ranks whose stages are traced, which [`Sample`] chooses; 0 for none.
    pub traced: u32,
    /// Whether to record every sent message.
    pub sends: bool,
    /// Whether to find the critical path.
    pub path: bool,
}

/// The ranks that a trace shows: all of few, or groups of neighbours, from the first to the last at
/// even distances.
///
/// Single ranks at even distances would all be inner ranks of a tree whose incast divides the
/// distance. A group shows an inner rank with its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    ranks: u32,
    traced: u32,
}

/// Ranks of a group: two levels of a tree at incast 8, and the cores of 16 NICs.
const GROUP: u32 = 64;

impl Sample {
    /// A sample of at most `traced` of `ranks` ranks, in whole groups or one smaller group.
    pub fn new(ranks: u32, traced: u32) -> Sample {
        Sample { ranks, traced }
    }

    /// Number of ranks in the sample.
    pub fn count(self) -> u32 {
        if self.ranks <= self.traced {
            self.ranks
        } else {
            self.groups() * self.each()
        }
    }

    /// Whether a rank is in the sample.
    pub fn has(self, rank: u32) -> bool {
        if self.ranks <= self.traced {
            return rank < self.ranks;
        }
        (0..self.groups()).any(|group| rank / self.each() == self.place(group))
    }

    fn groups(self) -> u32 {
        self.traced / self.each()
    }

    /// Ranks per group.
    fn each(self) -> u32 {
        GROUP.min(self.traced).max(1)
    }

    /// The position of a group, in multiples of a group. All positions differ, since there are more
    /// of them than groups in the sample.
    fn place(self, group: u32) -> u32 {
        let (last, steps) = (
            self.ranks / self.each() - 1,
            self.groups().saturating_sub(1).max(1),
        );
        (u64::from(group) * u64::from(last) / u64::from(steps)) as u32
    }
}

impl std::fmt::Display for Sample {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.ranks <= self.traced {
            return write!(out, "all {} cores", self.ranks);
        }
        let (count, groups, each) = (self.count(), self.groups(), self.each());
        write!(
            out,
            "{count} of {} cores: {groups} groups of {each} neighbours",
            self.ranks
        )
    }
}

/// How a NIC divides its receive queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queues {
    /// One queue per core.
    #[default]
    ByCore,
    /// One queue per port of a core, which keeps steps apart in hardware (NanoSort, section 5.2).
    ByPort,
    /// One queue for all cores, in a NIC that matches steps itself.
    Shared,
}

/// The transport of all NICs. The public NIC has been built with either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// A full queue cuts data to their header, whose receiver requests them again (Handley et al.,
    /// SIGCOMM 2017).
    #[default]
    Ndp,
    /// Receivers grant all but the first packets of a message, ports have priorities, and a full
    /// queue drops (Montazeri et al., SIGCOMM 2018).
    Homa {
        /// Packets of a message that need no GRANT, 1 or 2: the public configuration has 2.
        unscheduled: u32,
    },
}

impl Transport {
    /// Whether a packet waits for a GRANT, as the second one of a message may.
    pub(crate) fn is_scheduled(self, segment: u32) -> bool {
        matches!(self, Transport::Homa { unscheduled } if segment >= unscheduled)
    }
}

/// How switches carry a multicast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multicast {
    /// They do not: the sender sends a message to each member.
    Off,
    /// Each switch makes a copy for each of its links that leads to members, and a leaf one for
    /// each of its members.
    #[default]
    PerPort,
    /// The sender's leaf makes a copy for each member, and sprays them over the spines.
    FirstLeaf,
    /// The first spine makes a copy for each member of other leaves, as the flooding of the public
    /// switch goes up its first uplink.
    OneSpine,
    /// A spine that is drawn for each multicast makes the copies.
    DrawnSpines,
}

impl Multicast {
    /// Whether the sender sends one message.
    pub fn is_on(self) -> bool {
        self != Multicast::Off
    }

    /// Whether links have a packet for each member behind them.
    pub(crate) fn is_per_member(self) -> bool {
        !matches!(self, Multicast::Off | Multicast::PerPort)
    }
}

impl Setting {
    /// `ranks` ranks on one thread, without losses or extra latency.
    pub fn new(ranks: u32) -> Setting {
        Setting {
            ranks,
            seed: 1,
            threads: 1,
            multicast: Multicast::default(),
            aggregates_acks: true,
            transport: Transport::default(),
            queues: Queues::default(),
            tail: 0,
            tail_parts: 0,
            loss_parts: 0,
            tap: None,
            traced: 0,
            sends: false,
            path: false,
        }
    }

    /// The traced ranks.
    pub(crate) fn sample(&self) -> Sample {
        Sample::new(self.ranks, self.traced)
    }
}

/// A share from 0 to 1 in parts of 2^32.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_whole_groups() {
        for ranks in [
            1,
            63,
            64,
            511,
            512,
            513,
            576,
            600,
            1024,
            4096,
            5000,
            65_536,
            1 << 20,
        ] {
            let sample = Sample::new(ranks, 512);
            let shown: Vec<u32> = (0..ranks).filter(|rank| sample.has(*rank)).collect();
            assert_eq!(shown.len() as u32, ranks.min(512), "{ranks} ranks");
            assert_eq!(shown.len() as u32, sample.count());
            assert_eq!(shown[0], 0, "the root of a tree is shown");
            if ranks > 512 {
                let whole =
                    |group: &[u32]| group[0].is_multiple_of(GROUP) && group[63] == group[0] + 63;
                assert!(shown.chunks(64).all(whole), "{ranks} ranks: {shown:?}");
            }
        }
        assert!((0..10).all(|rank| !Sample::new(10, 0).has(rank)));
        let few = Sample::new(40, 7);
        assert!((0..40).all(|rank| few.has(rank) == (rank < 7)) && few.count() == 7);
    }

    /// Every eighth rank of 4,096 would be an inner rank of a tree of incast 8.
    #[test]
    fn a_sample_of_a_tree_has_leaves_and_inner_ranks() {
        let sample = Sample::new(4096, 512);
        let merging = (0..4096)
            .filter(|rank| rank % 8 == 0 && sample.has(*rank))
            .count();
        assert_eq!(merging, 512 / 8);
        assert_eq!(
            sample.to_string(),
            "512 of 4096 cores: 8 groups of 64 neighbours"
        );
        assert_eq!(Sample::new(64, 512).to_string(), "all 64 cores");
    }
}
