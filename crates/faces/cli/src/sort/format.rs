//! The format and the order of the records, as `--format`, `--key` and the options of lines ask for
//! them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use ::sort::{Bytes, Contents, Lines, Rows};
use record::rows::{Dialect, RowKey};
use record::text::TextTies;
use record::{Comparison, FieldOrder, Format, LineOrder, Ties};

use super::{Arguments, lines};
use terminal::ending::failure::CliFailure;

/// Records as the options ask for them.
pub(super) struct Asked {
    pub contents: Arc<dyn Contents>,
    pub comparison: Comparison,
    /// Rows; their header decides what is compared.
    pub rows: Option<Rows>,
}

impl Asked {
    fn lines(lines: Lines, order: LineOrder, unique: bool) -> Asked {
        Asked {
            contents: if unique {
                Arc::new(lines.unique())
            } else {
                Arc::new(lines)
            },
            comparison: Comparison::Lines(order),
            rows: None,
        }
    }
}

/// The records' format and order.
///
/// # Errors
/// An unknown format, or a key with a mistake.
pub(super) fn of(arguments: &Arguments) -> Result<Asked, CliFailure> {
    let options = &arguments.order;
    if options.is_of_lines() {
        let order = LineOrder::lines(lines::order(arguments)?, lines::delimiter(arguments));
        return Ok(if options.unique && options.count {
            Asked {
                contents: Arc::new(Lines::new(order.clone()).counted()),
                comparison: Comparison::Lines(order),
                rows: None,
            }
        } else {
            Asked::lines(Lines::new(order.clone()), order, options.unique)
        });
    }
    let is_stable = options.stable || options.unique;
    if let Some(dialect) = dialect(arguments)? {
        let keys = options.keys.iter().map(|key| key.parse());
        let keys: Result<Vec<RowKey>, _> = keys.collect();
        let ties = if is_stable {
            TextTies::Position
        } else {
            TextTies::Line
        };
        let rows = Rows {
            dialect,
            has_header: dialect.has_columns() && !options.no_header,
            keys: keys.map_err(|error| CliFailure::usage(error.to_string()))?,
            ties,
            locale: lines::locale(options)?,
            unique: options.unique,
            bad_rows: arguments.bad_records.clone(),
        };
        // Rows without a header are known now: a mistake in their keys comes before any work.
        let order = rows.order(None);
        let order = order.map_err(|error| CliFailure::usage(error.to_string()))?;
        let order = LineOrder::rows(order);
        return Ok(Asked {
            rows: Some(rows),
            ..Asked::lines(Lines::new(order.clone()), order, options.unique)
        });
    }
    let ties = if is_stable {
        TextTies::Position
    } else {
        TextTies::Line
    };
    if let Some(fields) = FieldOrder::parse(&options.format, &options.keys, ties) {
        let fields = fields.map_err(|error| CliFailure::usage(error.to_string()))?;
        let lines = Lines::fields(fields.clone());
        return Ok(Asked::lines(
            lines,
            LineOrder::fields(fields),
            options.unique,
        ));
    }
    let ties = if is_stable {
        Ties::Position
    } else {
        Ties::Record
    };
    let format = Format::parse(&options.format, &options.keys, ties)
        .map_err(|error| CliFailure::usage(error.to_string()))?;
    let records = Bytes::new(format.order.clone());
    let contents: Arc<dyn Contents> = if options.unique {
        Arc::new(records.unique())
    } else {
        Arc::new(records)
    };
    Ok(Asked {
        contents,
        comparison: Comparison::Order(format.order),
        rows: None,
    })
}

/// How rows divide into values; `None` of other records.
fn dialect(arguments: &Arguments) -> Result<Option<Dialect>, CliFailure> {
    let options = &arguments.order;
    if !options.is_of_rows() {
        return Ok(None);
    }
    let dialect = match options.format.as_str() {
        "csv" => Dialect::Csv {
            separator: lines::separator_of(arguments)?.unwrap_or(b','),
            quote: options.quote.as_deref().map_or(Ok(b'"'), one_byte)?,
        },
        "tsv" => Dialect::Tsv,
        _ => Dialect::JsonLines,
    };
    dialect
        .check()
        .map_err(|error| CliFailure::usage(error.to_string()))?;
    Ok(Some(dialect))
}

fn one_byte(text: &OsStr) -> Result<u8, CliFailure> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(CliFailure::usage(format!(
            "--quote {}: a quote is one byte, such as --quote \"'\"",
            text.display()
        ))),
    }
}
