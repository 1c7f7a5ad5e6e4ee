//! Mistakes in rows, as messages have them.

use std::fmt;

use thiserror::Error;

use crate::text::row::{BadField, ValueError};

/// A mistake in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Its byte in the row, from 1.
    pub column: usize,
    /// The mistake.
    pub problem: RowProblem,
}

/// The kinds of mistakes in a row.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RowProblem {
    /// A field that a quote opens does not end.
    #[error("the quote that begins here does not end")]
    OpenQuote,
    /// A byte between a closing quote and the separator.
    #[error("a field in quotes ends before this; inside of quotes, write a quote twice")]
    BehindQuote,
    /// Another number of fields than the header has.
    #[error("{found} column{s}, the header has {expected}", s = if *found == 1 { "" } else { "s" })]
    Columns {
        /// The number of fields.
        found: usize,
        /// The number of columns of the header.
        expected: usize,
    },
    /// A value that is not of its key's type.
    #[error("\"{value}\" in {place} {error}")]
    Value {
        /// The value, or its first bytes.
        value: String,
        /// The column or path.
        place: String,
        /// The mistake.
        error: ValueError,
    },
    /// The row is no JSON.
    #[error("{0}")]
    Json(String),
    /// A byte that is not UTF-8.
    #[error("this byte is not UTF-8, as JSON must be")]
    Utf8,
    /// An escape of half a character.
    #[error("an escape of one surrogate without the other; write both, as \\ud83d\\ude00")]
    Surrogate,
    /// A key that is an object or an array.
    #[error("{place} is an {kind}; a key is a string, number, boolean or null")]
    Nested {
        /// The member or path.
        place: String,
        /// `object` or `array`.
        kind: &'static str,
    },
    /// A row that has no place for a total.
    #[error("it has no {place}, in which a total could stand")]
    NoPlace {
        /// The column, member or field.
        place: String,
    },
    /// A member that occurs twice in its object, so that its value is not known.
    #[error("the member {0:?} occurs twice; a key must have one value")]
    Twice(String),
}

impl RowProblem {
    /// Whether the byte's place says more than the message.
    fn has_place(&self) -> bool {
        !matches!(
            self,
            RowProblem::Columns { .. }
                | RowProblem::Value { .. }
                | RowProblem::NoPlace { .. }
                | RowProblem::Nested { .. }
        )
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.problem.has_place() {
            write!(f, "column {}: ", self.column)?;
        }
        self.problem.fmt(f)
    }
}

impl std::error::Error for BadRow {}

impl BadRow {
    /// A mistake at the byte behind so many others.
    pub(crate) fn at(before: usize, problem: RowProblem) -> BadRow {
        BadRow {
            column: before + 1,
            problem,
        }
    }

    pub(super) fn of_field(bad: BadField) -> BadRow {
        match bad {
            BadField::Open(place) => BadRow::at(place, RowProblem::OpenQuote),
            BadField::Behind(place) => BadRow::at(place, RowProblem::BehindQuote),
        }
    }

    pub(super) fn of_json(error: &serde_json::Error) -> BadRow {
        let text = error.to_string();
        // The place is said in another way.
        let message = text.split(" at line ").next().unwrap_or_default();
        BadRow {
            column: error.column().max(1),
            problem: RowProblem::Json(message.to_owned()),
        }
    }
}
