//! Finds records whose keys came before, as they are read, so that repeats are not copied, sorted, sent or
//! written.
//!
//! ```text
//! records   |a 7|b 9|a 7|a 7|c 9|...     the key is the second field
//! keys      7  9                         of the records that are kept; a, b, and later none but new keys
//! ```
//!
//! Keys are compared as bytes: some that are equal in the order, such as `1` and `1.0`, are left to the sort.
//! The memory is fixed, and so is the time for a record.

use crate::records::block::Ranges;
use crate::records::order::TotalOrder;

/// Keys that are remembered at most, and their bytes together.
const MOST_KEYS: usize = 1 << 13;
const MOST_BYTES: usize = 1 << 18;

/// Slots of the table, which is half full at most, and those that are looked at for a key.
const SLOTS: usize = 2 * MOST_KEYS;
const PROBES: usize = 8;

/// Where less than this part of a block repeats, the next blocks are not looked at, each time twice as
/// many.
const WORTHWHILE: usize = 8;
const MOST_SKIPPED: u32 = 64;

/// The keys of records that were kept.
#[derive(Debug, Default)]
pub struct Repeats {
    slots: Vec<Slot>,
    /// The keys, each behind its length.
    keys: Vec<u8>,
    known: usize,
    /// Blocks that are still skipped, and those that were skipped before.
    left: u32,
    skipped: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u32,
    start: u32,
    /// 0 for a slot that is free: the length of a key is a part of it.
    bytes: u32,
    /// That of the first record with the key: blocks come in any order.
    position: u64,
}

impl Repeats {
    /// The records of a stretch that begins at position `first`, by their offsets, but for repeats; none if
    /// there are none, or it is not worthwhile to look.
    pub(crate) fn sift<'b, O: TotalOrder>(
        &mut self,
        order: &O,
        first: u64,
        records: impl FnOnce(&mut dyn FnMut(usize, &'b [u8])),
    ) -> Option<Ranges> {
        if self.left > 0 {
            self.left -= 1;
            return None;
        }
        if self.slots.is_empty() {
            self.slots = vec![Slot::default(); SLOTS];
            self.keys.reserve(MOST_BYTES);
        }
        let (mut seen, mut repeated, mut kept) = (0, 0, Ranges::default());
        records(&mut |at, record| {
            seen += 1;
            if self.is_repeat(order, record, first + at as u64) {
                repeated += 1
            } else {
                kept.add(at, record.len())
            }
        });
        self.skipped = if repeated < seen / WORTHWHILE {
            (2 * self.skipped).clamp(1, MOST_SKIPPED)
        } else {
            0
        };
        self.left = self.skipped;
        (repeated > 0).then_some(kept)
    }

    /// Whether the keys of a record are those of one before it; if not, they are remembered, if there is
    /// room.
    fn is_repeat<O: TotalOrder>(&mut self, order: &O, record: &[u8], position: u64) -> bool {
        let start = self.keys.len();
        order.each_key(record, &mut |key| {
            self.keys
                .extend_from_slice(&(key.len() as u32).to_le_bytes());
            self.keys.extend_from_slice(key);
        });
        let key = &self.keys[start..];
        let (hash, bytes) = (hash(key), key.len());
        let slots = (0..PROBES).map(|probe| (hash as usize + probe) % SLOTS);
        for slot in slots {
            let slot = &mut self.slots[slot];
            if slot.bytes == 0 {
                if self.known < MOST_KEYS && start + bytes <= MOST_BYTES {
                    self.known += 1;
                    *slot = Slot {
                        hash,
                        start: start as u32,
                        bytes: bytes as u32,
                        position,
                    };
                    return false;
                }
                break;
            }
            let other = slot.start as usize..(slot.start + slot.bytes) as usize;
            if slot.hash == hash && self.keys[other] == self.keys[start..] {
                self.keys.truncate(start);
                let is_later = slot.position < position;
                slot.position = slot.position.min(position);
                return is_later;
            }
        }
        self.keys.truncate(start);
        false
    }
}

/// Spreads keys over the slots. Whoever makes keys for one slot makes it useless, and no slower.
fn hash(key: &[u8]) -> u32 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(ODD);
    let (words, rest) = key.as_chunks::<8>();
    let hash = words
        .iter()
        .fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let hash = mix(hash, u64::from_le_bytes(last));
    // The last digits of numbers change only high bits, which decide no slot before they meet the low ones.
    ((hash ^ hash >> 32).wrapping_mul(ODD) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use record::{LineOrder, Ties};

    use super::*;

    fn sift(repeats: &mut Repeats, first: u64, lines: &[u8]) -> Option<Vec<u8>> {
        let keys = vec!["2,2".parse().unwrap()];
        let order =
            record::text::TextOrder::new(keys, Default::default(), None, Ties::Position, None);
        let order = LineOrder::lines(order.unwrap(), b'\n');
        let kept = repeats.sift(&order, first, |each| {
            let mut at = 0;
            for line in lines.split_inclusive(|&byte| byte == b'\n') {
                each(at, line);
                at += line.len();
            }
        })?;
        let mut all = lines.to_vec();
        let size = kept.keep(&mut all);
        all.truncate(size.bytes as usize);
        Some(all)
    }

    #[test]
    fn a_key_is_kept_once_over_blocks() {
        let repeats = &mut Repeats::default();
        let kept = sift(repeats, 100, b"a 7\nb 9\nc 7\nd 77\ne 9\n");
        assert_eq!(kept.unwrap(), b"a 7\nb 9\nd 77\n");
        let kept = sift(repeats, 200, b"f 77\ng 8\nh 8\n");
        assert_eq!(kept.unwrap(), b"g 8\n");
        // A block from before has the first record with a key.
        let kept = sift(repeats, 0, b"i 7\nj 7\n");
        assert_eq!(kept.unwrap(), b"i 7\n");
        assert_eq!(sift(repeats, 50, b"k 7\n").unwrap(), b"");
    }

    #[test]
    fn more_keys_than_are_remembered_are_all_kept() {
        let repeats = &mut Repeats::default();
        let lines: String = (0..20_000)
            .map(|number| format!("x {number:0>20}\n"))
            .collect();
        assert_eq!(sift(repeats, 0, lines.as_bytes()), None);
        assert_eq!(repeats.known, MOST_KEYS);
        assert!(repeats.keys.len() <= MOST_BYTES);
        // The next block is skipped.
        assert_eq!(sift(repeats, 0, b"a 7\nb 7\n"), None);
        assert_eq!(
            sift(repeats, 1 << 30, lines.as_bytes()).map(|kept| kept.len() < lines.len()),
            Some(true)
        );
        let long = &mut Repeats::default();
        let lines: String = (0..3000)
            .map(|number| format!("x {number:0>200}\n"))
            .collect();
        assert_eq!(sift(long, 0, lines.as_bytes()), None);
        assert!((MOST_BYTES - 300..=MOST_BYTES).contains(&long.keys.len()));
    }
}
