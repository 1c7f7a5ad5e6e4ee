//! The comparison of neighbouring records in a validator.
//!
//! valsort compares the first ten bytes, unchanged or, with `-i`, with the letters `A` to `Z` read
//! as `a` to `z` (as the C library does: `[`, between `Z` and `a`, then comes before every letter).
//! A sort that checks its own output compares by its whole order, ties included. Both are a
//! [`Comparison`], and the validator knows no other difference.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::format::FormatError;
use crate::framing::Framing;
use crate::gensort::{KEY_BYTES, RECORD_BYTES};
use crate::line_order::LineOrder;
use crate::multiline::Multiline;
use crate::order::{Order, Ties};

/// The order that neighbours must keep, and the equality of their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// By any order, including its ties.
    Order(Order),
    /// By the key of gensort records, ignoring the case of ASCII letters.
    IgnoreCase,
    /// Lines, by their order.
    Lines(LineOrder),
}

impl Comparison {
    /// The comparison of valsort: the first ten bytes of 100; `ignore_case` is its option `-i`.
    #[must_use]
    pub fn valsort(ignore_case: bool) -> Comparison {
        if ignore_case {
            Comparison::IgnoreCase
        } else {
            Comparison::Order(Order::gensort(Ties::Position))
        }
    }

    /// The comparison that `format` and `keys` describe, as [`Comparison::describe`] writes them.
    ///
    /// # Errors
    /// If they describe no order.
    pub fn parse<S: AsRef<str>>(
        format: &str,
        keys: &[S],
        ties: Ties,
    ) -> Result<Comparison, FormatError> {
        match LineOrder::parse(format, keys, ties) {
            Some(lines) => lines.map(Comparison::Lines),
            None => Order::parse(format, keys, ties).map(Comparison::Order),
        }
    }

    /// The format and the keys.
    #[must_use]
    pub fn describe(&self) -> (String, Vec<String>) {
        match self {
            Comparison::Order(order) => {
                let keys = order.keys().iter().map(ToString::to_string);
                (format!("fixed:{}", order.record_bytes()), keys.collect())
            }
            Comparison::IgnoreCase => ("gensort".to_owned(), Vec::new()),
            Comparison::Lines(order) => order.describe(),
        }
    }

    /// The lines that are one record, if it has several.
    #[must_use]
    pub fn multiline(&self) -> Option<&Arc<Multiline>> {
        match self {
            Comparison::Lines(order) => order.multiline.as_ref(),
            Comparison::Order(_) | Comparison::IgnoreCase => None,
        }
    }

    /// Where a record ends.
    #[must_use]
    pub fn framing(&self) -> Framing {
        match self {
            Comparison::Order(order) => Framing::Fixed(order.record_bytes()),
            Comparison::IgnoreCase => Framing::Fixed(RECORD_BYTES),
            Comparison::Lines(order) => order.framing,
        }
    }

    /// The bytes of all keys of a record, one behind the other; of a line all its bytes.
    #[must_use]
    pub fn key_bytes(&self, record: &[u8], most: usize) -> Vec<u8> {
        match self {
            Comparison::Order(order) => order.key_bytes(record).take(most).collect(),
            Comparison::IgnoreCase => record[..KEY_BYTES].to_vec(),
            Comparison::Lines(order) => {
                let line = order.body(record);
                line[..line.len().min(most)].to_vec()
            }
        }
    }

    /// The order of two records.
    #[inline]
    #[must_use]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Comparison::Order(order) => order.compare(a, b),
            Comparison::IgnoreCase => folded_key(a).cmp(&folded_key(b)),
            Comparison::Lines(order) => order.compare(a, b),
        }
    }

    /// Whether two records have the same key.
    #[inline]
    #[must_use]
    pub fn keys_equal(&self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Comparison::Order(order) => order.keys_equal(a, b),
            Comparison::IgnoreCase => folded_key(a) == folded_key(b),
            Comparison::Lines(order) => order.keys_equal(a, b),
        }
    }
}

fn folded_key(record: &[u8]) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key.copy_from_slice(&record[..KEY_BYTES]);
    key.make_ascii_lowercase();
    key
}
