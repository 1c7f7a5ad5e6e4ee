//! PivotSelect: the keys of a node that become its pivots (NanoSort, section 4.2).
//!
//! A splitting value is the median of the nodes' pivots. The expectation of the i-th of n random
//! keys is where the splitting value should be, but its *median* is not: of nine keys the smallest
//! is at 7.4 % of all keys in the median, not at 10 %. So a node draws its pivots, with
//! probabilities that bring the median to the right place:
//!
//! ```text
//!   as many keys as buckets b   1/4: any b - 1 of them   3/8: the first b - 1   3/8: the last
//!   twice as many               1/2: 1 3 6 8 10 ... 2i ... 26 27 29    1/2: the same from the end
//!   fewer than b                duplicate some of them, then as for b
//!   any other number            a random subset of L or b of them
//! ```
//!
//! The paper prints this for 16 buckets, where twice as many keys are 32. Two rules for other numbers
//! of buckets agree with it: a node looks at twice as many keys as buckets, or always at 32. Here the
//! number is given; of L keys the pivots are `iL / b`, and one less for the two at either end, where
//! the printed list has `2i - 1`. Of the variants tried this was the most even for twice as many keys
//! and 4 to 32 buckets (the largest bucket is 2 to 5 % above the mean).
//!
//! The paper leaves two cases open. A node without keys selects no pivots. With fewer keys than
//! half of b, duplicates are drawn with repetition.
//!
//! Pivots are positions in the sorted keys, so equal keys need no special case.

/// How a node with as many keys as buckets selects its pivots (Figure 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// All keys but a random one.
    Naive,
    /// All keys but the first or the last, with equal probability.
    Two,
    /// With probability 1/4 [`Strategy::Naive`], else [`Strategy::Two`].
    Three,
}

/// The positions from 0 of a node's pivots in its sorted keys: `buckets - 1`, in order. `None` if
/// there are no keys. A node that has `most` keys or more looks at `most` of them, which are twice as
/// many as buckets or more. `random` returns uniform 64-bit numbers.
///
/// # Panics
/// If there are no buckets.
pub fn pivot_select(
    buckets: usize,
    keys: usize,
    most: usize,
    mut random: impl FnMut() -> u64,
) -> Option<Vec<usize>> {
    assert!(buckets > 0, "keys go to buckets");
    if keys == 0 {
        return None;
    }
    let random = &mut random;
    if keys >= most {
        let subset = subset(keys, most, random);
        let pivots = of_many(buckets, most, random);
        return Some(pivots.into_iter().map(|at| subset[at]).collect());
    }
    let positions = if keys >= buckets {
        subset(keys, buckets, random)
    } else {
        let mut positions: Vec<_> = (0..keys).collect();
        positions.extend((keys..buckets).map(|_| below(keys, random)));
        positions.sort_unstable();
        positions
    };
    let pivots = of_as_many(Strategy::Three, buckets, random);
    Some(pivots.into_iter().map(|at| positions[at]).collect())
}

/// The positions of the pivots among as many keys as buckets.
pub fn of_as_many(
    strategy: Strategy,
    buckets: usize,
    random: &mut impl FnMut() -> u64,
) -> Vec<usize> {
    let is_naive = match strategy {
        Strategy::Naive => true,
        Strategy::Two => false,
        Strategy::Three => below(4, random) == 0,
    };
    let left_out = if is_naive {
        below(buckets, random)
    } else {
        below(2, random) * (buckets - 1)
    };
    (0..buckets).filter(|at| *at != left_out).collect()
}

/// The positions of the pivots among that many keys.
fn of_many(buckets: usize, keys: usize, random: &mut impl FnMut() -> u64) -> Vec<usize> {
    let from_the_end = below(2, random) == 1;
    // The paper counts keys from 1.
    let index = |i: usize| {
        let is_outer = i <= 2 || i + 2 >= buckets;
        i * keys / buckets - usize::from(is_outer)
    };
    let pivot = |i: usize| {
        if from_the_end {
            keys + 1 - index(buckets - i)
        } else {
            index(i)
        }
    };
    (1..buckets).map(|i| pivot(i) - 1).collect()
}

/// A random subset of `count` of the numbers `0..all`, in order (Vitter's selection sampling).
fn subset(all: usize, count: usize, random: &mut impl FnMut() -> u64) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(count);
    for number in 0..all {
        if below(all - number, random) < count - chosen.len() {
            chosen.push(number);
        }
    }
    chosen
}

/// A uniform number below `limit`.
fn below(limit: usize, random: &mut impl FnMut() -> u64) -> usize {
    ((u128::from(random()) * limit as u128) >> u64::BITS) as usize
}

#[cfg(test)]
mod tests {
    use node::Random;

    use super::*;

    fn pivots(buckets: usize, keys: usize, seed: u64) -> Vec<usize> {
        let mut random = Random::new(seed);
        pivot_select(buckets, keys, 2 * buckets, || random.next_u64()).unwrap()
    }

    /// The lists that the paper prints.
    #[test]
    fn of_32_keys_the_printed_ones_are_selected() {
        let first = [1, 3, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 27, 29];
        let second = [4, 6, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 30, 32];
        let mut seen = [0_u32; 2];
        for seed in 0..2000 {
            let found: Vec<_> = pivots(16, 32, seed).into_iter().map(|at| at + 1).collect();
            let which = usize::from(found != first);
            assert!(found == first || found == second, "{found:?}");
            seen[which] += 1;
        }
        assert!((900..=1100).contains(&seen[0]), "{seen:?}");
    }

    #[test]
    fn of_16_keys_one_is_left_out() {
        let mut left_out = [0_u32; 16];
        for seed in 0..16_000 {
            let found = pivots(16, 16, seed);
            assert!(found.is_sorted() && found.len() == 15);
            let missing = (0..16).find(|at| !found.contains(at)).unwrap();
            left_out[missing] += 1;
        }
        // 3/8 + 1/64 at either end, 1/64 between.
        for (at, count) in left_out.into_iter().enumerate() {
            let expected = if at == 0 || at == 15 { 6250 } else { 250 };
            assert!(count.abs_diff(expected) < expected / 4, "{at}: {count}");
        }
    }

    #[test]
    fn any_number_of_keys_gives_pivots_in_order() {
        for buckets in [1, 2, 3, 4, 5, 8, 16, 17, 40] {
            for keys in (1..=2 * buckets + 3).chain([100, 1000]) {
                for seed in 0..20 {
                    let found = pivots(buckets, keys, seed);
                    assert_eq!(found.len(), buckets - 1);
                    assert!(found.is_sorted() && found.iter().all(|at| *at < keys));
                    if keys >= buckets {
                        assert!(found.windows(2).all(|two| two[0] < two[1]), "{found:?}");
                    }
                }
            }
        }
        assert_eq!(pivot_select(8, 0, 16, || 0), None);
    }

    /// Of 32 keys, buckets that divide them are even: the median of each pivot over nodes
    /// is at its place.
    #[test]
    fn of_32_keys_the_buckets_are_even() {
        const NODES: usize = 20_001;
        for buckets in [4, 8, 16] {
            let mut random = Random::new(buckets as u64);
            let mut pivots = vec![Vec::new(); buckets - 1];
            for _ in 0..NODES {
                let mut keys: Vec<f64> = (0..32)
                    .map(|_| random.next_u64() as f64 / u64::MAX as f64)
                    .collect();
                keys.sort_by(f64::total_cmp);
                let places = pivot_select(buckets, 32, 32, || random.next_u64()).unwrap();
                assert!(places.windows(2).all(|two| two[0] < two[1]));
                for (pivots, place) in pivots.iter_mut().zip(places) {
                    pivots.push(keys[place]);
                }
            }
            let median =
                |pivots: &mut Vec<f64>| *pivots.select_nth_unstable_by(NODES / 2, f64::total_cmp).1;
            let mut last = 0.0;
            let medians: Vec<f64> = pivots.iter_mut().map(median).chain([1.0]).collect();
            for median in medians {
                let size = (median - last) * buckets as f64;
                assert!((0.94..1.06).contains(&size), "{buckets} buckets: {size}");
                last = median;
            }
        }
    }
}
