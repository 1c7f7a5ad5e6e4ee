//! psort's quasi-in-place mergesort: a buffer of half the length, and merges without branches.
//!
//! To merge two neighbours, the left one moves to the buffer; from there and from the right one the
//! result grows into the place of the left, and can never overtake what the right still holds:
//!
//! ```text
//! entries   |  left, free now  |  right            |
//!            ^ result             ^ next of right
//! buffer    |  left            |
//!               ^ next of left
//! ```
//!
//! Merges run bottom up from short blocks, each level once over everything; the two front entries
//! are held in registers, and which one leaves is arithmetic on positions, not a jump (psort
//! poster, "quasi-in-place mergesort and explicit handling of CPU registers").

use kernel::Entry;

use super::insertion_sort;

/// Blocks sorted by insertion first: short enough for its square to stay small.
const BLOCK: usize = 16;

pub(super) fn sort_prefixes(entries: &mut [Entry], scratch: &mut [Entry]) {
    for block in entries.chunks_mut(BLOCK) {
        insertion_sort(block);
    }
    let mut width = BLOCK;
    while width < entries.len() {
        for pair in entries.chunks_mut(2 * width) {
            if pair.len() > width {
                merge(pair, width, scratch);
            }
        }
        width *= 2;
    }
}

/// Merges `pair[..middle]` and `pair[middle..]`; `buffer` holds at least `middle` entries.
fn merge(pair: &mut [Entry], middle: usize, buffer: &mut [Entry]) {
    if pair[middle - 1].prefix <= pair[middle].prefix {
        return;
    }
    let left = &mut buffer[..middle];
    left.copy_from_slice(&pair[..middle]);
    let (mut from_left, mut from_right, mut to) = (0, middle, 0);
    while from_left < middle && from_right < pair.len() {
        let (a, b) = (left[from_left], pair[from_right]);
        let right = b.prefix < a.prefix;
        pair[to] = if right { b } else { a };
        from_left += usize::from(!right);
        from_right += usize::from(right);
        to += 1;
    }
    // If the right one is left over, it is in its place already.
    let rest = middle - from_left;
    pair[to..to + rest].copy_from_slice(&left[from_left..]);
}
