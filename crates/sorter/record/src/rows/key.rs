//! A key as the user writes it.
//!
//! ```text
//! price:num:desc      the column or member price, as a number, the largest first
//! #3                  the third column
//! $.user.name         a member of a member
//! a:b                 the column a:b, as b is no type
//! a:num:str           the column a:num
//! ```

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::text::TextKey;
use crate::text::row::{ValueOrder, ValueOrderError};

/// A key of rows: `NAME[:TYPE][:asc|:desc][:nulls-first|:nulls-last][:nocase][:locale=TAG]`.
///
/// NAME is that of a column or member. For a column it may also be `#3`, its number from 1; for JSON
/// also a path, such as `$.a.b`, `$.a[0]` or `$['a b']`. TYPE is one of [`ValueKind`](super::ValueKind). A NAME may have
/// colons: only the known words behind the last ones are taken off, so `NAME:str` keeps any NAME
/// whole. `asc` is the default. The words behind TYPE stand in any order.
///
/// ```
/// use record::rows::{RowKey, ValueKind};
/// let key: RowKey = "price:num:desc".parse()?;
/// assert_eq!((&key.name[..], key.order.kind, key.order.descending), ("price", ValueKind::Number, true));
/// let key: RowKey = "at:12:30".parse()?;
/// assert_eq!((&key.name[..], key.order.kind, key.order.descending), ("at:12:30", ValueKind::Text, false));
/// # Ok::<(), record::rows::RowKeyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowKey {
    /// The name, `#` and a number, or a path.
    pub name: String,
    /// The order of its values.
    pub order: ValueOrder,
}

/// A mistake in a key that no header can explain.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RowKeyError {
    /// It has no name.
    #[error("the key \"{0}\" has no name; write NAME[:TYPE][:desc], such as price:num")]
    NoName(String),
    /// The words behind its name.
    #[error("the key \"{given}\": {problem}")]
    Order {
        /// The given key.
        given: String,
        /// The mistake.
        problem: ValueOrderError,
    },
}

impl RowKey {
    /// The number of the column of `#3`; `None` if the name is another one.
    pub(super) fn number(&self) -> Option<usize> {
        let digits = self.name.strip_prefix('#')?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(usize::MAX))
    }
}

/// The number of the column and the words of a key as `sort -k` has it: `2,2nr` is column 2 with
/// `:num:desc`.
pub(super) fn of_lines(given: &str) -> Option<(usize, String)> {
    let key: TextKey = given.parse().ok()?;
    let options = key.options;
    let kind = match () {
        () if options.numeric || options.general || options.human => ":num",
        () if options.version => ":natural",
        () => "",
    };
    let direction = if options.reverse { ":desc" } else { "" };
    Some((key.start_fields + 1, format!("{kind}{direction}")))
}

impl FromStr for RowKey {
    type Err = RowKeyError;

    fn from_str(spec: &str) -> Result<RowKey, RowKeyError> {
        let given = || spec.to_owned();
        let split = ValueOrder::split(spec);
        let (name, order) = split.map_err(|problem| RowKeyError::Order {
            given: given(),
            problem,
        })?;
        if name.is_empty() {
            return Err(RowKeyError::NoName(given()));
        }
        Ok(RowKey {
            name: name.to_owned(),
            order,
        })
    }
}

impl fmt::Display for RowKey {
    /// The key as it is read, without parts that change nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = format!("{}{}", self.name, self.order.modifiers());
        let is_same = short.parse().is_ok_and(|key: RowKey| key == *self);
        if is_same {
            f.write_str(&short)
        } else {
            write!(f, "{}{}", self.name, self.order)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::row::ValueKind;

    fn key(name: &str, kind: ValueKind, descending: bool) -> RowKey {
        let name = name.to_owned();
        let order = ValueOrder {
            kind,
            descending,
            ..ValueOrder::default()
        };
        RowKey { name, order }
    }

    #[test]
    fn only_known_words_are_taken_off() {
        use ValueKind::{Date, Natural, Number, Text};
        let cases = [
            ("price", key("price", Text, false), "price"),
            ("price:desc", key("price", Text, true), "price:desc"),
            ("price:asc", key("price", Text, false), "price"),
            ("price:num", key("price", Number, false), "price:num"),
            ("at:date:desc", key("at", Date, true), "at:date:desc"),
            ("a:natural:asc", key("a", Natural, false), "a:natural"),
            ("a:num:str", key("a:num", Text, false), "a:num:str"),
            ("a:desc:str", key("a:desc", Text, false), "a:desc:str"),
            ("a:desc:num", key("a:desc", Number, false), "a:desc:num"),
            ("a:desc:desc", key("a:desc", Text, true), "a:desc:desc"),
            ("a:number", key("a:number", Text, false), "a:number"),
            ("num", key("num", Text, false), "num"),
            ("$.a:date", key("$.a", Date, false), "$.a:date"),
            (" x ", key(" x ", Text, false), " x "),
        ];
        for (spec, expected, written) in cases {
            let key: RowKey = spec.parse().unwrap();
            assert_eq!(key, expected, "{spec}");
            assert_eq!(key.to_string(), written);
            assert_eq!(written.parse::<RowKey>().unwrap(), expected);
        }
    }

    #[test]
    fn a_key_needs_a_name() {
        for spec in ["", ":num", ":num:desc", ":desc"] {
            let error = spec.parse::<RowKey>().unwrap_err();
            assert!(error.to_string().contains("has no name"), "{error}");
        }
    }

    #[test]
    fn a_number_sign_and_digits_are_a_number() {
        for (name, number) in [
            ("#1", Some(1)),
            ("#0", Some(0)),
            ("#99999999999999999999", Some(usize::MAX)),
            ("#", None),
            ("#x", None),
            ("# 1", None),
            ("1", None),
        ] {
            assert_eq!(key(name, ValueKind::Text, false).number(), number, "{name}");
        }
    }
}
