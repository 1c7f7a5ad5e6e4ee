//! The total order of records, as splitters and merges see it: words, and comparisons.
//!
//! Records come with their delimiters, as they lie in memory.

use std::cmp::Ordering;
use std::ops::Range;

use record::text::{KeyPlaces, PlacedLine};
use record::{LineOrder, Order, Ties};

/// The places of keys in a line of more bytes are kept while it is compared with others.
const LONG_LINE_BYTES: usize = 1 << 10;

/// A total order of records, unless positions break ties.
pub(crate) trait TotalOrder {
    /// Where records begin and end.
    fn framing(&self) -> record::Framing;

    /// The tie-breaker between equal keys.
    fn ties(&self) -> Ties;

    /// Word `depth` of a record; 0 past the last. Word 0 is the prefix.
    fn word(&self, record: &[u8], depth: u32) -> u64;

    /// The words of a record from `from` on; 0 past the last. Returns how many there are, at most as many
    /// as there are places in `out`.
    fn words_from(&self, record: &[u8], from: u32, out: &mut [u64]) -> usize;

    /// The order of two records by all their words.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;

    /// Gives the bytes of each key to `then`. Records in which they are the same have equal keys.
    fn each_key(&self, record: &[u8], then: &mut dyn FnMut(&[u8]));

    /// The places of the keys of a long record.
    fn places(&self, record: &[u8]) -> Option<KeyPlaces> {
        let _ = record;
        None
    }

    /// The order of two records of this prefix, of which the places of keys may be known.
    fn compare_tied(&self, prefix: u64, a: PlacedLine<'_>, b: PlacedLine<'_>) -> Ordering {
        let _ = prefix;
        self.compare(a.bytes, b.bytes)
    }

    /// No two records of at most so many bytes differ in a word from this on.
    fn most_words(&self, longest: usize) -> u32;

    /// The first of these words in which two records differ; all words before them are equal.
    fn first_difference(&self, a: &[u8], b: &[u8], words: Range<u32>) -> Option<u32>;
}

/// A record that others come before or not: prefixes tell most apart.
pub(crate) struct Bound<'a, O> {
    order: &'a O,
    record: &'a [u8],
    prefix: u64,
}

impl<'a, O: TotalOrder> Bound<'a, O> {
    pub(crate) fn new(order: &'a O, record: &'a [u8]) -> Self {
        let prefix = order.word(record, 0);
        Bound {
            order,
            record,
            prefix,
        }
    }

    /// Whether a record comes before it. Where the last of equal records is the first, one that has its keys
    /// may come before it.
    #[inline]
    pub(crate) fn is_behind(&self, record: &[u8]) -> bool {
        match self.order.word(record, 0).cmp(&self.prefix) {
            Ordering::Equal => {
                let order = self.order.compare(record, self.record);
                order.is_lt() || order.is_eq() && self.order.ties() == Ties::LastPosition
            }
            decided => decided.is_lt(),
        }
    }
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

    fn words_from(&self, record: &[u8], from: u32, out: &mut [u64]) -> usize {
        for (depth, place) in (from..).zip(&mut *out) {
            *place = self.word(record, depth);
        }
        out.len().min((self.words().saturating_sub(from)) as usize)
    }

    #[inline]
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare(a, b)
    }

    fn each_key(&self, record: &[u8], then: &mut dyn FnMut(&[u8])) {
        self.each_key(record, then);
    }

    fn most_words(&self, _: usize) -> u32 {
        self.words()
    }

    fn first_difference(&self, a: &[u8], b: &[u8], mut words: Range<u32>) -> Option<u32> {
        words.find(|&depth| self.word(a, depth) != self.word(b, depth))
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

    fn words_from(&self, record: &[u8], from: u32, out: &mut [u64]) -> usize {
        self.text.words_from(self.body(record), from, out)
    }

    #[inline]
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare(a, b)
    }

    fn each_key(&self, record: &[u8], then: &mut dyn FnMut(&[u8])) {
        self.text.each_key(self.body(record), then);
    }

    fn places(&self, record: &[u8]) -> Option<KeyPlaces> {
        let is_long = record.len() > LONG_LINE_BYTES;
        is_long.then(|| self.text.places(self.body(record)))
    }

    fn compare_tied(&self, prefix: u64, a: PlacedLine<'_>, b: PlacedLine<'_>) -> Ordering {
        let [x, y] = [self.body(a.bytes), self.body(b.bytes)];
        if a.places.is_none() && b.places.is_none() {
            return self.text.compare_behind(prefix, x, y);
        }
        let (a, b) = (PlacedLine { bytes: x, ..a }, PlacedLine { bytes: y, ..b });
        self.text.compare_placed(a, b)
    }

    fn most_words(&self, longest: usize) -> u32 {
        self.text.most_words(longest)
    }

    fn first_difference(&self, a: &[u8], b: &[u8], words: Range<u32>) -> Option<u32> {
        let (from, until) = (words.start, words.end);
        let [a, b] = [self.body(a), self.body(b)];
        let found = self.text.first_difference(a, b, from, until);
        (found < until).then_some(found)
    }
}
