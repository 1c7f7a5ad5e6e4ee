//! Values in forms of their own: numbers as people write them, addresses, versions, dates by a pattern.
//!
//! ```text
//! price:amount      $1,234.50   (5.00)   12 %      a number, as `num` orders it
//! price:amount=,    1.234,50 EUR                   the same with a decimal comma
//! used:size         512   1.5K   2 GiB   3MB       bytes: K and KiB are 1,024, kB is 1,000
//! id:hex            0x1F   ff                      whole numbers of any length
//! host:ip           10.0.0.2   10.0.0.0/8   ::1    IPv4 before IPv6, by address, then by mask
//! release:semver    v1.10.0   1.10.0-rc.1          before a release its candidates
//! name:length                                      by the number of characters
//! size:order=FILE                                  in the order of the lines of a file
//! at:date=dmy       5/1/2024   5 Jan 24 17:30      the day first; mdy: the month first
//! at:date=%d.%m.%y  05.01.24                       by a pattern
//! ```
//!
//! Each form has one function, which checks a value and writes bytes that compare as the values do.

mod address;
mod amount;
mod hexadecimal;
mod listed;
mod pattern;
mod semver;
mod size;

use std::fmt;

use thiserror::Error;

pub use listed::{Listed, ListedError};
pub use pattern::DatePattern;

use super::row::ValueError;
use super::words::Sink;

/// A form of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `amount`: a number with groups of digits, a currency, a percent sign, or in parentheses, which is below
    /// zero.
    Amount {
        /// Whether a comma stands before the fraction, `amount=,`, and not a point.
        decimal_comma: bool,
    },
    /// `size`: a number of bytes with a unit. K, M, G and so on, also as KiB, are powers of 1,024; kB, MB and
    /// GB are powers of 1,000.
    Size,
    /// `hex`: a whole number with digits to f, with or without `0x`.
    Hexadecimal,
    /// `ip`: an address of IPv4 or IPv6, with or without the length of a mask.
    Address,
    /// `semver`: numbers with points, perhaps with a name of what comes before the release (semver.org).
    Version,
    /// `length`: the number of its characters.
    Length,
    /// `order=FILE`: a word of a file, in the order of its lines.
    Listed(Listed),
    /// `date=dmy`, `date=mdy` or `date=PATTERN`.
    Date(DatePattern),
}

/// A mistake in the words of a form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormError {
    /// Something else than a comma behind `amount=`.
    #[error("amount={0}: write amount=, for a decimal comma, or amount for a point")]
    Mark(String),
    /// A pattern of dates.
    #[error(
        "date={0}: {mistake}; write date=dmy, date=mdy, or a pattern of %Y %m %d %H %M %S and others of strftime, such as date=%d.%m.%Y",
        mistake = DatePattern::mistake(.0)
    )]
    Pattern(String),
    /// The file of an order.
    #[error(transparent)]
    Listed(#[from] ListedError),
}

impl Form {
    /// The forms that are a word alone.
    const WORDS: [(&str, Form); 6] = [
        (
            "amount",
            Form::Amount {
                decimal_comma: false,
            },
        ),
        ("size", Form::Size),
        ("hex", Form::Hexadecimal),
        ("ip", Form::Address),
        ("semver", Form::Version),
        ("length", Form::Length),
    ];

    /// The form of a word.
    pub(super) fn named(word: &str) -> Option<Form> {
        let mut words = Form::WORDS.into_iter();
        words.find_map(|(known, form)| (known == word).then_some(form))
    }

    /// Takes a form with a value, such as `date=PATTERN`, off the end of a key.
    ///
    /// # Errors
    /// If the value has a mistake.
    pub(super) fn split(key: &str) -> Result<Option<(&str, Form)>, FormError> {
        let mut last = None;
        for name in [":amount=", ":date=", ":order="] {
            let place = key.rfind(name);
            last = last.max(place.map(|place| (place, place + name.len(), name)));
        }
        let Some((place, start, name)) = last else {
            return Ok(None);
        };
        let value = &key[start..];
        let form = match name {
            ":date=" => {
                let pattern = DatePattern::new(value);
                Form::Date(pattern.ok_or_else(|| FormError::Pattern(value.to_owned()))?)
            }
            ":order=" => Form::Listed(Listed::named(value)?),
            _ if value == "," => Form::Amount {
                decimal_comma: true,
            },
            _ => return Err(FormError::Mark(value.to_owned())),
        };
        Ok(Some((&key[..place], form)))
    }

    /// A value of this form as a plain date or number, if it can be told so.
    pub(super) fn plainly(self, value: &[u8]) -> Option<String> {
        match self {
            Form::Date(pattern) => pattern.instant(value).map(|instant| instant.to_string()),
            Form::Amount { decimal_comma } => amount::plainly(value, decimal_comma),
            _ => None,
        }
    }

    /// Checks a value, and writes bytes that compare as the values do; none of one that is empty or blank.
    ///
    /// # Errors
    /// If the value has another form; then nothing is written.
    pub(super) fn encode(self, value: &[u8], out: &mut impl Sink) -> Result<(), ValueError> {
        if value.trim_ascii().is_empty() && self != Form::Length {
            return Ok(());
        }
        match self {
            Form::Amount { decimal_comma } => amount::encode(value, decimal_comma, out),
            Form::Size => size::encode(value, out),
            Form::Hexadecimal => hexadecimal::encode(value, out),
            Form::Address => address::encode(value, out),
            Form::Version => semver::encode(value, out),
            Form::Length => {
                encode_length(value, out);
                Ok(())
            }
            Form::Listed(listed) => listed.encode(value, out),
            Form::Date(pattern) => pattern.encode(value, out),
        }
    }

    /// The most bytes that a value of so many bytes is encoded in.
    pub(super) fn most_bytes(self, value: usize) -> usize {
        match self {
            Form::Amount { .. } => super::decimal::most_bytes(value.saturating_add(4)),
            Form::Size => super::decimal::most_bytes(value.saturating_add(size::MOST_DIGITS)),
            Form::Hexadecimal => hexadecimal::most_bytes(value),
            Form::Address => address::MOST_BYTES,
            Form::Version => semver::most_bytes(value),
            Form::Length => LENGTH_BYTES,
            Form::Listed(_) => listed::MOST_BYTES,
            Form::Date(_) => super::date::most_bytes(value),
        }
    }

    /// The form in words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Form::Amount { .. } => "an amount",
            Form::Size => "a size in bytes",
            Form::Hexadecimal => "a hexadecimal number",
            Form::Address => "an IP address",
            Form::Version => "a version",
            Form::Length => "its number of characters",
            Form::Listed(_) => "a word of an order",
            Form::Date(DatePattern::DayFirst) => "a date, the day first",
            Form::Date(DatePattern::MonthFirst) => "a date, the month first",
            Form::Date(DatePattern::Pattern(_)) => "a date",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Form::WORDS.iter().find(|(_, form)| form == self);
        match (known, self) {
            (Some((word, _)), _) => f.write_str(word),
            (None, Form::Listed(listed)) => {
                f.write_str("order=")?;
                listed.fmt(f)
            }
            (None, Form::Date(pattern)) => write!(f, "date={}", pattern.as_str()),
            (None, _) => f.write_str("amount=,"),
        }
    }
}

/// The bytes of a length: it is one word.
const LENGTH_BYTES: usize = 7;

/// Characters are counted by their first bytes, so bytes that are no UTF-8 count each, but for those that go on.
fn encode_length(value: &[u8], out: &mut impl Sink) {
    let goes_on = |byte: &&u8| **byte & 0xC0 == 0x80;
    let length = (value.len() - value.iter().filter(goes_on).count()) as u64;
    if length > 0 {
        out.push_all(&length.to_be_bytes()[8 - LENGTH_BYTES..]);
    }
}

#[cfg(test)]
mod tests;
