//! How a validator looks at two neighbouring records.
//!
//! valsort looks at the first ten bytes, as they are or, with `-i`, with the letters `A` to `Z`
//! read as `a` to `z` (the C library's way: `[`, between `Z` and `a`, then comes before every
//! letter). A sort that checks its own output looks at all its order says, ties included. Either is
//! a
//! [`Comparison`], and the validator knows no other difference.
//!
//! It refuses records of another length than its own: the validator cuts them.

use std::cmp::Ordering;

use crate::gensort::{KEY_BYTES, RECORD_BYTES};
use crate::order::{Order, Ties};

/// The order that neighbours must keep, and when their keys are duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// By any order: full ties are checked as well if it breaks them by the record.
    Order(Order),
    /// By the key of gensort records, ASCII letters without their case.
    IgnoreCase,
}

impl Comparison {
    /// As valsort compares: the first ten bytes of 100; `ignore_case` is its option `-i`.
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
