//! Finds a value in a row of CSV, TSV or JSON Lines.
//!
//! ```text
//! 7,"a ""b""",9                  {"id": 7, "name": "a \"b\"", "tags": [1, 2]}
//!   _________ column 2                             _______ $.name
//!    a ""b""  its bytes in the row                  a \"b\"
//!    a "b"    the value                             a "b"
//! ```
//!
//! Most values are bytes of the row as they are. Others have doubled quotes or escapes, and only
//! these are decoded: byte after byte into a word, or as a whole into memory that is used again.
//!
//! Rows may have any bytes. One with a mistake has some value or none, always the same, and nothing
//! panics; [`crate::rows::RowCheck`] finds mistakes.

mod column;
mod json;
mod kind;
mod path;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use super::words::Sink;

pub(crate) use column::{BadField, Column, count_fields, without_cr};
pub(crate) use json::lone_surrogate;
pub use kind::{Nulls, ValueError, ValueKind, ValueOrder, ValueOrderError};
pub use path::PathError;
pub(crate) use path::{Json, JsonKind, Path};

/// The bytes of a value in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'r> {
    /// The value itself; empty if it is missing.
    Plain(&'r [u8]),
    /// To be decoded.
    Coded(Coded<'r>),
}

/// A value that differs from its bytes in the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coded<'r> {
    bytes: &'r [u8],
    coding: Coding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    /// The bytes behind an opening quote. A doubled one stands for one, another ends the quotes.
    Doubled(u8),
    /// A string of JSON without its quotes.
    Escaped,
}

thread_local! {
    /// Memory for decoded values: one for each that a thread compares at the moment.
    static DECODED: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

impl<'r> Found<'r> {
    /// Gives the value to `then`.
    #[inline]
    pub(crate) fn with<T>(self, then: impl FnOnce(&[u8]) -> T) -> T {
        match self {
            Found::Plain(bytes) => then(bytes),
            Found::Coded(coded) => coded.with(then),
        }
    }
}

/// Where a value is in its row, so that it need not be sought again.
#[derive(Clone, Debug)]
pub(super) struct FoundAt {
    range: Range<usize>,
    coding: Option<Coding>,
}

impl FoundAt {
    pub(super) fn new(found: Found<'_>, row: &[u8]) -> FoundAt {
        let (bytes, coding) = match found {
            Found::Plain(bytes) => (bytes, None),
            Found::Coded(Coded { bytes, coding }) => (bytes, Some(coding)),
        };
        // A value that is missing may be no part of the row.
        let start = match bytes {
            [] => 0,
            _ => bytes.as_ptr() as usize - row.as_ptr() as usize,
        };
        let range = start..start + bytes.len();
        FoundAt { range, coding }
    }

    pub(super) fn of<'r>(&self, row: &'r [u8]) -> Found<'r> {
        let bytes = &row[self.range.clone()];
        match self.coding {
            None => Found::Plain(bytes),
            Some(coding) => Found::Coded(Coded { bytes, coding }),
        }
    }
}

impl Coded<'_> {
    /// Writes the value, or as much of it as `out` takes.
    pub(super) fn decode(self, out: &mut impl Sink) {
        match self.coding {
            Coding::Doubled(quote) => column::decode(self.bytes, quote, out),
            Coding::Escaped => json::decode(self.bytes, out),
        }
    }

    /// Decodes the value for `then`.
    pub(super) fn with<T>(self, then: impl FnOnce(&[u8]) -> T) -> T {
        let mut value = DECODED.with_borrow_mut(Vec::pop).unwrap_or_default();
        value.clear();
        self.decode(&mut value);
        let result = then(&value);
        DECODED.with_borrow_mut(|free| free.push(value));
        result
    }
}

/// A key of rows: a value, and its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowValue {
    pub(crate) place: RowPlace,
    pub(crate) order: ValueOrder,
    pub(crate) nulls: NullWords,
}

/// Words that stand for a missing value, such as `NA`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NullWords(Arc<[Box<str>]>);

impl NullWords {
    pub(crate) fn new(words: &[String]) -> NullWords {
        NullWords(words.iter().map(|word| word.as_str().into()).collect())
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|word| &**word)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A field of a line, or an empty one in the place of such a word. Blanks around both do not count, nor does the
    /// carriage return of a line.
    pub(crate) fn taken_from_field<'l>(&self, field: &'l [u8]) -> &'l [u8] {
        let value = field.trim_ascii();
        let is_null = self.all().any(|word| word.as_bytes().trim_ascii() == value);
        if is_null { &[] } else { field }
    }

    /// The value, or an empty one in the place of such a word.
    pub(crate) fn taken_from<'r>(&self, found: Found<'r>) -> Found<'r> {
        let is_null = |value: &[u8]| self.all().any(|word| word.as_bytes() == value);
        if !self.is_empty() && found.with(is_null) {
            Found::Plain(&[])
        } else {
            found
        }
    }
}

/// Where a value is in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowPlace {
    /// In a column of CSV or TSV.
    Column(Column),
    /// At a path of JSON.
    Path(Path),
}

impl RowPlace {
    #[inline]
    pub(crate) fn find<'r>(&self, row: &'r [u8]) -> Found<'r> {
        match self {
            RowPlace::Column(column) => column.find(row),
            RowPlace::Path(path) => path.find(row),
        }
    }

    /// Whether the row has a value there, which may be empty or null.
    pub(crate) fn is_in(&self, row: &[u8]) -> bool {
        match self {
            RowPlace::Column(column) => column.is_in(row),
            RowPlace::Path(path) => path.json(row).range.start < row.len(),
        }
    }

    /// The bytes of the row that are the value, with its quotes, and those inside of the quotes.
    pub(crate) fn ranges(&self, row: &[u8]) -> (Range<usize>, Range<usize>) {
        match self {
            RowPlace::Column(column) => column.ranges(row),
            RowPlace::Path(path) => path.ranges(row),
        }
    }
}
