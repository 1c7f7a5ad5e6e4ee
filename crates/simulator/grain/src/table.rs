//! A hash table of one core: keys and values in two flat arrays, no pointers.
//!
//! Open addressing with linear probing: a key is in the slot of its hash, or in the next free one.
//! At most three quarters of the slots are used, so a look-up tries few neighbours.
//!
//! ```text
//!   keys     | 7 |   | 3 | 19 |   | ...     hash(3) = hash(19) = slot 2
//!   values   |...|   |...|....|   | ...     as many words each
//! ```
//!
//! Keys cannot be removed.

/// Marks a free slot; not a key.
const FREE: u64 = u64::MAX;

/// 2^64 divided by the golden ratio: Fibonacci hashing takes the high bits of the product (Knuth,
/// volume 3, section 6.4).
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Slots of the smallest table.
const LEAST_SLOTS: usize = 8;

/// A hash table from keys to values of a fixed number of words.
#[derive(Clone, Debug)]
pub struct Table {
    value_words: usize,
    count: usize,
    keys: Vec<u64>,
    values: Vec<u64>,
}

impl Table {
    /// An empty table; it takes no memory yet.
    pub fn new(value_words: usize) -> Table {
        Table {
            value_words,
            count: 0,
            keys: Vec::new(),
            values: Vec::new(),
        }
    }

    /// How many keys it holds.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The value of a key.
    pub fn get(&self, key: u64) -> Option<&[u64]> {
        let slot = self.slot(key)?;
        (self.keys[slot] == key).then(|| self.value(slot))
    }

    /// Sets the value of a key.
    ///
    /// # Panics
    /// If the key is `u64::MAX`, or the value has another length.
    pub fn put(&mut self, key: u64, value: &[u64]) {
        assert!(key != FREE, "the largest number is no key");
        if (self.count + 1) * 4 > self.keys.len() * 3 {
            self.grow();
        }
        let slot = self.slot(key).expect("a table that has grown has slots");
        self.count += usize::from(self.keys[slot] == FREE);
        self.keys[slot] = key;
        let begin = slot * self.value_words;
        self.values[begin..begin + self.value_words].copy_from_slice(value);
    }

    /// All keys with their values, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u64])> {
        let taken = self
            .keys
            .iter()
            .enumerate()
            .filter(|(_, key)| **key != FREE);
        taken.map(|(slot, key)| (*key, self.value(slot)))
    }

    /// The slot of a key, or the free slot for it.
    fn slot(&self, key: u64) -> Option<usize> {
        let mask = self.keys.len().checked_sub(1)?;
        // The highest bits, as many as number the slots.
        let mut slot = (key.wrapping_mul(FACTOR) >> mask.leading_zeros()) as usize;
        while self.keys[slot] != key && self.keys[slot] != FREE {
            slot = (slot + 1) & mask;
        }
        Some(slot)
    }

    fn value(&self, slot: usize) -> &[u64] {
        &self.values[slot * self.value_words..][..self.value_words]
    }

    fn grow(&mut self) {
        let slots = (self.keys.len() * 2).max(LEAST_SLOTS);
        let mut larger = Table {
            keys: vec![FREE; slots],
            values: vec![0; slots * self.value_words],
            ..Table::new(self.value_words)
        };
        self.iter().for_each(|(key, value)| larger.put(key, value));
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use node::Random;

    use super::*;

    #[test]
    fn it_agrees_with_a_map() {
        for (seed, space) in [(1, 5), (2, 100), (3, 5000)] {
            let (mut table, mut map) = (Table::new(2), BTreeMap::new());
            let mut random = Random::new(seed);
            for step in 0..3000 {
                let key = random.below(space) as u64;
                if random.below(2) == 0 {
                    table.put(key, &[key, step]);
                    map.insert(key, [key, step]);
                }
                assert_eq!(table.get(key), map.get(&key).map(|value| &value[..]));
            }
            assert_eq!((table.len(), table.is_empty()), (map.len(), map.is_empty()));
            let held: BTreeMap<_, _> = table.iter().collect();
            let expected: BTreeMap<_, _> =
                map.iter().map(|(key, value)| (*key, &value[..])).collect();
            assert_eq!(held, expected);
        }
    }

    #[test]
    fn keys_of_one_slot_do_not_mix() {
        // The inverse of the factor: its multiples hash to small numbers, all in the first slot.
        let inverse = (0..6).fold(1_u64, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(FACTOR.wrapping_mul(inverse)))
        });
        assert_eq!(FACTOR.wrapping_mul(inverse), 1);
        let keys = [1, 2, 3, 4].map(|multiple| inverse.wrapping_mul(multiple));
        let mut table = Table::new(1);
        keys.iter().for_each(|&key| table.put(key, &[key]));
        assert!(keys.iter().all(|&key| table.get(key) == Some(&[key])));
        assert_eq!(table.get(4), None);
    }

    /// Fibonacci hashing scatters consecutive keys: none collide.
    #[test]
    fn the_high_bits_keep_neighbours_apart() {
        let mut table = Table::new(0);
        (0..5).for_each(|key| table.put(key, &[]));
        let mask = table.keys.len() as u64 - 1;
        for key in 0..5_u64 {
            let high = key.wrapping_mul(FACTOR) / (u64::MAX / (mask + 1) + 1);
            assert_eq!(table.slot(key), Some(high as usize), "key {key}");
        }
    }

    #[test]
    fn values_may_be_empty() {
        let mut table = Table::new(0);
        assert_eq!(table.get(1), None);
        table.put(1, &[]);
        assert_eq!((table.get(1), table.get(2)), (Some(&[][..]), None));
    }
}
