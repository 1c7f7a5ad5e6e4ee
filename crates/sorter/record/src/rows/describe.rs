//! A description of an order of rows that can be saved, and read without the header.
//!
//! ```text
//! csv                     rows of CSV; csv:3b with semicolons, csv:3b:27 with single quotes as well
//! tsv   jsonl             the other formats
//! columns:7               the number of columns
//! column:4:num:desc       a key: the fourth column
//! path:$.a["b c"]:date    a key: a path of JSON
//! locale:de equal:bytes   text in the order of a language, as of lines
//! null:NA                 a word that stands for a missing value
//! rows:short              rows may have fewer columns than the header
//! ```

use super::dialect::Dialect;
use super::key::{RowKey, RowKeyError};
use super::order::RowOrder;
use crate::format::FormatError;
use crate::order::Ties;
use crate::text::row::{Column, NullWords, Path, RowPlace, RowValue};
use crate::text::{EQUAL_BYTES, Locale};

const SHORT_ROWS: &str = "rows:short";

impl RowOrder {
    /// The format and the keys, as [`RowOrder::parse`] takes them.
    #[must_use]
    pub fn describe(&self) -> (String, Vec<String>) {
        let columns = self.columns.map(|columns| format!("columns:{columns}"));
        let keys = self.values.iter().map(|value| {
            let place = match &value.place {
                RowPlace::Column(column) => format!("column:{}", column.before + 1),
                RowPlace::Path(path) => format!("path:{path}"),
            };
            format!("{place}{:#}", value.order)
        });
        let locale = self.locale.into_iter().flat_map(Locale::describe);
        let nulls = self.values.first().into_iter();
        let nulls = nulls.flat_map(|value| value.nulls.all().map(|word| format!("null:{word}")));
        let short = self.may_be_short.then(|| SHORT_ROWS.to_owned());
        (
            self.dialect.describe(),
            (columns.into_iter().chain(keys).chain(locale))
                .chain(nulls)
                .chain(short)
                .collect(),
        )
    }

    /// The order of a description; `None` if `format` is not one of rows.
    ///
    /// ```
    /// use record::rows::RowOrder;
    /// use record::Ties;
    /// let keys = ["columns:7", "column:4:num:desc"];
    /// let order = RowOrder::parse("csv:3b", &keys, Ties::Record).unwrap()?;
    /// assert_eq!(order.columns(), Some(7));
    /// assert_eq!(order.describe().1, keys);
    /// assert!(RowOrder::parse::<&str>("fixed:100", &[], Ties::Record).is_none());
    /// # Ok::<(), record::FormatError>(())
    /// ```
    ///
    /// # Errors
    /// When a part has a mistake.
    pub fn parse<S: AsRef<str>>(
        format: &str,
        keys: &[S],
        ties: Ties,
    ) -> Option<Result<RowOrder, FormatError>> {
        let dialect = Dialect::described(format)?;
        Some(described(dialect, keys, ties))
    }
}

fn described<S: AsRef<str>>(
    dialect: Dialect,
    parts: &[S],
    ties: Ties,
) -> Result<RowOrder, FormatError> {
    let mut order = RowOrder {
        dialect,
        columns: None,
        values: Vec::new(),
        ties,
        locale: None,
        may_be_short: false,
    };
    let mut nulls = Vec::new();
    for part in parts.iter().map(AsRef::as_ref) {
        let wrong = |what: String| FormatError::Line {
            given: part.to_owned(),
            what,
        };
        let none = || wrong("not a part of an order of these rows".to_owned());
        match part.split_once(':').ok_or_else(none)? {
            ("columns", number) if dialect.has_columns() => {
                order.columns = Some(number.parse().map_err(|_| none())?);
            }
            ("locale", tag) => {
                order.locale = Some(Locale::described(tag, parts).map_err(wrong)?);
            }
            ("null", word) => nulls.push(word.to_owned()),
            _ if part == SHORT_ROWS => order.may_be_short = true,
            _ if part == EQUAL_BYTES => {}
            (place, key) => {
                let value =
                    value(dialect, place, key).map_err(|what| what.map_or_else(none, wrong))?;
                order.values.push(value);
            }
        }
    }
    Ok(order.with_nulls(&nulls))
}

/// The value of a key; or its mistake, if that is more than its form.
fn value(dialect: Dialect, place: &str, key: &str) -> Result<RowValue, Option<String>> {
    let key: RowKey = key
        .parse()
        .map_err(|error: RowKeyError| Some(error.to_string()))?;
    let place = place_of(dialect, place, &key.name).ok_or(None)?;
    Ok(RowValue {
        place,
        order: key.order,
        nulls: NullWords::default(),
    })
}

fn place_of(dialect: Dialect, place: &str, name: &str) -> Option<RowPlace> {
    Some(match (place, dialect.separator()) {
        ("path", None) => RowPlace::Path(name.parse::<Path>().ok()?),
        ("column", Some(separator)) => RowPlace::Column(Column {
            separator,
            quote: dialect.quote(),
            before: name.parse::<usize>().ok()?.checked_sub(1)?,
        }),
        _ => return None,
    })
}

impl Dialect {
    fn describe(self) -> String {
        match self {
            Dialect::CSV => "csv".to_owned(),
            Dialect::Csv {
                separator,
                quote: b'"',
            } => format!("csv:{separator:02x}"),
            Dialect::Csv { separator, quote } => format!("csv:{separator:02x}:{quote:02x}"),
            Dialect::Tsv => "tsv".to_owned(),
            Dialect::JsonLines => "jsonl".to_owned(),
        }
    }

    fn described(format: &str) -> Option<Dialect> {
        let dialect = match format {
            "csv" => Dialect::CSV,
            "tsv" => Dialect::Tsv,
            "jsonl" => Dialect::JsonLines,
            _ => {
                let bytes = format.strip_prefix("csv:")?;
                let (separator, quote) = bytes.split_once(':').unwrap_or((bytes, "22"));
                Dialect::Csv {
                    separator: byte(separator)?,
                    quote: byte(quote)?,
                }
            }
        };
        dialect.check().is_ok().then_some(dialect)
    }
}

/// The byte of two hexadecimal digits.
fn byte(digits: &str) -> Option<u8> {
    let is_pair = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u8::from_str_radix(digits, 16).ok().filter(|_| is_pair)
}

#[cfg(test)]
mod tests {
    use super::super::Header;
    use super::*;

    fn assert_read_back(dialect: Dialect, header: Option<&Header>, keys: &[&str], text: &[&str]) {
        let keys: Vec<RowKey> = keys.iter().map(|key| key.parse().unwrap()).collect();
        for ties in [Ties::Record, Ties::Position] {
            let order = RowOrder::new(dialect, header, &keys, ties).unwrap();
            let (format, parts) = order.describe();
            assert_eq!(
                [
                    &[&format[..]],
                    &parts.iter().map(|part| &part[..]).collect::<Vec<_>>()[..]
                ]
                .concat(),
                text
            );
            let again = RowOrder::parse(&format, &parts, ties).unwrap();
            assert_eq!(again, Ok(order), "{format} {parts:?}");
        }
    }

    #[test]
    fn a_description_is_read_back() {
        let header = Header::parse(Dialect::CSV, b"a,b:num,c").unwrap();
        let header = Some(&header);
        let csv = |separator, quote| Dialect::Csv { separator, quote };
        let keys = ["b:num:str", "#3:date:desc", "a:natural"];
        let columns = [
            "columns:3",
            "column:2:str",
            "column:3:date:desc",
            "column:1:natural",
        ];
        let with = |format| [&[format], &columns[..]].concat();
        assert_read_back(Dialect::CSV, header, &keys, &with("csv"));
        assert_read_back(csv(b';', b'"'), header, &keys, &with("csv:3b"));
        assert_read_back(csv(b',', b'\''), header, &keys, &with("csv:2c:27"));
        assert_read_back(Dialect::Tsv, header, &[], &["tsv", "columns:3"]);
        assert_read_back(Dialect::Tsv, None, &["#9"], &["tsv", "column:9:str"]);
        let keys = ["price:num", "$.a[0]['b:num'].c_d:date:desc", "x\n\"y:z"];
        let paths = [
            "jsonl",
            "path:$.price:num",
            "path:$.a[0][\"b:num\"].c_d:date:desc",
            "path:$[\"x\\n\\\"y:z\"]:str",
        ];
        assert_read_back(Dialect::JsonLines, None, &keys, &paths);
    }

    #[test]
    fn a_language_is_read_back() {
        let locale = Locale::new("sv-FI").unwrap();
        let keys = ["$.a".parse().unwrap(), "b:natural:desc".parse().unwrap()];
        let order = RowOrder::new(Dialect::JsonLines, None, &keys, Ties::Record).unwrap();
        let order = order.with_locale(Some(locale));
        let (format, parts) = order.describe();
        let expected = [
            "path:$.a:str",
            "path:$.b:natural:desc",
            "locale:sv-FI",
            "equal:bytes",
        ];
        assert_eq!(parts, expected);
        let again = RowOrder::parse(&format, &parts, Ties::Record).unwrap();
        assert_eq!(again.unwrap(), order);
        let lacking = RowOrder::parse(&format, &parts[..3], Ties::Record).unwrap();
        assert!(lacking.is_err());
        let wrong = RowOrder::parse("csv", &["locale:sv_FI", EQUAL_BYTES], Ties::Record);
        let wrong = wrong.unwrap().unwrap_err().to_string();
        assert!(wrong.contains("write sv-FI"), "{wrong}");
    }

    #[test]
    fn other_descriptions_are_refused() {
        for format in [
            "lines",
            "csv:",
            "csv:3",
            "csv:0a",
            "csv:22",
            "csv:2c:2c",
            "csv:+1",
            "json",
        ] {
            let found = RowOrder::parse::<&str>(format, &[], Ties::Record);
            assert!(found.is_none(), "{format}");
        }
        for part in [
            "",
            "column",
            "column:0",
            "column:x",
            "path:$.a",
            "columns:x",
            "key:1",
            "column:",
        ] {
            let found = RowOrder::parse("csv", &[part], Ties::Record).unwrap();
            assert!(found.is_err(), "{part}");
        }
        for part in ["column:1", "columns:1", "path:a", "path:$["] {
            let found = RowOrder::parse("jsonl", &[part], Ties::Record).unwrap();
            assert!(found.is_err(), "{part}");
        }
    }
}
