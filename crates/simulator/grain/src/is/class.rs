//! The classes of IS: their sizes, their keys, and the published ranks of five keys (NPB, IS).

use clap::ValueEnum;
use serde::Serialize;

/// The size of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
pub enum Class {
    /// 2^16 keys below 2^11
    #[default]
    #[value(name = "S")]
    S,
    /// 2^20 keys below 2^16
    #[value(name = "W")]
    W,
    /// 2^23 keys below 2^19
    #[value(name = "A")]
    A,
    /// 2^25 keys below 2^21
    #[value(name = "B")]
    B,
    /// 2^27 keys below 2^23
    #[value(name = "C")]
    C,
}

/// Keys whose ranks are published.
pub(super) const TESTED: usize = 5;

/// The multiplier of the generator: 5^13.
const MULTIPLIER: u64 = 1_220_703_125;

/// The first number of the generator.
const FIRST: u64 = 314_159_265;

/// Numbers of the generator have so many bits.
const BITS: u32 = 46;

/// Numbers that are added up to a key.
const ADDED: u32 = 4;

/// A class with its published facts.
#[derive(Debug)]
pub(super) struct Facts {
    /// The binary logarithm of the number of keys.
    log_keys: u32,
    /// The binary logarithm of the bound of the keys.
    log_bound: u32,
    /// The binary logarithm of the number of buckets.
    log_buckets: u32,
    /// Places of the tested keys among all.
    places: [u32; TESTED],
    /// Their ranks, before the iteration is counted in.
    ranks: [u32; TESTED],
    /// Whether the rank rises with the iteration. Otherwise it falls.
    rises: [bool; TESTED],
    /// Iterations that do not count for ranks that rise, and for those that fall.
    late: [u32; 2],
}

impl Class {
    pub(super) fn facts(self) -> &'static Facts {
        const FIRST_TWO: [bool; TESTED] = [true, true, false, false, false];
        const FIRST_THREE: [bool; TESTED] = [true, true, true, false, false];
        match self {
            Class::S => &Facts {
                log_keys: 16,
                log_bound: 11,
                log_buckets: 9,
                places: [48_427, 17_148, 23_627, 62_548, 4_431],
                ranks: [0, 18, 346, 64_917, 65_463],
                rises: FIRST_THREE,
                late: [0, 0],
            },
            Class::W => &Facts {
                log_keys: 20,
                log_bound: 16,
                log_buckets: 10,
                places: [357_773, 934_767, 875_723, 898_999, 404_505],
                ranks: [1_249, 11_698, 1_039_987, 1_043_896, 1_048_018],
                rises: FIRST_TWO,
                late: [2, 0],
            },
            Class::A => &Facts {
                log_keys: 23,
                log_bound: 19,
                log_buckets: 10,
                places: [2_112_377, 662_041, 5_336_171, 3_642_833, 4_250_760],
                ranks: [104, 17_523, 123_928, 8_288_932, 8_388_264],
                rises: FIRST_THREE,
                late: [1, 1],
            },
            Class::B => &Facts {
                log_keys: 25,
                log_bound: 21,
                log_buckets: 10,
                places: [41_869, 812_306, 5_102_857, 18_232_239, 26_860_214],
                ranks: [33_422_937, 10_244, 59_149, 33_135_281, 99],
                rises: [false, true, true, false, true],
                late: [0, 0],
            },
            Class::C => &Facts {
                log_keys: 27,
                log_bound: 23,
                log_buckets: 10,
                places: [44_172_927, 72_999_161, 74_326_391, 129_606_274, 21_736_814],
                ranks: [61_147, 882_988, 266_290, 133_997_595, 133_525_895],
                rises: FIRST_THREE,
                late: [0, 0],
            },
        }
    }
}

impl Facts {
    /// The number of keys of all ranks.
    pub fn keys(&self) -> u32 {
        1 << self.log_keys
    }

    /// Keys are below this.
    pub fn bound(&self) -> u32 {
        1 << self.log_bound
    }

    pub fn buckets(&self) -> usize {
        1 << self.log_buckets
    }

    /// The width of a bucket as a power of two.
    pub fn bucket_bits(&self) -> u32 {
        self.log_bound - self.log_buckets
    }

    /// The keys of a rank, of `ranks` with equally many: the generator jumps over the keys of lower ranks.
    pub fn keys_of(&self, rank: u32, ranks: u32) -> impl Iterator<Item = u32> + use<> {
        let each = self.keys() / ranks;
        let before = ADDED * each * rank;
        // Wrapping products keep the low bits right.
        let mut number = FIRST.wrapping_mul(MULTIPLIER.wrapping_pow(before));
        let scale = BITS + 2 - self.log_bound;
        (0..each).map(move |_| {
            let sum: u64 = (0..ADDED)
                .map(|_| {
                    number = number.wrapping_mul(MULTIPLIER) & ((1 << BITS) - 1);
                    number
                })
                .sum();
            (sum >> scale) as u32
        })
    }

    /// The tested keys of a rank with `each` keys: their number among the tested ones, and their place at the
    /// rank.
    pub fn tested(&self, rank: u32, each: u32) -> impl Iterator<Item = (usize, usize)> {
        let places = self.places.iter().enumerate();
        let here = places.filter(move |(_, place)| *place / each == rank);
        here.map(move |(number, place)| (number, (place % each) as usize))
    }

    /// The rank of a tested key at an iteration.
    pub fn expected(&self, number: usize, iteration: u32) -> u32 {
        let rank = self.ranks[number];
        let [late_up, late_down] = self.late;
        if self.rises[number] {
            rank + iteration - late_up
        } else {
            rank - (iteration - late_down)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(class: Class, ranks: u32) -> Vec<u32> {
        let of = |rank| class.facts().keys_of(rank, ranks);
        (0..ranks).flat_map(of).collect()
    }

    #[test]
    fn the_keys_are_the_published_ones() {
        let sum = |keys: &[u32]| keys.iter().map(|key| u64::from(*key)).sum::<u64>();
        let s = keys(Class::S, 1);
        assert_eq!(s[..8], [1585, 825, 1060, 1343, 956, 437, 759, 841]);
        assert_eq!((s.len(), sum(&s)), (1 << 16, 67_027_849));
        let w = keys(Class::W, 1);
        assert_eq!(w[..4], [50_737, 26_409, 33_921, 42_989]);
        assert_eq!((w.len(), sum(&w)), (1 << 20, 34_365_783_705));
    }

    #[test]
    fn ranks_begin_where_lower_ones_end() {
        for ranks in [2, 4, 32] {
            assert!(keys(Class::S, ranks) == keys(Class::S, 1), "{ranks}");
        }
        // The longest jump that there is.
        let c = Class::C.facts();
        let last = c.keys_of(1023, 1024).next();
        let mut all = c
            .keys_of(1, 2)
            .skip((c.keys() / 2 - c.keys() / 1024) as usize);
        assert_eq!(last, all.next());
    }

    #[test]
    fn ranks_change_with_the_iteration() {
        let of = |class: Class, iteration| {
            [0, 1, 2, 3, 4].map(|number| class.facts().expected(number, iteration))
        };
        assert_eq!(of(Class::S, 1), [1, 19, 347, 64_916, 65_462]);
        assert_eq!(
            of(Class::W, 1),
            [1_248, 11_697, 1_039_986, 1_043_895, 1_048_017]
        );
        assert_eq!(of(Class::W, 10)[..2], [1_257, 11_706]);
        assert_eq!(of(Class::A, 1), Class::A.facts().ranks);
        assert_eq!(of(Class::B, 2)[..2], [33_422_935, 10_246]);
    }
}
