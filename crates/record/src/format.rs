//! What a user says about records: `--format`, and `--key` as often as there are keys.
//!
//! ```text
//! --format gensort                      100 bytes, key 0+10
//! --format fixed:64                     64 bytes, the key is the whole record
//! --format fixed:64 --key 8+8:u64le:desc --key 0+8
//! ```
//!
//! A format is a length and an [`Order`]; nothing downstream knows more. Keys given by hand replace
//! the key of gensort, too. Lines of text are no format of this crate: their records have no fixed
//! length.
//!
//! It refuses what it does not know, with the place in the text and a hint.

use thiserror::Error;

use crate::gensort::{KEY_BYTES, RECORD_BYTES};
use crate::key::{Key, KeyError, number};
use crate::order::{MAX_KEYS, MAX_RECORD_BYTES, Order, Ties};

/// Records of one length and their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The length of every record.
    pub record_bytes: usize,
    /// The order they are sorted in.
    pub order: Order,
}

/// Why a format was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The name is not one of a format.
    #[error("unknown format \"{given}\"; use gensort, or fixed:LEN for records of LEN bytes")]
    Unknown {
        /// What was given.
        given: String,
    },
    /// The length of `fixed:LEN` is not one.
    #[error(
        "\"{given}\" is not a record length; give a plain number of bytes \
         from 1 to {MAX_RECORD_BYTES}, such as fixed:100"
    )]
    Length {
        /// What was given.
        given: String,
    },
    /// A key has a mistake, or does not fit into the record.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// There are more keys than an order holds.
    #[error("{given} keys; an order has at most {MAX_KEYS}: join keys that are adjacent bytes")]
    TooManyKeys {
        /// How many were given.
        given: usize,
    },
}

impl Format {
    /// Reads the values of `--format` and of each `--key`.
    ///
    /// ```
    /// use record::{Format, Ties};
    /// let format = Format::parse("fixed:16", &["8+8:u64le:desc"], Ties::Record)?;
    /// assert_eq!(format.record_bytes, 16);
    /// assert_eq!(format.order.words(), 3);
    /// # Ok::<(), record::FormatError>(())
    /// ```
    ///
    /// # Errors
    /// If the format is unknown, its length is none, or a key has a mistake or does not fit.
    pub fn parse<S: AsRef<str>>(
        format: &str,
        keys: &[S],
        ties: Ties,
    ) -> Result<Format, FormatError> {
        let mut keys = keys
            .iter()
            .map(|spec| spec.as_ref().parse())
            .collect::<Result<Vec<Key>, KeyError>>()?;
        let record_bytes = if format == "gensort" {
            if keys.is_empty() {
                keys.push(Key::plain(0, KEY_BYTES));
            }
            RECORD_BYTES
        } else if let Some(length) = format.strip_prefix("fixed:") {
            number(length)
                .filter(|record_bytes| (1..=MAX_RECORD_BYTES).contains(record_bytes))
                .ok_or_else(|| FormatError::Length {
                    given: length.to_owned(),
                })?
        } else {
            return Err(FormatError::Unknown {
                given: format.to_owned(),
            });
        };
        let order = Order::new(record_bytes, &keys, ties)?;
        Ok(Format {
            record_bytes,
            order,
        })
    }

    /// The format of the sort benchmark: 100 bytes, the first ten are the key.
    #[must_use]
    pub fn gensort() -> Format {
        let order = Order::gensort(Ties::Record);
        Format {
            record_bytes: order.record_bytes(),
            order,
        }
    }
}
