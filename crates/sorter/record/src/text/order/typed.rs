//! Keys of lines that have types: their values may be missing, or of another type.

use std::ops::Range;

use super::TextOrder;
use crate::text::TextKey;
use crate::text::row::{NullWords, ValueError};

/// The bit of a record that was checked, above those of its keys, or of the numbers that are added up.
pub(crate) const ANY_RECORD: u64 = 1 << 63;

impl TextOrder {
    /// The same order, in which these words stand for missing values of keys that have types. Blanks around them do not
    /// count, nor does the carriage return of a line.
    #[must_use]
    pub fn with_nulls(mut self, words: &[String]) -> TextOrder {
        if words.is_empty() {
            return self;
        }
        self.nulls = NullWords::new(words);
        let parts = std::mem::take(&mut self.parts).into_iter();
        let parts = parts.map(|part| part.with_nulls(&self.nulls)).collect();
        self.with_parts(parts)
    }

    /// Words that stand for a missing value.
    pub(crate) fn nulls(&self) -> &NullWords {
        &self.nulls
    }

    /// The same words.
    pub fn null_words(&self) -> impl Iterator<Item = &str> {
        self.nulls.all()
    }

    /// Whether keys have types, of which a line may have no value, or none of a type.
    #[must_use]
    pub fn has_types(&self) -> bool {
        self.keys.iter().any(|key| key.value.is_some())
    }

    /// Whether keys have types that not every line has a value of.
    pub(crate) fn may_have_mistakes(&self) -> bool {
        let mut types = self.keys.iter().filter_map(|key| key.value);
        types.any(|value| !value.kind.is_any())
    }

    /// Checks the keys of a line that have types. Returns [`ANY_RECORD`], and a bit for each of the first 63 keys that
    /// has a value.
    ///
    /// # Errors
    /// The first that is not of its type: the key, its bytes, and the mistake.
    pub(crate) fn check(&self, line: &[u8]) -> Result<u64, (&TextKey, Range<usize>, ValueError)> {
        let mut found = ANY_RECORD;
        for (number, (key, part)) in self.keys.iter().zip(&self.parts).enumerate() {
            let Some(order) = key.value else { continue };
            let checked = part.with(line, |value| {
                if !value.is_empty() && (number as u32) < ANY_RECORD.trailing_zeros() {
                    found |= 1 << number;
                }
                order.kind.check(value)
            });
            checked.map_err(|error| (key, part.ranges(line).0, error))?;
        }
        Ok(found)
    }
}
