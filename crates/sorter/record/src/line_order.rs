//! Lines with their delimiters, and a description of their order that can be saved.
//!
//! ```text
//! lines                   lines that end with a newline, or lines:00 for another byte
//! separator:2c            fields end at a comma; without it they are blank and non-blank bytes
//! null:NA                 a word that stands for a missing value of a key with a type
//! options:fr              options of keys that have none, and of the last resort
//! key:3,3n   key:1,1      as -k takes them
//! salt:0123..ef           of a random order
//! start:[0-9]  lines:4    records of several lines, as `Multiline` describes them
//! shuffle:42              in no order, but in one that this seed decides
//! csv, columns:7 ..       rows, as `rows::RowOrder` describes them
//! varlen:u16le, 0+4 ..    records with lengths, as `FieldOrder` does
//! locale:de-DE            text in the order of a language, of lines and rows
//! equal:bytes             always beside locale: text that the language takes for equal has the order
//!                         of its bytes
//! ```

use std::cmp::Ordering;
use std::sync::Arc;

use crate::field_order::FieldOrder;
use crate::format::FormatError;
use crate::framing::Framing;
use crate::multiline::{Multiline, MultilineError, RECORD_END};
use crate::order::Ties;
use crate::rows::{BadRow, Dialect, RowOrder, RowProblem, shown};
use crate::text::{ANY_RECORD, EQUAL_BYTES, KeyOptions, Locale, TextKey, TextOrder};

/// The name of the format of lines.
const LINES: &str = "lines";

/// Stands before the seed of a shuffle.
const SHUFFLE: &str = "shuffle:";

/// Lines that end with a byte, in the order of their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineOrder {
    /// The order of lines without their delimiters.
    pub text: TextOrder,
    /// Where a line ends.
    pub framing: Framing,
    /// The keys from which `text` was made.
    pub keys: LineKeys,
    /// The lines that are one record, if it has several.
    pub multiline: Option<Arc<Multiline>>,
    /// The seed by which lines are shuffled: `text` compares the lot in front of each.
    pub shuffle: Option<u64>,
}

/// The kind of keys, for a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineKeys {
    /// Keys of lines of text, which `text` knows.
    Text,
    /// Columns or members of rows.
    Rows(RowOrder),
    /// Bytes of records with lengths.
    Fields(FieldOrder),
}

impl LineOrder {
    /// Lines that end with `delimiter`.
    #[must_use]
    pub fn lines(text: TextOrder, delimiter: u8) -> LineOrder {
        LineOrder {
            text,
            framing: Framing::Delimited(delimiter),
            keys: LineKeys::Text,
            multiline: None,
            shuffle: None,
        }
    }

    /// Records of several lines.
    #[must_use]
    pub fn several(text: TextOrder, multiline: Multiline) -> LineOrder {
        LineOrder {
            multiline: Some(Arc::new(multiline)),
            ..LineOrder::lines(text, RECORD_END)
        }
    }

    /// Rows.
    #[must_use]
    pub fn rows(rows: RowOrder) -> LineOrder {
        LineOrder {
            text: rows.text(),
            framing: rows.dialect().framing(),
            keys: LineKeys::Rows(rows),
            multiline: None,
            shuffle: None,
        }
    }

    /// Records with lengths.
    #[must_use]
    pub fn fields(fields: FieldOrder) -> LineOrder {
        LineOrder {
            text: fields.text(),
            framing: Framing::Prefixed(fields.prefix()),
            keys: LineKeys::Fields(fields),
            multiline: None,
            shuffle: None,
        }
    }

    /// The format of the rows, if the lines are rows.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        match &self.keys {
            LineKeys::Rows(rows) => Some(rows.dialect()),
            LineKeys::Text | LineKeys::Fields(_) => None,
        }
    }

    /// The line without its delimiter.
    #[inline]
    #[must_use]
    pub fn body<'r>(&self, line: &'r [u8]) -> &'r [u8] {
        self.framing.body(line)
    }

    /// The order of two lines, which have their delimiters.
    #[inline]
    #[must_use]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.text.compare(self.body(a), self.body(b))
    }

    /// Whether all keys of two lines are equal.
    #[must_use]
    pub fn keys_equal(&self, a: &[u8], b: &[u8]) -> bool {
        self.text.keys_equal(self.body(a), self.body(b))
    }

    /// Checks that the keys of a line, which has no delimiter, are of their types. The result is for
    /// [`LineOrder::unseen`]: results of lines are joined by `|`.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self, line: &[u8]) -> Result<u64, BadRow> {
        self.text.check(line).map_err(|(key, range, error)| {
            let problem = RowProblem::Value {
                value: shown(&line[range.clone()]),
                place: key.place(),
                error,
            };
            BadRow::at(range.start, problem)
        })
    }

    /// The keys with types for which none of these lines has a value.
    #[must_use]
    pub fn unseen(&self, seen: u64) -> Vec<String> {
        let keys = (0..ANY_RECORD.trailing_zeros()).zip(self.text.keys());
        let is_unseen = |number: u32| seen & ANY_RECORD > 0 && seen >> number & 1 == 0;
        let unseen = keys.filter(|(number, key)| key.value.is_some() && is_unseen(*number));
        unseen.map(|(_, key)| key.place()).collect()
    }

    /// The tie-breaker between lines with equal keys. Lines of the same bytes need no positions.
    #[must_use]
    pub fn ties(&self) -> Ties {
        match self.text.ties() {
            ties if !self.text.is_total() => ties,
            _ => Ties::Record,
        }
    }

    /// The format, and the keys with all that they depend on.
    #[must_use]
    pub fn describe(&self) -> (String, Vec<String>) {
        match &self.keys {
            LineKeys::Rows(rows) => return rows.describe(),
            LineKeys::Fields(fields) => return fields.describe(),
            LineKeys::Text => {}
        }
        let format = match self.framing.delimiter() {
            Some(other) if other != b'\n' => format!("{LINES}:{other:02x}"),
            _ => LINES.to_owned(),
        };
        let mut keys = Vec::new();
        if let Some(separator) = self.text.separator() {
            keys.push(format!("separator:{separator:02x}"));
        }
        let options = self.text.options();
        if options != KeyOptions::default() {
            keys.push(format!("options:{options}"));
        }
        keys.extend(self.text.nulls().all().map(|word| format!("null:{word}")));
        keys.extend(self.text.given().iter().map(|key| format!("key:{key:#}")));
        if let Some(salt) = self.text.salt() {
            let digits: String = salt.iter().map(|byte| format!("{byte:02x}")).collect();
            keys.push(format!("salt:{digits}"));
        }
        if let Some(locale) = self.text.locale() {
            keys.extend(locale.describe());
        }
        keys.extend(self.multiline.iter().map(ToString::to_string));
        keys.extend(self.shuffle.map(|seed| format!("{SHUFFLE}{seed}")));
        (format, keys)
    }

    /// The order of a description; `None` if `format` is not one of lines or rows.
    ///
    /// # Errors
    /// When a key has a mistake.
    pub fn parse<S: AsRef<str>>(
        format: &str,
        keys: &[S],
        ties: Ties,
    ) -> Option<Result<LineOrder, FormatError>> {
        if let Some(rows) = RowOrder::parse(format, keys, ties) {
            return Some(rows.map(LineOrder::rows));
        }
        if let Some(fields) = FieldOrder::parse(format, keys, ties) {
            return Some(fields.map(LineOrder::fields));
        }
        let delimiter = match format.strip_prefix(LINES)? {
            "" => b'\n',
            digits => *bytes_of(digits.strip_prefix(':')?)?.first()?,
        };
        let mut keys_of_text = keys.iter().map(AsRef::as_ref);
        let multiline = keys_of_text.find(|key| Multiline::is_described(key));
        let mut keys_of_text = keys.iter().map(AsRef::as_ref);
        let shuffle = keys_of_text.find_map(|key| key.strip_prefix(SHUFFLE)?.parse().ok());
        let order = described(keys, ties).and_then(|text| match multiline {
            None => Ok(LineOrder::lines(text, delimiter)),
            Some(given) => match given.parse() {
                Ok(multiline) => Ok(LineOrder::several(text, multiline)),
                Err(mistake) => Err(FormatError::Line {
                    given: given.to_owned(),
                    what: MultilineError::to_string(&mistake),
                }),
            },
        });
        Some(order.map(|order| LineOrder { shuffle, ..order }))
    }
}

fn described<S: AsRef<str>>(keys: &[S], ties: Ties) -> Result<TextOrder, FormatError> {
    let (mut given, mut nulls, mut options) = (Vec::new(), Vec::new(), KeyOptions::default());
    let (mut separator, mut salt, mut locale) = (None, None, None);
    for text in keys.iter().map(AsRef::as_ref) {
        let wrong = |what: String| FormatError::Line {
            given: text.to_owned(),
            what,
        };
        let none = || wrong("not a part of an order".to_owned());
        match text.split_once(':').ok_or_else(none)? {
            ("separator", byte) => {
                let bytes = bytes_of(byte).filter(|bytes| bytes.len() == 1);
                separator = Some(bytes.ok_or_else(none)?[0]);
            }
            ("options", letters) => {
                let parsed = letters.parse::<KeyOptions>();
                options = parsed.map_err(|error| wrong(error.to_string()))?;
            }
            ("null", word) => nulls.push(word.to_owned()),
            ("key", key) => {
                let parsed = key.parse::<TextKey>();
                given.push(parsed.map_err(|error| wrong(error.to_string()))?);
            }
            ("salt", digits) => {
                let bytes = bytes_of(digits).ok_or_else(none)?;
                salt = Some(bytes.try_into().map_err(|_| none())?);
            }
            ("locale", tag) => {
                locale = Some(Locale::described(tag, keys).map_err(wrong)?);
            }
            ("shuffle", seed) if seed.parse::<u64>().is_ok() => {}
            _ if text == EQUAL_BYTES || Multiline::is_described(text) => {}
            _ => return Err(none()),
        }
    }
    let order = TextOrder::new(given, options, separator, ties, salt);
    let order = order.and_then(|order| match locale {
        Some(locale) => order.with_nulls(&nulls).with_locale(locale),
        None => Ok(order.with_nulls(&nulls)),
    });
    order.map_err(|error| FormatError::Line {
        given: String::new(),
        what: error.to_string(),
    })
}

/// The bytes that pairs of hexadecimal digits stand for.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let is_pair = pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit);
        let text = std::str::from_utf8(pair).ok().filter(|_| is_pair)?;
        u8::from_str_radix(text, 16).ok()
    };
    pairs.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::Quoting;

    fn order(keys: &[&str], options: &str, separator: Option<u8>) -> LineOrder {
        let keys = keys.iter().map(|key| key.parse().unwrap()).collect();
        let options = options.parse().unwrap();
        let salt = Some([7; 16]);
        let text = TextOrder::new(keys, options, separator, Ties::Record, salt).unwrap();
        LineOrder::lines(text, b'\n')
    }

    #[test]
    fn a_description_of_rows_is_read_back() {
        let keys = ["columns:7", "column:4:num:desc"];
        for ties in [Ties::Record, Ties::Position] {
            let order = LineOrder::parse("csv:3b", &keys, ties).unwrap().unwrap();
            assert_eq!(order.ties(), ties);
            let described = ("csv:3b".to_owned(), keys.map(str::to_owned).to_vec());
            assert_eq!(order.describe(), described);
            let separator = b';';
            let quote = b'"';
            assert_eq!(order.dialect(), Some(Dialect::Csv { separator, quote }));
            assert_eq!(order.framing, Framing::Quoted(Quoting { separator, quote }));
        }
        let mistake = LineOrder::parse("csv", &["key:1"], Ties::Record).unwrap();
        assert!(mistake.unwrap_err().to_string().contains("\"key:1\""));
        let lines = LineOrder::parse::<&str>("jsonl", &[], Ties::Record).unwrap();
        assert_eq!(lines.unwrap().framing, Framing::Delimited(b'\n'));
    }

    fn in_swedish(order: LineOrder) -> LineOrder {
        let text = order.text.with_locale(Locale::new("sv").unwrap());
        LineOrder {
            text: text.unwrap(),
            ..order
        }
    }

    #[test]
    fn a_description_is_read_back() {
        for order in [
            order(&[], "", None),
            order(&[], "nr", None),
            order(&["2.3b,4n", "1,1"], "", Some(b',')),
            order(&["1", "3r"], "f", Some(0)),
            order(&["1,1R"], "", None),
            in_swedish(order(&[], "r", None)),
            in_swedish(order(&["2n", "1,1"], "", None)),
        ] {
            for delimiter in [b'\n', 0, b':'] {
                let order = LineOrder::lines(order.text.clone(), delimiter);
                let (format, keys) = order.describe();
                let again = LineOrder::parse(&format, &keys, Ties::Record);
                assert_eq!(again.unwrap().unwrap(), order, "{format} {keys:?}");
            }
            for multiline in [Multiline::from_pattern("a:b"), Multiline::of_lines(4)] {
                let order = LineOrder::several(order.text.clone(), multiline.unwrap());
                let (format, keys) = order.describe();
                let again = LineOrder::parse(&format, &keys, Ties::Record);
                assert_eq!(again.unwrap().unwrap(), order, "{format} {keys:?}");
            }
        }
        let shuffled = LineOrder {
            shuffle: Some(u64::MAX),
            ..order(&[], "", None)
        };
        let (format, keys) = shuffled.describe();
        let again = LineOrder::parse(&format, &keys, Ties::Record);
        assert_eq!(again.unwrap().unwrap(), shuffled);
    }

    #[test]
    fn other_descriptions_are_refused() {
        assert!(LineOrder::parse::<&str>("fixed:100", &[], Ties::Record).is_none());
        assert!(LineOrder::parse::<&str>("lines:0", &[], Ties::Record).is_none());
        for key in [
            "",
            "key",
            "key:0",
            "separator:2",
            "salt:12",
            "options:%",
            "x:1",
            "shuffle:x",
        ] {
            let found = LineOrder::parse("lines", &[key], Ties::Record);
            assert!(found.unwrap().is_err(), "{key}");
        }
        for (keys, part) in [
            (&["locale:sv_SE", EQUAL_BYTES][..], "write sv-SE"),
            (&["locale:sv", "key:1"], "earlier version"),
        ] {
            let found = LineOrder::parse("lines", keys, Ties::Record).unwrap();
            let message = found.unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
