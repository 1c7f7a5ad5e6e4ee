//! Shows what an order reads of a line, and warns of orders that may be meant otherwise.
//!
//! ```text
//! pears  -12.5x 7        -k2n
//!        _____           the key is "  -12.5x"; its number is "-12.5"
//! _______________        the last resort: the whole line
//! ```
//!
//! `sort --debug` of GNU shows the same places, and warns in the same cases.

use std::fmt;
use std::ops::Range;

use super::date::Instant;
use super::decimal::Decimal;
use super::encoding::Code;
use super::form::Form;
use super::general::General;
use super::key::TextKey;
use super::month::month;
use super::number;
use super::options::KeyOptions;
use super::order::TextOrder;
use super::part::Part;
use super::scan::past_blanks;
use super::words::Nowhere;
use crate::order::Ties;

/// What an order reads of a line for a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyView {
    /// The number of the key, from 1; `None` for the last resort.
    pub key: Option<usize>,
    /// The bytes of the line that are the key.
    pub range: Range<usize>,
    /// Those that count: of a number or a month, its own bytes alone; of a value in quotes, those
    /// inside of them. Empty if there is none.
    pub read: Range<usize>,
    /// What they were read as.
    pub reading: Reading,
    /// A date or an amount as a plain one, whatever its form.
    pub plainly: Option<String>,
}

/// The type that the bytes of a key were read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Bytes.
    Text,
    /// A number, and whether there was one. Without, it counts as 0; with `-g` and in a row, as less
    /// than any.
    Number {
        /// Whether there was a number.
        found: bool,
    },
    /// A month from 1, if there was one.
    Month(Option<u8>),
    /// A name with a version number.
    Version,
    /// Bytes of which the hash counts.
    Random,
    /// Text of a row with numbers in it.
    Natural,
    /// A date of a row, and whether there was one. Without, it is before all others.
    Date {
        /// Whether there was a date.
        found: bool,
    },
    /// A value of a row in a form of its own, and whether it has it. Without, it counts as missing.
    Form {
        /// Whether it has the form.
        found: bool,
    },
    /// A number or text of a binary record.
    Binary,
    /// A value of a row that is empty or missing.
    Missing,
}

/// A part of an order that may be meant otherwise. Keys are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A key in the old form, `+POS1 -POS2`.
    ObsoleteKey {
        /// The number of the key.
        key: usize,
        /// The key as `-k` takes it.
        instead: String,
    },
    /// A key that ends before it starts, in any line.
    EmptyKey(usize),
    /// A key whose place or value depends on the blanks before a field.
    LeadingBlanks(usize),
    /// A number in a key of several fields.
    NumberSpansFields(usize),
    /// A separator that can be part of a number in a key of several fields.
    SeparatorInNumbers(char),
    /// Numbers have a point, whatever the language.
    DecimalPoint,
    /// Global options that no key uses.
    IgnoredOptions(String),
    /// `-r`, which no key uses, reverses the last resort.
    ReverseOfTiesOnly,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::ObsoleteKey { key, instead } => {
                write!(f, "key {key} has the old form; write -k {instead}")
            }
            Warning::EmptyKey(key) => {
                write!(
                    f,
                    "key {key} ends before it starts, so it is empty in every line"
                )
            }
            Warning::LeadingBlanks(key) => write!(
                f,
                "blanks before the field count in key {key}; add b to leave them out"
            ),
            Warning::NumberSpansFields(key) => write!(
                f,
                "key {key} is a number, but has more than one field; end it, such as -k2,2n"
            ),
            Warning::SeparatorInNumbers(separator) => write!(
                f,
                "the separator \"{separator}\" can be part of a number; end the key after its field"
            ),
            Warning::DecimalPoint => f.write_str("numbers have a decimal point, \".\""),
            Warning::IgnoredOptions(letters) => write!(
                f,
                "-{letters} has no effect, as the keys have options of their own"
            ),
            Warning::ReverseOfTiesOnly => {
                f.write_str("-r reverses nothing but the order of lines with equal keys")
            }
        }
    }
}

impl TextOrder {
    /// What the order reads of `line`: for each key, and for the last resort if there is one.
    #[must_use]
    pub fn explain(&self, line: &[u8]) -> Vec<KeyView> {
        let keys = self.parts().iter().enumerate();
        let views = keys.map(|(number, part)| KeyView {
            key: Some(number + 1),
            ..part_view(part, line)
        });
        let whole = self.has_last_resort().then_some(KeyView {
            key: None,
            range: 0..line.len(),
            read: 0..line.len(),
            reading: Reading::Text,
            plainly: None,
        });
        views.chain(whole).collect()
    }

    /// Whether the whole line is compared after the keys, even if that decides nothing.
    fn has_last_resort(&self) -> bool {
        let line_only = !self.keyed && self.global.is_plain();
        self.ties == Ties::Record && !line_only
    }

    /// The parts of the order that may be meant otherwise.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut spans = Spans::default();
        if self.keyed {
            for (number, key) in self.keys().iter().enumerate() {
                self.warn_of_key(number + 1, key, &mut spans, &mut warnings);
            }
        }
        let separator = self.separator.map(char::from);
        let in_numbers = match separator {
            Some('.') if spans.any => Some(true),
            Some('-') if spans.any => Some(false),
            Some('+') if spans.general => Some(false),
            _ => None,
        };
        let point_said = in_numbers == Some(true);
        warnings.extend(
            separator
                .filter(|_| in_numbers.is_some())
                .map(Warning::SeparatorInNumbers),
        );
        let uses_point = |key: &TextKey| key.options.is_number();
        if !point_said && self.keys().iter().any(uses_point) {
            warnings.push(Warning::DecimalPoint);
        }
        self.warn_of_unused_options(&mut warnings);
        warnings
    }

    fn warn_of_key(
        &self,
        number: usize,
        key: &TextKey,
        spans: &mut Spans,
        warnings: &mut Vec<Warning>,
    ) {
        if key.obsolete {
            let instead = key.to_string();
            warnings.push(Warning::ObsoleteKey {
                key: number,
                instead,
            });
        }
        let starts_line = key.start_fields == 0 && key.start_bytes == 0;
        let ends_before = |fields: usize| !starts_line && fields < key.start_fields;
        let empty = key.end.is_some_and(|end| ends_before(end.fields));
        if empty {
            warnings.push(Warning::EmptyKey(number));
        }
        if !empty && self.separator.is_none() && blanks_matter(key) {
            warnings.push(Warning::LeadingBlanks(number));
        }
        let one_field = key.end.is_some_and(|end| end.fields <= key.start_fields);
        if key.options.is_number() && !one_field {
            warnings.push(Warning::NumberSpansFields(number));
            spans.any = true;
            spans.general |= key.options.general;
        }
    }

    fn warn_of_unused_options(&self, warnings: &mut Vec<Warning>) {
        let keys = self.keys().iter();
        let mut unused = keys.fold(self.global, |unused, key| unused.without(&key.options));
        let reverse = std::mem::take(&mut unused.reverse) && self.keyed;
        let in_vain = reverse && self.ties.are_by_position();
        if !unused.is_plain() || in_vain {
            let letters = KeyOptions {
                reverse: in_vain,
                ..unused
            };
            warnings.push(Warning::IgnoredOptions(letters.to_string()));
        }
        if reverse && !in_vain {
            warnings.push(Warning::ReverseOfTiesOnly);
        }
    }
}

/// Which numbers have keys of several fields.
#[derive(Default)]
struct Spans {
    any: bool,
    general: bool,
}

/// Whether the blanks before a field move the key or count in it.
fn blanks_matter(key: &TextKey) -> bool {
    let options = &key.options;
    if key.value.is_some() {
        return false;
    }
    let skips = options.is_number() || options.month;
    let end_bytes = key.end.map_or(0, |end| end.bytes);
    // Such as -k1.3,1.5: columns of the line, whatever is in them.
    let columns = key.end.is_some_and(|end| end.fields == 0 && end.bytes > 0);
    let at_start = !options.blanks_start && (!skips || key.start_bytes > 0);
    let at_end = !options.blanks_end && end_bytes > 0;
    !columns && (at_start || at_end)
}

/// The view of a part: the bytes that it reads of a line.
fn part_view(part: &Part, line: &[u8]) -> KeyView {
    let (range, inside) = part.ranges(line);
    let (length, (read, reading), plainly) = part.with(line, |key| match key {
        [] if part.is_value() => (0, (0..0, Reading::Missing), None),
        key => (
            key.len(),
            reading(part.code(), key),
            plainly(part.code(), key),
        ),
    });
    let is_decoded = length < inside.len();
    let read = if is_decoded && !read.is_empty() {
        // Places in the decoded value say nothing about the line.
        inside
    } else {
        inside.start + read.start..inside.start + read.end
    };
    KeyView {
        key: None,
        range,
        read,
        reading,
        plainly,
    }
}

/// The bytes of a key that count, and what they were read as.
fn reading(code: Code, key: &[u8]) -> (Range<usize>, Reading) {
    let blanks = key.len() - past_blanks(key).len();
    let text = &key[blanks..];
    let (length, reading) = match code {
        Code::Text | Code::Folded | Code::Edited(_) | Code::Collated(_) => {
            return (0..key.len(), Reading::Text);
        }
        Code::Version(_) => return (0..key.len(), Reading::Version),
        Code::Random { .. } => return (0..key.len(), Reading::Random),
        Code::Natural => return (0..key.len(), Reading::Natural),
        Code::Field(_) => return (0..key.len(), Reading::Binary),
        Code::Decimal => {
            let found = matches!(Decimal::read(key), Ok(Some(_)));
            return (trimmed(key, found), Reading::Number { found });
        }
        Code::Date => {
            let found = matches!(Instant::read(key), Ok(Some(_)));
            return (trimmed(key, found), Reading::Date { found });
        }
        Code::Form(form) => {
            let found = form.encode(key, &mut Nowhere).is_ok();
            let reading = match form {
                Form::Date(_) => Reading::Date { found },
                _ => Reading::Form { found },
            };
            return (trimmed(key, found), reading);
        }
        Code::Numeric | Code::Human { .. } => {
            let length = number::length(text, code != Code::Numeric);
            let found = length > 0;
            (length, Reading::Number { found })
        }
        Code::General => {
            let (number, length) = General::read(text);
            let found = number != General::Nothing;
            (length, Reading::Number { found })
        }
        Code::Month => {
            let month = Some(month(text)).filter(|&month| month > 0);
            (month.map_or(0, |_| 3), Reading::Month(month))
        }
    };
    (blanks..blanks + length, reading)
}

/// A date or an amount as a plain one.
fn plainly(code: Code, key: &[u8]) -> Option<String> {
    match code {
        Code::Date => Some(Instant::read(key).ok()??.to_string()),
        Code::Form(form) => form.plainly(key),
        _ => None,
    }
}

/// A value without the blanks around it, if it was found.
fn trimmed(value: &[u8], found: bool) -> Range<usize> {
    let start = value.len() - value.trim_ascii_start().len();
    if found {
        start..start + value.trim_ascii().len()
    } else {
        0..0
    }
}
