//! The order of records: every format becomes one string of bytes that compares as bytes.
//!
//! The normalised key is the keys, each encoded so that its order is that of its bytes (`field`),
//! and then the whole record, so that the order is total. The rest of Gristmill knows nothing of
//! types or directions: it reads the key's 64-bit words. The first one, the prefix, decides nearly
//! every comparison in a register.
//!
//! ```text
//! --key 12+4:i32le:desc --key 0+3                records of 20 bytes
//! | ~(i32 ^ sign), be | 3 bytes | the record: 20 bytes ......... | 0 |
//! |       word 0                 |   word 1   |   word 2   |  word 3 |
//! ```
//!
//! A key of plain bytes at the start of the record is not repeated: the normalised key of gensort
//! is the record itself (`normalised`).
//!
//! Ties: with [`Ties::Record`] the key ends with the whole record, always ascending, so equal means
//! the same bytes. With a tie-breaker by position it ends without the record, and the sort must break ties
//! by the position in the input.

use std::cmp::Ordering;

use crate::field::{Field, WORD_BYTES};
use crate::format::FormatError;
use crate::gensort;
use crate::key::{Key, KeyError, KeyProblem, Kind};
use crate::normalised::NormalisedKey;

/// The most keys of an order. With records of at most 1 GiB, word numbers stay below 2^32.
pub const MAX_KEYS: usize = 16;

/// The longest record in bytes. Longer ones are better sorted by references to them.
pub const MAX_RECORD_BYTES: usize = 1 << 30;

const _: () = assert!((MAX_KEYS + 1) * (MAX_RECORD_BYTES / WORD_BYTES) < u32::MAX as usize);

/// The tie-breaker between records with equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ties {
    /// The whole record, ascending; of lines in the direction of the global options.
    Record,
    /// The position in the input, which the order does not see (`-s`, `-u`).
    Position,
    /// The position in the input, the last record first (`-u --keep last`).
    LastPosition,
}

impl Ties {
    /// Whether positions in the input decide.
    #[must_use]
    pub fn are_by_position(self) -> bool {
        self != Ties::Record
    }

    /// The place among records with equal keys of one at this position: the least is the first.
    #[inline]
    #[must_use]
    pub fn place(self, position: u64) -> u64 {
        match self {
            Ties::Record | Ties::Position => position,
            Ties::LastPosition => !position,
        }
    }
}

/// An order of records as a string of 64-bit words, total unless positions break ties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    record_bytes: usize,
    ties: Ties,
    /// The keys as given; the whole record, if there was none.
    given: Vec<Key>,
    /// The keys without the record, for their equality.
    keys: Vec<Field>,
    /// The keys, and the record if it breaks ties.
    normalised: NormalisedKey,
}

impl Order {
    /// The order of records of `record_bytes` bytes by `keys`, the most significant first. Without
    /// keys, the key is the whole record.
    ///
    /// # Errors
    /// If a key does not fit into the record or its type, the record length is out of range, or
    /// there are too many keys.
    pub fn new(record_bytes: usize, keys: &[Key], ties: Ties) -> Result<Order, FormatError> {
        if !(1..=MAX_RECORD_BYTES).contains(&record_bytes) {
            return Err(FormatError::Length {
                given: record_bytes.to_string(),
            });
        }
        if keys.len() > MAX_KEYS {
            return Err(FormatError::TooManyKeys { given: keys.len() });
        }
        for key in keys {
            check(key, record_bytes)?;
        }
        let whole = [Key::plain(0, record_bytes)];
        let given = if keys.is_empty() { &whole } else { keys };
        let keys: Vec<Field> = given.iter().map(Field::from).collect();
        let normalised = match ties {
            Ties::Record => NormalisedKey::of_keys_and_record(&keys, record_bytes),
            Ties::Position | Ties::LastPosition => NormalisedKey::of_keys(&keys),
        };
        Ok(Order {
            record_bytes,
            ties,
            given: given.to_vec(),
            keys,
            normalised,
        })
    }

    /// The order of the sort benchmark: records of 100 bytes by the first ten.
    #[must_use]
    pub fn gensort(ties: Ties) -> Order {
        let key = Key::plain(0, gensort::KEY_BYTES);
        Order::new(gensort::RECORD_BYTES, &[key], ties).expect("ten bytes fit into a hundred")
    }

    /// The length of every record.
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        self.record_bytes
    }

    /// The tie-breaker between equal keys.
    #[must_use]
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// The keys, the most significant first. `fixed:LEN` with these keys describes this order.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.given
    }

    /// The bytes of all keys of a record, unchanged and concatenated.
    pub fn key_bytes<'r>(&self, record: &'r [u8]) -> impl Iterator<Item = u8> + use<'_, 'r> {
        self.keys.iter().flat_map(|key| key.raw(record)).copied()
    }

    /// Gives the bytes of each key of a record to `then`. Records in which they are the same have equal
    /// keys.
    pub fn each_key(&self, record: &[u8], then: &mut dyn FnMut(&[u8])) {
        self.keys.iter().for_each(|key| then(key.raw(record)));
    }

    /// The number of words of the normalised key; the last one is padded with zeros.
    #[must_use]
    pub fn words(&self) -> u32 {
        self.normalised.words()
    }

    /// Word `depth` of the record's normalised key; 0 past the last. Word 0 is the prefix.
    #[inline]
    #[must_use]
    pub fn word(&self, record: &[u8], depth: u32) -> u64 {
        self.normalised.word(record, depth)
    }

    /// The prefixes of contiguous records, in their order.
    ///
    /// # Panics
    /// If `records` is not one whole record per prefix.
    pub fn prefixes(&self, records: &[u8], prefixes: &mut [u64]) {
        let bytes = self.record_bytes;
        assert_eq!(
            records.len(),
            bytes * prefixes.len(),
            "a place for each whole record"
        );
        let records = records.chunks_exact(bytes);
        self.normalised.prefixes(records, prefixes);
    }

    /// The order of two records by all their words.
    #[inline]
    #[must_use]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.normalised.compare(a, b)
    }

    /// Whether all keys of two records are equal.
    #[inline]
    #[must_use]
    pub fn keys_equal(&self, a: &[u8], b: &[u8]) -> bool {
        self.keys.iter().all(|key| key.equal(a, b))
    }
}

/// Checks that a key fits its type and the record.
fn check(key: &Key, record_bytes: usize) -> Result<(), KeyError> {
    let end = key.offset.saturating_add(key.bytes);
    let problem = if key.bytes == 0 {
        KeyProblem::Empty
    } else if !key.kind.fits(key.bytes) {
        match key.kind {
            Kind::Decimal(_) => KeyProblem::DecimalLength(key.bytes),
            _ => KeyProblem::NoSuchNumber(key.bytes),
        }
    } else if end > record_bytes {
        KeyProblem::PastEnd { end, record_bytes }
    } else {
        return Ok(());
    };
    let spec = key.to_string();
    let character = spec.find('+').map_or(1, |plus| plus + 2);
    Err(KeyError {
        spec,
        character,
        problem,
    })
}
