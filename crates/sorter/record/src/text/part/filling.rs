//! The first words of many lines at once.

use super::{Part, Source};
use crate::text::encoding::Code;
use crate::text::row::{Found, RowPlace};
use crate::text::words::group;

impl Part {
    /// Word 0 of each line, with one decision about the kind of key for all of them.
    pub(in crate::text) fn fill<'a>(&self, lines: impl Iterator<Item = &'a [u8]>, out: &mut [u64]) {
        assert_eq!(
            self.skipped, 0,
            "lines that share their front have their words one by one"
        );
        if self.nothing.is_some() {
            return fill(lines, out, |line| self.word(line, 0).unwrap_or(0));
        }
        let (code, flip) = (self.code, self.flip);
        match (&self.source, code) {
            (Source::Fields(place), Code::Text) => fill(lines, out, |line| {
                group(place.key(line), 0).unwrap_or(0) ^ flip
            }),
            (Source::Fields(place), Code::Numeric) => fill(lines, out, |line| {
                Code::Numeric.word(place.key(line), 0).unwrap_or(0) ^ flip
            }),
            (Source::Fields(place), _) => fill(lines, out, |line| {
                code.word(place.key(line), 0).unwrap_or(0) ^ flip
            }),
            (Source::Row(RowPlace::Column(column), nulls), _) if nulls.is_empty() => {
                fill(lines, out, |row| match column.find(row) {
                    Found::Plain(key) => code.word(key, 0).unwrap_or(0) ^ flip,
                    Found::Coded(_) => self.word(row, 0).unwrap_or(0),
                });
            }
            (Source::Value(..) | Source::Row(..) | Source::Bytes(_), _) => {
                fill(lines, out, |row| self.word(row, 0).unwrap_or(0))
            }
        }
    }
}

/// A tight loop, compiled separately for each way to find a prefix.
pub(in crate::text) fn fill<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    out: &mut [u64],
    prefix: impl Fn(&[u8]) -> u64,
) {
    for (place, line) in out.iter_mut().zip(lines) {
        *place = prefix(line);
    }
}
