//! American flag sort: most significant byte first, permuting in place.
//!
//! McIlroy, Bostic and McIlroy, "Engineering Radix Sort" (1993). Count a byte's bins; then every
//! entry that is not in its bin is exchanged with the entry in its place:
//!
//! ```text
//! bins   | a a . . | b . . | c c c |        next free place of each bin
//!              ^       ^           ^
//!              c ------ swapped to -^ , the other entry moves to its bin, ...
//! ```
//!
//! It needs no second buffer, which is its point; each swap waits for the one before, which is its
//! price. Short ranges are insertion sorted, and the shared leading bits of a range are skipped.

use kernel::Entry;

use super::insertion_sort;

const BITS: u32 = 8;
const BINS: usize = 1 << BITS;
/// Ranges up to this long are insertion sorted: shorter than clearing the counters is worth.
const SHORT: usize = 32;

pub(super) fn sort_prefixes(entries: &mut [Entry], _: &mut [Entry]) {
    let mut unfinished = vec![(0, entries.len())];
    while let Some((start, end)) = unfinished.pop() {
        let range = &mut entries[start..end];
        if range.len() <= SHORT {
            insertion_sort(range);
            continue;
        }
        let (all, any) = range.iter().fold((u64::MAX, 0), |(all, any), entry| {
            (all & entry.prefix, any | entry.prefix)
        });
        if all == any {
            continue;
        }
        let differing = u64::BITS - (all ^ any).leading_zeros();
        let ends = permute(range, differing.saturating_sub(BITS));
        let mut from = start;
        for bin in ends {
            let to = start + bin;
            if to - from > 1 {
                unfinished.push((from, to));
            }
            from = to;
        }
    }
}

/// Permutes `range` by the byte from bit `shift` on; the end of each bin.
fn permute(range: &mut [Entry], shift: u32) -> [usize; BINS] {
    let bin_of = |entry: &Entry| (entry.prefix >> shift) as usize % BINS;
    let mut next = [0; BINS];
    for entry in range.iter() {
        next[bin_of(entry)] += 1;
    }
    let mut ends = [0; BINS];
    let mut start = 0;
    for (next, end) in next.iter_mut().zip(&mut ends) {
        start += std::mem::replace(next, start);
        *end = start;
    }
    for bin in 0..BINS {
        while next[bin] < ends[bin] {
            let goal = bin_of(&range[next[bin]]);
            range.swap(next[bin], next[goal]);
            next[goal] += 1;
        }
    }
    ends
}
