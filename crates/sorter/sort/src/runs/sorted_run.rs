//! Sorted runs, the sources of a merge.
//!
//! ```text
//! input    |.. load 0 ..|.. load 1 ..|.. load 2 ..|.. load 3 ..|
//! sorted   | 3 ......40 | 41 .... 70 | 12 .... 55 | 58 .... 90 |     in order behind the last one?
//! runs     |______________ run 0 ____|_____________ run 1 _____|     (Knuth 5.4.1, natural merging)
//! ```
//!
//! An input that is sorted already is a run as it is.
//!
//! A run is a range of the input, so with `--stable` equal keys of an earlier run come first.

use crate::records::block::Bucket;
use crate::records::contents::Workspace;
use crate::records::size::Size;
use crate::runs::partition::Spilled;

/// A sorted load that is still in memory.
#[derive(Debug)]
pub(crate) struct SortedLoad {
    pub bucket: Bucket,
    pub order: Workspace,
}

/// Records of a run that lie together.
#[derive(Debug)]
pub(crate) enum Stretch {
    /// Chunks in a spill file, all full but the last.
    Disk(Spilled),
    Memory(Box<SortedLoad>),
    /// The input of that number, and its size as far as it is known.
    Input(usize, Size),
}

impl Stretch {
    pub(crate) fn size(&self) -> Size {
        match self {
            Stretch::Disk(spilled) => spilled.size,
            Stretch::Memory(load) => load.bucket.size,
            Stretch::Input(_, size) => *size,
        }
    }
}

/// Sorted records, one stretch behind the other.
#[derive(Debug, Default)]
pub(crate) struct SortedRun {
    pub stretches: Vec<Stretch>,
    /// The most often that any of its records was written.
    pub writes: u32,
}

impl SortedRun {
    pub(crate) fn of_input(number: usize, size: Size) -> SortedRun {
        let stretches = vec![Stretch::Input(number, size)];
        SortedRun {
            stretches,
            writes: 0,
        }
    }

    pub(crate) fn input(&self) -> Option<usize> {
        match self.stretches[..] {
            [Stretch::Input(number, _)] => Some(number),
            _ => None,
        }
    }

    pub(crate) fn size(&self) -> Size {
        self.stretches.iter().map(Stretch::size).sum()
    }

    pub(crate) fn is_on_disk(&self) -> bool {
        self.stretches
            .iter()
            .any(|stretch| matches!(stretch, Stretch::Disk(_)))
    }

    pub(crate) fn extend(&mut self, stretches: Vec<Stretch>) {
        self.stretches.extend(stretches);
        self.writes = self.writes.max(u32::from(self.is_on_disk()));
    }
}

/// Groups of neighbouring runs to merge next, each the number of its runs, so that no merge reads
/// more than `fan_in` runs. A run that stays as it is makes a group of one.
///
/// As few records as possible are written again: every merge but the last takes only as many runs
/// as leave `fan_in` for each later one (Knuth 5.4.9).
pub(crate) fn groups(runs: usize, fan_in: usize) -> Vec<usize> {
    assert!(fan_in > 1, "a merge of one run gains nothing");
    let mut left = fan_in;
    // The runs that one pass less can merge.
    while left.saturating_mul(fan_in) < runs {
        left = left.saturating_mul(fan_in);
    }
    if runs <= left {
        return vec![1; runs];
    }
    // Merging a group of n runs leaves n - 1 fewer.
    let (fewer, most) = (runs - left, fan_in - 1);
    let merges = fewer.div_ceil(most);
    let mut groups: Vec<usize> = (0..merges)
        .map(|n| (n + 1) * fewer / merges - n * fewer / merges + 1)
        .collect();
    let merged: usize = groups.iter().sum();
    groups.resize(merges + runs - merged, 1);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_even_groups_need_the_fewest_passes() {
        for fan_in in 2..9_usize {
            for runs in 1..300 {
                let (mut left, mut passes) = (runs, 0);
                while left > fan_in {
                    let groups = groups(left, fan_in);
                    assert_eq!(groups.iter().sum::<usize>(), left, "{runs} by {fan_in}");
                    let merged: Vec<_> = groups.iter().copied().filter(|&size| size > 1).collect();
                    let (least, most) =
                        (merged.iter().min().unwrap(), merged.iter().max().unwrap());
                    assert!(
                        *most <= fan_in && most - least <= 1,
                        "{runs} by {fan_in}: {groups:?}"
                    );
                    (left, passes) = (groups.len(), passes + 1);
                }
                let needed = (1..).find(|&passes| fan_in.pow(passes) >= runs).unwrap();
                assert_eq!(passes + 1, needed, "{runs} by {fan_in}");
            }
        }
    }

    #[test]
    fn one_run_too_many_costs_one_small_merge() {
        let groups = groups(101, 100);
        assert_eq!((groups.len(), groups[0]), (100, 2));
    }
}
