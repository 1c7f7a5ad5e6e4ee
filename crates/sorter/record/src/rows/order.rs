//! The keys of rows, each at its place.

use thiserror::Error;

use super::dialect::{Dialect, DialectError};
use super::header::{Header, HeaderError};
use super::key::RowKey;
use crate::order::Ties;
use crate::text::row::{Column, NullWords, Path, PathError, RowPlace, RowValue};
use crate::text::{Locale, TextOrder};

/// An order of rows.
///
/// ```
/// use record::rows::{Dialect, Header, RowOrder};
/// use record::Ties;
/// let header = Header::parse(Dialect::CSV, b"city,price")?;
/// let keys = ["price:num:desc".parse()?];
/// let order = RowOrder::new(Dialect::CSV, Some(&header), &keys, Ties::Record)?;
/// let text = order.text();
/// assert!(text.compare(b"\"Oslo, Norway\",10", b"Bonn,9.5").is_lt());
/// assert!(text.compare(b"Bonn,", b"Bonn,9.5").is_gt(), "a missing price is last with desc");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOrder {
    pub(super) dialect: Dialect,
    /// The number of columns of every row, if it is known.
    pub(super) columns: Option<usize>,
    pub(super) values: Vec<RowValue>,
    pub(super) ties: Ties,
    /// The language by which text is compared; without one, by its bytes.
    pub(super) locale: Option<Locale>,
    /// Whether a row may have fewer columns than the header.
    pub(super) may_be_short: bool,
}

/// The reason why an order was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RowOrderError {
    /// Values cannot be told apart.
    #[error(transparent)]
    Dialect(#[from] DialectError),
    /// A key has no place in the rows.
    #[error("key {key}, \"{given}\": {problem}")]
    Key {
        /// The number of the key, from 1.
        key: usize,
        /// The key.
        given: String,
        /// The mistake, which displays with a remedy.
        problem: RowOrderProblem,
    },
}

/// A mistake in a key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RowOrderProblem {
    /// The header has no such column, or two.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// A name, and no header.
    #[error(
        "the rows have no header; write the number of a column, such as #3, or #3:num for numbers"
    )]
    NoHeader,
    /// `#0`.
    #[error("columns are counted from 1; write #1 for the first")]
    NumberZero,
    /// A number behind the last column.
    #[error("the header has {0} column{s}", s = if *.0 == 1 { "" } else { "s" })]
    NumberTooLarge(usize),
    /// `#3` of JSON.
    #[error(
        "rows of JSON have no columns; write a name, or a path such as $.a[0] ($['#3'] for a name)"
    )]
    NumberInJson,
    /// A mistake in a path.
    #[error(transparent)]
    Path(#[from] PathError),
}

impl RowOrder {
    /// The order of rows by `keys`, the most significant first; without keys, by all bytes of the row.
    /// `header` has the names and the number of columns of CSV and TSV. Without it, only numbers of
    /// columns can be keys, and a row may have any number of fields.
    ///
    /// # Errors
    /// If the dialect's bytes cannot be told apart, or a key has no place in the rows.
    pub fn new(
        dialect: Dialect,
        header: Option<&Header>,
        keys: &[RowKey],
        ties: Ties,
    ) -> Result<RowOrder, RowOrderError> {
        dialect.check()?;
        let header = header.filter(|_| dialect.has_columns());
        let values = keys.iter().enumerate().map(|(number, key)| {
            let place = place(dialect, header, key).map_err(|problem| RowOrderError::Key {
                key: number + 1,
                given: key.to_string(),
                problem,
            })?;
            Ok(RowValue {
                place,
                order: key.order,
                nulls: NullWords::default(),
            })
        });
        Ok(RowOrder {
            dialect,
            columns: header.map(Header::columns),
            values: values.collect::<Result<_, RowOrderError>>()?,
            ties,
            locale: None,
            may_be_short: false,
        })
    }

    /// The same order, but each of these words stands for a missing value.
    #[must_use]
    pub fn with_nulls(mut self, words: &[String]) -> RowOrder {
        let nulls = NullWords::new(words);
        for value in &mut self.values {
            value.nulls = nulls.clone();
        }
        self
    }

    /// The same order; whether rows may have fewer columns than the header, whose values are then missing.
    #[must_use]
    pub fn with_short_rows(self, may_be_short: bool) -> RowOrder {
        RowOrder {
            may_be_short,
            ..self
        }
    }

    /// The same order, but text has the order of a language, as [`TextOrder::with_locale`] says; without
    /// one, that of its bytes.
    #[must_use]
    pub fn with_locale(self, locale: Option<Locale>) -> RowOrder {
        RowOrder { locale, ..self }
    }

    /// The place of a key under the header of these rows.
    pub(crate) fn place(
        &self,
        header: Option<&Header>,
        key: &RowKey,
    ) -> Result<RowPlace, RowOrderProblem> {
        let header = header.filter(|_| self.dialect.has_columns());
        place(self.dialect, header, key)
    }

    /// Whether a row may have fewer columns than the header.
    pub(crate) fn may_be_short(&self) -> bool {
        self.may_be_short
    }

    /// The keys.
    pub(crate) fn values(&self) -> &[RowValue] {
        &self.values
    }

    /// Whether a row has more than one value, as far as the header and the keys tell.
    pub(super) fn has_several_values(&self) -> bool {
        let behind_others = |value: &RowValue| match &value.place {
            RowPlace::Column(column) => column.before > 0,
            RowPlace::Path(_) => true,
        };
        !self.dialect.has_columns()
            || self.columns.is_some_and(|columns| columns > 1)
            || self.values.iter().any(behind_others)
    }

    /// The format of the rows.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The number of columns of every row, if it is known.
    #[must_use]
    pub fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// The tie-breaker between rows with equal keys.
    #[must_use]
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// The order as one of lines, which are rows without the newline at their end.
    #[must_use]
    pub fn text(&self) -> TextOrder {
        let text = TextOrder::of_values(self.values.clone(), self.ties);
        match self.locale {
            Some(locale) => text.with_locale(locale).expect("all bytes of values count"),
            None => text,
        }
    }
}

fn place(
    dialect: Dialect,
    header: Option<&Header>,
    key: &RowKey,
) -> Result<RowPlace, RowOrderProblem> {
    let number = key.number();
    let Some(separator) = dialect.separator() else {
        return match number {
            Some(_) => Err(RowOrderProblem::NumberInJson),
            None if is_path(&key.name) => Ok(RowPlace::Path(key.name.parse()?)),
            None => Ok(RowPlace::Path(Path::member(&key.name))),
        };
    };
    let before = match (number, header) {
        (Some(0), _) => return Err(RowOrderProblem::NumberZero),
        (Some(number), Some(header)) if number > header.columns() => {
            return Err(RowOrderProblem::NumberTooLarge(header.columns()));
        }
        (Some(number), _) => number - 1,
        (None, Some(header)) => header.find(&key.name)?,
        (None, None) => return Err(RowOrderProblem::NoHeader),
    };
    Ok(RowPlace::Column(Column {
        separator,
        quote: dialect.quote(),
        before,
    }))
}

/// Whether the name of a key is a path of JSON, such as `$.a[0]`, or `.a[0]` as jq has it.
fn is_path(name: &str) -> bool {
    match name.strip_prefix('$') {
        Some(rest) => rest.is_empty() || rest.starts_with(['.', '[']),
        None => name.starts_with('.'),
    }
}
