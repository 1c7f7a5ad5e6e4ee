//! The comparison of neighbouring records in a validator.
//!
//! valsort compares the first ten bytes, unchanged or, with `-i`, with the letters `A` to `Z` read
//! as `a` to `z` (as the C library does: `[`, between `Z` and `a`, then comes before every letter).
//! A sort that checks its own output compares by its whole order, ties included. Both are a
//! [`Comparison`], and the validator knows no other difference.

use std::cmp::Ordering;

use crate::gensort::{KEY_BYTES, RECORD_BYTES};
use crate::order::{Order, Ties};

/// The order that neighbours must keep, and the equality of their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// By any order, including its ties.
    Order(Order),
    /// By the key of gensort records, ignoring the case of ASCII letters.
    IgnoreCase,
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

    /// The length of every record compared.
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        match self {
            Comparison::Order(order) => order.record_bytes(),
            Comparison::IgnoreCase => RECORD_BYTES,
        }
    }

    /// The order of two records.
    #[inline]
    #[must_use]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Comparison::Order(order) => order.compare(a, b),
            Comparison::IgnoreCase => folded_key(a).cmp(&folded_key(b)),
        }
    }

    /// Whether two records have the same key.
    #[inline]
    #[must_use]
    pub fn keys_equal(&self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Comparison::Order(order) => order.keys_equal(a, b),
            Comparison::IgnoreCase => folded_key(a) == folded_key(b),
        }
    }
}

fn folded_key(record: &[u8]) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key.copy_from_slice(&record[..KEY_BYTES]);
    key.make_ascii_lowercase();
    key
}
