//! The total order of records, as splitters and merges see it: words, and comparisons.
//!
//! Records come with their delimiters, as they lie in memory.

use std::cmp::Ordering;

use record::{LineOrder, Order, Ties};

/// A total order of records, except for [`Ties::Position`].
pub(crate) trait TotalOrder {
    /// Where records begin and end.
    fn framing(&self) -> record::Framing;

    /// The tie-breaker between equal keys.
    fn ties(&self) -> Ties;

    /// Word `depth` of a record; 0 past the last. Word 0 is the prefix.
    fn word(&self, record: &[u8], depth: u32) -> u64;

    /// The order of two records by all their words.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;

    /// The first word from `from` on in which two records differ.
    fn first_difference(&self, a: &[u8], b: &[u8], from: u32) -> Option<u32>;
}

impl TotalOrder for Order {
    #[inline]
    fn framing(&self) -> record::Framing {
        record::Framing::Fixed(self.record_bytes())
    }

    fn ties(&self) -> Ties {
        self.ties()
    }

    #[inline]
    fn word(&self, record: &[u8], depth: u32) -> u64 {
        self.word(record, depth)
    }

    #[inline]
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare(a, b)
    }

    fn first_difference(&self, a: &[u8], b: &[u8], from: u32) -> Option<u32> {
        let differ = |&depth: &u32| self.word(a, depth) != self.word(b, depth);
        (from..self.words()).find(differ)
    }
}

impl TotalOrder for LineOrder {
    #[inline]
    fn framing(&self) -> record::Framing {
        self.framing
    }

    fn ties(&self) -> Ties {
        self.ties()
    }

    #[inline]
    fn word(&self, record: &[u8], depth: u32) -> u64 {
        self.text.word(self.body(record), depth)
    }

    #[inline]
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare(a, b)
    }

    fn first_difference(&self, a: &[u8], b: &[u8], from: u32) -> Option<u32> {
        let [a, b] = [self.body(a), self.body(b)];
        let until = self.text.most_words(a.len().max(b.len()));
        let found = self.text.first_difference(a, b, from, until);
        (found < until).then_some(found)
    }
}
