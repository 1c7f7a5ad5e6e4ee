//! Parts of `explain` and `--debug` alike: records read one by one, and lines under the bytes of a
//! text that count for a key.

use std::io::{self, BufRead, Cursor, Read as _};
use std::ops::Range;

use record::rows::{Header, RowOrder};
use record::{Framing, Head, Headed, RowSpec};

/// In more bytes an end is sought only when they have doubled, since the search begins at the front.
const SMALL_FRONT_BYTES: usize = 64 << 10;

/// The front of a line, row or record, without its delimiter.
pub(super) struct Line {
    pub bytes: Vec<u8>,
    /// Whether there is more of it, where the reader stands.
    pub is_cut: bool,
}

/// The lines on top, with their ends, and the reader behind them.
pub(super) fn head<R: BufRead>(
    mut reader: R,
    headed: Option<&Headed>,
) -> io::Result<(Vec<u8>, impl BufRead + use<R>)> {
    let (mut front, mut next) = (Vec::new(), 0);
    let end = loop {
        let Some(headed) = headed else { break 0 };
        let piece = reader.fill_buf()?;
        let taken = piece.len();
        front.extend_from_slice(piece);
        reader.consume(taken);
        if front.len() < next && taken > 0 {
            continue;
        }
        if front.len() > SMALL_FRONT_BYTES {
            next = 2 * front.len();
        }
        let mark = headed.mark_of(&front);
        let rest = &front[mark..];
        let last = headed.head().last_line(headed.framing(), rest, taken == 0);
        if let Some(last) = last.map_err(io::Error::other)? {
            break mark + last.end;
        }
        if front.len() > Head::LONGEST_BYTES {
            let why = "no header ends in the first 16 MiB; give --no-header";
            return Err(io::Error::other(why));
        }
    };
    let behind = front.split_off(end);
    Ok((front, Cursor::new(behind).chain(reader)))
}

/// The next record, of which at most `most` bytes are read, the delimiter among them.
pub(super) fn next(
    reader: &mut impl BufRead,
    framing: Framing,
    most: usize,
) -> io::Result<Option<Line>> {
    let (mut scanner, mut bytes) = (framing.scanner(), Vec::new());
    let is_whole = loop {
        let piece = reader.fill_buf()?;
        let piece = &piece[..piece.len().min(most - bytes.len())];
        let end = scanner.end(piece).map_err(io::Error::other)?;
        let taken = end.unwrap_or(piece.len());
        bytes.extend_from_slice(&piece[..taken]);
        reader.consume(taken);
        if end.is_some() || taken == 0 {
            break end.is_some();
        }
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    let is_cut = !is_whole && bytes.len() == most;
    let last = bytes.last().copied();
    if is_cut || framing.delimiter() == last {
        bytes.pop();
    }
    Ok(Some(Line { bytes, is_cut }))
}

/// The order of rows under these lines, and the names in the last of them.
///
/// # Errors
/// The mistake of the header, or the key that has no column.
pub(super) fn order_of(rows: &RowSpec, head: &[u8]) -> Result<(RowOrder, Option<Header>), String> {
    let has_names = rows.has_header() && !head.is_empty();
    let names = Headed::Rows(rows.clone()).names(head);
    let names = names.strip_suffix(b"\n").unwrap_or(names);
    let names = names.strip_suffix(b"\r").unwrap_or(names);
    let header = has_names.then(|| Header::parse(rows.dialect, names));
    let header = header.transpose().map_err(|problem| problem.to_string())?;
    let order = rows.order(header.as_ref());
    Ok((order.map_err(|problem| problem.to_string())?, header))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// The records of these bytes as they are read with room for so many.
    fn read(bytes: &[u8], framing: Framing, most: usize) -> Vec<(Vec<u8>, bool)> {
        let mut reader = BufReader::with_capacity(3, bytes);
        let next = || next(&mut reader, framing, most).unwrap();
        std::iter::from_fn(next)
            .map(|line| (line.bytes, line.is_cut))
            .collect()
    }

    #[test]
    fn records_end_with_their_delimiter_or_the_input() {
        let lines = Framing::Delimited(b'\n');
        let whole = |bytes: &[u8]| (bytes.to_vec(), false);
        assert_eq!(
            read(b"abcd\n\nc", lines, 6),
            [whole(b"abcd"), whole(b""), whole(b"c")]
        );
        assert_eq!(read(b"", lines, 6), []);
        let rows = record::rows::Dialect::CSV.framing();
        assert_eq!(
            read(b"\"a\nb\",3\nc\n", rows, 100),
            [whole(b"\"a\nb\",3"), whole(b"c")]
        );
        assert_eq!(
            read(b"abcd", Framing::Fixed(3), 100),
            [whole(b"abc"), whole(b"d")]
        );
    }

    #[test]
    fn long_lines_are_cut() {
        let lines = Framing::Delimited(b'\n');
        assert_eq!(read(b"abc\n", lines, 4), [(b"abc".to_vec(), false)]);
        let rest = [(b"abc".to_vec(), true), (b"e".to_vec(), false)];
        assert_eq!(read(b"abcde\n", lines, 4), rest);
        assert_eq!(read(b"abcd", lines, 4), [(b"abc".to_vec(), true)]);
    }
}
