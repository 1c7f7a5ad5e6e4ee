//! The fastest way to write runs, found by trying each of them now and then.
//!
//! ```text
//! runs   | 4 plain | 4 lz4 | 4 zstd | the fastest ...... | 4 plain | ...
//! ```
//!
//! The cost of a way is the time for which workers pack and then wait for the disk. If other stages
//! are slower than the disk, workers do not wait, and packing only costs.

use codec::Packing;

/// A format, or `None` for chunks as they are.
pub(super) type Way = Option<Packing>;

const WAYS: [Way; 3] = [None, Some(Packing::Lz4), Some(Packing::Zstd)];

/// Runs that are written in each way when it is tried: several workers write, with requests in
/// flight.
const TRIED: u64 = 4;

/// Runs from trial to trial. If packing does not pay, one run in 32 is packed nevertheless.
const PERIOD: u64 = 256;

/// Packing may take this share of the time of plain runs at most: chunks are unpacked later.
const WORTH: (u64, u64) = (4, 5);

/// Time that runs took, in ticks of the node, and their bytes in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub ticks: u64,
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Trial {
    runs: u64,
    costs: [Cost; WAYS.len()],
}

impl Trial {
    pub(super) fn next(&mut self) -> Way {
        let at = self.runs % PERIOD;
        self.runs += 1;
        if at == 0 {
            self.costs = Default::default();
        }
        let tried = WAYS.get((at / TRIED) as usize);
        tried.copied().unwrap_or_else(|| self.fastest())
    }

    /// Notes the cost of a run that is written.
    pub(super) fn add(&mut self, way: Way, run: Cost) {
        let number = WAYS.iter().position(|&other| other == way);
        let cost = &mut self.costs[number.expect("all ways are listed")];
        cost.ticks += run.ticks;
        cost.bytes += run.bytes;
    }

    fn fastest(&self) -> Way {
        let mut best = (None, self.costs[0]);
        for (way, cost) in WAYS.into_iter().zip(self.costs).skip(1) {
            let share = if best.0.is_none() { WORTH } else { (1, 1) };
            if cost.is_below(share, best.1) {
                best = (way, cost);
            }
        }
        best.0
    }
}

impl Cost {
    /// Whether a byte takes less than that share of its time in `other`.
    fn is_below(self, (part, of): (u64, u64), other: Cost) -> bool {
        let time = |ticks: u64, bytes: u64| u128::from(ticks) * u128::from(bytes);
        let both = self.bytes > 0 && other.bytes > 0;
        both && time(self.ticks, other.bytes) * u128::from(of)
            < time(other.ticks, self.bytes) * u128::from(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways of that many runs, each of which takes so many ticks for a byte.
    fn ways(runs: usize, ticks: impl Fn(Way) -> u64) -> Vec<Way> {
        let mut trial = Trial::default();
        let mut next = || {
            let way = trial.next();
            let (bytes, ticks) = (1000, 1000 * ticks(way));
            trial.add(way, Cost { ticks, bytes });
            way
        };
        (0..runs).map(|_| next()).collect()
    }

    #[test]
    fn the_fastest_way_is_taken_after_each_trial() {
        let way = |plain, lz4, zstd| {
            let all = ways(2 * PERIOD as usize, |way| match way {
                None => plain,
                Some(Packing::Lz4) => lz4,
                Some(Packing::Zstd) => zstd,
            });
            let (first, second) = all.split_at(PERIOD as usize);
            assert_eq!(first, second);
            assert_eq!(first[..4], [None; 4]);
            assert_eq!(first[4..8], [Some(Packing::Lz4); 4]);
            assert_eq!(first[8..12], [Some(Packing::Zstd); 4]);
            assert!(first[13..].iter().all(|&way| way == first[12]));
            first[12]
        };
        assert_eq!(way(100, 50, 60), Some(Packing::Lz4));
        assert_eq!(way(100, 50, 40), Some(Packing::Zstd));
        assert_eq!(way(100, 90, 85), None);
        assert_eq!(way(0, 5, 5), None);
    }

    #[test]
    fn a_way_whose_runs_are_not_written_yet_is_not_taken() {
        let mut trial = Trial::default();
        let all: Vec<Way> = (0..20).map(|_| trial.next()).collect();
        assert_eq!(all[12..], [None; 8]);
        let cost = |ticks| Cost { ticks, bytes: 10 };
        trial.add(Some(Packing::Lz4), cost(1));
        assert_eq!(trial.next(), None);
        trial.add(None, cost(2));
        assert_eq!(trial.next(), Some(Packing::Lz4));
    }
}
