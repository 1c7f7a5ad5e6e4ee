//! The records that sorts begin with, keys of 8 bytes with values of 96, and what must have become
//! of them (NanoSort, section 5.2).
//!
//! A core's keys follow from the seed and its rank, and a value follows from its key. So nobody has
//! to remember either to check them.

use node::{Random, Rank};

use crate::distribution::Distribution;
use crate::program::{Span, Verdict, WORD_BYTES, grouped};

/// Words of a value.
pub(crate) const VALUE_WORDS: usize = 12;

/// Bytes of a value.
pub(crate) const VALUE_BYTES: u64 = VALUE_WORDS as u64 * WORD_BYTES;

/// The records of all cores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records {
    /// Of each core.
    pub each: u32,
    pub distribution: Distribution,
    pub seed: u64,
}

/// A core's part of the sorted records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The keys, in order.
    pub keys: Vec<u64>,
    /// How many values are not those of their keys.
    pub wrong: u32,
    /// The sum of all words of its values.
    pub values: u64,
    /// Messages that it sent whose number the keys decide; 0 where that is found otherwise.
    pub by_keys: u64,
    /// How long it took.
    pub span: Span,
}

impl Records {
    /// The keys of one of so many cores.
    pub fn of(self, rank: Rank, cores: u32) -> Vec<u64> {
        self.distribution.keys(self.seed, rank, cores, self.each)
    }

    /// Whether the parts are in order and hold what all cores had.
    pub fn verdict(self, parts: &[Part]) -> Verdict {
        let cores = parts.len() as u32;
        let found: Vec<u64> = parts
            .iter()
            .flat_map(|part| part.keys.iter().copied())
            .collect();
        let (mut expected, mut values) = (Vec::with_capacity(found.len()), 0_u64);
        for rank in (0..cores).map(Rank) {
            let keys = self.of(rank, cores);
            let sums = keys.iter().map(|key| sum_of(&value_of(*key, rank)));
            values = sums.fold(values, u64::wrapping_add);
            expected.extend(keys);
        }
        expected.sort_unstable();
        let came = parts
            .iter()
            .fold(0, |sum: u64, part| sum.wrapping_add(part.values));
        let fault = disorder(parts).or_else(|| {
            let at = expected
                .iter()
                .zip(&found)
                .position(|(one, other)| one != other);
            match at {
                Some(at) => {
                    let (key, core) = (found[at], core_of(parts, at));
                    Some(format!(
                        "key {key} of core {core} should be {}",
                        expected[at]
                    ))
                }
                None if found.len() < expected.len() => {
                    let (key, last) = (expected[found.len()], cores.saturating_sub(1));
                    Some(format!(
                        "key {key} is missing after the last of core {last}"
                    ))
                }
                None if found.len() > expected.len() => {
                    let (key, core) = (found[expected.len()], core_of(parts, expected.len()));
                    Some(format!("key {key} of core {core} is one too many"))
                }
                None if came != values => {
                    Some("the values of all cores are not those that there were".to_owned())
                }
                None => None,
            }
        });
        let result = format!("{} records sorted", grouped(found.len() as u64));
        let verdict = Verdict::new(result, fault)
            .with_keys(parts.iter().map(|part| part.keys.len() as u64))
            .with_spans(parts.iter().map(|part| part.span));
        Verdict {
            sorted: Some(found.is_sorted()),
            ..verdict
        }
    }
}

/// The value of a key that is on this core at first. Another core has another one for the same key:
/// who asks the wrong core gets the wrong value.
pub(crate) fn value_of(key: u64, origin: Rank) -> [u64; VALUE_WORDS] {
    let mut random = Random::stream(key, origin.0.into());
    std::array::from_fn(|_| random.next_u64())
}

/// The sum of a value's words.
pub(crate) fn sum_of(value: &[u64]) -> u64 {
    value.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Which core has the key at a place among all.
fn core_of(parts: &[Part], mut place: usize) -> usize {
    let has = |part: &Part| {
        let is_here = place < part.keys.len();
        place = place.saturating_sub(part.keys.len());
        is_here
    };
    parts.iter().position(has).unwrap_or(parts.len())
}

/// What is wrong with the order of the parts, or with their values.
fn disorder(parts: &[Part]) -> Option<String> {
    let mut last: Option<u64> = None;
    for (core, part) in parts.iter().enumerate() {
        if part.wrong > 0 {
            return Some(format!(
                "core {core} has {} values of other keys",
                part.wrong
            ));
        }
        for &key in &part.keys {
            if last.is_some_and(|last| last > key) {
                return Some(format!("key {key} of core {core} comes after greater ones"));
            }
            last = Some(key);
        }
    }
    None
}
