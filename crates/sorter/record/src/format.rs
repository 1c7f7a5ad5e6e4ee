//! A user's description of records: `--format`, and a `--key` for each key.
//!
//! ```text
//! --format gensort                      100 bytes, key 0+10
//! --format fixed:64                     64 bytes, the key is the whole record
//! --format fixed:64 --key 8+8:u64le:desc --key 0+8
//! ```
//!
//! Given keys also replace the key of gensort. Records of other lengths have formats of their own
//! (`spec`).
//!
//! Errors name the place in the text and a remedy.

use thiserror::Error;

use crate::framing::PrefixError;
use crate::gensort::{KEY_BYTES, RECORD_BYTES};
use crate::key::{Key, KeyError, number};
use crate::order::{MAX_KEYS, MAX_RECORD_BYTES, Order, Ties};

/// The reason why a format was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// No format has this name.
    #[error(
        "unknown format \"{given}\"; use lines, csv, tsv, jsonl, gensort, fixed:LEN for records of LEN \
         bytes, or varlen:u32le, rdw, kv:u32le and their like for records with lengths"
    )]
    Unknown {
        /// The given name.
        given: String,
    },
    /// The LEN of `fixed:LEN` is no number, or out of range.
    #[error(
        "\"{given}\" is not a record length; give a plain number of bytes \
         from 1 to {MAX_RECORD_BYTES}, such as fixed:100"
    )]
    Length {
        /// The given text.
        given: String,
    },
    /// The length of records with lengths has a mistake.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    /// A key has a mistake, or does not fit into the record.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A part of the description of an order of lines has a mistake.
    #[error("\"{given}\" in the order of lines: {what}")]
    Line {
        /// The part.
        given: String,
        /// The mistake.
        what: String,
    },
    /// There are more than [`MAX_KEYS`] keys.
    #[error("{given} keys; an order has at most {MAX_KEYS}: join keys that are adjacent bytes")]
    TooManyKeys {
        /// The given number of keys.
        given: usize,
    },
}

impl Order {
    /// Parses the values of `--format` and of each `--key`.
    ///
    /// ```
    /// use record::{Order, Ties};
    /// let order = Order::parse("fixed:16", &["8+8:u64le:desc"], Ties::Record)?;
    /// assert_eq!(order.record_bytes(), 16);
    /// assert_eq!(order.words(), 3);
    /// # Ok::<(), record::FormatError>(())
    /// ```
    ///
    /// # Errors
    /// If the format is unknown, its length is no length, or a key has a mistake or does not fit.
    pub fn parse<S: AsRef<str>>(
        format: &str,
        keys: &[S],
        ties: Ties,
    ) -> Result<Order, FormatError> {
        let record_bytes = record_bytes_of(format)?;
        let keys = keys.iter().map(|spec| spec.as_ref().parse());
        let mut keys = keys.collect::<Result<Vec<Key>, KeyError>>()?;
        if format == "gensort" && keys.is_empty() {
            keys.push(Key::plain(0, KEY_BYTES));
        }
        Order::new(record_bytes, &keys, ties)
    }
}

fn record_bytes_of(format: &str) -> Result<usize, FormatError> {
    if format == "gensort" {
        return Ok(RECORD_BYTES);
    }
    let Some(length) = format.strip_prefix("fixed:") else {
        let given = format.to_owned();
        return Err(FormatError::Unknown { given });
    };
    let bytes = number(length).filter(|bytes| (1..=MAX_RECORD_BYTES).contains(bytes));
    bytes.ok_or_else(|| FormatError::Length {
        given: length.to_owned(),
    })
}
