//! The reference: records with their keys beside them, sorted by a naive stable sort.

use std::cmp::Ordering;
use std::ops::Range;

use node::Random;

use super::job::Input;

/// The value of a key. A column has values of one kind, and missing ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    Missing,
    Number(i64),
    Text(Vec<u8>),
}

/// A record as it is written, without the end of its line.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub bytes: Vec<u8>,
    /// The bytes of a length in front of it, which are not compared.
    pub before: usize,
    pub keys: Vec<Value>,
    /// Whether it is a row with a mistake, to be set aside.
    pub is_bad: bool,
    /// The number of its second column.
    pub number: Option<Number>,
}

/// A number in a record.
#[derive(Clone, Debug)]
pub(super) struct Number {
    /// Its bytes.
    pub at: Range<usize>,
    /// The bytes before it that a record without the field gets, too.
    pub lead: Vec<u8>,
    /// `None` if it is missing.
    pub tenths: Option<i64>,
    /// Digits behind the point, or `None` of two bytes, the high one first.
    pub places: Option<u32>,
}

impl Record {
    /// The record with its number and that of another one; `None` if two bytes have no room for the sum.
    fn plus(&self, other: &Record) -> Option<Record> {
        let (mut sum, added) = (self.clone(), other.number.as_ref());
        let (Some(number), Some(added)) = (&mut sum.number, added) else {
            return Some(sum);
        };
        let tenths = match (number.tenths, added.tenths) {
            (Some(one), Some(other)) => one + other,
            (one, other) => match one.or(other) {
                Some(tenths) => tenths,
                None => return Some(sum),
            },
        };
        number.places = number.places.max(added.places);
        let written = match number.places {
            None => u16::try_from(tenths).ok()?.to_be_bytes().to_vec(),
            Some(0) => (tenths / 10).to_string().into_bytes(),
            Some(_) => {
                let size = tenths.unsigned_abs();
                let sign = if tenths < 0 { "-" } else { "" };
                format!("{sign}{}.{}", size / 10, size % 10).into_bytes()
            }
        };
        let lead = std::mem::take(&mut number.lead);
        let start = number.at.start + lead.len();
        let end = start + written.len();
        sum.bytes
            .splice(number.at.clone(), lead.into_iter().chain(written));
        (number.at, number.tenths) = (start..end, Some(tenths));
        Some(sum)
    }
}

/// An order and the records that it keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// For each key: whether the largest comes first. Without keys the record is compared.
    pub descending: Vec<bool>,
    /// `-r`, which also turns the last resort.
    pub is_reverse: bool,
    pub is_stable: bool,
    pub is_unique: bool,
    /// With `-u`.
    pub is_last_kept: bool,
    pub is_counted: bool,
    /// With `-u`: the second column as `--sum` has it.
    pub sum: Option<String>,
    pub top: Option<usize>,
    pub locale: Option<String>,
    /// The seed of a shuffle, which has no order.
    pub shuffle: Option<u64>,
    /// The options that say how keys are read.
    pub words: Vec<String>,
}

impl Order {
    /// By the keys alone.
    pub(super) fn by_keys(&self, a: &Record, b: &Record) -> Ordering {
        let turned = |order: Ordering, is| if is { order.reverse() } else { order };
        if self.descending.is_empty() {
            return turned(
                a.bytes[a.before..].cmp(&b.bytes[b.before..]),
                self.is_reverse,
            );
        }
        let keys = a.keys.iter().zip(&b.keys).zip(&self.descending);
        keys.fold(Ordering::Equal, |order, ((a, b), &is)| {
            order.then_with(|| turned(a.cmp(b), is))
        })
    }

    /// The options of this order.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = self.words.clone();
        let flags = [
            (self.is_stable, "-s"),
            (self.is_unique, "-u"),
            (self.is_counted, "--count"),
        ];
        words.extend(
            flags
                .into_iter()
                .filter(|(is, _)| *is)
                .map(|(_, word)| word.to_owned()),
        );
        if self.is_unique && self.is_last_kept {
            words.push("--keep=last".to_owned());
        }
        words.extend(self.sum.as_ref().map(|sum| format!("--sum={sum}")));
        words.extend(self.shuffle.map(|seed| format!("--shuffle={seed}")));
        words.extend(self.top.map(|top| format!("--top={top}")));
        words
    }

    /// The order of the output, but for the place in the input.
    pub(super) fn compare(&self, a: &Record, b: &Record) -> Ordering {
        let last = || {
            let order = a.bytes[a.before..].cmp(&b.bytes[b.before..]);
            if self.is_reverse {
                order.reverse()
            } else {
                order
            }
        };
        let is_by_place = self.is_stable || self.is_unique;
        let by_keys = self.by_keys(a, b);
        if is_by_place {
            by_keys
        } else {
            by_keys.then_with(last)
        }
    }

    /// The records of these inputs in the order that a seed gives them: by a number that each record draws.
    pub(super) fn shuffled(&self, seed: u64, inputs: &[Input]) -> Vec<(usize, Record)> {
        let drawn = inputs.iter().zip(0..).flat_map(|(input, number)| {
            let mut random = Random::stream(seed, number);
            let lot = move |record| (random.next_u64(), record);
            input.records.iter().map(lot)
        });
        let mut drawn: Vec<(u64, &Record)> = drawn.collect();
        drawn.sort_by(|(a, one), (b, other)| (a, &one.bytes).cmp(&(b, &other.bytes)));
        drawn.truncate(self.top.unwrap_or(usize::MAX));
        let alone = |(_, record): (u64, &Record)| (1, record.clone());
        drawn.into_iter().map(alone).collect()
    }

    /// The records of the output, each with the number of records that have its keys.
    pub(super) fn sorted(&self, records: &[&Record]) -> Vec<(usize, Record)> {
        let mut all: Vec<&Record> = records
            .iter()
            .copied()
            .filter(|record| !record.is_bad)
            .collect();
        all.sort_by(|a, b| self.compare(a, b));
        if self.is_unique && self.is_last_kept {
            // The last one is kept, and those before it are added from behind.
            let groups = all.chunk_by_mut(|a, b| self.by_keys(a, b).is_eq());
            groups.for_each(<[&Record]>::reverse);
        }
        let mut kept: Vec<(usize, Record)> = Vec::new();
        for record in all {
            let again = kept
                .last_mut()
                .filter(|(_, kept)| self.is_unique && self.by_keys(kept, record).is_eq());
            let joined = again.as_ref().and_then(|(_, kept)| match self.sum {
                Some(_) => kept.plus(record),
                None => Some(kept.clone()),
            });
            match (again, joined) {
                (Some((count, kept)), Some(joined)) => (*count, *kept) = (*count + 1, joined),
                _ => kept.push((1, record.clone())),
            }
        }
        // Only the language knows the first ones.
        if self.locale.is_none() {
            kept.truncate(self.top.unwrap_or(usize::MAX));
        }
        kept
    }
}
