//! The records that sorts begin with, keys of 8 bytes with values of 96 bytes, and their check
//! (NanoSort, section 5.2).
//!
//! A core's keys follow from the seed and its rank, and a value from its key and first core. So
//! the check needs no copy of the records.

use node::{Node, Random, Rank};
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::distribution::Distribution;
use crate::program::{Span, Verdict, WORD_BYTES};
use crate::work;
use units::grouped;

pub(crate) const VALUE_WORDS: usize = 12;
pub(crate) const VALUE_BYTES: u64 = VALUE_WORDS as u64 * WORD_BYTES;

/// The records of all cores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records {
    /// Records per core.
    pub each: u32,
    pub distribution: Distribution,
    pub seed: u64,
}

/// A core's part of the sorted records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The keys, in order.
    pub keys: Vec<u64>,
    /// Values that do not belong to their keys.
    pub wrong: u32,
    /// The sum of all words of its values, modulo 2^64.
    pub values: u64,
    /// Messages that it sent whose number depends on the keys; 0 if a formula gives it.
    pub by_keys: u64,
    /// Multicasts that it sent whose number depends on the keys.
    pub multicasts: u64,
    /// The members of their groups: messages, if the network does not multicast.
    pub copies: u64,
    /// Ticks of its clock from the last key of a phase to the end of that phase, in all phases; 0 if
    /// a core knows by itself how many messages it gets.
    pub ends: u64,
    /// Nodes of a hierarchy of bounds that it made, from the one of its own boxes up.
    pub nodes: Vec<Bounds>,
    /// Begin and end by its own clock.
    pub span: Span,
}

impl Records {
    /// The keys of one of `cores` cores.
    pub fn of(self, rank: Rank, cores: u32) -> Vec<u64> {
        self.distribution.keys(self.seed, rank, cores, self.each)
    }

    /// Whether the parts are in order and hold all records.
    pub fn verdict(self, parts: &[Part]) -> Verdict {
        let keys = parts.iter().flat_map(|part| &part.keys);
        let found: Vec<u64> = keys.copied().collect();
        let (expected, sum_of_values) = self.sorted(parts.len() as u32);
        let values = parts.iter().map(|part| part.values);
        let fault = disorder(parts)
            .or_else(|| wrong_key(parts, &found, &expected))
            .or_else(|| {
                (values.fold(0, u64::wrapping_add) != sum_of_values)
                    .then(|| "the values of all cores are not those of the records".to_owned())
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

    /// The keys of all cores in order, and the sum of all words of their values.
    fn sorted(self, cores: u32) -> (Vec<u64>, u64) {
        let (mut all, mut sum) = (Vec::new(), 0_u64);
        for rank in (0..cores).map(Rank) {
            let keys = self.of(rank, cores);
            let sums = keys.iter().map(|key| sum_of(&value_of(*key, rank)));
            sum = sums.fold(sum, u64::wrapping_add);
            all.extend(keys);
        }
        all.sort_unstable();
        (all, sum)
    }
}

/// The value of a key that begins on core `origin`. Each core has its own value for a key, so a
/// request to the wrong core returns a wrong value.
pub(crate) fn value_of(key: u64, origin: Rank) -> [u64; VALUE_WORDS] {
    let mut random = Random::stream(key, origin.0.into());
    std::array::from_fn(|_| random.next_u64())
}

pub(crate) fn sum_of(value: &[u64]) -> u64 {
    value.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Charges storing a value that has arrived: the look-up of its place by its key, and a copy to memory
/// that nothing was written to before.
///
/// NanoSort and push-sort pay the same for each. Push-sort would need no look-up where a rank tells the
/// place, and no load where a record has left; it pays both.
pub(crate) fn store_value(node: &Node) {
    work::hash(node, 1);
    work::load(node, VALUE_WORDS);
    work::copy(node, VALUE_WORDS);
}

/// The first key that is not as expected.
fn wrong_key(parts: &[Part], found: &[u64], expected: &[u64]) -> Option<String> {
    let mut pairs = expected.iter().zip(found);
    if let Some(at) = pairs.position(|(one, other)| one != other) {
        let (key, core) = (found[at], core_of(parts, at));
        return Some(format!(
            "key {key} of core {core} should be {}",
            expected[at]
        ));
    }
    if let Some(key) = expected.get(found.len()) {
        let last = parts.len().saturating_sub(1);
        return Some(format!(
            "key {key} is missing after the last of core {last}"
        ));
    }
    let key = found.get(expected.len())?;
    let core = core_of(parts, expected.len());
    Some(format!("key {key} of core {core} is one too many"))
}

/// The core that has the key at a position among all keys.
fn core_of(parts: &[Part], mut position: usize) -> usize {
    let has = |part: &Part| {
        let is_here = position < part.keys.len();
        position = position.saturating_sub(part.keys.len());
        is_here
    };
    parts.iter().position(has).unwrap_or(parts.len())
}

/// The first key that is out of order, or core with wrong values.
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
