//! The sorts that the papers describe, to be measured beside ours.
//!
//! | variant | source | where it loses |
//! | --- | --- | --- |
//! | [`Variant::Buckets`] | this crate's [`sort`](crate::sort()) | |
//! | [`Variant::PartialRadix`] | NOW-Sort 6.5, Agarwal: 22 bits, least significant first | two passes over all memory; skew |
//! | [`Variant::Mergesort`] | psort: quasi-in-place mergesort | comparisons, log n passes |
//! | [`Variant::AmericanFlag`] | McIlroy, Bostic, McIlroy (1993): permutation in place | chains of cache misses |
//!
//! Each sorts by the full order and gives the prefixes back. Where a paper relies on uniform keys,
//! the file says what replaces that.

mod american_flag;
mod mergesort;
mod partial_radix;

use crate::sort::{first_difference, insertion_sort, load, runs};
use crate::{Entry, Words};

/// A way to sort entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Cache-sized buckets, counting passes, insertion clean-up: the sort of this crate.
    Buckets,
    /// Two counting passes over 22 bits, least significant digit first, then insertion clean-up.
    PartialRadix,
    /// Sorted blocks, merged with a buffer of half the length.
    Mergesort,
    /// Most significant byte first, permuting in place.
    AmericanFlag,
}

impl Variant {
    /// Every variant.
    pub const ALL: [Self; 4] = [
        Self::Buckets,
        Self::PartialRadix,
        Self::Mergesort,
        Self::AmericanFlag,
    ];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Buckets => "buckets",
            Self::PartialRadix => "partial-radix",
            Self::Mergesort => "mergesort",
            Self::AmericanFlag => "american-flag",
        }
    }

    /// Sorts `entries` by `words`; as [`sort`](crate::sort()).
    ///
    /// # Panics
    /// If `scratch` is shorter than `entries`, or there are 2^32 entries or more.
    pub fn sort(self, entries: &mut [Entry], scratch: &mut [Entry], words: &impl Words) {
        assert!(
            scratch.len() >= entries.len(),
            "scratch is shorter than the entries"
        );
        let by_prefix = match self {
            Self::Buckets => return crate::sort(entries, scratch, words),
            Self::PartialRadix => partial_radix::sort_prefixes,
            Self::Mergesort => mergesort::sort_prefixes,
            Self::AmericanFlag => american_flag::sort_prefixes,
        };
        let scratch = &mut scratch[..entries.len()];
        by_prefix(entries, scratch);
        order_ties(entries, scratch, words, by_prefix);
    }
}

/// Sorts entries by their prefix alone.
type ByPrefix = fn(&mut [Entry], &mut [Entry]);

/// A run of one prefix, still to be ordered from word `depth` on.
struct Run {
    start: usize,
    len: usize,
    depth: u32,
    first: u64,
}

/// Orders runs of one prefix by the next words, again by `by_prefix`, without recursion.
fn order_ties(
    entries: &mut [Entry],
    scratch: &mut [Entry],
    words: &impl Words,
    by_prefix: ByPrefix,
) {
    let mut unfinished = Vec::new();
    runs(entries, |start, len| {
        if len > 1 {
            let first = entries[start].prefix;
            unfinished.push(Run {
                start,
                len,
                depth: 1,
                first,
            });
        }
    });
    while let Some(run) = unfinished.pop() {
        let range = &mut entries[run.start..run.start + run.len];
        let depth = first_difference(range, words, run.depth);
        if depth < words.words() {
            load(range, words, depth);
            by_prefix(range, &mut scratch[..run.len]);
            runs(range, |start, len| {
                if len > 1 {
                    let start = run.start + start;
                    unfinished.push(Run {
                        start,
                        len,
                        depth: depth + 1,
                        ..run
                    });
                }
            });
        }
        for entry in range {
            entry.prefix = run.first;
        }
    }
}
