//! Keys in a total order, and how messages carry them.
//!
//! Equal keys are ordered by the numbers of their records, so no two items are equal and splitters
//! cut a run of equal keys like any other.

/// A key, and the number of its record among those of all cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    pub key: u64,
    pub number: u32,
}

/// An odd number, about 2^32 divided by the golden ratio: its multiples are spread evenly.
const SCATTER: u32 = 0x9E37_79B1;

/// Its inverse modulo 2^32, by Newton's iteration: each step doubles the bits that are right.
const GATHER: u32 = {
    let mut inverse = SCATTER;
    let mut step = 0;
    while step < 4 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(SCATTER.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};

impl Item {
    /// The item with another number, which tells nothing about where its record began.
    ///
    /// The first samples of a group that arrive are not a fair choice of senders. If equal keys were
    /// ordered by sender, the splitters between its bands would cut them unequally.
    pub fn scattered(self) -> Item {
        let number = self.number.wrapping_mul(SCATTER);
        Item { number, ..self }
    }

    /// The item that was scattered.
    pub fn gathered(self) -> Item {
        let number = self.number.wrapping_mul(GATHER);
        Item { number, ..self }
    }
}

/// Most words of a message after the step and another word: they fill a segment of 1,024 bytes, the
/// longest message that the network multicasts.
pub const MOST_WORDS: usize = 126;

/// Most items of a message.
pub const MOST_ITEMS: usize = MOST_WORDS * 2 / 3;

/// Appends the words of items: the keys, then their numbers, two to a word.
pub fn pack(items: &[Item], words: &mut Vec<u64>) {
    words.extend(items.iter().map(|item| item.key));
    let pair = |pair: &[Item]| {
        let second = pair.get(1).map_or(0, |item| u64::from(item.number));
        u64::from(pair[0].number) | second << 32
    };
    words.extend(items.chunks(2).map(pair));
}

/// Items whose keys came alone: their numbers are 0.
pub fn keys(words: &[u64]) -> impl Iterator<Item = Item> {
    words.iter().map(|key| Item {
        key: *key,
        number: 0,
    })
}

/// The items of packed words.
pub fn unpack(words: &[u64]) -> impl Iterator<Item = Item> {
    // n keys and half as many words of numbers.
    let (keys, numbers) = words.split_at(words.len() * 2 / 3);
    keys.iter().enumerate().map(|(at, key)| Item {
        key: *key,
        number: (numbers[at / 2] >> (at % 2 * 32)) as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_items_are_gathered() {
        for number in [0, 1, 2, 12_345, u32::MAX] {
            let item = Item { key: 7, number };
            assert_eq!(item.scattered().gathered(), item);
        }
    }

    #[test]
    fn items_come_out_as_they_went_in() {
        for count in 0..=MOST_ITEMS {
            let item = |at| Item {
                key: u64::MAX - at,
                number: u32::MAX - at as u32,
            };
            let items: Vec<_> = (0..count as u64).map(item).collect();
            let mut words = Vec::new();
            pack(&items, &mut words);
            assert!(words.len() + 2 <= 128);
            assert_eq!(unpack(&words).collect::<Vec<_>>(), items);
        }
    }
}
