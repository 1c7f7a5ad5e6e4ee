//! Lines under the bytes of a text that count for a key.

use std::ops::Range;

/// A line under the bytes that count, or `none` where there are no such bytes. It may be longer than
/// a width in a format.
pub(super) fn mark(line: &[u8], read: Range<usize>, none: &str) -> String {
    let before = " ".repeat(columns(&line[..read.start]));
    match columns(&line[read]) {
        0 => before + none,
        width => before + &"_".repeat(width),
    }
}

/// Columns that bytes take on a terminal, a tab as one.
fn columns(bytes: &[u8]) -> usize {
    let takes_one = |byte: &&u8| **byte == b'\t' || !byte.is_ascii_control();
    bytes.iter().filter(takes_one).count()
}
