//! A permutation of `0..n`, computed without a table.
//!
//! If every rank i sends a message to `permutation.of(i)`, every rank receives exactly one, without
//! any agreement.
//!
//! ```text
//!   i --> xor, odd factor, xor with own high half, twice --> below n?  yes: the result
//!     ^    each step a bijection of 0..2^k, 2^k >= n      |
//!     \_______________ no: follow the cycle ____________/
//! ```
//!
//! Following the cycle until it is below n (Black and Rogaway 2002) keeps it a bijection, and takes
//! less than two rounds on average since `2^k < 2n`. It scatters messages and is no encryption: the
//! n! permutations are not equally likely.

use node::Random;

/// A permutation of `0..count`.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    count: u32,
    mask: u32,
    half: u32,
    keys: [u32; 4],
}

impl Permutation {
    /// The permutation number `number` of a seed.
    pub fn new(count: u32, seed: u64, number: u64) -> Permutation {
        let bits = u32::BITS - count.saturating_sub(1).leading_zeros();
        let mut random = Random::stream(seed, number);
        let (first, second) = (random.next_u64(), random.next_u64());
        Permutation {
            count,
            mask: u32::MAX.checked_shr(u32::BITS - bits).unwrap_or(0),
            half: bits.div_ceil(2).max(1),
            // Odd factors have an inverse.
            keys: [
                first as u32,
                (first >> 32) as u32 | 1,
                second as u32,
                (second >> 32) as u32 | 1,
            ],
        }
    }

    /// The image of `index`.
    ///
    /// # Panics
    /// If `index` is not below the count: the walk might never end.
    #[inline]
    pub fn of(&self, index: u32) -> u32 {
        assert!(index < self.count, "{index} is not below {}", self.count);
        let mut place = self.mix(index);
        while place >= self.count {
            place = self.mix(place);
        }
        place
    }

    #[inline]
    fn mix(&self, index: u32) -> u32 {
        let [first, second, third, fourth] = self.keys;
        let round = |value: u32, key: u32, factor: u32| {
            let value = (value ^ key).wrapping_mul(factor) & self.mask;
            value ^ (value >> self.half)
        };
        round(round(index, first, second), third, fourth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_taken_once() {
        let sizes = (1..=130).chain([255, 256, 257, 1000, 1023, 1024, 4096, 65_536, 65_537]);
        for count in sizes {
            for number in 0..5 {
                let permutation = Permutation::new(count, 7, number);
                let mut taken = vec![false; count as usize];
                for index in 0..count {
                    let place = permutation.of(index) as usize;
                    assert!(
                        !std::mem::replace(&mut taken[place], true),
                        "{count}: {place} twice"
                    );
                }
            }
        }
    }

    #[test]
    fn the_largest_count_works() {
        let permutation = Permutation::new(u32::MAX, 1, 1);
        let places: std::collections::BTreeSet<_> =
            (0..1000).map(|at| permutation.of(at)).collect();
        assert_eq!(places.len(), 1000);
    }

    /// With 64 ranks an index stays in its place once in 64 times.
    #[test]
    fn images_are_spread() {
        let mut hits = [0_u32; 64];
        for number in 0..6400 {
            hits[Permutation::new(64, 3, number).of(5) as usize] += 1;
        }
        assert!(
            hits.iter().all(|hits| (50..=160).contains(hits)),
            "{hits:?}"
        );
    }

    #[test]
    fn a_seed_and_a_number_decide_it() {
        let places = |seed, number| {
            let permutation = Permutation::new(100, seed, number);
            (0..100)
                .map(|index| permutation.of(index))
                .collect::<Vec<_>>()
        };
        assert_eq!(places(1, 2), places(1, 2));
        assert_ne!(places(1, 2), places(1, 3));
        assert_ne!(places(1, 2), places(2, 2));
    }
}
