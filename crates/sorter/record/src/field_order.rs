//! The order of records with lengths: keys at byte offsets, as of records of one length.
//!
//! ```text
//! varlen:u16le, 4+2:u16be      |LL|....KK......|     offsets count from the body
//! kv:u32le                     |KKKK|VVVV|key|value|   the key decides; offsets count from it
//! ```
//!
//! A record may be too short for a key. Readers refuse such records (`FieldOrder::least_bytes`);
//! comparisons read zeros behind their end, so that the fronts of records can be compared.

use crate::format::FormatError;
use crate::framing::Prefix;
use crate::key::{Key, KeyError};
use crate::order::MAX_KEYS;
use crate::order::Ties;
use crate::text::{Stretch, TextOrder};

/// Keys end within this many bytes of a record.
const MOST_KEY_END: usize = 1 << 30;

/// An order of records with lengths.
///
/// ```
/// use record::FieldOrder;
/// use record::Ties;
/// let keys = ["2+2:u16le:desc"];
/// let order = FieldOrder::parse("varlen:u8", &keys, Ties::Record).unwrap()?;
/// assert_eq!(order.least_bytes(), 4);
/// let text = order.text();
/// assert!(text.compare(b"ab\x00\x01", b"ab\xff\x00").is_lt());
/// assert_eq!(order.describe().1, keys);
/// # Ok::<(), record::FormatError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldOrder {
    prefix: Prefix,
    keys: Vec<Key>,
    ties: Ties,
}

impl FieldOrder {
    /// The order by `keys`, the most significant first. Without keys, pairs are compared by their
    /// keys, and other records by their bodies.
    ///
    /// # Errors
    /// If there are too many keys, or one is beyond any record.
    pub fn new(prefix: Prefix, keys: Vec<Key>, ties: Ties) -> Result<FieldOrder, FormatError> {
        if keys.len() > MAX_KEYS {
            return Err(FormatError::TooManyKeys { given: keys.len() });
        }
        let is_far = |key: &&Key| key.offset.saturating_add(key.bytes) > MOST_KEY_END;
        if let Some(key) = keys.iter().find(is_far) {
            return Err(FormatError::Line {
                given: key.to_string(),
                what: format!("a key ends within the first {MOST_KEY_END} bytes"),
            });
        }
        Ok(FieldOrder { prefix, keys, ties })
    }

    /// The order of a format and its keys; `None` if the format is another one.
    ///
    /// # Errors
    /// When the length or a key has a mistake.
    pub fn parse<S: AsRef<str>>(
        format: &str,
        keys: &[S],
        ties: Ties,
    ) -> Option<Result<FieldOrder, FormatError>> {
        let prefix = Prefix::parse(format)?;
        let order = || {
            let keys = keys.iter().map(|key| key.as_ref().parse());
            let keys = keys.collect::<Result<Vec<Key>, KeyError>>()?;
            FieldOrder::new(prefix?, keys, ties)
        };
        Some(order())
    }

    /// The format and the keys, as [`FieldOrder::parse`] takes them.
    #[must_use]
    pub fn describe(&self) -> (String, Vec<String>) {
        let keys = self.keys.iter().map(ToString::to_string).collect();
        (self.prefix.to_string(), keys)
    }

    /// The header of the records.
    #[must_use]
    pub fn prefix(&self) -> Prefix {
        self.prefix
    }

    /// The keys, the most significant first.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Bytes of the shortest body that has all keys; of a pair, of its key and value.
    #[must_use]
    pub fn least_bytes(&self) -> usize {
        let ends = self.keys.iter().map(|key| key.offset + key.bytes);
        ends.max().unwrap_or(0)
    }

    /// The order as one of lines, which are records without their headers; pairs have theirs.
    #[must_use]
    pub fn text(&self) -> TextOrder {
        let before = if self.prefix.has_key() {
            self.prefix.header_bytes()
        } else {
            0
        };
        let mut stretches: Vec<Stretch> = self
            .keys
            .iter()
            .map(|key| Stretch::of_key(key, before))
            .collect();
        if stretches.is_empty() && self.prefix.has_key() {
            stretches.push(Stretch::of_pair(self.prefix));
        }
        TextOrder::of_stretches(stretches, self.ties)
    }
}
