//! The normalised key: fields one behind the other, seen through 64-bit words.
//!
//! ```text
//! fields  | number, 4 bytes | bytes, 3 | plain bytes, 20 ................. |
//! words   |            0          |           1           |   2   |  3 | 0 |
//! ```
//!
//! It is never written down. A word is gathered from the fields it touches when it is asked for;
//! the common keys, bytes or one number, take a single load. Loops over many records decide the
//! shape of the key before they start.
//!
//! Bytes that order nothing more are left out: the record behind a leading plain field that starts
//! it adds only what follows that field, and plain fields that lie one behind the other are one.
//!
//! Which fields there are is the business of [`Order`](crate::Order); nothing is refused here.

use std::cmp::Ordering;
use std::slice::ChunksExact;

use crate::field::{Code, Field, Flips, WORD_BYTES, load_eight};
use crate::key::{Endian, Key};

/// The fields that a record is compared by, the first most significant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NormalisedKey {
    fields: Vec<Field>,
    words: u32,
    lead: Lead,
}

/// The first field if it is bytes, kept at hand: `bytes` of them at `offset`. No bytes if it is a
/// number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lead {
    offset: usize,
    bytes: usize,
    flip: u64,
}

impl NormalisedKey {
    /// The key of `keys`, of which there is at least one.
    pub(crate) fn of_keys(keys: &[Field]) -> NormalisedKey {
        NormalisedKey::new(keys.to_vec())
    }

    /// The key of `keys`, of which there is at least one, and then the whole record.
    pub(crate) fn of_keys_and_record(keys: &[Field], record_bytes: usize) -> NormalisedKey {
        let mut fields = keys.to_vec();
        join_adjacent(&mut fields);
        fields.extend(rest_of_record(&fields[0], record_bytes));
        NormalisedKey::new(fields)
    }

    fn new(mut fields: Vec<Field>) -> NormalisedKey {
        join_adjacent(&mut fields);
        let bytes: usize = fields.iter().map(|field| field.bytes).sum();
        let words = u32::try_from(bytes.div_ceil(WORD_BYTES)).expect("bounded by Order");
        let lead = lead_of(&fields[0]);
        NormalisedKey {
            fields,
            words,
            lead,
        }
    }

    /// How many words there are, the last one filled with zeros.
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

    /// The eight bytes from byte `from` on, out of all fields they touch.
    fn gather(&self, record: &[u8], mut from: usize) -> u64 {
        let mut word = 0;
        let mut filled_bytes = 0;
        for field in &self.fields {
            if from >= field.bytes {
                from -= field.bytes;
                continue;
            }
            let count = (field.bytes - from).min(WORD_BYTES - filled_bytes);
            word |= field.part(record, from, count) >> (8 * filled_bytes);
            filled_bytes += count;
            from = 0;
            if filled_bytes == WORD_BYTES {
                break;
            }
        }
        word
    }

    /// Word 0 of each record. The shape is decided here, and not for each record of a loop.
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
                let count = only.bytes.min(WORD_BYTES);
                fill(records, prefixes, |record| only.part(record, 0, count));
            }
            [first, second, ..] if (1..=second.bytes).contains(&rest_of_word(first)) => {
                let rest = rest_of_word(first);
                fill(records, prefixes, |record| {
                    let top = first.part(record, 0, first.bytes);
                    top | second.part(record, 0, rest) >> (8 * first.bytes)
                });
            }
            _ => fill(records, prefixes, |record| self.gather(record, 0)),
        }
    }

    /// The order of two records, that of their words: the first one, and then field by field.
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

/// What `first` leaves of word 0 for the next field.
fn rest_of_word(first: &Field) -> usize {
    WORD_BYTES.saturating_sub(first.bytes)
}

/// What the record adds to a normalised key that starts with `first`: all of it, or what follows
/// the plain bytes at its start, which are equal when it is looked at.
fn rest_of_record(first: &Field, record_bytes: usize) -> Option<Field> {
    let known = if first.is_plain() && first.offset == 0 {
        first.bytes
    } else {
        0
    };
    let rest = record_bytes - known;
    (rest > 0).then(|| Field::from(&Key::plain(known, rest)))
}

/// Makes one field of plain fields that lie one behind the other in the record as in the key.
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
        Code::Number { .. } | Code::Wide { .. } => Lead::default(),
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

/// One tight loop for each way to find a prefix.
fn fill(records: ChunksExact<'_, u8>, prefixes: &mut [u64], prefix: impl Fn(&[u8]) -> u64) {
    for (place, record) in prefixes.iter_mut().zip(records) {
        *place = prefix(record);
    }
}
