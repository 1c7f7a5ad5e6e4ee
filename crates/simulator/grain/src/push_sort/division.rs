//! Consecutive cores, divided into parts of nearly equal size, computed without tables.
//!
//! ```text
//!   10 cores, 4 parts     0 1 2 | 3 4 5 | 6 7 | 8 9     the first parts have one more
//! ```
//!
//! The keys of a group are divided among its cores in the same way, by their ranks.

use std::ops::Range;

use node::{Group, Rank};

/// Consecutive cores in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    pub first: u32,
    pub cores: u32,
    pub parts: u32,
}

impl Division {
    /// The size of the parts; the first ones may have one more.
    pub fn least(self) -> u32 {
        self.cores / self.parts
    }

    /// The size of the largest part.
    pub fn most(self) -> u32 {
        self.cores.div_ceil(self.parts)
    }

    /// How many parts have one core more.
    fn larger(self) -> u32 {
        self.cores % self.parts
    }

    /// Cores before a part.
    pub fn before(self, part: u32) -> u32 {
        part * self.least() + part.min(self.larger())
    }

    pub fn size(self, part: u32) -> u32 {
        self.least() + u32::from(part < self.larger())
    }

    pub fn core(self, part: u32, index: u32) -> Rank {
        debug_assert!(index < self.size(part));
        Rank(self.first + self.before(part) + index)
    }

    /// The part of a core, and its index there.
    pub fn place(self, core: Rank) -> (u32, u32) {
        let offset = core.0 - self.first;
        let of_larger = self.larger() * (self.least() + 1);
        let part = match offset.checked_sub(of_larger) {
            None => offset / (self.least() + 1),
            Some(beyond) => self.larger() + beyond / self.least(),
        };
        (part, offset - self.before(part))
    }

    /// A part, divided again.
    pub fn part(self, part: u32, parts: u32) -> Division {
        Division {
            first: self.core(part, 0).0,
            cores: self.size(part),
            parts,
        }
    }

    /// All cores.
    pub fn all(self) -> Group {
        Group::row(Rank(self.first), self.cores)
    }

    /// The parts that have one core more, and the others.
    pub fn alike(self) -> [Range<u32>; 2] {
        [0..self.larger(), self.larger()..self.parts]
    }

    /// In each part the cores of `count` indices, `stride` apart from `index` on: as few groups as
    /// arithmetic allows.
    pub fn in_each(self, index: u32, count: u32, stride: u32) -> Vec<Group> {
        let mut groups = Vec::new();
        for alike in self.alike().into_iter().filter(|alike| !alike.is_empty()) {
            let (from, until) = (alike.start, alike.end);
            let size = self.size(from);
            let first = self.core(from, index);
            if count == 1 || count * stride == size {
                let stride = if count == 1 { size } else { stride };
                groups.push(Group {
                    first,
                    count: count * (until - from),
                    stride,
                });
            } else {
                groups.extend((from..until).map(|part| Group {
                    first: self.core(part, index),
                    count,
                    stride,
                }));
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_has_one_place() {
        for cores in 1..60 {
            for parts in 1..=cores {
                let division = Division {
                    first: 7,
                    cores,
                    parts,
                };
                let mut next = 7;
                for part in 0..parts {
                    for index in 0..division.size(part) {
                        assert_eq!(division.core(part, index), Rank(next));
                        assert_eq!(division.place(Rank(next)), (part, index));
                        next += 1;
                    }
                }
                assert_eq!(next, 7 + cores);
            }
        }
    }

    #[test]
    fn groups_have_their_members_in_each_part() {
        for (cores, parts, count, stride) in [
            (64, 4, 4, 4),
            (65, 4, 4, 4),
            (65, 4, 1, 1),
            (67, 4, 3, 5),
            (64, 4, 16, 1),
        ] {
            let division = Division {
                first: 3,
                cores,
                parts,
            };
            let groups = division.in_each(0, count, stride);
            let mut found: Vec<_> = groups.into_iter().flat_map(Group::members).collect();
            found.sort_unstable();
            let of_part = |part| (0..count).map(move |at| division.core(part, at * stride));
            assert_eq!(found, (0..parts).flat_map(of_part).collect::<Vec<_>>());
        }
    }
}
