//! NOW-Sort's partial radix sort: the top 22 bits, then a clean-up.
//!
//! NOW-Sort 6.5, after Agarwal, "A Super Scalar Sort Algorithm for RISC Processors" (SIGMOD 1996):
//! strip the leading bits that all keys share, sort by the next 22 bits in two stable counting
//! passes of 11, least significant digit first, and clean up the few keys that are still out of
//! order.
//!
//! ```text
//! prefix    | shared |  digit 1, 11 bits  |  digit 0, 11 bits  |  not looked at |
//! entries --digit 0--> scratch --digit 1--> entries --clean-up--> entries
//! ```
//!
//! The paper's bubble sort relies on uniform keys: a million keys that share their 22 bits would
//! cost its square. Here such groups are sorted by comparison instead.

use kernel::Entry;

use super::insertion_sort;

/// Bits of one pass: 2^11 counters are 8 KB, a quarter of a first-level cache.
const BITS: u32 = 11;
/// Groups of equal 22 bits up to this long are left to the insertion clean-up.
const CLEANED: usize = 24;

pub(super) fn sort_prefixes(entries: &mut [Entry], scratch: &mut [Entry]) {
    if entries.len() <= CLEANED {
        insertion_sort(entries);
        return;
    }
    let (low, high) = entries.iter().fold((u64::MAX, 0), |(low, high), entry| {
        (low.min(entry.prefix), high.max(entry.prefix))
    });
    let stripped = (low ^ high).leading_zeros();
    if stripped == u64::BITS {
        return;
    }
    let shift = (u64::BITS - stripped).saturating_sub(2 * BITS);
    pass(entries, scratch, shift);
    pass(scratch, entries, shift + BITS);
    let digits = 1u64.wrapping_shl(2 * BITS) - 1;
    let group = |entry: &Entry| (entry.prefix >> shift) & digits;
    for group in entries.chunk_by_mut(|left, right| group(left) == group(right)) {
        if group.len() > CLEANED {
            group.sort_unstable_by_key(|entry| entry.prefix);
        }
    }
    insertion_sort(entries);
}

/// A stable counting pass by the digit from bit `shift` on.
fn pass(source: &[Entry], target: &mut [Entry], shift: u32) {
    // Bits past the top are zero: the range was narrower than two digits.
    let digit =
        |entry: &Entry| (entry.prefix.checked_shr(shift).unwrap_or(0) % (1 << BITS)) as usize;
    let mut next = [0u32; 1 << BITS];
    for entry in source {
        next[digit(entry)] += 1;
    }
    let mut start = 0;
    for count in &mut next {
        start += std::mem::replace(count, start);
    }
    for entry in source {
        let position = &mut next[digit(entry)];
        target[*position as usize] = *entry;
        *position += 1;
    }
}
