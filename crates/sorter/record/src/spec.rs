//! A description of what is sorted, before any record is read: where records end, what they are compared
//! by, and which of equal ones are kept.
//!
//! ```text
//! csv   -t ';'   price:num   -s   --locale de            what a user gives: Given
//!                     |
//!                     v
//!                RecordSpec -- rows and their header --> RowOrder       (rows)
//!                     |
//!                     v
//!      Comparison: "csv:3b", ["column:2:num", ..]        what a manifest or saved progress keeps
//! ```
//!
//! Command and libraries turn the words of their users into an order here alone, so that one format, key or
//! option means the same in all of them. [`FormatKind::has`] is the rule of which format has which option. The
//! command asks it before, to refuse options by their names; the refusals here are those of the libraries.

mod check;
mod headed;
mod keep;
mod kind;
mod rows;

use thiserror::Error;

use crate::comparison::Comparison;
use crate::field_order::FieldOrder;
use crate::format::FormatError;
use crate::framing::Framing;
use crate::head::{Head, HeadError};
use crate::line_order::{LineKeys, LineOrder};
use crate::multiline::MultilineError;
use crate::order::{Order, Ties};
use crate::rows::{Dialect, RowKeyError, RowOrderError};
use crate::spec::check::{check, check_shuffle};
pub use crate::spec::headed::Headed;
pub use crate::spec::keep::Keep;
pub use crate::spec::kind::{FormatKind, FormatOption};
pub use crate::spec::rows::RowSpec;
use crate::text::{KeyOptions, Locale, TextKey, TextKeyError, TextOrder, TextOrderError};
use crate::totals::{TotalError, Totals};

/// The mark of a key in the old form among keys of the new one.
pub const OBSOLETE: &str = "obsolete:";

/// Records as a user describes them. All but the format may be left as they are by default.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The format: `lines`, `csv`, `tsv`, `jsonl`, `gensort`, `fixed:LEN`, `varlen:TYPE`, `kv:TYPE` or
    /// `rdw`.
    pub format: String,
    /// The keys as the format has them, the most significant first. Without any, whole records are
    /// compared. A key of lines in the old form, `+POS1 [-POS2]`, stands behind [`OBSOLETE`].
    pub keys: Vec<String>,
    /// The byte between fields of lines or CSV.
    pub separator: Option<u8>,
    /// The byte at the end of a line instead of a newline.
    pub delimiter: Option<u8>,
    /// The byte around fields of CSV instead of `"`.
    pub quote: Option<u8>,
    /// The lines that are one record, as [`Multiline`](crate::Multiline) is parsed: `start:PATTERN` or `lines:N`.
    pub multiline: Option<String>,
    /// The seed by which lines are shuffled instead of sorted: each has the same chance of each place.
    pub shuffle: Option<u64>,
    /// The options of keys of lines that have none.
    pub options: KeyOptions,
    /// Whether the first row is one of values.
    pub has_no_header: bool,
    /// The lines that stay on top, as [`Head::parse`] reads them. Of rows the last one of a number names the columns.
    pub head: Vec<String>,
    /// Words that stand for a missing value, such as `NA`, in rows and in keys of lines that have types.
    pub nulls: Vec<String>,
    /// Whether rows may have fewer columns than the header, whose values are then missing.
    pub has_short_rows: bool,
    /// The language whose order text has, of lines and rows.
    pub locale: Option<Locale>,
    /// The bytes that decide how `R` shuffles lines.
    pub salt: Option<[u8; 16]>,
    /// The choice among records with equal keys.
    pub keep: Keep,
    /// Columns, fields or bytes whose numbers in records with equal keys are added up, as the format has them.
    pub sums: Vec<String>,
}

/// The reason why a description was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// The format, or a key of binary records.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A key of lines.
    #[error(transparent)]
    TextKey(#[from] TextKeyError),
    /// The order of lines.
    #[error(transparent)]
    Text(#[from] TextOrderError),
    /// A key of rows.
    #[error(transparent)]
    RowKey(#[from] RowKeyError),
    /// The order of rows.
    #[error(transparent)]
    Rows(#[from] RowOrderError),
    /// A total.
    #[error(transparent)]
    Total(#[from] TotalError),
    /// The lines that stay on top.
    #[error("header: {0}")]
    Head(#[from] HeadError),
    /// Records of several lines.
    #[error("record of several lines: {0}")]
    Multiline(#[from] MultilineError),
    /// Records of several lines with options of single ones.
    #[error("records of several lines {what}; leave one of the two out")]
    Several {
        /// The other option.
        what: &'static str,
    },
    /// Lines that are shuffled and compared.
    #[error(
        "lines that are shuffled are not compared, so they have no {what}; leave one of the two out"
    )]
    Shuffled {
        /// The other option.
        what: &'static str,
    },
    /// Rows with a header and without one.
    #[error("rows have a header or none; leave one of the two out")]
    HeadAndNone,
    /// Words for missing values of lines that have no values.
    #[error(
        "words stand for missing values of keys with a type, such as 4:num, or of fields that are added up; give one of \
         these, or leave the words out"
    )]
    NoValues,
    /// An option that this format does not have.
    #[error("format {format} {what}")]
    Unfit {
        /// The format.
        format: String,
        /// The option, and what to do.
        what: &'static str,
    },
}

/// Records to be sorted: their ends, their order, and the choice among equal ones.
///
/// ```
/// use record::{Given, Keep, RecordSpec};
/// let spec = RecordSpec::new(&Given {
///     format: "csv".to_owned(),
///     keys: vec!["price:num:desc".to_owned()],
///     separator: Some(b';'),
///     keep: Keep::First,
///     ..Given::default()
/// })?;
/// assert!(spec.rows().is_some_and(|rows| rows.has_header()));
/// # Ok::<(), record::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSpec {
    order: Comparison,
    headed: Option<Headed>,
    keep: Keep,
    totals: Totals,
}

impl RecordSpec {
    /// Checks a description.
    ///
    /// # Errors
    /// If the format is unknown, does not have an option or a key, or a key has a mistake. Names of
    /// columns are looked for when the header is there.
    pub fn new(given: &Given) -> Result<RecordSpec, SpecError> {
        check(given)?;
        let ties = given.keep.ties();
        if let Some(dialect) = given.dialect() {
            return RecordSpec::of_rows(given, dialect);
        }
        let order = if FormatKind::of(&given.format) == FormatKind::Lines {
            Comparison::Lines(lines(given)?)
        } else if let Some(fields) = FieldOrder::parse(&given.format, &given.keys, ties) {
            Comparison::Lines(LineOrder::fields(fields?))
        } else {
            Comparison::Order(Order::parse(&given.format, &given.keys, ties)?)
        };
        let totals = match &order {
            Comparison::Order(order) => Totals::of_records(&given.sums, order)?,
            Comparison::Lines(order) => match &order.keys {
                LineKeys::Fields(fields) => Totals::of_fields(&given.sums, fields)?,
                _ => Totals::of_lines(&given.sums, &order.text)?,
            },
            Comparison::IgnoreCase => Totals::default(),
        };
        let head = Head::parse(&given.head, 0)?;
        if given.multiline.is_some() && !head.is_none() {
            let what = "have no lines on top";
            return Err(SpecError::Several { what });
        }
        let headed = match &order {
            Comparison::Lines(lines) if !head.is_none() => Some(Headed::Lines {
                head,
                order: lines.clone(),
                keep: given.keep,
                totals: totals.clone(),
            }),
            _ => None,
        };
        Ok(RecordSpec {
            order,
            headed,
            keep: given.keep,
            totals,
        })
    }

    fn of_rows(given: &Given, dialect: Dialect) -> Result<RecordSpec, SpecError> {
        dialect.check().map_err(RowOrderError::from)?;
        let names = u32::from(dialect.has_columns() && !given.has_no_header);
        let head = Head::parse(&given.head, names)?;
        if given.has_no_header && head.lines() > 0 {
            return Err(SpecError::HeadAndNone);
        }
        let keys = given.keys.iter().map(|key| key.parse());
        let rows = RowSpec {
            dialect,
            head,
            keys: keys.collect::<Result<_, _>>()?,
            keep: given.keep,
            locale: given.locale,
            nulls: given.nulls.clone(),
            has_short_rows: given.has_short_rows,
            sums: given.sums.clone(),
        };
        // Rows without a header are known now: a mistake in their keys comes before any work.
        let order = rows.order(None)?;
        let totals = rows.totals(&order, None)?;
        Ok(RecordSpec {
            order: Comparison::Lines(LineOrder::rows(order)),
            headed: Some(Headed::Rows(rows)),
            keep: given.keep,
            totals,
        })
    }

    /// Records of the sort benchmark: 100 bytes, compared by the first ten.
    #[must_use]
    pub fn gensort() -> RecordSpec {
        RecordSpec {
            order: Comparison::Order(Order::gensort(Ties::Record)),
            headed: None,
            keep: Keep::All,
            totals: Totals::default(),
        }
    }

    /// The order, as far as it is known without a header.
    #[must_use]
    pub fn order(&self) -> &Comparison {
        &self.order
    }

    /// Rows, whose header decides the order.
    #[must_use]
    pub fn rows(&self) -> Option<&RowSpec> {
        match &self.headed {
            Some(Headed::Rows(rows)) => Some(rows),
            _ => None,
        }
    }

    /// Rows or lines below a head.
    #[must_use]
    pub fn headed(&self) -> Option<&Headed> {
        self.headed.as_ref()
    }

    /// The choice among records with equal keys.
    #[must_use]
    pub fn keep(&self) -> Keep {
        self.keep
    }

    /// The fields that are added up; of rows, as far as they are known without a header.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Where records end.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.order.framing()
    }

    /// Whether records may have mistakes for which they can be set aside: rows; and lines, if they have values of
    /// types or numbers that are added up.
    #[must_use]
    pub fn can_set_aside(&self) -> bool {
        let Comparison::Lines(lines) = &self.order else {
            return false;
        };
        match lines.keys {
            LineKeys::Rows(_) => true,
            LineKeys::Text => {
                let is_checked = lines.text.may_have_mistakes() || !self.totals.is_none();
                is_checked && lines.multiline.is_none()
            }
            LineKeys::Fields(_) => false,
        }
    }
}

impl Given {
    /// How rows divide into values; `None` of other records.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        Some(match FormatKind::of(&self.format) {
            FormatKind::Csv => Dialect::Csv {
                separator: self.separator.unwrap_or(b','),
                quote: self.quote.unwrap_or(b'"'),
            },
            FormatKind::Tsv => Dialect::Tsv,
            FormatKind::JsonLines => Dialect::JsonLines,
            FormatKind::Lines | FormatKind::Binary => return None,
        })
    }
}

fn lines(given: &Given) -> Result<LineOrder, SpecError> {
    check_shuffle(given)?;
    let keys = given.keys.iter().map(|key| text_key(key));
    let keys = keys.collect::<Result<_, _>>()?;
    let (separator, ties) = (given.separator, given.keep.ties());
    let mut text = TextOrder::new(keys, given.options, separator, ties, given.salt)?;
    if !given.nulls.is_empty() && !text.has_types() && given.sums.is_empty() {
        return Err(SpecError::NoValues);
    }
    text = text.with_nulls(&given.nulls);
    if let Some(locale) = given.locale {
        text = text.with_locale(locale)?;
    }
    let order = match given.multiline.as_deref().map(str::parse).transpose()? {
        Some(_) if given.delimiter.is_some() => {
            let what = "have ends of their own, and no delimiter";
            return Err(SpecError::Several { what });
        }
        Some(multiline) => LineOrder::several(text, multiline),
        None => LineOrder::lines(text, given.delimiter.unwrap_or(b'\n')),
    };
    Ok(LineOrder {
        shuffle: given.shuffle,
        ..order
    })
}

fn text_key(key: &str) -> Result<TextKey, TextKeyError> {
    let Some(old) = key.strip_prefix(OBSOLETE) else {
        return key.parse();
    };
    match old.split_once(' ') {
        None => TextKey::obsolete(old, None),
        Some((plus, minus)) => TextKey::obsolete(plus, Some(minus)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Header;

    fn refused(given: &Given) -> String {
        RecordSpec::new(given).unwrap_err().to_string()
    }

    #[test]
    fn options_of_other_formats_are_refused() {
        let separator = Some(b';');
        let of = |format: &str| Given {
            format: format.to_owned(),
            ..Given::default()
        };
        for format in ["tsv", "jsonl", "gensort", "fixed:8", "rdw"] {
            let given = of(format);
            let said = refused(&Given { separator, ..given });
            assert!(said.contains("separator"), "{said}");
        }
        let delimiter = Some(0);
        let given = of("csv");
        let said = refused(&Given { delimiter, ..given });
        assert!(said.contains("delimiter"), "{said}");
        for format in ["lines", "jsonl", "fixed:8"] {
            let has_no_header = true;
            let said = refused(&Given {
                has_no_header,
                ..of(format)
            });
            assert!(said.contains("header"), "{said}");
        }
        let keep = Keep::Counted;
        let given = of("csv");
        let said = refused(&Given { keep, ..given });
        assert!(said.contains("counts"), "{said}");
        assert!(refused(&of("text")).contains("unknown format"));
    }

    #[test]
    fn keys_of_columns_wait_for_the_header() {
        let mut given = Given {
            format: "csv".to_owned(),
            keys: vec!["b".to_owned()],
            ..Given::default()
        };
        let spec = RecordSpec::new(&given).unwrap();
        let rows = spec.rows().unwrap();
        let header = Header::parse(rows.dialect, b"a,b").unwrap();
        let order = rows.order(Some(&header)).unwrap();
        assert_eq!(order.describe().1, ["columns:2", "column:2:str"]);
        let other = Header::parse(rows.dialect, b"a,c").unwrap();
        assert!(rows.order(Some(&other)).is_err());
        given.has_no_header = true;
        assert!(refused(&given).contains("the rows have no header"));
    }

    #[test]
    fn what_is_kept_decides_between_ties() {
        for (keep, ties) in [
            (Keep::All, Ties::Record),
            (Keep::Stable, Ties::Position),
            (Keep::First, Ties::Position),
        ] {
            for format in ["lines", "csv", "fixed:8", "varlen:u8"] {
                let key = if format == "lines" {
                    "1,1"
                } else if format == "csv" {
                    "#1"
                } else {
                    "0+1"
                };
                let spec = RecordSpec::new(&Given {
                    format: format.to_owned(),
                    keys: vec![key.to_owned()],
                    has_no_header: format == "csv",
                    keep,
                    ..Given::default()
                });
                let found = match spec.unwrap().order() {
                    Comparison::Order(order) => order.ties(),
                    Comparison::Lines(order) => order.ties(),
                    Comparison::IgnoreCase => unreachable!("only valsort has it"),
                };
                assert_eq!(found, ties, "{format}");
            }
        }
    }
}
