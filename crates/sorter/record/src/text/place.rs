//! Finds a key in a line.
//!
//! ```text
//! -t,          alpha,beta,,delta          fields  "alpha" "beta" "" "delta"
//!
//! without -t   alpha  beta gamma          fields  "alpha" "  beta" " gamma"
//!                                         a field begins with the blanks before it
//!
//! -k2.3b,3.1   alpha  beta gamma          start: field 2, past its blanks, 2 bytes on
//!                       ^^ ^              end: field 3 and 1 byte, a blank; `3.1b` would end at g
//!                       start..end
//! ```
//!
//! A position past the end of the line is the end of the line. A key that ends before it starts is
//! empty. The end is searched from the start where that finds the same place.

use std::ops::Range;

use super::key::TextKey;
use super::scan::{Between, Ends, past_blanks};

/// The place of a key in any line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    between: Between,
    start_fields: usize,
    start_bytes: usize,
    past_blanks: bool,
    end: End,
}

/// The end of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    OfLine,
    /// The end of the last of so many fields.
    OfField(usize),
    /// So many bytes after the start of the field that follows so many.
    InField {
        fields: usize,
        bytes: usize,
        past_blanks: bool,
    },
}

impl Place {
    pub(super) fn line() -> Place {
        Place {
            between: Between::Blanks,
            start_fields: 0,
            start_bytes: 0,
            past_blanks: false,
            end: End::OfLine,
        }
    }

    /// The place of `key` among fields with this separator.
    pub(super) fn of(key: &TextKey, separator: Option<u8>) -> Place {
        let end = match key.end {
            None => End::OfLine,
            Some(end) if end.bytes == 0 => End::OfField(end.fields.saturating_add(1)),
            Some(end) => End::InField {
                fields: end.fields,
                bytes: end.bytes,
                past_blanks: key.options.blanks_end,
            },
        };
        Place {
            between: separator.map_or(Between::Blanks, Between::Byte),
            start_fields: key.start_fields,
            start_bytes: key.start_bytes,
            past_blanks: key.options.blanks_start,
            end,
        }
    }

    /// Whether the key is the whole of every line.
    pub(super) fn is_line(&self) -> bool {
        self.start_fields == 0
            && self.start_bytes == 0
            && !self.past_blanks
            && self.end == End::OfLine
    }

    /// Where the key is in `line`.
    #[inline]
    pub(super) fn range(&self, line: &[u8]) -> Range<usize> {
        let mut fields = Fields::of(line, self.between);
        let field = fields.pass(self.start_fields);
        let mut start = field;
        if self.past_blanks {
            start = line.len() - past_blanks(&line[start..]).len();
        }
        start = start.saturating_add(self.start_bytes).min(line.len());
        let end = self.end_in(line, fields);
        start..end.max(start)
    }

    /// The key in `line`.
    #[inline]
    pub(super) fn key<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        &line[self.range(line)]
    }

    /// The end of the key, when the fields before its start are passed.
    #[inline]
    fn end_in(&self, line: &[u8], mut rest: Fields<'_>) -> usize {
        match self.end {
            End::OfLine => line.len(),
            // The end of a field before the key: any place that is not behind the start will do.
            End::OfField(fields) if fields <= self.start_fields => 0,
            End::OfField(fields) => rest.end(fields - self.start_fields),
            End::InField {
                fields,
                bytes,
                past_blanks: skip,
            } => {
                let mut end = match fields.checked_sub(self.start_fields) {
                    Some(more) => rest.pass(more),
                    None => Fields::of(line, self.between).pass(fields),
                };
                if skip {
                    end = line.len() - past_blanks(&line[end..]).len();
                }
                end.saturating_add(bytes).min(line.len())
            }
        }
    }
}

/// The fields of a line, of which some are passed.
struct Fields<'l> {
    ends: Ends<'l>,
    between: Between,
    /// The start of the first field that is not passed.
    start: usize,
    length: usize,
}

impl<'l> Fields<'l> {
    #[inline]
    fn of(line: &'l [u8], between: Between) -> Fields<'l> {
        Fields {
            ends: Ends::behind(line, 0, between),
            between,
            start: 0,
            length: line.len(),
        }
    }

    /// Passes `count` fields. Returns the start of the next one.
    #[inline]
    fn pass(&mut self, count: usize) -> usize {
        if count > 0 {
            let between = usize::from(self.between != Between::Blanks);
            let end = self.ends.nth(count);
            self.start = end.map_or(self.length, |end| end + between);
        }
        self.start
    }

    /// The end of the last of `count` fields, at least one.
    #[inline]
    fn end(&mut self, count: usize) -> usize {
        self.ends.nth(count).unwrap_or(self.length)
    }
}
