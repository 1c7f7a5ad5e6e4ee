//! Numbers in a message to several readers: those of each reader's part together, and before them
//! where each part ends.
//!
//! ```text
//!   ends 2 2 3 | number number | | number
//! ```

use super::item::MOST_WORDS;
use super::lanes::Lanes;

/// Most numbers of a message: where they end fits in eight bits.
const MOST: usize = 255;

/// How messages carry the numbers of several parts.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    parts: u32,
    lanes: Lanes,
}

impl Parts {
    /// Of numbers up to `most`.
    pub fn new(parts: u32, most: u64) -> Parts {
        Parts {
            parts,
            lanes: Lanes::of(most),
        }
    }

    fn ends() -> Lanes {
        Lanes::of(MOST as u64)
    }

    /// Whether a message that is multicast can have that many numbers.
    pub fn fit(self, numbers: usize) -> bool {
        numbers <= MOST && self.words(numbers) <= MOST_WORDS
    }

    /// The units of work to write that many numbers and the ends of their parts.
    pub fn units(self, numbers: usize) -> usize {
        self.parts as usize + numbers
    }

    /// The words of that many numbers.
    pub fn words(self, numbers: usize) -> usize {
        Parts::ends().words(self.parts as usize) + self.lanes.words(numbers)
    }

    /// The numbers, in the order of their parts.
    pub fn pack(self, numbers: &[(u32, u64)]) -> Vec<u64> {
        let end = |part| numbers.partition_point(|(of, _)| *of <= part) as u64;
        let ends: Vec<_> = (0..self.parts).map(end).collect();
        let numbers: Vec<_> = numbers.iter().map(|(_, number)| *number).collect();
        let mut words: Vec<_> = Parts::ends().pack(&ends).collect();
        words.extend(self.lanes.pack(&numbers));
        words
    }

    /// The numbers of a part.
    pub fn of_part(self, words: &[u64], part: u32) -> Vec<u64> {
        let (ends, numbers) = words.split_at(Parts::ends().words(self.parts as usize));
        let end = |part: u32| Parts::ends().unpack(ends).nth(part as usize);
        let until = end(part).expect("a part of the message") as usize;
        let from = part.checked_sub(1).and_then(end).unwrap_or(0) as usize;
        self.lanes.unpack(numbers).take(until).skip(from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_finds_its_numbers() {
        for most in [1, 255, 256, u64::from(u32::MAX), u64::MAX] {
            let parts = Parts::new(9, most);
            let number = |of: u32| most - u64::from(of) % most;
            for lengths in [
                [0; 9],
                [1, 0, 2, 0, 3, 0, 0, 0, 1],
                [28; 9],
                [0, 0, 0, 0, 0, 0, 0, 0, 255],
            ] {
                let each = (0..9).zip(lengths);
                let numbers: Vec<_> = each
                    .clone()
                    .flat_map(|(part, length)| (0..length).map(move |of| (part, number(of))))
                    .collect();
                let words = parts.pack(&numbers);
                assert_eq!(words.len(), parts.words(numbers.len()));
                for (part, length) in each {
                    let expected: Vec<_> = (0..length).map(number).collect();
                    assert_eq!(parts.of_part(&words, part), expected);
                }
            }
        }
    }
}
