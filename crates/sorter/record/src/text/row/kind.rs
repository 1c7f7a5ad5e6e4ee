//! The types of values: how they are read, which bytes are none, and their order as a key has it.
//!
//! ```text
//! price:num:desc:nulls-last
//!       |    |       |
//!    type  direction  the end at which rows without a value stand
//! name:nocase    name:locale=de        text of this key alone
//! ```

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::super::date::{BadDate, Instant};
use super::super::decimal::{BadDecimal, Decimal};
use super::super::form::{DatePattern, Form, FormError, Listed};
use super::super::locale::{Locale, LocaleError};
use super::super::words::Nowhere;

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
    /// A form of its own, such as `amount` or `ip`.
    Form(Form),
}

/// The end at which rows without a value stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nulls {
    /// A value that is missing is before all others, and with `desc` behind them.
    #[default]
    Least,
    /// `nulls-first`, whatever the direction.
    First,
    /// `nulls-last`, whatever the direction.
    Last,
}

/// The order of a value in words behind its place: `:num:desc`. A key option of rows is a field here, and
/// its word; the order of a row and its description pass it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValueOrder {
    /// The type.
    pub kind: ValueKind,
    /// Whether the largest value comes first.
    pub descending: bool,
    /// Where missing values stand.
    pub nulls: Nulls,
    /// `nocase`: whether small and capital letters are alike: those of ASCII, or of the language.
    pub no_case: bool,
    /// `locale=TAG`: the language of this key, before that of all keys.
    pub locale: Option<Locale>,
}

/// A mistake in the words behind the name of a key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValueOrderError {
    /// A form's value.
    #[error(transparent)]
    Form(#[from] FormError),
    /// The tag of a language.
    #[error(transparent)]
    Locale(#[from] LocaleError),
    /// `nocase` or `locale` of another type than text.
    #[error("{0} does not go with the type {1}; leave one of them out")]
    NotText(&'static str, String),
}

impl ValueOrder {
    /// Takes the known words off the end of a key.
    ///
    /// # Errors
    /// If the value of a word has a mistake, or words do not fit each other.
    pub(crate) fn split(spec: &str) -> Result<(&str, ValueOrder), ValueOrderError> {
        let mut order = ValueOrder::default();
        let (mut rest, mut is_directed) = (spec, false);
        // Each word is taken once; a second one is part of the name.
        while let Some((before, word)) = rest.rsplit_once(':') {
            match word {
                "desc" | "asc" if !is_directed => {
                    (order.descending, is_directed) = (word == "desc", true);
                }
                "nulls-first" if order.nulls == Nulls::Least => order.nulls = Nulls::First,
                "nulls-last" if order.nulls == Nulls::Least => order.nulls = Nulls::Last,
                "nocase" if !order.no_case => order.no_case = true,
                _ => match word.strip_prefix("locale=") {
                    Some(tag) if order.locale.is_none() => order.locale = Some(Locale::new(tag)?),
                    _ => break,
                },
            }
            rest = before;
        }
        let typed = |(name, word)| Some((name, word_kind(word)?));
        let (name, kind) = match rest.rsplit_once(':').and_then(typed) {
            Some(found) => found,
            None => match Form::split(rest)? {
                Some((name, form)) => (name, ValueKind::Form(form)),
                None => (rest, ValueKind::default()),
            },
        };
        order.kind = kind;
        let is_text = matches!(kind, ValueKind::Text | ValueKind::Natural);
        let unfit = [
            (order.locale.is_some() && !is_text, "locale"),
            (order.no_case && kind != ValueKind::Text, "nocase"),
        ];
        match unfit.into_iter().find(|(is_unfit, _)| *is_unfit) {
            Some((_, word)) => Err(ValueOrderError::NotText(word, kind.to_string())),
            None => Ok((name, order)),
        }
    }

    /// The words without a type, which is then the usual one.
    pub(crate) fn modifiers(self) -> String {
        let nulls = match self.nulls {
            Nulls::Least => "",
            Nulls::First => ":nulls-first",
            Nulls::Last => ":nulls-last",
        };
        let locale = self
            .locale
            .map(|locale| format!(":locale={}", locale.tag()));
        [
            if self.descending { ":desc" } else { "" },
            nulls,
            if self.no_case { ":nocase" } else { "" },
            &locale.unwrap_or_default(),
        ]
        .concat()
    }

    /// Whether missing values are above all others before the direction turns them.
    pub(crate) fn has_nulls_above(self) -> bool {
        match self.nulls {
            Nulls::Least => false,
            Nulls::First => self.descending,
            Nulls::Last => !self.descending,
        }
    }
}

/// The type of a word alone.
fn word_kind(word: &str) -> Option<ValueKind> {
    Some(match word {
        "str" => ValueKind::Text,
        "num" => ValueKind::Number,
        "natural" => ValueKind::Natural,
        "date" => ValueKind::Date,
        word => ValueKind::Form(Form::named(word)?),
    })
}

impl fmt::Display for ValueOrder {
    /// The words; as `{:#}` with the checksum of a file that they name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(":")?;
        self.kind.fmt(f)?;
        f.write_str(&self.modifiers())
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
    /// It has more digits than numbers that are added up.
    #[error("has more than {0} digits or decimal places, the most of numbers that are added up")]
    Digits(u32),
    /// It is no date, or there is no such day or time.
    #[error(
        "is not a date; write YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS or another form of RFC 3339, or give the key a type such \
         as date=%d.%m.%Y"
    )]
    NotADate,
    /// Its day and its month can be mistaken for each other.
    #[error(
        "is ambiguous: a day and a month can be mistaken for each other; write YYYY-MM-DD, or give the key the type \
         date=dmy or date=mdy"
    )]
    AmbiguousDate,
    /// It is no date of a pattern, or there is no such day or time.
    #[error("is not a date of {}; mend it, or give the key another type", .0.as_str())]
    NotOfPattern(DatePattern),
    /// It is no amount.
    #[error("is not an amount; write {}", if *.decimal_comma {
        "1.234,50; with a decimal point the type is amount"
    } else {
        "1,234.50; with a decimal comma the type is amount=,"
    })]
    NotAnAmount {
        /// Whether the type has a decimal comma.
        decimal_comma: bool,
    },
    /// It is no size.
    #[error("is not a size; write 512, 1.5K, 2GiB or 3MB")]
    NotASize,
    /// It is no hexadecimal number.
    #[error("is not a hexadecimal number; write 1F or 0x1f")]
    NotHexadecimal,
    /// It is no address.
    #[error("is not an address; write 10.0.0.1, 10.0.0.0/8 or an address of IPv6")]
    NotAnAddress,
    /// The mask of an address is too long.
    #[error("has a mask that is no number up to {most}; write one, such as /{most}")]
    Mask {
        /// The bits of an address.
        most: u8,
    },
    /// It is no version.
    #[error("is not a version; write 1.10.0 or 1.10.0-rc.1")]
    NotAVersion,
    /// It is no word of the order.
    #[error("is not in {}; add it there, one word in each line", .0.file())]
    NotListed(Listed),
}

impl ValueKind {
    /// Whether any bytes are a value of this kind.
    #[must_use]
    pub fn is_any(self) -> bool {
        let length = ValueKind::Form(Form::Length);
        matches!(self, ValueKind::Text | ValueKind::Natural) || self == length
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
            ValueKind::Form(form) => form.encode(value, &mut Nowhere),
        }
    }
}

impl FromStr for ValueKind {
    type Err = ();

    /// Reads the word of a type, such as `num`.
    fn from_str(word: &str) -> Result<ValueKind, ()> {
        word_kind(word).ok_or(())
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueKind::Text => f.write_str("str"),
            ValueKind::Number => f.write_str("num"),
            ValueKind::Natural => f.write_str("natural"),
            ValueKind::Date => f.write_str("date"),
            ValueKind::Form(form) => form.fmt(f),
        }
    }
}
