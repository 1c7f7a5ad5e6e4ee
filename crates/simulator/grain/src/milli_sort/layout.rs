//! The pivot sorter of each core, computed without tables.
//!
//! Every R-th core sorts the pivots of itself and the cores up to the next sorter; R is the
//! reduction factor, the in-cast of a sorter. With 7 cores and R = 3:
//!
//! ```text
//!     core      0 < 1 2     3 < 4 5     6
//!     sorter    0           1           2
//! ```

use node::Rank;

/// Cores, with a pivot sorter for every `reduction` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    cores: u32,
    reduction: u32,
}

impl Layout {
    /// A reduction factor of 0 counts as 1.
    pub fn new(cores: u32, reduction: u32) -> Layout {
        Layout {
            cores,
            reduction: reduction.max(1),
        }
    }

    pub fn cores(self) -> usize {
        self.cores as usize
    }

    pub fn sorters(self) -> u32 {
        self.cores.div_ceil(self.reduction)
    }

    /// The core that is sorter `number`.
    pub fn sorter(self, number: u32) -> Rank {
        Rank(number * self.reduction)
    }

    /// The number of a core's sorter.
    pub fn number_of(self, core: Rank) -> u32 {
        core.0 / self.reduction
    }

    pub fn sorter_of(self, core: Rank) -> Rank {
        self.sorter(self.number_of(core))
    }

    /// Cores of a sorter, itself included.
    pub fn cores_of(self, sorter: Rank) -> u32 {
        self.reduction.min(self.cores - sorter.0)
    }

    /// The core `distance` after another; core 0 follows the last.
    pub fn core_after(self, core: Rank, distance: u32) -> Rank {
        let after = u64::from(core.0) + u64::from(distance);
        Rank((after % u64::from(self.cores)) as u32)
    }

    /// The core `distance` before another; at most as many as there are cores.
    pub fn core_before(self, core: Rank, distance: u32) -> Rank {
        self.core_after(core, self.cores - distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_has_one_sorter() {
        for cores in 1..40 {
            for reduction in [0, 1, 2, 3, 7, 40, u32::MAX] {
                let layout = Layout::new(cores, reduction);
                let sorters = (0..layout.sorters()).map(|number| layout.sorter(number));
                let found: Vec<_> = sorters
                    .flat_map(|sorter| (0..layout.cores_of(sorter)).map(move |at| (sorter, at)))
                    .map(|(sorter, at)| (Rank(sorter.0 + at), sorter))
                    .collect();
                let all = (0..cores)
                    .map(Rank)
                    .map(|core| (core, layout.sorter_of(core)));
                assert_eq!(found, all.collect::<Vec<_>>(), "{layout:?}");
            }
        }
    }

    #[test]
    fn before_and_after_are_inverse() {
        let layout = Layout::new(7, 3);
        assert_eq!((layout.sorters(), layout.cores_of(Rank(6))), (3, 1));
        for core in (0..7).map(Rank) {
            for distance in 0..7 {
                let after = layout.core_after(core, distance);
                assert_eq!(layout.core_before(after, distance), core);
            }
        }
        assert_eq!(layout.core_after(Rank(5), 3), Rank(1));
    }
}
