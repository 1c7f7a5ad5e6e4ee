//! Formats: where records end, and what they are compared by.

use std::sync::Arc;

use record::rows::{Dialect, RowKey};
use record::text::{KeyOptions, TextKey, TextOrder, TextTies};
use record::{FieldOrder, Framing, LineOrder, Ties};
use sort::{Bytes, Contents, Lines, Rows};

use crate::error::Error;

/// Where a record ends, and the keys that records are compared by.
///
/// ```
/// use gristmill::Format;
/// let lines = Format::lines().separator(b',').key("3,3n").key("1,1");
/// let records = Format::fixed(100).key("0+10");
/// let rows = Format::named("csv").key("price:num:desc").key("city");
/// let unnamed = Format::named("csv").without_header().key("#2:num");
/// let names = Format::lines().delimiter(b'\0');
/// ```
#[derive(Clone, Debug)]
pub struct Format {
    name: String,
    keys: Vec<String>,
    separator: Option<u8>,
    delimiter: Option<u8>,
    has_header: bool,
}

/// Records as an engine sorts them.
pub(crate) struct Built {
    pub contents: Arc<dyn Contents>,
    /// Rows whose header decides their order.
    pub rows: Option<Rows>,
    pub framing: Framing,
}

impl Format {
    /// Lines of text, each with its newline. Any bytes are text; they are compared as bytes, and
    /// keys are those of `sort -k`.
    pub fn lines() -> Format {
        Format::named("lines")
    }

    /// Records of `bytes` bytes each. Keys are stretches of them, as in `"0+10"` or
    /// `"8+4:u32le:desc"`.
    pub fn fixed(bytes: usize) -> Format {
        Format::named(&format!("fixed:{bytes}"))
    }

    /// Any format that the command knows by `--format`: `csv`, `tsv` and `jsonl` are rows with keys
    /// such as `"price:num:desc"`, `varlen:u32le` has the length before each record.
    pub fn named(name: &str) -> Format {
        Format {
            name: name.to_owned(),
            keys: Vec::new(),
            separator: None,
            delimiter: None,
            has_header: true,
        }
    }

    /// Adds a key, less significant than those before. Without keys, whole records are compared.
    #[must_use]
    pub fn key(mut self, key: &str) -> Format {
        self.keys.push(key.to_owned());
        self
    }

    /// The byte between the fields of a line, or the values of a row.
    #[must_use]
    pub fn separator(mut self, separator: u8) -> Format {
        self.separator = Some(separator);
        self
    }

    /// The byte at the end of a line instead of a newline.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Format {
        self.delimiter = Some(delimiter);
        self
    }

    /// Rows whose first one names no columns; keys have numbers, as in `"#2:num"`.
    #[must_use]
    pub fn without_header(mut self) -> Format {
        self.has_header = false;
        self
    }

    pub(crate) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    pub(crate) fn is_rows(&self) -> bool {
        self.dialect().is_some()
    }

    /// Where records end. Rows of CSV may have newlines inside of quotes.
    pub(crate) fn framing(&self) -> Result<Framing, Error> {
        Ok(self.build(false, false)?.framing)
    }

    pub(crate) fn build(&self, stable: bool, unique: bool) -> Result<Built, Error> {
        self.check()?;
        let ties = if stable || unique {
            TextTies::Position
        } else {
            TextTies::Line
        };
        if self.name == "lines" {
            return Ok(of_lines(self.line_order(ties)?, unique));
        }
        if let Some(dialect) = self.dialect() {
            return self.rows(dialect, (ties, unique));
        }
        if let Some(fields) = FieldOrder::parse(&self.name, &self.keys, ties) {
            let fields = fields.map_err(wrong)?;
            let framing = LineOrder::fields(fields.clone()).framing;
            let lines = Lines::fields(fields);
            return Ok(Built {
                contents: either(lines, unique),
                rows: None,
                framing,
            });
        }
        let ties = if stable || unique {
            Ties::Position
        } else {
            Ties::Record
        };
        let format = record::Format::parse(&self.name, &self.keys, ties).map_err(wrong)?;
        let framing = Framing::Fixed(format.order.record_bytes());
        let records = Bytes::new(format.order);
        Ok(Built {
            contents: if unique {
                Arc::new(records.unique())
            } else {
                Arc::new(records)
            },
            rows: None,
            framing,
        })
    }

    /// Refuses options that this format does not have.
    fn check(&self) -> Result<(), Error> {
        let (name, is_lines) = (&self.name, self.name == "lines");
        let refused = |what: &str| Err(Error::Options(format!("format {name} {what}")));
        if self.separator.is_some() && !is_lines && name != "csv" {
            return refused("has no separator to choose; leave it out");
        }
        if self.delimiter.is_some() && !is_lines {
            return refused("has no delimiter to choose; leave it out");
        }
        match self.dialect() {
            Some(dialect) if dialect.has_columns() => Ok(()),
            _ if self.has_header => Ok(()),
            _ => refused("has no header; leave without_header out"),
        }
    }

    fn line_order(&self, ties: TextTies) -> Result<LineOrder, Error> {
        let keys = self.keys.iter().map(|key| key.parse::<TextKey>());
        let keys = keys.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let text = TextOrder::new(keys, KeyOptions::default(), self.separator, ties, None);
        Ok(LineOrder::lines(
            text.map_err(wrong)?,
            self.delimiter.unwrap_or(b'\n'),
        ))
    }

    fn dialect(&self) -> Option<Dialect> {
        match self.name.as_str() {
            "csv" => Some(Dialect::Csv {
                separator: self.separator.unwrap_or(b','),
                quote: b'"',
            }),
            "tsv" => Some(Dialect::Tsv),
            "jsonl" => Some(Dialect::JsonLines),
            _ => None,
        }
    }

    fn rows(&self, dialect: Dialect, (ties, unique): (TextTies, bool)) -> Result<Built, Error> {
        dialect.check().map_err(wrong)?;
        let keys = self.keys.iter().map(|key| key.parse::<RowKey>());
        let rows = Rows {
            dialect,
            has_header: self.has_header && dialect.has_columns(),
            keys: keys.collect::<Result<_, _>>().map_err(wrong)?,
            ties,
            locale: None,
            unique,
            bad_rows: None,
        };
        // Keys that have no header to wait for are checked now.
        let order = LineOrder::rows(rows.order(None).map_err(wrong)?);
        Ok(Built {
            rows: Some(rows),
            ..of_lines(order, unique)
        })
    }
}

fn of_lines(order: LineOrder, unique: bool) -> Built {
    let framing = order.framing;
    Built {
        contents: either(Lines::new(order), unique),
        rows: None,
        framing,
    }
}

fn either(lines: Lines, unique: bool) -> Arc<dyn Contents> {
    if unique {
        Arc::new(lines.unique())
    } else {
        Arc::new(lines)
    }
}

fn wrong(problem: impl std::fmt::Display) -> Error {
    Error::Options(problem.to_string())
}
