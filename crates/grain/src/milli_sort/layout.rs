//! Which core sorts whose pivots: arithmetic, no tables.
//!
//! Every R-th core is a pivot sorter, for itself and the cores up to the next one; R is the
//! reduction factor, the incast of a sorter. With 7 cores and R = 3:
//!
//! ```text
//!     core      0 < 1 2     3 < 4 5     6
//!     sorter    0           1           2
//! ```

use node::Rank;

/// So many cores, with a sorter for every `reduction` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    cores: u32,
    reduction: u32,
}

impl Layout {
    /// Of any number of cores and any reduction factor; 0 is taken as 1.
    pub fn new(cores: u32, reduction: u32) -> Layout {
        Layout {
            cores,
            reduction: reduction.max(1),
        }
    }

    /// How many cores there are, and so parts in the end.
    pub fn cores(self) -> usize {
        self.cores as usize
    }

    /// How many sorters there are.
    pub fn sorters(self) -> u32 {
        self.cores.div_ceil(self.reduction)
    }

    /// The core that is a sorter.
    pub fn sorter(self, number: u32) -> Rank {
        Rank(number * self.reduction)
    }

    /// The number of a core's sorter.
    pub fn number_of(self, core: Rank) -> u32 {
        core.0 / self.reduction
    }

    /// The sorter of a core.
    pub fn sorter_of(self, core: Rank) -> Rank {
        self.sorter(self.number_of(core))
    }

    /// How many cores a sorter hears, itself among them.
    pub fn cores_of(self, sorter: Rank) -> u32 {
        self.reduction.min(self.cores - sorter.0)
    }

    /// The core so many places after another, the first after the last.
    pub fn core_after(self, core: Rank, places: u32) -> Rank {
        let place = u64::from(core.0) + u64::from(places);
        Rank((place % u64::from(self.cores)) as u32)
    }

    /// The core so many places before another; at most as many as there are cores.
    pub fn core_before(self, core: Rank, places: u32) -> Rank {
        self.core_after(core, self.cores - places)
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
                let heard: Vec<_> = sorters
                    .flat_map(|sorter| (0..layout.cores_of(sorter)).map(move |at| (sorter, at)))
                    .map(|(sorter, at)| (Rank(sorter.0 + at), sorter))
                    .collect();
                let all = (0..cores)
                    .map(Rank)
                    .map(|core| (core, layout.sorter_of(core)));
                assert_eq!(heard, all.collect::<Vec<_>>(), "{layout:?}");
            }
        }
    }

    #[test]
    fn who_is_after_and_who_before() {
        let layout = Layout::new(7, 3);
        assert_eq!((layout.sorters(), layout.cores_of(Rank(6))), (3, 1));
        for core in (0..7).map(Rank) {
            for places in 0..7 {
                let after = layout.core_after(core, places);
                assert_eq!(layout.core_before(after, places), core);
            }
        }
        assert_eq!(layout.core_after(Rank(5), 3), Rank(1));
    }
}
