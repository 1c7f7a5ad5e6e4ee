//! Inputs for tests and measurements, generated from a seed.
//!
//! ```text
//! draw(pattern, seed, count, record_bytes) > records > entries_of > sort
//! ```
//!
//! Records are bytes and sort as bytes ([`WholeRecords`](crate::WholeRecords)), so a plain sort of
//! byte strings is the oracle for every kernel.

use crate::words::word_of;
use crate::{Entry, row};

/// A small generator with one word of state (SplitMix64: Steele et al., OOPSLA 2014). Every seed is
/// good, and its stream never changes.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, uniform over all of `u64`.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// The next number, uniform below `limit`, which is not zero.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// Fills `bytes` with uniform bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next_u64().to_le_bytes()[..part.len()]);
        }
    }
}

/// The distribution and order of the records of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every byte is uniform.
    Uniform,
    /// As skewed by gensort: a random number of leading bits are those of a shared prefix.
    Skewed,
    /// All records are equal.
    Equal,
    /// There are sixteen different records.
    FewDistinct,
    /// The number of different records is the square root of the number of records.
    RootDistinct,
    /// Uniform records in ascending order.
    Sorted,
    /// Uniform records in descending order.
    Reversed,
    /// Uniform records in ascending, then in descending order.
    OrganPipe,
    /// Uniform records, sorted except for one in a hundred.
    NearlySorted,
    /// Only the last bytes differ.
    SharedPrefix,
    /// One record in a hundred is uniform, and all others are equal.
    OneHeavy,
    /// The number of leading zero bits of a prefix is uniform, so the bins of every pass are
    /// lopsided.
    Geometric,
    /// Prefixes are close together except for one at each end of the range.
    Outliers,
    /// Pairs of equal prefixes, which the last byte orders.
    Pairs,
    /// The number of the record, ascending: narrow and dense.
    Counter,
}

impl Pattern {
    /// All patterns, for tests that try each one.
    pub const ALL: [Self; 15] = [
        Self::Uniform,
        Self::Skewed,
        Self::Equal,
        Self::FewDistinct,
        Self::RootDistinct,
        Self::Sorted,
        Self::Reversed,
        Self::OrganPipe,
        Self::NearlySorted,
        Self::SharedPrefix,
        Self::OneHeavy,
        Self::Geometric,
        Self::Outliers,
        Self::Pairs,
        Self::Counter,
    ];

    /// The pattern's name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Skewed => "skewed",
            Self::Equal => "equal",
            Self::FewDistinct => "few-distinct",
            Self::RootDistinct => "root-distinct",
            Self::Sorted => "sorted",
            Self::Reversed => "reversed",
            Self::OrganPipe => "organ-pipe",
            Self::NearlySorted => "nearly-sorted",
            Self::SharedPrefix => "shared-prefix",
            Self::OneHeavy => "one-heavy",
            Self::Geometric => "geometric",
            Self::Outliers => "outliers",
            Self::Pairs => "pairs",
            Self::Counter => "counter",
        }
    }
}

/// `count` records of `record_bytes` bytes each, concatenated.
///
/// # Panics
/// If `record_bytes` is zero.
pub fn draw(pattern: Pattern, seed: u64, count: usize, record_bytes: usize) -> Vec<u8> {
    assert!(record_bytes > 0, "a record has at least one byte");
    let mut random = Random::new(seed);
    let mut records = vec![0; count * record_bytes];
    random.fill(&mut records);
    let distinct = match pattern {
        Pattern::Equal => 1,
        Pattern::FewDistinct => 16,
        Pattern::RootDistinct => count.isqrt().max(1),
        _ => count,
    };
    repeat(&mut records, record_bytes, distinct, &mut random);
    for (number, record) in records.chunks_exact_mut(record_bytes).enumerate() {
        shape(pattern, number, record, &mut random);
    }
    arrange(pattern, &mut records, record_bytes, &mut random);
    records
}

/// Replaces each record by one of the first `distinct`.
fn repeat(records: &mut [u8], record_bytes: usize, distinct: usize, random: &mut Random) {
    let count = records.len() / record_bytes;
    for number in distinct..count {
        let chosen = random.below(distinct as u64) as usize * record_bytes;
        records.copy_within(chosen..chosen + record_bytes, number * record_bytes);
    }
}

/// Gives a uniform record the shape of its pattern.
fn shape(pattern: Pattern, number: usize, record: &mut [u8], random: &mut Random) {
    let last = record.len() - 1;
    match pattern {
        Pattern::Skewed => {
            let bits = random.below(64);
            if bits <= 48 {
                let own = u64::MAX >> bits;
                let shared = Random::new(7).next_u64();
                set_prefix(record, (word_of(record, 0) & own) | (shared & !own));
            }
        }
        Pattern::SharedPrefix => record[..last].fill(b'='),
        Pattern::OneHeavy if random.below(100) > 0 => record.fill(b'h'),
        Pattern::Geometric => {
            let zeros = random.below(64);
            set_prefix(record, word_of(record, 0) >> zeros);
        }
        Pattern::Outliers => {
            let prefix = match number {
                0 => 0,
                1 => u64::MAX,
                _ => (1 << 40) + random.below(1000),
            };
            set_prefix(record, prefix);
        }
        Pattern::Pairs => {
            let tail = record[last];
            Random::new(number as u64 / 2).fill(record);
            record[last] = tail;
        }
        Pattern::Counter => set_prefix(record, (1 << 33) + number as u64),
        _ => {}
    }
}

/// Writes a prefix, or the part of it that fits in the record.
fn set_prefix(record: &mut [u8], prefix: u64) {
    let len = record.len().min(8);
    record[..len].copy_from_slice(&prefix.to_be_bytes()[..len]);
}

/// Brings the records into the order of their pattern.
fn arrange(pattern: Pattern, records: &mut Vec<u8>, record_bytes: usize, random: &mut Random) {
    let ordered = matches!(
        pattern,
        Pattern::Sorted | Pattern::Reversed | Pattern::OrganPipe | Pattern::NearlySorted
    );
    if !ordered {
        return;
    }
    let mut order: Vec<&[u8]> = records.chunks_exact(record_bytes).collect();
    order.sort_unstable();
    match pattern {
        Pattern::Reversed => order.reverse(),
        Pattern::OrganPipe => {
            let middle = order.len() / 2;
            order[middle..].reverse();
        }
        Pattern::NearlySorted => {
            for _ in 0..order.len() / 100 {
                let count = order.len() as u64;
                order.swap(random.below(count) as usize, random.below(count) as usize);
            }
        }
        _ => {}
    }
    *records = order.concat();
}

/// One entry per record, by the order of their bytes, as records of chunk 0.
///
/// # Panics
/// If `records` are 4 GiB or more.
pub fn entries_of(records: &[u8], record_bytes: usize) -> Vec<Entry> {
    let starts = (0..records.len()).step_by(record_bytes);
    let records = records.chunks_exact(record_bytes);
    let entry = |(record, start)| Entry {
        prefix: word_of(record, 0),
        row: row(0, u32::try_from(start).expect("a chunk below 4 GiB")),
    };
    records.zip(starts).map(entry).collect()
}
