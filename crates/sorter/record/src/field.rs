//! One field of a normalised key: bytes of the record, encoded so that they compare as bytes.
//!
//! A number becomes a byte string of the same length and order (key normalisation: Graefe,
//! "Implementing Sorting in Database Systems", ACM Computing Surveys 38(3), 2006, section 3). With
//! the number left-aligned in a word, its sign is the word's top bit, and every type is one
//! exclusive-or:
//!
//! ```text
//!            always flipped   flipped as well when negative
//! unsigned   nothing          nothing
//! signed     the sign         nothing
//! float      the sign         everything else      (more negative means larger magnitude)
//! descending everything too
//! ```
//!
//! One load serves bytes and numbers of either byte order: eight bytes of the record, shifted so
//! that the wanted ones are on top. Integers of 16 bytes are two words. Keys were checked before.
//!
//! Text in the order of another alphabet is translated byte by byte (`collation`). A decimal number is
//! encoded whole, one byte longer than it is (`decimal`); it alone has several encodings of one value,
//! such as 0 and -0.

use std::cmp::Ordering;

use crate::collation::Collation;
use crate::decimal::Decimal;
use crate::key::{Endian, Key, Kind};

/// Bytes in a word of the normalised key.
pub(crate) const WORD_BYTES: usize = 8;

/// A key as a part of the normalised key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    pub(crate) code: Code,
}

/// The encoding of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Plain bytes, or inverted ones: every eight are exclusive-or'd with `flip`.
    Bytes { flip: u64 },
    /// A number of at most 8 bytes, left-aligned in a word, with bits flipped.
    Number { endian: Endian, flips: Flips },
    /// An integer of 16 bytes with bits flipped.
    Wide { endian: Endian, flip: u128 },
    /// A decimal number; its encoding is exclusive-or'd with `flip`.
    Decimal { decimal: Decimal, flip: u64 },
    /// Bytes that are translated, and exclusive-or'd with `flip`.
    Collated { collation: Collation, flip: u64 },
}

/// The bits of a left-aligned number to flip: always, and additionally if it is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flips {
    always: u64,
    negative: u64,
}

impl Flips {
    #[inline]
    pub(crate) fn apply(self, number: u64) -> u64 {
        let all_if_negative = (number.cast_signed() >> 63).cast_unsigned();
        number ^ self.always ^ (all_if_negative & self.negative)
    }
}

impl From<&Key> for Field {
    fn from(key: &Key) -> Field {
        let flip = if key.descending { u64::MAX } else { 0 };
        let code = match key.kind {
            Kind::Bytes => Code::Bytes { flip },
            Kind::Decimal(decimal) => Code::Decimal { decimal, flip },
            Kind::Collated(collation) => Code::Collated { collation, flip },
            Kind::Unsigned(endian) | Kind::Signed(endian) | Kind::Float(endian) => {
                number_code(key, endian)
            }
        };
        Field {
            offset: key.offset,
            bytes: key.bytes,
            code,
        }
    }
}

fn number_code(key: &Key, endian: Endian) -> Code {
    let bits = 8 * key.bytes as u32;
    // The number's bits at the top of 128 bits; its sign is the topmost bit.
    let all = u128::MAX << (128 - bits);
    let sign = 1 << 127;
    let (always, negative) = match key.kind {
        Kind::Float(_) => (sign, all ^ sign),
        Kind::Signed(_) => (sign, 0),
        _ => (0, 0),
    };
    let flip = if key.descending { always ^ all } else { always };
    let top = |bits: u128| (bits >> 64) as u64;
    if key.bytes <= WORD_BYTES {
        let flips = Flips {
            always: top(flip),
            negative: top(negative),
        };
        Code::Number { endian, flips }
    } else {
        Code::Wide { endian, flip }
    }
}

impl Field {
    /// Whether the encoding leaves the bytes unchanged.
    pub(crate) fn is_plain(&self) -> bool {
        self.code == Code::Bytes { flip: 0 }
    }

    /// Bytes of the encoded field.
    pub(crate) fn width(&self) -> usize {
        match self.code {
            Code::Decimal { .. } => Decimal::width(self.bytes),
            _ => self.bytes,
        }
    }

    /// Bytes `from..from + count` of the encoded field (1 to 8), left-aligned, then zeros.
    #[inline]
    pub(crate) fn part(&self, record: &[u8], from: usize, count: usize) -> u64 {
        let word = match self.code {
            Code::Bytes { flip } => load(record, self.offset + from, count, Endian::Big) ^ flip,
            Code::Number { endian, flips } => self.number(record, endian, flips) << (8 * from),
            Code::Wide { endian, flip } => {
                (self.wide(record, endian, flip) << (8 * from) >> 64) as u64
            }
            Code::Decimal { decimal, flip } => decimal.encode(self.raw(record)).word(from) ^ flip,
            Code::Collated { collation, flip } => {
                collation.word(&self.raw(record)[from..from + count]) ^ flip
            }
        };
        word & leading_bytes(count)
    }

    /// The order of two records by this field.
    #[inline]
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.code {
            Code::Bytes { flip: 0 } => self.raw(a).cmp(self.raw(b)),
            Code::Bytes { .. } => self.raw(b).cmp(self.raw(a)),
            Code::Number { endian, flips } => self
                .number(a, endian, flips)
                .cmp(&self.number(b, endian, flips)),
            Code::Wide { endian, flip } => {
                self.wide(a, endian, flip).cmp(&self.wide(b, endian, flip))
            }
            Code::Decimal { decimal, flip: 0 } => decimal.compare(self.raw(a), self.raw(b)),
            Code::Decimal { decimal, .. } => decimal.compare(self.raw(b), self.raw(a)),
            Code::Collated { collation, flip: 0 } => collation.compare(self.raw(a), self.raw(b)),
            Code::Collated { collation, .. } => collation.compare(self.raw(b), self.raw(a)),
        }
    }

    /// Whether two records are equal in this field. Every encoding is one to one, but for decimals.
    #[inline]
    pub(crate) fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        let (a, b) = (self.raw(a), self.raw(b));
        match self.code {
            Code::Decimal { decimal, .. } => a == b || decimal.compare(a, b).is_eq(),
            _ => a == b,
        }
    }

    /// The field's bytes in the record.
    #[inline]
    pub(crate) fn raw<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        &record[self.offset..self.offset + self.bytes]
    }

    #[inline]
    fn number(&self, record: &[u8], endian: Endian, flips: Flips) -> u64 {
        let number = load(record, self.offset, self.bytes, endian) & leading_bytes(self.bytes);
        flips.apply(number)
    }

    #[inline]
    fn wide(&self, record: &[u8], endian: Endian, flip: u128) -> u128 {
        let half = |offset| u128::from(load(record, offset, WORD_BYTES, endian));
        let (first, second) = (half(self.offset), half(self.offset + WORD_BYTES));
        flip ^ match endian {
            Endian::Big => first << 64 | second,
            Endian::Little => second << 64 | first,
        }
    }
}

/// A word with its first `count` (1 to 8) bytes set.
#[inline]
fn leading_bytes(count: usize) -> u64 {
    u64::MAX << (8 * (WORD_BYTES - count))
}

/// The eight bytes at `offset` as a number.
#[inline]
pub(crate) fn load_eight(record: &[u8], offset: usize, endian: Endian) -> u64 {
    let mut word = [0; WORD_BYTES];
    word.copy_from_slice(&record[offset..offset + WORD_BYTES]);
    match endian {
        Endian::Big => u64::from_be_bytes(word),
        Endian::Little => u64::from_le_bytes(word),
    }
}

/// The `count` (1 to 8) bytes at `offset`, left-aligned, the most significant first; the rest of
/// the word is unspecified. It is one load of eight bytes if the record has eight:
///
/// ```text
/// wanted                   [b c d]        big endian       little endian
/// from the first on        [b c d e ..]   as loaded        shifted up
/// up to the last      [.. a b c d]        shifted up       as loaded
/// ```
#[inline]
fn load(record: &[u8], offset: usize, count: usize, endian: Endian) -> u64 {
    let end = offset + count;
    let shift = 8 * (WORD_BYTES - count);
    if offset + WORD_BYTES <= record.len() {
        let word = load_eight(record, offset, endian);
        if endian == Endian::Big {
            word
        } else {
            word << shift
        }
    } else if end >= WORD_BYTES {
        let word = load_eight(record, end - WORD_BYTES, endian);
        if endian == Endian::Big {
            word << shift
        } else {
            word
        }
    } else {
        load_each(&record[offset..end], endian)
    }
}

/// [`load`] from a record of fewer than eight bytes.
fn load_each(bytes: &[u8], endian: Endian) -> u64 {
    let join = |word, byte: &u8| word << 8 | u64::from(*byte);
    let word = match endian {
        Endian::Big => bytes.iter().fold(0, join),
        Endian::Little => bytes.iter().rev().fold(0, join),
    };
    word << (8 * (WORD_BYTES - bytes.len()))
}
