//! Insertion sort of nearly sorted entries: the clean-up after a partial radix sort.
//!
//! NOW-Sort 6.5: after a counting pass over enough bits "most keys are correctly sorted, and a
//! simple bubble-sort cleans up the misordered keys". The clean-up can sort from one buffer into
//! the other, which saves the copy back after a counting pass:
//!
//! ```text
//! source  3 5 4 9 8       target  3 5 | .     4 is taken, 5 moves up, 4 goes below it
//!             ^                       ^
//! ```
//!
//! The cost is the number of inversions, so it is for nearly sorted ranges only.

#![allow(unsafe_code)]

use crate::Entry;

/// Sorts `range` by prefix in place. Returns whether two entries have the same prefix.
pub(crate) fn insertion_sort(range: &mut [Entry]) -> bool {
    let start = range.as_mut_ptr();
    // SAFETY: source and target are the same `range.len()` entries, exclusively borrowed here.
    unsafe { insert_all(start, start, range.len()) }
}

/// Sorts `source` by prefix into `target` of the same length. Returns whether two entries have the
/// same prefix.
pub(super) fn insertion_sort_into(source: &[Entry], target: &mut [Entry]) -> bool {
    assert_eq!(source.len(), target.len());
    // SAFETY: both hold `source.len()` entries, as asserted.
    unsafe { insert_all(source.as_ptr(), target.as_mut_ptr(), source.len()) }
}

/// Inserts each entry of `source` in turn into the sorted front of `target`.
///
/// # Safety
/// `source` is readable and `target` writable for `count` entries; they are equal or do not
/// overlap.
#[inline(always)]
unsafe fn insert_all(source: *const Entry, target: *mut Entry, count: usize) -> bool {
    if count == 0 {
        return false;
    }
    let mut ties = false;
    // SAFETY: `count` is not zero.
    let mut held = unsafe { *source };
    for taken in 1..count {
        // SAFETY: `taken < count`. If the buffers are the same, this writes positions up to
        // `taken - 1`, all of which have been read.
        unsafe {
            let (smaller, larger) = in_order(held, *source.add(taken));
            ties |= insert(target, taken - 1, smaller);
            held = larger;
        }
    }
    // SAFETY: the last position.
    ties | unsafe { insert(target, count - 1, held) }
}

/// The two entries, the one with the smaller prefix first, without a branch.
#[inline(always)]
fn in_order(left: Entry, right: Entry) -> (Entry, Entry) {
    let swap = u64::from(right.prefix < left.prefix).wrapping_neg();
    let prefix = (left.prefix ^ right.prefix) & swap;
    let row = (left.row ^ right.row) & swap;
    let exchanged = |entry: Entry| Entry {
        prefix: entry.prefix ^ prefix,
        row: entry.row ^ row,
    };
    (exchanged(left), exchanged(right))
}

/// Inserts `entry` into the sorted `target[..hole]`. Returns whether its left neighbour has the
/// same prefix.
///
/// # Safety
/// `target` is readable below `hole`, and writable there and at `hole`.
#[inline(always)]
unsafe fn insert(target: *mut Entry, mut hole: usize, entry: Entry) -> bool {
    // SAFETY: `hole` only decreases, at least to 0, so by the caller every address is inside.
    unsafe {
        while hole > 0 && (*target.add(hole - 1)).prefix > entry.prefix {
            *target.add(hole) = *target.add(hole - 1);
            hole -= 1;
        }
        target.add(hole).write(entry);
        hole > 0 && (*target.add(hole - 1)).prefix == entry.prefix
    }
}
