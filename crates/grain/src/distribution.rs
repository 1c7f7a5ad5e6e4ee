//! How keys lie: what becomes of the numbers that are drawn for a core.
//!
//! All but one keep the order of the drawn numbers, so with the same seed a sort that only compares
//! keys does the same under each, to the tick.

use clap::ValueEnum;
use node::Rank;
use serde::Serialize;

use crate::local_min::values;

/// How the keys lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Evenly over all 64-bit numbers.
    #[default]
    Uniform,
    /// By their logarithms evenly: half of them below a 256th of the greatest.
    HeavyTailed,
    /// In sixteen places, each a 65,536th of the distance to the next one wide.
    Clustered,
    /// Evenly, and the first core's keys are the least, in order already.
    Sorted,
}

impl Distribution {
    /// The keys of one of so many cores.
    pub(crate) fn keys(self, seed: u64, rank: Rank, cores: u32, count: u32) -> Vec<u64> {
        let drawn = values(seed, rank, count);
        let each = u64::MAX / (u64::from(cores) * u64::from(count)).max(1);
        let first = u64::from(rank.0) * u64::from(count);
        (first..)
            .zip(drawn)
            .map(|(place, drawn)| self.key(drawn, place, each))
            .collect()
    }

    /// The key that is made of a drawn number, and of its place among `each` apart.
    fn key(self, drawn: u64, place: u64, each: u64) -> u64 {
        let (top, rest) = (drawn >> TOP_SHIFT, drawn & (u64::MAX >> TOP_BITS));
        match self {
            Distribution::Uniform => drawn,
            // One power of two for each of the sixteen places, from 2^48 on.
            Distribution::HeavyTailed => {
                let power = 64 - PLACES + top;
                1 << power | ((u128::from(rest) << power) >> TOP_SHIFT) as u64
            }
            Distribution::Clustered => top << TOP_SHIFT | rest >> 16,
            Distribution::Sorted => place * each + drawn % each.max(1),
        }
    }
}

/// The top bits of a drawn number choose one of sixteen places.
const TOP_BITS: u64 = 4;
const TOP_SHIFT: u64 = 64 - TOP_BITS;
const PLACES: u64 = 1 << TOP_BITS;

#[cfg(test)]
mod tests {
    use super::*;

    fn all_keys(distribution: Distribution) -> Vec<u64> {
        (0..64)
            .flat_map(|core| distribution.keys(3, Rank(core), 64, 50))
            .collect()
    }

    #[test]
    fn keys_are_distinct_under_each_distribution() {
        for distribution in Distribution::value_variants().iter().copied() {
            let mut keys = all_keys(distribution);
            keys.sort_unstable();
            assert!(
                keys.windows(2).all(|pair| pair[0] < pair[1]),
                "{distribution:?}"
            );
        }
    }

    #[test]
    fn order_is_that_of_the_drawn_numbers() {
        let drawn = all_keys(Distribution::Uniform);
        for distribution in [Distribution::HeavyTailed, Distribution::Clustered] {
            let mut pairs: Vec<_> = drawn.iter().zip(all_keys(distribution)).collect();
            pairs.sort_unstable();
            assert!(
                pairs.windows(2).all(|pair| pair[0].1 < pair[1].1),
                "{distribution:?}"
            );
        }
    }

    #[test]
    fn distributions_are_what_they_say() {
        let mut heavy = all_keys(Distribution::HeavyTailed);
        heavy.sort_unstable();
        let median = heavy[heavy.len() / 2];
        assert!(
            median < u64::MAX / 200 && median > u64::MAX / 330,
            "{median}"
        );
        let near = |key: &u64| (key & (u64::MAX >> TOP_BITS)) < 1 << (TOP_SHIFT - 16);
        assert!(all_keys(Distribution::Clustered).iter().all(near));
        assert!(all_keys(Distribution::Sorted).is_sorted());
    }
}
