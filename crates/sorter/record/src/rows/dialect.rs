//! How a row divides into values.

use thiserror::Error;

use crate::framing::{Framing, Quoting};

/// The format of rows.
///
/// ```
/// use record::rows::Dialect;
/// let with_tabs = Dialect::Csv { separator: b'\t', quote: b'"' };
/// assert!(with_tabs.check().is_ok());
/// assert!(Dialect::Csv { separator: b'"', quote: b'"' }.check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Fields, perhaps in quotes (RFC 4180).
    Csv {
        /// The byte between two fields.
        separator: u8,
        /// The byte around a field that holds separators, quotes or newlines.
        quote: u8,
    },
    /// Fields between tabs, without quotes (IANA text/tab-separated-values).
    Tsv,
    /// A value of JSON.
    JsonLines,
}

/// Bytes that cannot separate or quote fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DialectError {
    /// The separator and the quote are the same byte.
    #[error("the separator and the quote are the same byte; choose two")]
    Same,
    /// One of them is a newline or a carriage return, which end rows.
    #[error("rows end with newlines and carriage returns; choose another separator or quote")]
    EndOfRow,
}

impl Dialect {
    /// CSV with commas and double quotes.
    pub const CSV: Dialect = Dialect::Csv {
        separator: b',',
        quote: b'"',
    };

    /// Whether rows have columns, which a first row may name.
    #[must_use]
    pub fn has_columns(self) -> bool {
        self != Dialect::JsonLines
    }

    /// The byte between two fields, if there are any.
    #[must_use]
    pub fn separator(self) -> Option<u8> {
        match self {
            Dialect::Csv { separator, .. } => Some(separator),
            Dialect::Tsv => Some(b'\t'),
            Dialect::JsonLines => None,
        }
    }

    /// The quote byte, if the dialect has one.
    #[must_use]
    pub fn quote(self) -> Option<u8> {
        match self {
            Dialect::Csv { quote, .. } => Some(quote),
            Dialect::Tsv | Dialect::JsonLines => None,
        }
    }

    /// Where a row ends.
    #[must_use]
    pub fn framing(self) -> Framing {
        match self {
            Dialect::Csv { separator, quote } => Framing::Quoted(Quoting { separator, quote }),
            Dialect::Tsv | Dialect::JsonLines => Framing::Delimited(b'\n'),
        }
    }

    /// Checks that the bytes between and around fields can be told apart.
    ///
    /// # Errors
    /// If they are the same, or one ends rows.
    pub fn check(self) -> Result<(), DialectError> {
        let Dialect::Csv { separator, quote } = self else {
            return Ok(());
        };
        let ends = |byte| matches!(byte, b'\n' | b'\r');
        match (separator, quote) {
            _ if separator == quote => Err(DialectError::Same),
            _ if ends(separator) || ends(quote) => Err(DialectError::EndOfRow),
            _ => Ok(()),
        }
    }
}
