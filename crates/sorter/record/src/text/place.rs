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
use super::scan::{nth, past_blanks, past_words};

/// The place of a key in any line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    fields: Fields,
    start_fields: usize,
    start_bytes: usize,
    past_blanks: bool,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fields {
    /// Blanks, which belong to the field after them.
    Blanks,
    /// A byte, which belongs to no field.
    Separator(u8),
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
            fields: Fields::Blanks,
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
            fields: separator.map_or(Fields::Blanks, Fields::Separator),
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
        let field = self.fields.start(line, 0, self.start_fields);
        let mut start = field;
        if self.past_blanks {
            start = line.len() - past_blanks(&line[start..]).len();
        }
        start = start.saturating_add(self.start_bytes).min(line.len());
        let end = self.end_in(line, field);
        start..end.max(start)
    }

    /// The key in `line`.
    #[inline]
    pub(super) fn key<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        &line[self.range(line)]
    }

    /// The end of the key, whose first field starts at `field`.
    #[inline]
    fn end_in(&self, line: &[u8], field: usize) -> usize {
        match self.end {
            End::OfLine => line.len(),
            // The end of a field before the key: any place that is not behind the start will do.
            End::OfField(fields) if fields <= self.start_fields => 0,
            End::OfField(fields) => self.fields.end(line, field, fields - self.start_fields),
            End::InField {
                fields,
                bytes,
                past_blanks: skip,
            } => {
                let mut end = match fields.checked_sub(self.start_fields) {
                    Some(more) => self.fields.start(line, field, more),
                    None => self.fields.start(line, 0, fields),
                };
                if skip {
                    end = line.len() - past_blanks(&line[end..]).len();
                }
                end.saturating_add(bytes).min(line.len())
            }
        }
    }
}

impl Fields {
    /// The start of the field that follows `count` fields, counted from the start of one.
    #[inline]
    fn start(self, line: &[u8], from: usize, count: usize) -> usize {
        if count == 0 {
            return from;
        }
        match self {
            Fields::Blanks => past_words(line, from, count),
            Fields::Separator(byte) => {
                nth(line, from, byte, count).map_or(line.len(), |place| place + 1)
            }
        }
    }

    /// The end of the last of `count` fields, at least one, counted from the start of one.
    #[inline]
    fn end(self, line: &[u8], from: usize, count: usize) -> usize {
        match self {
            Fields::Blanks => past_words(line, from, count),
            Fields::Separator(byte) => nth(line, from, byte, count).unwrap_or(line.len()),
        }
    }
}
