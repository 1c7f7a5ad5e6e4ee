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
use super::scan::{Between, Blanks, Byte, Ends, past_blanks};

/// The place of a key in any line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The byte between fields, if these are not blanks.
    separator: Option<u8>,
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
            separator: None,
            start_fields: 0,
            start_bytes: 0,
            past_blanks: false,
            end: End::OfLine,
        }
    }

    /// The place of `key` among fields with this separator.
    pub(crate) fn of(key: &TextKey, separator: Option<u8>) -> Place {
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
            separator,
            start_fields: key.start_fields,
            start_bytes: key.start_bytes,
            past_blanks: key.options.blanks_start || key.value.is_some() && separator.is_none(),
            end,
        }
    }

    /// The number of fields before the key.
    pub(crate) fn before(&self) -> usize {
        self.start_fields
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
    pub(crate) fn range(&self, line: &[u8]) -> Range<usize> {
        match self.separator {
            None => self.range_among(line, Blanks),
            Some(byte) => self.range_among(line, Byte(byte)),
        }
    }

    #[inline]
    fn range_among<B: Between>(&self, line: &[u8], between: B) -> Range<usize> {
        let mut fields = Ends::behind(line, 0, between);
        let field = fields.pass(0, self.start_fields);
        let mut start = field;
        if self.past_blanks {
            start = line.len() - past_blanks(&line[start..]).len();
        }
        start = start.saturating_add(self.start_bytes).min(line.len());
        let end = match self.end {
            End::OfLine => line.len(),
            // The end of a field before the key: any place that is not behind the start will do.
            End::OfField(count) if count <= self.start_fields => 0,
            End::OfField(count) => (fields.nth(count - self.start_fields)).unwrap_or(line.len()),
            End::InField {
                fields: count,
                bytes,
                past_blanks: skip,
            } => {
                let mut end = match count.checked_sub(self.start_fields) {
                    Some(more) => fields.pass(field, more),
                    None => Ends::behind(line, 0, between).pass(0, count),
                };
                if skip {
                    end = line.len() - past_blanks(&line[end..]).len();
                }
                end.saturating_add(bytes).min(line.len())
            }
        };
        start..end.max(start)
    }

    /// The key in `line`.
    #[inline]
    pub(crate) fn key<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        &line[self.range(line)]
    }
}
