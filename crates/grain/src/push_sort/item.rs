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

/// Most items of a message: with the step and another word they fill a segment of 1,024 bytes,
/// the longest message that the network multicasts.
pub const MOST_ITEMS: usize = 84;

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
