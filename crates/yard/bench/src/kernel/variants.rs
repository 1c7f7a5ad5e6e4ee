//! The sorts of the papers, to be compared with ours.
//!
//! | variant | source | where it loses |
//! | --- | --- | --- |
//! | [`partial_radix`] | NOW-Sort 6.5, Agarwal: 22 bits, least significant first | two passes over all memory; skew |
//! | [`mergesort`] | psort: quasi-in-place mergesort | comparisons, log n passes |
//! | [`american_flag`] | McIlroy, Bostic, McIlroy (1993): permutation in place | chains of cache misses |
//!
//! Each sorts by the full order. Where a paper relies on uniform keys, the file says what replaces
//! that. Records with one prefix are few there, so std's sort orders them.

mod american_flag;
mod mergesort;
mod partial_radix;

use std::cmp::Ordering;

use kernel::{Entry, Words};

/// A way to sort entries.
pub struct Variant {
    pub name: &'static str,
    /// The paper that describes it.
    pub source: &'static str,
    /// Sorts entries by their prefix alone.
    by_prefix: fn(&mut [Entry], &mut [Entry]),
}

pub const ALL: [Variant; 3] = [
    Variant {
        name: "partial radix, 22 bits",
        source: "NOW-Sort 6.5, with clean-up",
        by_prefix: partial_radix::sort_prefixes,
    },
    Variant {
        name: "mergesort",
        source: "psort, quasi in place",
        by_prefix: mergesort::sort_prefixes,
    },
    Variant {
        name: "in-place permutation",
        source: "American flag sort, McIlroy 1993",
        by_prefix: american_flag::sort_prefixes,
    },
];

impl Variant {
    /// Sorts `entries` by `words`; as [`kernel::sort`].
    ///
    /// # Panics
    /// If `scratch` is shorter than `entries`.
    pub fn sort(&self, entries: &mut [Entry], scratch: &mut [Entry], words: &impl Words) {
        (self.by_prefix)(entries, &mut scratch[..entries.len()]);
        for run in entries.chunk_by_mut(|left, right| left.prefix == right.prefix) {
            run.sort_unstable_by(|left, right| behind_prefix(words, left.row, right.row));
        }
    }
}

/// Compares rows of one prefix by their other words.
fn behind_prefix(words: &impl Words, left: u64, right: u64) -> Ordering {
    let end = words.words();
    match words.first_difference(left, right, 1, end) {
        depth if depth < end => words.word(left, depth).cmp(&words.word(right, depth)),
        _ => Ordering::Equal,
    }
}

/// Sorts short or nearly sorted entries by prefix.
fn insertion_sort(range: &mut [Entry]) {
    for end in 1..range.len() {
        let held = range[end];
        let mut hole = end;
        while hole > 0 && range[hole - 1].prefix > held.prefix {
            range[hole] = range[hole - 1];
            hole -= 1;
        }
        range[hole] = held;
    }
}

#[cfg(test)]
#[path = "../../../../sorter/kernel/tests/kit/mod.rs"]
#[macro_use]
mod kit;

#[cfg(test)]
mod tests;
