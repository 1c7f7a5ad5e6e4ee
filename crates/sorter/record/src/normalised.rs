//! The normalised key: concatenated fields, read as 64-bit words.
//!
//! ```text
//! fields  | number, 4 bytes | bytes, 3 | plain bytes, 20 ................. |
//! words   |            0          |           1           |   2   |  3 | 0 |
//! ```
//!
//! It is never stored. A word is gathered from its fields when it is needed; for the common keys,
//! bytes or one number, that is a single load. Loops over many records choose the code for the
//! key's shape before they start.
//!
//! Redundant bytes are left out: if the first field is the plain bytes at the start of the record,
//! the record adds only the bytes after them. Adjacent plain fields become one.
//!
//! [`Order`](crate::Order) decides on the fields.

use std::cmp::Ordering;
use std::slice::ChunksExact;

use crate::field::{Code, Field, Flips, WORD_BYTES, load_eight};
use crate::key::{Endian, Key};

/// The fields that records are compared by, the most significant first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NormalisedKey {
    fields: Vec<Field>,
    words: u32,
    lead: Lead,
}

/// The first field if it is bytes, for a fast path; of length 0 if it is a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lead {
    offset: usize,
    bytes: usize,
    flip: u64,
}

impl NormalisedKey {
    /// The normalised key of one or more keys.
    pub(crate) fn of_keys(keys: &[Field]) -> NormalisedKey {
        NormalisedKey::new(keys.to_vec())
    }

    /// The normalised key of one or more keys and then the whole record.
    pub(crate) fn of_keys_and_record(keys: &[Field], record_bytes: usize) -> NormalisedKey {
        let mut fields = keys.to_vec();
        join_adjacent(&mut fields);
        fields.extend(rest_of_record(&fields[0], record_bytes));
        NormalisedKey::new(fields)
    }

    fn new(mut fields: Vec<Field>) -> NormalisedKey {
        join_adjacent(&mut fields);
        let bytes: usize = fields.iter().map(Field::width).sum();
        let words = u32::try_from(bytes.div_ceil(WORD_BYTES)).expect("bounded by Order");
        let lead = lead_of(&fields[0]);
        NormalisedKey {
            fields,
            words,
            lead,
        }
    }

    /// The number of words; the last one is padded with zeros.
    pub(crate) fn words(&self) -> u32 {
        self.words
    }

    /// Word `depth` of `record`; 0 past the last.
    #[inline]
    pub(crate) fn word(&self, record: &[u8], depth: u32) -> u64 {
        let from = depth as usize * WORD_BYTES;
        if from + WORD_BYTES <= self.lead.bytes {
            load_eight(record, self.lead.offset + from, Endian::Big) ^ self.lead.flip
        } else {
            self.gather(record, from)
        }
    }

    /// The eight bytes from byte `from` on, which may be of several fields.
    fn gather(&self, record: &[u8], mut from: usize) -> u64 {
        let mut word = 0;
        let mut filled_bytes = 0;
        for field in &self.fields {
            let width = field.width();
            if from >= width {
                from -= width;
                continue;
            }
            let count = (width - from).min(WORD_BYTES - filled_bytes);
            word |= field.part(record, from, count) >> (8 * filled_bytes);
            filled_bytes += count;
            from = 0;
            if filled_bytes == WORD_BYTES {
                break;
            }
        }
        word
    }

    /// Word 0 of each record, with one decision about the key's shape for all of them.
    pub(crate) fn prefixes(&self, records: ChunksExact<'_, u8>, prefixes: &mut [u64]) {
        let Lead {
            offset,
            bytes,
            flip,
        } = self.lead;
        let load = |record: &[u8]| load_eight(record, offset, Endian::Big) ^ flip;
        match &self.fields[..] {
            _ if bytes >= WORD_BYTES => fill(records, prefixes, load),
            &[
                Field {
                    offset,
                    bytes: WORD_BYTES,
                    code: Code::Number { endian, flips },
                },
                ..,
            ] => {
                fill_with_numbers(records, prefixes, offset, (endian, flips));
            }
            [only] => {
                let count = only.width().min(WORD_BYTES);
                fill(records, prefixes, |record| only.part(record, 0, count));
            }
            [first, second, ..] if (1..=second.width()).contains(&rest_of_word(first)) => {
                let rest = rest_of_word(first);
                fill(records, prefixes, |record| {
                    let top = first.part(record, 0, first.width());
                    top | second.part(record, 0, rest) >> (8 * first.width())
                });
            }
            _ => fill(records, prefixes, |record| self.gather(record, 0)),
        }
    }

    /// The order of two records by their words: the first word, then field by field.
    #[inline]
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.lead.bytes >= WORD_BYTES {
            let (first, second) = (self.word(a, 0), self.word(b, 0));
            if first != second {
                return first.cmp(&second);
            }
        }
        let mut by_field = self.fields.iter().map(|field| field.compare(a, b));
        by_field
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

/// The bytes of word 0 that `first` leaves for the next field.
fn rest_of_word(first: &Field) -> usize {
    WORD_BYTES.saturating_sub(first.width())
}

/// The part of the record that ends a normalised key that starts with `first`: all of the record,
/// or without the bytes at its start, if `first` has compared them already.
fn rest_of_record(first: &Field, record_bytes: usize) -> Option<Field> {
    let known = if first.is_plain() && first.offset == 0 {
        first.bytes
    } else {
        0
    };
    let rest = record_bytes - known;
    (rest > 0).then(|| Field::from(&Key::plain(known, rest)))
}

/// Joins plain fields that are adjacent in the record.
fn join_adjacent(fields: &mut Vec<Field>) {
    fields.dedup_by(|next, field| {
        let joins =
            field.is_plain() && next.is_plain() && field.offset + field.bytes == next.offset;
        if joins {
            field.bytes += next.bytes;
        }
        joins
    });
}

fn lead_of(first: &Field) -> Lead {
    match first.code {
        Code::Bytes { flip } => Lead {
            offset: first.offset,
            bytes: first.bytes,
            flip,
        },
        _ => Lead::default(),
    }
}

/// The prefixes of keys that start with a number of eight bytes.
fn fill_with_numbers(
    records: ChunksExact<'_, u8>,
    prefixes: &mut [u64],
    offset: usize,
    (endian, flips): (Endian, Flips),
) {
    let number = |record: &[u8], endian| flips.apply(load_eight(record, offset, endian));
    match endian {
        Endian::Big => fill(records, prefixes, |record| number(record, Endian::Big)),
        Endian::Little => fill(records, prefixes, |record| number(record, Endian::Little)),
    }
}

/// A tight loop, compiled separately for each way to find a prefix.
fn fill(records: ChunksExact<'_, u8>, prefixes: &mut [u64], prefix: impl Fn(&[u8]) -> u64) {
    for (place, record) in prefixes.iter_mut().zip(records) {
        *place = prefix(record);
    }
}
