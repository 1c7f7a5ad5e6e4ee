//! The settings of a run beside the profile of its machine.

use node::Rank;

/// The settings of a run.
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
    /// The share of those messages, in parts of 2^32.
    pub tail_parts: u32,
    /// The share of packets that each link loses, in parts of 2^32.
    pub loss_parts: u32,
    /// Measures from a message's first flit in to the next message's last flit out, at this rank's
    /// NIC.
    pub tap: Option<Rank>,
    /// How many ranks' stages to write down for a trace; 0 for none. [`Sample`] says which.
    pub traced: u32,
    /// Whether to write down every message that is sent.
    pub sends: bool,
}

/// The ranks that a trace shows: all, or of many some groups of neighbours, the first and the last
/// ones among them and the others evenly between.
///
/// Ranks in even steps would be those alone that merge in a tree whose incast divides the step. A
/// group of neighbours shows a merging rank with those it hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    ranks: u32,
    traced: u32,
}

/// Neighbours that are shown together: two levels of a tree at incast 8, and the cores of 16 NICs.
const GROUP: u32 = 64;

impl Sample {
    /// A sample of at most `traced` of these ranks, in whole groups or one smaller group.
    pub fn new(ranks: u32, traced: u32) -> Sample {
        Sample { ranks, traced }
    }

    /// How many ranks it shows.
    pub fn count(self) -> u32 {
        if self.ranks <= self.traced {
            self.ranks
        } else {
            self.groups() * self.each()
        }
    }

    /// Whether it shows a rank.
    pub fn has(self, rank: u32) -> bool {
        if self.ranks <= self.traced {
            return rank < self.ranks;
        }
        (0..self.groups()).any(|group| rank / self.each() == self.place(group))
    }

    fn groups(self) -> u32 {
        self.traced / self.each()
    }

    /// Ranks of a group.
    fn each(self) -> u32 {
        GROUP.min(self.traced).max(1)
    }

    /// Where a group lies, in groups: at least one further than the last, as there are more.
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
            sends: false,
        }
    }

    /// Which ranks' stages are written down.
    pub(crate) fn sample(&self) -> Sample {
        Sample::new(self.ranks, self.traced)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_so_many_ranks_in_whole_groups() {
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

    /// With every eighth rank of 4,096 a tree of incast 8 would show merging ranks alone.
    #[test]
    fn a_sample_of_a_tree_has_leaves_and_merging_ranks() {
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
