//! The lines of whole lines: their ends are looked for in windows that fit in the cache.
//!
//! Rows with quotes and records with lengths count as lines here; only their ends are found in
//! other ways.
//!
//! ```text
//! lines     |ab\n|cdefg\n|h\n|ijkl\n|...
//! windows   |...... 0 ......|...... 1 ....      each ends with a line
//! ```

use record::Framing;

/// Bytes in which the ends of lines are looked for at once.
pub(super) const WINDOW_BYTES: usize = 64 << 10;

/// Calls `found` with the ends of some lines of whole lines, and the bytes from the first of
/// them on, as their offset and themselves: a window after the other, so that few ends are held.
pub(super) fn windows<'a>(
    lines: &'a [u8],
    framing: Framing,
    mut found: impl FnMut(usize, &'a [u8], &[u32]),
) {
    let (mut begin, mut ends) = (0, Vec::new());
    while begin < lines.len() {
        let rest = &lines[begin..];
        let window = &rest[..rest.len().min(WINDOW_BYTES)];
        find_ends(window, framing, &mut ends);
        if ends.is_empty() {
            // A line that is longer than the window.
            ends.push(first_end(rest, framing) as u32);
        }
        found(begin, rest, &ends);
        begin += *ends.last().expect("a line") as usize;
    }
}

/// The ends of the whole lines at the front of `bytes`.
pub(super) fn find_ends(bytes: &[u8], framing: Framing, ends: &mut Vec<u32>) {
    let delimiter = match framing {
        Framing::Delimited(delimiter) => Some(delimiter),
        // Without quotes rows are lines.
        Framing::Quoted(quoting) if memchr::memchr(quoting.quote, bytes).is_none() => Some(b'\n'),
        _ => None,
    };
    if let Some(delimiter) = delimiter {
        return kernel::ends(bytes, delimiter, ends);
    }
    ends.clear();
    let mut begin = 0;
    while let Some(end) = framing.end(&bytes[begin..]) {
        begin += end;
        ends.push(begin as u32);
    }
}

/// The end of the line at the front of whole lines.
#[inline]
pub(super) fn first_end(lines: &[u8], framing: Framing) -> usize {
    let end = match framing {
        Framing::Delimited(delimiter) => kernel::first_end(lines, delimiter),
        _ => framing.end(lines),
    };
    end.expect("whole lines")
}

/// Each line, from its ends.
pub(super) fn each<'a>(
    lines: &'a [u8],
    ends: &[u32],
) -> impl Iterator<Item = (usize, &'a [u8])> + Clone {
    ends.iter().scan(0, move |begin, &end| {
        let from = std::mem::replace(begin, end as usize);
        Some((from, &lines[from..end as usize]))
    })
}

/// The line at a row, with its delimiter.
#[inline]
pub(super) fn line_at<'a>(slices: &[&'a [u8]], row: u64, framing: Framing) -> &'a [u8] {
    let rest = &slices[(row >> 32) as usize][row as u32 as usize..];
    &rest[..first_end(rest, framing)]
}
