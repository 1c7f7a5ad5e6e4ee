//! PivotSelect: which of a core's keys stand for the borders of the buckets (NanoSort, section
//! 4.2).
//!
//! Of each core's candidate for a border a tree takes the median. The expectation of the i-th of n
//! random keys is where the border should be, but its *median* is not: of nine keys the least is at
//! 7.4 % of all in the median, not at 10 %. So a core draws which of its keys it names, with
//! probabilities that bring the median of the names to the border:
//!
//! ```text
//!   as many keys as buckets b    1/4: any b - 1 of them   3/8: the first b - 1   3/8: the last b - 1
//!   twice as many                1/2: 1 3 6 8 10 ... 2i ... 26 27 29    1/2: the same from the end
//!   fewer than b                 some of them twice, then as for b
//!   any other number             a random part, of 2b or b of them
//! ```
//!
//! The paper prints this for 16 buckets. For other numbers the rules are the same, with `2i - 1` at
//! the two borders next to either end where the printed list has it: of what was tried, the evenest
//! for any number from 4 to 32 (largest bucket 2 to 5 % above the mean).
//!
//! What the paper leaves open: without keys there is nothing to name, and the tree takes the median
//! of those who have some. Of fewer than half of b the doubled keys are drawn with repetition,
//! since there are not enough without. Equal keys are like any others: names are places in the
//! sorted list.

/// How a core with as many keys as buckets names all borders but none twice (Figure 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Any of them, all choices alike.
    Naive,
    /// The first or the last, as a coin falls.
    Two,
    /// One time in four [`Strategy::Naive`], else [`Strategy::Two`].
    Three,
}

/// The places, from 0 on, that a core names in its sorted list: `buckets - 1` in order; `None` when
/// it has no keys. `random` gives the next number of the core's stream.
///
/// # Panics
/// When there are no buckets.
pub fn pivot_select(
    buckets: usize,
    keys: usize,
    mut random: impl FnMut() -> u64,
) -> Option<Vec<usize>> {
    assert!(buckets > 0, "keys go to buckets");
    if keys == 0 {
        return None;
    }
    let random = &mut random;
    if keys >= 2 * buckets {
        let places = some_of(keys, 2 * buckets, random);
        let twice = of_twice_as_many(buckets, random);
        return Some(twice.into_iter().map(|at| places[at]).collect());
    }
    let places = if keys >= buckets {
        some_of(keys, buckets, random)
    } else {
        let mut places: Vec<_> = (0..keys).collect();
        places.extend((keys..buckets).map(|_| below(keys, random)));
        places.sort_unstable();
        places
    };
    let names = of_as_many(Strategy::Three, buckets, random);
    Some(names.into_iter().map(|at| places[at]).collect())
}

/// The places that are named of as many keys as buckets.
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
    (0..buckets).filter(|place| *place != left_out).collect()
}

/// The places that are named of twice as many keys as buckets.
fn of_twice_as_many(buckets: usize, random: &mut impl FnMut() -> u64) -> Vec<usize> {
    let from_the_end = below(2, random) == 1;
    // Places from 1 on, as the paper has them.
    let place = |border: usize| {
        let is_outer = border <= 2 || border + 2 >= buckets;
        2 * border - usize::from(is_outer)
    };
    let name = |border: usize| match from_the_end {
        false => place(border),
        true => 2 * buckets + 1 - place(buckets - border),
    };
    (1..buckets).map(|border| name(border) - 1).collect()
}

/// `count` of the places `0..all` in order, all choices alike (Vitter's selection sampling).
fn some_of(all: usize, count: usize, random: &mut impl FnMut() -> u64) -> Vec<usize> {
    let mut places = Vec::with_capacity(count);
    for place in 0..all {
        if below(all - place, random) < count - places.len() {
            places.push(place);
        }
    }
    places
}

/// A number below `limit`.
fn below(limit: usize, random: &mut impl FnMut() -> u64) -> usize {
    ((u128::from(random()) * limit as u128) >> u64::BITS) as usize
}

#[cfg(test)]
mod tests {
    use node::Random;

    use super::*;

    fn names(buckets: usize, keys: usize, seed: u64) -> Vec<usize> {
        let mut random = Random::new(seed);
        pivot_select(buckets, keys, || random.next_u64()).unwrap()
    }

    /// The lists of the paper, word for word.
    #[test]
    fn of_32_keys_the_printed_ones_are_named() {
        let first = [1, 3, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 27, 29];
        let second = [4, 6, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 30, 32];
        let mut seen = [0_u32; 2];
        for seed in 0..2000 {
            let named: Vec<_> = names(16, 32, seed)
                .into_iter()
                .map(|place| place + 1)
                .collect();
            let which = usize::from(named != first);
            assert!(named == first || named == second, "{named:?}");
            seen[which] += 1;
        }
        assert!((900..=1100).contains(&seen[0]), "{seen:?}");
    }

    #[test]
    fn of_16_keys_one_is_left_out() {
        let mut left_out = [0_u32; 16];
        for seed in 0..16_000 {
            let named = names(16, 16, seed);
            assert!(named.is_sorted() && named.len() == 15);
            let missing = (0..16).find(|place| !named.contains(place)).unwrap();
            left_out[missing] += 1;
        }
        // 3/8 + 1/64 at either end, 1/64 between.
        for (place, count) in left_out.into_iter().enumerate() {
            let expected = if place == 0 || place == 15 { 6250 } else { 250 };
            assert!(count.abs_diff(expected) < expected / 4, "{place}: {count}");
        }
    }

    #[test]
    fn any_number_of_keys_gives_names_in_order() {
        for buckets in [1, 2, 3, 4, 5, 8, 16, 17, 40] {
            for keys in (1..=2 * buckets + 3).chain([100, 1000]) {
                for seed in 0..20 {
                    let named = names(buckets, keys, seed);
                    assert_eq!(named.len(), buckets - 1);
                    assert!(named.is_sorted() && named.iter().all(|place| *place < keys));
                    if keys >= buckets {
                        assert!(named.windows(2).all(|two| two[0] < two[1]), "{named:?}");
                    }
                }
            }
        }
        assert_eq!(pivot_select(8, 0, || 0), None);
    }
}
