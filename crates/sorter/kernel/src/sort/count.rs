//! The counting pass: the number of entries of each bin, the start of each bin, and the move if
//! source and target fit in the cache.

#![allow(unsafe_code)]

use super::digit::Digit;
use crate::{Entry, prefetch};

/// Counts the entries of each bin into `counts`.
pub(super) fn histogram(range: &[Entry], digit: Digit, counts: &mut [u32]) {
    counts.fill(0);
    assert_eq!(counts.len(), digit.bins());
    for entry in range {
        let bin = digit.of(entry.prefix);
        // SAFETY: `Digit::of` is below `Digit::bins`, which is the length of `counts`.
        unsafe { *counts.get_unchecked_mut(bin) += 1 };
    }
}

/// As [`histogram`], and prefetches the lines that the entries will move to, in order: a core could
/// not do that while they are written at random.
pub(super) fn histogram_fetching(
    range: &[Entry],
    target: &[Entry],
    digit: Digit,
    counts: &mut [u32],
) {
    const LINE: usize = prefetch::LINE_BYTES / size_of::<Entry>();
    assert_eq!(range.len(), target.len());
    counts.fill(0);
    assert_eq!(counts.len(), digit.bins());
    for (line, target) in range.chunks(LINE).zip(target.chunks(LINE)) {
        prefetch::read(target.as_ptr().cast());
        for entry in line {
            let bin = digit.of(entry.prefix);
            // SAFETY: `Digit::of` is below `Digit::bins`, which is the length of `counts`.
            unsafe { *counts.get_unchecked_mut(bin) += 1 };
        }
    }
}

/// Replaces the count of each bin by its first position.
pub(super) fn starts(counts: &mut [u32]) {
    let mut next = 0;
    for count in counts {
        next += std::mem::replace(count, next);
    }
}

/// Moves each entry to the next position of its bin. `next` holds these positions, and afterwards
/// the end of each bin.
///
/// # Panics
/// If a position is outside `target`, which cannot happen with the starts of `source`.
pub(super) fn scatter(source: &[Entry], target: &mut [Entry], digit: Digit, next: &mut [u32]) {
    assert_eq!(next.len(), digit.bins());
    for entry in source {
        let bin = digit.of(entry.prefix);
        // SAFETY: `Digit::of` is below `Digit::bins`, which is the length of `next`.
        let position = unsafe { next.get_unchecked_mut(bin) };
        target[*position as usize] = *entry;
        *position += 1;
    }
}
