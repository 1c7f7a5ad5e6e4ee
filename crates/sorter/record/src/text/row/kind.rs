//! The types of values: how they are read, which bytes are none, and their order as a key has it.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::super::date::{BadDate, Instant};
use super::super::decimal::{BadDecimal, Decimal};

/// The type of a value of a row. An empty or missing value is before all others.
///
/// ```
/// use record::rows::ValueKind;
/// let kind: ValueKind = "num".parse().unwrap();
/// assert!(kind.check(b"-1.5e3").is_ok());
/// assert!(kind.check(b"").is_ok(), "before all numbers");
/// assert_eq!(kind.check(b"abc").unwrap_err().to_string(), "is not a number");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// `str`: its bytes, of a JSON string those of its characters in UTF-8.
    #[default]
    Text,
    /// `num`: a decimal number of any length, such as `-0.5`, `+3`, `1e9`, compared exactly. `-0`
    /// and 0 are equal.
    Number,
    /// `natural`: text in which each run of digits is a number: `file2` is before `file10`, and equal
    /// to `file02`. Other bytes have the order of their codes: unlike with `-V`, no suffix is set
    /// apart, and neither `~` nor a point is special.
    Natural,
    /// `date`: a date, with or without a time, as an instant. Without a zone it is in UTC. The forms
    /// are those of RFC 3339 with a blank for `T` and without seconds if need be, `YYYY/MM/DD`,
    /// `YYYYMMDD` and that of mail (RFC 2822).
    Date,
}

/// The order of a value in words behind its place: `:num:desc`. A key option of rows is a field here, and
/// its word; the order of a row and its description pass it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValueOrder {
    /// The type.
    pub kind: ValueKind,
    /// Whether the largest value comes first.
    pub descending: bool,
}

impl ValueOrder {
    /// Takes the known words off the end of a key.
    pub(crate) fn split(spec: &str) -> (&str, ValueOrder) {
        let (rest, descending) = match (without(spec, "desc"), without(spec, "asc")) {
            (Some(rest), _) => (rest, true),
            (_, Some(rest)) => (rest, false),
            _ => (spec, false),
        };
        let kinds = ValueKind::ALL.into_iter();
        let mut typed = kinds.filter_map(|kind| Some((without(rest, kind.name())?, kind)));
        let (name, kind) = typed.next().unwrap_or((rest, ValueKind::default()));
        (name, ValueOrder { kind, descending })
    }

    /// The words without a type, which is then the usual one.
    pub(crate) fn direction(self) -> &'static str {
        if self.descending { ":desc" } else { "" }
    }
}

/// The text before a last colon and this word.
fn without<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.strip_suffix(word)?.strip_suffix(':')
}

impl fmt::Display for ValueOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}{}", self.kind.name(), self.direction())
    }
}

/// The reason why a value is not of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ValueError {
    /// It is no number.
    #[error("is not a number")]
    NotANumber,
    /// Its exponent has more than 18 digits.
    #[error("has an exponent of more than 18 digits")]
    Exponent,
    /// It is no date, or there is no such day or time.
    #[error("is not a date; write YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS or another form of RFC 3339")]
    NotADate,
    /// Its day and its month can be mistaken for each other.
    #[error("is ambiguous: a day and a month can be mistaken for each other; write YYYY-MM-DD")]
    AmbiguousDate,
}

impl ValueKind {
    /// All kinds.
    pub const ALL: [ValueKind; 4] = [
        ValueKind::Text,
        ValueKind::Number,
        ValueKind::Natural,
        ValueKind::Date,
    ];

    /// The name in a key.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ValueKind::Text => "str",
            ValueKind::Number => "num",
            ValueKind::Natural => "natural",
            ValueKind::Date => "date",
        }
    }

    /// Whether any bytes are a value of this kind.
    #[must_use]
    pub fn is_any(self) -> bool {
        matches!(self, ValueKind::Text | ValueKind::Natural)
    }

    /// Checks that a decoded value is of this kind. Blanks around numbers and dates do not count, and
    /// a value of nothing else is an empty one.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(self, value: &[u8]) -> Result<(), ValueError> {
        match self {
            ValueKind::Text | ValueKind::Natural => Ok(()),
            // Most numbers are digits alone.
            ValueKind::Number if value.iter().all(u8::is_ascii_digit) => Ok(()),
            ValueKind::Number => match Decimal::read(value) {
                Ok(_) => Ok(()),
                Err(BadDecimal::Form) => Err(ValueError::NotANumber),
                Err(BadDecimal::Exponent) => Err(ValueError::Exponent),
            },
            ValueKind::Date => match Instant::read(value) {
                Ok(_) => Ok(()),
                Err(BadDate::Form) => Err(ValueError::NotADate),
                Err(BadDate::Ambiguous) => Err(ValueError::AmbiguousDate),
            },
        }
    }
}

impl FromStr for ValueKind {
    type Err = ();

    fn from_str(name: &str) -> Result<ValueKind, ()> {
        let mut all = ValueKind::ALL.into_iter();
        all.find(|kind| kind.name() == name).ok_or(())
    }
}
