//! The names of columns, from a first row.

use std::fmt;

use thiserror::Error;

use super::bad_row::BadRow;
use super::dialect::Dialect;
use super::key::of_lines;
use super::order::RowOrderProblem;
use crate::text::row::{Column, count_fields};

/// The mark that some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Text without the byte order mark that some programs put before it.
#[must_use]
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// The most names in a message.
const MOST_NAMES: usize = 8;

/// The most letters by which a name is near to another: their distance takes the product of their
/// lengths.
const MOST_COMPARED: usize = 64;

/// The names of columns.
///
/// ```
/// use record::rows::{Dialect, Header};
/// let header = Header::parse(Dialect::CSV, b"id,\"unit price\",city\r")?;
/// assert_eq!(header.columns(), 3);
/// assert_eq!(header.find("unit price"), Ok(1));
/// let error = header.find("City").unwrap_err().to_string();
/// assert!(error.starts_with("there is no column \"City\"; there are \"city\", "));
/// # Ok::<(), record::rows::BadRow>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    names: Vec<Box<[u8]>>,
}

/// The reason why no column was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// No column has this name.
    #[error("there is no column \"{name}\"; there {names}{hint}")]
    Unknown {
        /// The given name.
        name: String,
        /// The names that there are, the nearest first.
        names: Names,
        /// How to write what may be meant; often empty.
        hint: String,
    },
    /// Several columns have this name.
    #[error(
        "the columns {first} and {second} are both called \"{name}\"; write #{first} or #{second}"
    )]
    Twice {
        /// The given name.
        name: String,
        /// The number of the first column of this name, from 1.
        first: usize,
        /// That of the second.
        second: usize,
    },
}

/// Some of the names of a header, and the number of the others. Displays as a list with its verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The names, the nearest first.
    pub nearest: Vec<String>,
    /// How many more there are.
    pub others: usize,
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["are ", "is "][usize::from(self.nearest.len() == 1)])?;
        for (place, name) in self.nearest.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{name:?}")?;
        }
        match self.others {
            0 => Ok(()),
            others => write!(f, " and {others} more"),
        }
    }
}

/// Words that people try behind a column, and those that are meant.
const WORDS: [(&str, &str); 16] = [
    ("number", "num"),
    ("numeric", "num"),
    ("num", "num"),
    ("int", "num"),
    ("integer", "num"),
    ("float", "num"),
    ("decimal", "num"),
    ("n", "num"),
    ("text", "str"),
    ("string", "str"),
    ("descending", "desc"),
    ("ascending", "asc"),
    ("dmy", "date=dmy"),
    ("mdy", "date=mdy"),
    ("money", "amount"),
    ("currency", "amount"),
];

impl Header {
    /// Reads the names in a first row, which has no newline at its end. A byte order mark is dropped.
    /// JSON Lines has no columns, so that the header has none.
    ///
    /// # Errors
    /// If a field that a quote opens does not end with one.
    pub fn parse(dialect: Dialect, row: &[u8]) -> Result<Header, BadRow> {
        let Some(separator) = dialect.separator() else {
            return Ok(Header { names: Vec::new() });
        };
        let quote = dialect.quote();
        let row = without_mark(row);
        count_fields(row, separator, quote).map_err(BadRow::of_field)?;
        let first = Column {
            separator,
            quote,
            before: 0,
        };
        let names = first
            .each(row)
            .map(|found| found.with(|name| Box::from(name)));
        Ok(Header {
            names: names.collect(),
        })
    }

    /// The number of columns of a first row, or of the part of it that is there; 0 without columns.
    #[must_use]
    pub fn columns_at(dialect: Dialect, text: &[u8]) -> usize {
        let first = dialect
            .framing()
            .end(text)
            .map_or(text, |end| &text[..end - 1]);
        let named = Header::parse(dialect, first);
        named.map_or(0, |header| header.columns())
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.names.len()
    }

    /// The names, in the order of the columns. Bytes that are not UTF-8 are replaced.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let names = self.names.iter();
        names.map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// The name of the column behind `before` others.
    pub(super) fn name(&self, before: usize) -> Option<String> {
        let name = self.names.get(before)?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    /// The number of columns before the one of this name.
    ///
    /// # Errors
    /// If there is none, or there are several.
    pub fn find(&self, name: &str) -> Result<usize, HeaderError> {
        let same = |place: &usize| *self.names[*place] == *name.as_bytes();
        let mut places = (0..self.names.len()).filter(same);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(first), Some(second)) => Err(HeaderError::Twice {
                name: name.to_owned(),
                first: first + 1,
                second: second + 1,
            }),
            (None, _) => Err(HeaderError::Unknown {
                name: name.to_owned(),
                names: self.nearest(name),
                hint: self.hint(name),
            }),
        }
    }

    /// The names of which the fewest letters differ, whatever their case.
    fn nearest(&self, name: &str) -> Names {
        let front = |name: &str| {
            let letters = name.chars().take(MOST_COMPARED);
            letters.flat_map(char::to_lowercase).collect::<String>()
        };
        let wanted = front(name);
        let distance = |other: &String| strsim::osa_distance(&wanted, &front(other));
        let mut nearest: Vec<String> = self.names().collect();
        nearest.sort_by_cached_key(distance);
        let others = nearest.len().saturating_sub(MOST_NAMES);
        nearest.truncate(MOST_NAMES);
        Names { nearest, others }
    }

    /// How to write the key of which this is the name: one that `sort -k` would take, several columns in
    /// one, or a column and what is no type. Or how to divide rows that have one column.
    fn hint(&self, name: &str) -> String {
        if let Some((number, words)) = of_lines(name) {
            let columns = RowOrderProblem::NumberTooLarge(self.columns());
            return match self.name(number - 1) {
                Some(column) => {
                    format!("; for column {number} write {column}{words} or #{number}{words}")
                }
                None => format!("; {columns}"),
            };
        }
        let is_column = |part: &str| self.names().any(|other| other == part);
        if name.contains([',', ';']) && name.split([',', ';']).all(is_column) {
            return "; each column has a key of its own".to_owned();
        }
        if let [only] = &self.names[..]
            && let Some(byte) = b";|\t,".iter().find(|byte| only.contains(byte))
        {
            let byte = byte.escape_ascii();
            return format!("; if fields are separated by '{byte}', say so, as with -t $'{byte}'");
        }
        let parts = name
            .match_indices(':')
            .map(|(place, _)| (&name[..place], &name[place + 1..]));
        let mut columns = parts.filter(|(part, _)| is_column(part));
        let hint = |(column, words): (&str, &str)| {
            // A key has had one of each taken off its end.
            let again = |word: &&str| {
                matches!(
                    *word,
                    "desc" | "asc" | "nulls-first" | "nulls-last" | "nocase"
                )
            };
            let meant = WORDS
                .iter()
                .find(|(word, _)| words.eq_ignore_ascii_case(word));
            if let Some((_, instead)) = meant {
                return format!("; write {column}:{instead}");
            }
            if let Some(again) = words.split(':').find(again) {
                return format!("; behind {column:?} give {again:?} or its opposite once");
            }
            format!(
                "; behind {column:?} comes a type of str, num, natural, date, amount, size, hex, ip, semver, length, \
                 date=PATTERN or order=FILE, and then words such as desc or nulls-last, not {words:?}"
            )
        };
        columns.next().map(hint).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(row: &str) -> Header {
        Header::parse(Dialect::CSV, row.as_bytes()).unwrap()
    }

    #[test]
    fn names_are_unquoted() {
        let names = |row: &str| header(row).names().collect::<Vec<_>>();
        assert_eq!(names("a,b c, d"), ["a", "b c", " d"]);
        assert_eq!(
            names("\u{FEFF}\"a\",\"b,\n\"\"c\"\"\"\r"),
            ["a", "b,\n\"c\""]
        );
        assert_eq!(names(""), [""]);
        assert_eq!(names(","), ["", ""]);
        let tabs = Header::parse(Dialect::Tsv, b"\"a\"\tb,c").unwrap();
        assert_eq!(tabs.names().collect::<Vec<_>>(), ["\"a\"", "b,c"]);
        let none = Header::parse(Dialect::JsonLines, b"{}").unwrap();
        assert_eq!(none.columns(), 0);
    }

    #[test]
    fn a_header_with_an_open_quote_is_refused() {
        let error = Header::parse(Dialect::CSV, b"a,\"b").unwrap_err();
        assert_eq!(error.column, 3);
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        let header = header("id,city,unit_price,Price,a,b,c,d,e,f");
        assert_eq!(header.find("Price"), Ok(3));
        let error = header.find("prcie").unwrap_err().to_string();
        let expected = "there is no column \"prcie\"; there are \"Price\", ";
        assert!(error.starts_with(expected), "{error}");
        assert!(error.ends_with(" and 2 more"), "{error}");
        let error = header.find("city:number").unwrap_err().to_string();
        assert!(error.ends_with("; write city:num"), "{error}");
        let error = header.find("city:size:x").unwrap_err().to_string();
        assert!(error.contains("behind \"city\" comes a type"), "{error}");
    }

    #[test]
    fn a_name_that_occurs_twice_is_refused() {
        let error = header("a,b,a,a").find("a").unwrap_err().to_string();
        let expected = "the columns 1 and 3 are both called \"a\"; write #1 or #3";
        assert_eq!(error, expected);
    }
}
