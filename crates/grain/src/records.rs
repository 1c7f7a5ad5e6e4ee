//! The records that sorts begin with, keys of 8 bytes with values of 96, and what must have become of
//! them (NanoSort, section 5.2).
//!
//! A core's keys follow from the seed and its rank, and a value follows from its key. So nobody has to
//! remember either to check them.

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
        let found: Vec<u64> = parts.iter().flat_map(|part| part.keys.iter().copied()).collect();
        let mut expected: Vec<u64> =
            (0..cores).flat_map(|core| self.of(Rank(core), cores)).collect();
        expected.sort_unstable();
        let fault = disorder(parts).or_else(|| {
            let at = expected.iter().zip(&found).position(|(one, other)| one != other);
            match at {
                Some(at) => {
                    let (key, core) = (found[at], core_of(parts, at));
                    Some(format!("key {key} of core {core} should be {}", expected[at]))
                }
                None if found.len() != expected.len() => {
                    Some(format!("{} keys of {} came", found.len(), expected.len()))
                }
                None => None,
            }
        });
        let result = format!("{} records sorted", grouped(found.len() as u64));
        let verdict = Verdict::new(result, fault)
            .with_keys(parts.iter().map(|part| part.keys.len() as u64))
            .with_spans(parts.iter().map(|part| part.span));
        Verdict { sorted: Some(found.is_sorted()), ..verdict }
    }
}

/// The value of a key, as its first core has it.
pub(crate) fn value_of(key: u64) -> [u64; VALUE_WORDS] {
    let mut random = Random::new(key);
    std::array::from_fn(|_| random.next_u64())
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
            return Some(format!("core {core} has {} values of other keys", part.wrong));
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
