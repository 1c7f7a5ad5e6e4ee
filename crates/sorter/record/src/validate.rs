//! Validates the order of records, in parts and on all cores.
//!
//! A [`Validator`] takes the records of one contiguous run and returns a [`Summary`] of it. Order
//! is a property of neighbours. Inside a run the validator sees all of them; between two runs they
//! are the last record of one and the first of the other, which summaries keep. So runs may be cut
//! anywhere, validated at the same time, and their summaries merged in order:
//!
//! ```text
//! records   a b c d | e f g | h i j k
//! checked   a~b~c~d   e~f~g   h~i~j~k      by three validators
//!                 d ~ e   g ~ h            by two merges
//! ```
//!
//! As in valsort, counts are of pairs: a record is unordered if it is less than its predecessor,
//! and a duplicate if it has the same key. If the order breaks ties by the record, it may be both.

use crate::checksum::Checksum;
use crate::comparison::Comparison;
use crate::framing::Framing;
use crate::summary::Summary;

/// Validates the records of one run.
///
/// ```
/// use record::{Comparison, Generator, Validator};
/// let mut records = [0; 1000];
/// Generator::default().fill(0, &mut records);
/// let mut validator = Validator::new(Comparison::valsort(false));
/// validator.push(&records[..300]);
/// validator.push(&records[300..]);
/// let summary = validator.finish();
/// assert_eq!((summary.records, summary.first_unordered), (10, Some(2)));
/// assert_eq!(summary.checksum.to_string(), "55fea8a1a");
/// ```
#[derive(Clone, Debug)]
pub struct Validator {
    comparison: Comparison,
    summary: Summary,
}

impl Validator {
    /// A validator for a run, at its beginning.
    #[must_use]
    pub fn new(comparison: Comparison) -> Validator {
        Validator {
            comparison,
            summary: Summary::default(),
        }
    }

    /// Validates the next records of the run.
    ///
    /// # Panics
    /// If `records` is not a whole number of records long.
    pub fn push(&mut self, records: &[u8]) {
        let framing = self.comparison.framing();
        let mut each = framing.split(records);
        let Some(first) = each.next() else { return };
        let mut block = Summary::of_one(first, framing);
        let mut previous = first;
        for record in each {
            let pair = Pair::of(previous, record, &self.comparison);
            block.count(pair);
            block.records += 1;
            block.checksum.add(framing.body(record));
            previous = record;
        }
        block.last.clear();
        block.last.extend_from_slice(previous);
        let before = std::mem::take(&mut self.summary);
        self.summary = before.merge(block, &self.comparison);
    }

    /// The summary of the run; [`Summary::default`] if it has no records.
    #[must_use]
    pub fn finish(self) -> Summary {
        self.summary
    }
}

/// The relation of a record to its predecessor.
#[derive(Clone, Copy, Debug)]
struct Pair {
    unordered: bool,
    duplicate: bool,
}

impl Pair {
    #[inline]
    fn of(a: &[u8], b: &[u8], comparison: &Comparison) -> Pair {
        Pair {
            unordered: comparison.compare(a, b).is_gt(),
            duplicate: comparison.keys_equal(a, b),
        }
    }
}

impl Summary {
    fn of_one(record: &[u8], framing: Framing) -> Summary {
        let mut checksum = Checksum::default();
        checksum.add(framing.body(record));
        Summary {
            records: 1,
            checksum,
            first: record.to_vec(),
            last: record.to_vec(),
            ..Summary::default()
        }
    }

    /// Counts the pair of the last record so far and the next one, which gets number `records`.
    #[inline]
    fn count(&mut self, pair: Pair) {
        if pair.unordered {
            self.first_unordered = self.first_unordered.or(Some(self.records));
        }
        self.unordered += u128::from(pair.unordered);
        self.duplicates += u128::from(pair.duplicate);
    }

    /// The summary of this run followed by the run `next`. Runs merge in any grouping, and one
    /// without records changes nothing.
    #[must_use]
    pub fn merge(mut self, next: Summary, comparison: &Comparison) -> Summary {
        if self.records == 0 {
            return next;
        }
        if next.records == 0 {
            return self;
        }
        self.count(Pair::of(&self.last, &next.first, comparison));
        let first_in_next = next.first_unordered.map(|number| self.records + number);
        Summary {
            first_unordered: self.first_unordered.or(first_in_next),
            unordered: self.unordered + next.unordered,
            records: self.records + next.records,
            duplicates: self.duplicates + next.duplicates,
            checksum: self.checksum.merge(next.checksum),
            first: self.first,
            last: next.last,
        }
    }
}
