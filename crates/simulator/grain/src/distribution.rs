//! Distributions of keys, made from uniformly drawn numbers.
//!
//! All but one keep the order of the drawn numbers. So with one seed, a sort that only compares
//! keys takes the same time under each of them, to the tick.

use clap::ValueEnum;
use node::Rank;
use serde::Serialize;

use crate::local_min::values;

/// The distribution of the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Uniform over all 64-bit numbers.
    #[default]
    Uniform,
    /// Uniform logarithms: half of the keys are below a 256th of the greatest.
    HeavyTailed,
    /// Sixteen clusters, each a 65,536th as wide as the distance to the next.
    Clustered,
    /// Uniform and already in order, the first core's keys being the least.
    Sorted,
    /// Sixteen different keys, each of them many times.
    Repeated,
}

impl Distribution {
    /// The `count` keys of one of `cores` cores.
    pub(crate) fn keys(self, seed: u64, rank: Rank, cores: u32, count: u32) -> Vec<u64> {
        let drawn = values(seed, rank, count);
        let each = u64::MAX / (u64::from(cores) * u64::from(count)).max(1);
        let first = u64::from(rank.0) * u64::from(count);
        (first..)
            .zip(drawn)
            .map(|(position, drawn)| self.key(drawn, position, each))
            .collect()
    }

    /// The key for a drawn number; `each` is the mean distance of keys, and `position` the key's
    /// position among the keys of all cores if they are sorted.
    fn key(self, drawn: u64, position: u64, each: u64) -> u64 {
        let (top, rest) = (drawn >> TOP_SHIFT, drawn & (u64::MAX >> TOP_BITS));
        match self {
            Distribution::Uniform => drawn,
            // The top bits choose one of sixteen powers of two, from 2^48 on.
            Distribution::HeavyTailed => {
                let power = 64 - CLUSTERS + top;
                1 << power | ((u128::from(rest) << power) >> TOP_SHIFT) as u64
            }
            Distribution::Clustered => top << TOP_SHIFT | rest >> 16,
            Distribution::Sorted => position * each + drawn % each.max(1),
            Distribution::Repeated => top << TOP_SHIFT,
        }
    }
}

/// The top bits of a drawn number choose one of sixteen clusters.
const TOP_BITS: u64 = 4;
const TOP_SHIFT: u64 = 64 - TOP_BITS;
const CLUSTERS: u64 = 1 << TOP_BITS;

#[cfg(test)]
mod tests {
    use super::*;

    fn all_keys(distribution: Distribution) -> Vec<u64> {
        (0..64)
            .flat_map(|core| distribution.keys(3, Rank(core), 64, 50))
            .collect()
    }

    #[test]
    fn keys_are_distinct_unless_repeated() {
        for distribution in Distribution::value_variants().iter().copied() {
            let mut keys = all_keys(distribution);
            keys.sort_unstable();
            if distribution == Distribution::Repeated {
                keys.dedup();
                assert_eq!(keys.len(), 16);
                continue;
            }
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
    fn distributions_have_their_shapes() {
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
