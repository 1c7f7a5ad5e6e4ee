//! Checks whole rows, once for each, before they are sorted.
//!
//! ```text
//! 7,"Oslo           column 3: the quote that begins here does not end
//! 7                 1 column, the header has 2
//! 7,abc             "abc" in column price is not a number
//! {"a": [1}         column 9: expected `,` or `]`
//! ```
//!
//! A row of fields without quotes takes two searches. Of JSON, `serde_json` checks the grammar
//! without making values; characters are checked beside it, because it passes over strings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde::de::IgnoredAny;

use super::bad_row::{BadRow, RowProblem};
use super::dialect::Dialect;
use super::header::Header;
use super::order::RowOrder;
use crate::framing::Framing;
use crate::text::row::{
    Json, JsonKind, Path, RowPlace, RowValue, ValueKind, count_fields, lone_surrogate,
};

/// The most bytes of a value in a message.
const MOST_SHOWN: usize = 40;

/// Checks rows against their dialect, the number of columns and the types of keys.
///
/// ```
/// use record::rows::{Dialect, Header, RowCheck, RowOrder};
/// use record::Ties;
/// let header = Header::parse(Dialect::CSV, b"city,price")?;
/// let keys = ["price:num".parse()?];
/// let order = RowOrder::new(Dialect::CSV, Some(&header), &keys, Ties::Record)?;
/// let check = RowCheck::new(&order, Some(&header));
/// assert_eq!(check.check(b"Oslo,9.5"), Ok(()));
/// let message = |row: &[u8]| check.check(row).unwrap_err().to_string();
/// assert_eq!(message(b"Oslo,abc"), "\"abc\" in column price is not a number");
/// assert_eq!(message(b"Oslo"), "1 column, the header has 2");
/// assert_eq!(message(b"\"Oslo,9"), "column 1: the quote that begins here does not end");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RowCheck {
    dialect: Dialect,
    columns: Option<usize>,
    /// Whether a row may have fewer.
    may_be_short: bool,
    skips_blank: bool,
    /// The values that may be bad, and their names in messages.
    values: Vec<(RowValue, String)>,
    seen: Arc<Seen>,
}

/// Values that the checked rows had. Clones of a check share it.
#[derive(Debug, Default)]
struct Seen {
    any_row: AtomicBool,
    /// For each value of a path: whether a row had it.
    values: Vec<AtomicBool>,
}

impl RowCheck {
    /// The check of rows for an order. `header` has the names of columns for messages.
    #[must_use]
    pub fn new(order: &RowOrder, header: Option<&Header>) -> RowCheck {
        let can_be_bad = |value: &&RowValue| match value.place {
            RowPlace::Column(_) => !value.order.kind.is_any(),
            RowPlace::Path(_) => true,
        };
        let named = |value: &RowValue| (value.clone(), name_of(&value.place, header));
        let values: Vec<_> = order.values.iter().filter(can_be_bad).map(named).collect();
        let seen = Seen {
            any_row: AtomicBool::new(false),
            values: values.iter().map(|_| AtomicBool::new(false)).collect(),
        };
        RowCheck {
            dialect: order.dialect,
            columns: order.columns,
            may_be_short: order.may_be_short,
            skips_blank: order.has_several_values(),
            values,
            seen: Arc::new(seen),
        }
    }

    /// The check where the first row has this many columns, which the other rows need not have.
    #[must_use]
    pub fn beside(self, first_columns: usize) -> RowCheck {
        RowCheck {
            skips_blank: self.skips_blank || first_columns > 1,
            ..self
        }
    }

    /// Whether a line without its newline is blank and no row. Of rows with one column it is an empty
    /// value.
    #[inline]
    #[must_use]
    pub fn is_blank(&self, line: &[u8]) -> bool {
        let is_blank = match self.dialect {
            Dialect::JsonLines => line.iter().all(|byte| b" \t\r".contains(byte)),
            Dialect::Csv { .. } | Dialect::Tsv => matches!(line, [] | [b'\r']),
        };
        is_blank && self.skips_blank
    }

    /// The paths at which no row had a value, if rows were checked.
    #[must_use]
    pub fn unseen(&self) -> Vec<String> {
        let values = self.values.iter().zip(&self.seen.values);
        let unseen = values.filter(|((value, _), seen)| {
            matches!(value.place, RowPlace::Path(_)) && !seen.load(Relaxed)
        });
        if self.seen.any_row.load(Relaxed) {
            unseen.map(|((_, place), _)| place.clone()).collect()
        } else {
            Vec::new()
        }
    }

    /// Where a row ends, if its quotes may hold newlines.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.dialect.framing()
    }

    /// Checks a whole row, without the newline at its end.
    ///
    /// # Errors
    /// If its fields do not end, or it has another number of them than the header; if it is no JSON;
    /// if a key is not of its type.
    pub fn check(&self, row: &[u8]) -> Result<(), BadRow> {
        match self.dialect.separator() {
            Some(separator) => self.check_fields(row, separator)?,
            None => check_json(row)?,
        }
        mark(&self.seen.any_row);
        for ((value, place), seen) in self.values.iter().zip(&self.seen.values) {
            let (found, before) = match &value.place {
                RowPlace::Column(column) => column.find_at(row),
                RowPlace::Path(path) => {
                    let json = only_key(row, path, place)?;
                    if json.kind != JsonKind::Missing {
                        mark(seen);
                    }
                    let before = json.range.start;
                    (json.bytes(row), before)
                }
            };
            let found = value.nulls.taken_from(found);
            let problem = found.with(|bytes| problem(value.order.kind, bytes, place));
            if let Some(problem) = problem {
                return Err(BadRow::at(before, problem));
            }
        }
        Ok(())
    }

    fn check_fields(&self, row: &[u8], separator: u8) -> Result<(), BadRow> {
        let found = count_fields(row, separator, self.dialect.quote()).map_err(BadRow::of_field)?;
        match self.columns {
            Some(expected) if found < expected && self.may_be_short => Ok(()),
            Some(expected) if found != expected => {
                Err(BadRow::at(0, RowProblem::Columns { found, expected }))
            }
            _ => Ok(()),
        }
    }
}

/// The name of a place in messages, of a column as its header has it.
pub(crate) fn name_of(place: &RowPlace, header: Option<&Header>) -> String {
    match place {
        RowPlace::Column(column) => {
            let name = header.and_then(|header| header.name(column.before));
            let name = name.unwrap_or_else(|| (column.before + 1).to_string());
            format!("column {name}")
        }
        RowPlace::Path(path) => path.label(),
    }
}

/// Sets a flag that is mostly set: other workers look at it, too.
fn mark(seen: &AtomicBool) {
    if !seen.load(Relaxed) {
        seen.store(true, Relaxed);
    }
}

/// Checks that a row is a value of JSON, and that its strings are text.
fn check_json(row: &[u8]) -> Result<(), BadRow> {
    if let Err(error) = std::str::from_utf8(row) {
        return Err(BadRow::at(error.valid_up_to(), RowProblem::Utf8));
    }
    serde_json::from_slice::<IgnoredAny>(row).map_err(|error| BadRow::of_json(&error))?;
    match lone_surrogate(row) {
        Some(place) => Err(BadRow::at(place, RowProblem::Surrogate)),
        None => Ok(()),
    }
}

/// The one value that a path leads to, which can be a key.
pub(crate) fn only_key(row: &[u8], path: &Path, place: &str) -> Result<Json, BadRow> {
    let json = path
        .only(row)
        .map_err(|(name, second)| BadRow::at(second, RowProblem::Twice(name.to_owned())))?;
    let kind = match json.kind {
        JsonKind::Object => "object",
        JsonKind::Array => "array",
        _ => return Ok(json),
    };
    let place = place.to_owned();
    Err(BadRow::at(
        json.range.start,
        RowProblem::Nested { place, kind },
    ))
}

/// The mistake in a value, if it is not of its kind.
fn problem(kind: ValueKind, value: &[u8], place: &str) -> Option<RowProblem> {
    let error = kind.check(value).err()?;
    Some(RowProblem::Value {
        value: shown(value),
        place: place.to_owned(),
        error,
    })
}

/// The first bytes of a value, as a message can have them.
pub(crate) fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(&value[..value.len().min(MOST_SHOWN)]);
    let more = if value.len() > MOST_SHOWN { ".." } else { "" };
    format!("{}{more}", text.escape_debug())
}
