//! The records that sorting programs sort: keys of 8 bytes with values of 96, and what must have
//! become of them (NanoSort, section 6.3).
//!
//! A core's keys follow from the seed and its rank, and a value follows from its key. So nobody has to
//! remember either to check them.

use node::{Random, Rank};

use crate::local_min::values;
use crate::program::{Span, Verdict, grouped};

/// Words of a value: 96 bytes.
pub(crate) const VALUE_WORDS: usize = 12;

/// A core's part of the sorted records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The keys, in order.
    pub keys: Vec<u64>,
    /// How many values are not those of their keys.
    pub wrong: u32,
    /// How long it took.
    pub span: Span,
}

/// The value of a key, as its first core has it.
pub(crate) fn value_of(key: u64) -> [u64; VALUE_WORDS] {
    let mut random = Random::new(key);
    std::array::from_fn(|_| random.next_u64())
}

/// Whether the parts are in order and hold what all cores had, `keys` records each.
pub(crate) fn verdict(parts: &[Part], keys: u32, seed: u64) -> Verdict {
    let cores = parts.len() as u32;
    let found: Vec<u64> = parts.iter().flat_map(|part| part.keys.iter().copied()).collect();
    let mut expected: Vec<u64> =
        (0..cores).flat_map(|core| values(seed, Rank(core), keys)).collect();
    expected.sort_unstable();
    let fault = disorder(parts).or_else(|| {
        let missing = expected.len().abs_diff(found.len());
        let at = expected.iter().zip(&found).position(|(one, other)| one != other);
        match at {
            Some(at) => {
                Some(format!("key {at} is {}, and it should be {}", found[at], expected[at]))
            }
            None if missing > 0 => Some(format!("{} keys of {} came", found.len(), expected.len())),
            None => None,
        }
    });
    let result = format!("{} records sorted", grouped(found.len() as u64));
    let verdict = Verdict::new(result, fault)
        .with_keys(parts.iter().map(|part| part.keys.len() as u64))
        .with_spans(parts.iter().map(|part| part.span));
    Verdict { sorted: Some(found.is_sorted()), ..verdict }
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
