//! The index of a file of chained records: places where it may be cut.
//!
//! Where a chained record begins follows from all before, so one read of the file from front to back
//! looks for the first record that begins at or behind each of evenly spaced steps
//! (docs/decisions/0025).
//!
//! ```text
//! steps       |       |       |       |       |
//! records     |rec|record|r|rec...............|re|rec|
//! cuts        ^          ^                    ^      ^
//! ```

use std::ops::Range;

use crate::records::lengths::LengthCounter;
use record::{Framing, Scanner};

/// A larger file has cuts that are farther apart, so that its index takes 2 MiB of memory at most.
/// Whoever resumes a sort must cut where it was cut before, so the memory limit must not decide this.
const MOST_CUTS: usize = 1 << 18;

/// Lines of a file with a quote that is never closed, which are set aside: behind each of them all of the
/// rest is read once more.
pub(crate) const MOST_OPEN: usize = 64;

/// Places between the records of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    /// Where the first record begins.
    first: u64,
    /// Where later ones begin, ascending.
    cuts: Vec<u64>,
    end: u64,
    /// Lines with a quote that is never closed. Each is a unit of its own, and rows begin behind it.
    open: Vec<Range<u64>>,
    /// Of all records, with their delimiters.
    pub lengths: LengthCounter,
}

impl Index {
    /// The last cut at or before an offset.
    pub(crate) fn at_or_before(&self, offset: u64) -> u64 {
        let cut = match self.cuts.partition_point(|&cut| cut <= offset) {
            _ if offset >= self.end => return self.end,
            0 => self.first,
            before => self.cuts[before - 1],
        };
        let open = self.open.iter().flat_map(|line| [line.start, line.end]);
        open.filter(|&end| end <= offset).fold(cut, u64::max)
    }

    /// Whether a line with an open quote begins at an offset.
    pub(crate) fn is_open_at(&self, offset: u64) -> bool {
        self.open.iter().any(|line| line.start == offset)
    }

    /// The end of a unit of about `most` bytes that begins at the cut `from`: longer only if there
    /// is no cut within it.
    pub(crate) fn end_of_unit(&self, from: u64, most: u64) -> u64 {
        let mut end = self.at_or_before(from + most);
        if end <= from {
            let behind = self.cuts.partition_point(|&cut| cut <= from);
            end = self.cuts.get(behind).copied().unwrap_or(self.end);
        }
        let open = self.open.iter().flat_map(|line| [line.start, line.end]);
        open.filter(|&begin| begin > from).fold(end, u64::min)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.end - self.first
    }

    /// Bytes of the longest unit that has no cut within it.
    pub(crate) fn longest_unit(&self) -> u64 {
        let begins = [self.first].into_iter().chain(self.cuts.iter().copied());
        let ends = self.cuts.iter().copied().chain([self.end]);
        let each = begins.zip(ends).map(|(begin, end)| end - begin);
        each.max().unwrap_or(0)
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.cuts.capacity() * size_of::<u64>()) as u64
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoRecord {
    /// Where it begins in the file.
    pub offset: u64,
    pub what: String,
}

/// An index that is being made.
pub(crate) struct IndexBuilder {
    index: Index,
    step: u64,
    /// Cuts at most.
    most: usize,
    framing: Framing,
    scanner: Scanner,
    /// Where the current record begins.
    begins: u64,
    /// A record that begins at or behind this offset is a cut.
    next: u64,
}

impl IndexBuilder {
    /// The records begin at offset `first`.
    pub(crate) fn new(framing: Framing, first: u64, step: u64) -> IndexBuilder {
        IndexBuilder {
            index: Index {
                first,
                cuts: Vec::new(),
                end: first,
                open: Vec::new(),
                lengths: LengthCounter::default(),
            },
            step,
            most: MOST_CUTS,
            framing,
            scanner: framing.scanner(),
            begins: first,
            next: first + step,
        }
    }

    /// Looks at the next bytes of the file.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<(), NoRecord> {
        let (begin, mut at) = (self.index.end, 0);
        self.index.end += bytes.len() as u64;
        loop {
            let end = self.scanner.end(&bytes[at..]).map_err(|bad| NoRecord {
                offset: self.begins,
                what: bad.to_string(),
            })?;
            let Some(end) = end else { return Ok(()) };
            at += end;
            self.record_ends(begin + at as u64);
        }
    }

    fn record_ends(&mut self, end: u64) {
        self.index.lengths.add(end - self.begins);
        self.begins = end;
        if end < self.next {
            return;
        }
        if self.index.cuts.len() == self.most {
            self.step *= 2;
            let (first, step) = (self.index.first, self.step);
            let mut next = first + step;
            let is_kept = |cut: &u64| {
                *cut >= next && {
                    next = behind(first, step, *cut);
                    true
                }
            };
            self.index.cuts.retain(is_kept);
            self.next = next;
        }
        if end >= self.next {
            self.index.cuts.push(end);
            self.next = behind(self.index.first, self.step, end);
        }
    }

    /// Where the last row begins, if a quote in it is never closed.
    pub(crate) fn open_row(&self) -> Option<u64> {
        let is_open = self.scanner.is_quoted() && self.index.open.len() < MOST_OPEN;
        is_open.then_some(self.begins)
    }

    /// Goes on behind the first line of that row, at offset `end`. Rows there are read anew.
    pub(crate) fn go_on_behind(&mut self, end: u64) {
        let begin = self.begins;
        self.index.open.push(begin..end);
        self.index.end = end;
        self.index.lengths.add(end - begin + 1);
        self.scanner = self.framing.scanner();
        self.begins = end;
        self.next = behind(self.index.first, self.step, end);
    }

    /// The index of a file that has ended.
    pub(crate) fn finish(mut self) -> Result<Index, NoRecord> {
        if self.scanner.is_within() {
            if let Some(what) = unended(&self.scanner, self.framing) {
                return Err(NoRecord {
                    offset: self.begins,
                    what: what.to_owned(),
                });
            }
            self.index.lengths.add(self.index.end + 1 - self.begins);
        }
        if self.index.cuts.last() == Some(&self.index.end) {
            self.index.cuts.pop();
        }
        self.index.cuts.shrink_to_fit();
        Ok(self.index)
    }
}

fn behind(first: u64, step: u64, offset: u64) -> u64 {
    first + ((offset - first) / step + 1) * step
}

/// The mistake of a last record that has no end; `None` if only its delimiter is missing.
pub(crate) fn unended(scanner: &Scanner, framing: Framing) -> Option<&'static str> {
    match (framing.delimiter(), scanner.is_quoted()) {
        (Some(_), false) => None,
        (Some(_), true) => Some("a quote in this row is never closed"),
        (None, _) => Some("the file ends within this record; a part of it is missing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Quoting;

    const CSV: Framing = Framing::Quoted(Quoting::CSV);

    fn index(framing: Framing, bytes: &[u8], step: u64, piece: usize) -> Result<Index, NoRecord> {
        // A header of four bytes was skipped.
        let mut builder = IndexBuilder::new(framing, 4, step);
        for piece in bytes.chunks(piece) {
            builder.add(piece)?;
        }
        builder.finish()
    }

    #[test]
    fn cuts_are_the_first_records_behind_each_step() {
        let rows = b"ab\n\"c\nd\"\nefghijklmn\no\np\n\n";
        let begins: Vec<u64> = CSV
            .split(rows)
            .scan(4, |at, row| {
                Some(std::mem::replace(at, *at + row.len() as u64))
            })
            .collect();
        for step in 1..30 {
            let found = index(CSV, rows, step, 1 + step as usize % 5).unwrap();
            assert_eq!((found.lengths.records, found.lengths.longest), (6, 11));
            let mut expected: Vec<u64> = (1..30)
                .filter_map(|number| begins.iter().find(|&&at| at >= 4 + number * step))
                .copied()
                .collect();
            expected.dedup();
            assert_eq!(found.cuts, expected, "steps of {step}");
            let end = 4 + rows.len() as u64;
            assert_eq!(found.end, end);
            for most in 1..30 {
                let (mut at, mut count) = (4, 0);
                while at < end {
                    let next = found.end_of_unit(at, most);
                    assert!(next == end || found.cuts.contains(&next));
                    assert!(next > at && next - at <= most.max(found.longest_unit()));
                    assert_eq!(
                        found.at_or_before(next - 1).max(at),
                        found.at_or_before(next - 1)
                    );
                    (at, count) = (next, count + 1);
                }
                assert!(count <= 2 * (rows.len() as u64).div_ceil(most) + 1);
            }
        }
    }

    #[test]
    fn a_larger_file_has_cuts_that_are_farther_apart() {
        let rows = b"abc\n".repeat(1000);
        let mut builder = IndexBuilder::new(CSV, 4, 8);
        builder.most = 10;
        rows.chunks(7).for_each(|piece| builder.add(piece).unwrap());
        let found = builder.finish().unwrap();
        assert_eq!(
            found.cuts,
            [512, 1024, 1536, 2048, 2560, 3072, 3584].map(|cut| cut + 4)
        );
        assert_eq!((found.lengths.records, found.longest_unit()), (1000, 512));
    }

    #[test]
    fn a_last_row_may_lack_its_delimiter() {
        let found = index(CSV, b"ab\ncdef", 1, 2).unwrap();
        assert_eq!(
            (found.lengths.records, found.lengths.longest, found.end),
            (2, 5, 11)
        );
        let none = index(CSV, b"", 8, 1).unwrap();
        assert_eq!(
            (
                none.lengths.records,
                none.longest_unit(),
                none.at_or_before(4)
            ),
            (0, 0, 4)
        );
    }

    #[test]
    fn rows_go_on_behind_the_line_of_an_open_quote() {
        let mut builder = IndexBuilder::new(CSV, 4, 1);
        builder.add(b"ab\n\"c\nd\n").unwrap();
        assert_eq!(builder.open_row(), Some(7));
        builder.go_on_behind(10);
        builder.add(b"d\n").unwrap();
        let found = builder.finish().unwrap();
        assert_eq!((&found.cuts[..], found.end), (&[7][..], 12));
        assert_eq!((found.lengths.records, found.lengths.longest), (3, 4));
        assert_eq!((found.end_of_unit(4, 8), found.end_of_unit(7, 8)), (7, 10));
    }

    #[test]
    fn records_that_cannot_be_are_named() {
        let at = |framing, bytes: &[u8]| index(framing, bytes, 2, 3).unwrap_err().offset;
        assert_eq!(at(CSV, b"a\n\"b\n"), 6);
        let lengths = Framing::Prefixed("rdw".parse().unwrap());
        assert_eq!(at(lengths, b"\0\x05\0\0a\0\x06\0\0b"), 9);
        assert_eq!(at(lengths, b"\0\x05\0\0a\0\x03\0\0b"), 9);
    }
}
