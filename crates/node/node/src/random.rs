//! Random streams: counter-based, so a stream depends on its seed alone.

/// A random stream (SplitMix64: Steele, Lea and Flood 2014): the n-th number is a mix of
/// `seed + n * golden ratio`.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// 2^64 divided by the golden ratio, odd: consecutive counters land far apart.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// One of many independent streams of a seed.
    pub fn stream(seed: u64, stream: u64) -> Random {
        Random::new(mix(seed ^ mix(stream.wrapping_mul(STEP))))
    }

    /// The next number, uniform over all of `u64`.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// The next number, uniform below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of a product: biased by less than bound / 2^64.
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}

fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_the_stream() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            [random.next_u64(), random.next_u64(), random.next_u64()]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        // The first numbers of seed 0, as published for SplitMix64.
        assert_eq!(draw(0)[..2], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn below_reaches_every_number_and_none_beyond() {
        let mut random = Random::new(7);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[random.below(5)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 150), "{seen:?}");
    }
}
