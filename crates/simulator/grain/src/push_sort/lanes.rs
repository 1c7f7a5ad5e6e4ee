//! Small numbers, several to a word.

/// The most that fits in 16 bits: sums of few numbers that are far below it fit there, too.
pub const NARROW: u64 = u16::MAX as u64;

/// Numbers of equally many bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// 8, 16, 32 or 64.
    bits: u32,
}

impl Lanes {
    /// The narrowest lanes that hold that number.
    pub fn of(most: u64) -> Lanes {
        let bits = u64::BITS - most.leading_zeros();
        Lanes {
            bits: bits.next_power_of_two().max(8),
        }
    }

    /// The words of that many numbers.
    pub fn words(self, numbers: usize) -> usize {
        numbers.div_ceil(self.each())
    }

    /// The numbers of a word.
    fn each(self) -> usize {
        (u64::BITS / self.bits) as usize
    }

    pub fn pack(self, numbers: &[u64]) -> impl Iterator<Item = u64> {
        numbers.chunks(self.each()).map(move |numbers| {
            let fits = |number: &u64| *number <= u64::MAX >> (u64::BITS - self.bits);
            debug_assert!(
                numbers.iter().all(fits),
                "numbers fit in {} bits",
                self.bits
            );
            let lanes = numbers.iter().zip((0..).step_by(self.bits as usize));
            lanes.fold(0, |word, (number, shift)| word | number << shift)
        })
    }

    /// The numbers in words. The last word may have more than were packed: those are 0.
    pub fn unpack(self, words: &[u64]) -> impl Iterator<Item = u64> {
        words.iter().flat_map(move |word| {
            let shifts = (0..u64::BITS).step_by(self.bits as usize);
            shifts.map(move |shift| word >> shift & (u64::MAX >> (u64::BITS - self.bits)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_packed_as_narrowly_as_they_fit() {
        for (most, each) in [
            (0, 8),
            (1, 8),
            (255, 8),
            (256, 4),
            (u64::from(u16::MAX), 4),
            (u64::from(u16::MAX) + 1, 2),
            (u64::from(u32::MAX), 2),
            (u64::from(u32::MAX) + 1, 1),
            (u64::MAX, 1),
        ] {
            let lanes = Lanes::of(most);
            for count in [0, 1, 2, 3, 4, 5, 100] {
                let numbers: Vec<u64> = (0..count).map(|number| most - number.min(most)).collect();
                let words: Vec<u64> = lanes.pack(&numbers).collect();
                assert_eq!(words.len() as u64, count.div_ceil(each), "{most}");
                assert_eq!(words.len(), lanes.words(numbers.len()));
                let mut unpacked = lanes.unpack(&words);
                let same: Vec<_> = unpacked.by_ref().take(numbers.len()).collect();
                assert_eq!(same, numbers, "{most}");
                assert!(unpacked.all(|rest| rest == 0));
            }
        }
    }
}
