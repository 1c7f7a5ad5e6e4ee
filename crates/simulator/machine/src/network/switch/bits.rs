//! The branches or members of a multicast that have not acknowledged.

/// A growing bitmap.
#[derive(Default)]
pub struct Bits {
    words: Vec<u64>,
    /// How many of them are set.
    count: u32,
}

impl Bits {
    pub fn set(&mut self, bit: u32) {
        let word = bit as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let mask = 1 << (bit % 64);
        self.count += u32::from(self.words[word] & mask == 0);
        self.words[word] |= mask;
    }

    pub fn clear(&mut self, bit: u32) {
        if let Some(word) = self.words.get_mut(bit as usize / 64) {
            let mask = 1 << (bit % 64);
            self.count -= u32::from(*word & mask != 0);
            *word &= !mask;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn has(&self, bit: u32) -> bool {
        let word = self.words.get(bit as usize / 64);
        word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// The number of bits that are set.
    pub fn len(&self) -> u32 {
        self.count
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        self.words
            .iter()
            .enumerate()
            .flat_map(move |(at, &word)| bits(word).map(move |bit| at as u32 * 64 + bit))
    }
}
