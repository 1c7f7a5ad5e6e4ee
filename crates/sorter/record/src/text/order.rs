//! The order of lines: their keys, then the whole line.
//!
//! ```text
//! sort -k3,3n -k1,1r          line  pears red 12
//!
//! key   3,3n          1,1r         last resort: the line
//! word  | 0x82 12 |   | ~pears |   | pears r | ed 12 |          each key begins a new word
//! ```
//!
//! The rest of Gristmill knows nothing of keys: it reads words, and the first, the prefix, decides
//! nearly every comparison. A reversed key has the complements of its words. Words past the last
//! are 0; no comparison gets there, as equal words are equally many.
//!
//! A tie-breaker by position leaves the last resort out. It is also left out if a key is the whole
//! line already: then equal lines are the same bytes.

mod behind;
mod lead;
mod typed;
mod words;

use std::cmp::Ordering;

use thiserror::Error;

use super::byte_field::Stretch;
use super::key::TextKey;
use super::locale::Locale;
use super::options::{KeyOptions, OptionError};
use super::part::{Part, fill};
use super::row::{NullWords, RowValue};
use super::words::group;
use crate::order::Ties;

pub use lead::Lead;
pub(crate) use typed::ANY_RECORD;

/// The reason why an order was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TextOrderError {
    /// The options that all keys share contradict each other.
    #[error(transparent)]
    Global(OptionError),
    /// The options of a key contradict each other.
    #[error("key {key}: {error}")]
    Key {
        /// The number of the key, from 1.
        key: usize,
        /// The contradiction.
        error: OptionError,
    },
    /// A key is shuffled, and there is no salt.
    #[error(
        "-R needs 16 random bytes; give a file of at least 16 bytes, or let the command draw them"
    )]
    NoSalt,
    /// Options of a text leave characters out or fold them, and it is compared by a language.
    #[error(
        "--locale compares all characters, and letters regardless of case until words are equal; \
         remove -{letters}"
    )]
    Locale {
        /// The letters of the options.
        letters: String,
    },
}

/// An order of lines as sequences of 64-bit words.
///
/// ```
/// use record::text::{KeyOptions, TextOrder};
/// use record::Ties;
/// let keys = vec!["2,2n".parse()?, "1,1".parse()?];
/// let order = TextOrder::new(keys, KeyOptions::default(), None, Ties::Record, None)?;
/// assert!(order.compare(b"pears 9", b"apples 12").is_lt());
/// assert!(order.word(b"pears 9", 0) < order.word(b"apples 12", 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOrder {
    /// The keys with the options that they have in the end.
    pub(super) keys: Vec<TextKey>,
    /// The options of all keys that have none.
    pub(super) global: KeyOptions,
    pub(super) separator: Option<u8>,
    pub(super) ties: Ties,
    /// Whether keys were given.
    pub(super) keyed: bool,
    /// A part for each key.
    parts: Vec<Part>,
    /// Behind the keys: the bytes of those that a language compares, and the last resort, unless the
    /// whole line has decided by then.
    rest: Vec<Part>,
    /// Whether the only part is the line itself, ascending or descending.
    line_only: Option<u64>,
    salt: Option<[u8; 16]>,
    locale: Option<Locale>,
    /// Words of fields that stand for a missing value.
    nulls: NullWords,
}

impl TextOrder {
    /// The order by `keys`, the most significant first. Those without options get the `global` ones.
    /// Without keys, the key is the whole line. `salt` is for `-R` alone.
    ///
    /// # Errors
    /// If options contradict each other, or a key is shuffled and there is no salt.
    pub fn new(
        keys: Vec<TextKey>,
        global: KeyOptions,
        separator: Option<u8>,
        ties: Ties,
        salt: Option<[u8; 16]>,
    ) -> Result<TextOrder, TextOrderError> {
        let keyed = !keys.is_empty();
        let mut keys = keys;
        if !keyed {
            keys.push(TextKey::line(global));
        }
        for (place, key) in keys.iter_mut().enumerate() {
            let is_plain = key.options == KeyOptions::default() && key.value.is_none();
            let inherits = is_plain || !keyed;
            if inherits {
                key.options = global;
            } else if let Some(order) = &mut key.value
                && global.reverse
            {
                // `-r` is for keys without a direction of their own, and a type is none.
                order.descending = true;
            }
            key.options.check().map_err(|error| {
                if inherits {
                    TextOrderError::Global(error)
                } else {
                    TextOrderError::Key {
                        key: place + 1,
                        error,
                    }
                }
            })?;
        }
        let parts = keys.iter().map(|key| Part::new(key, separator, salt));
        let parts: Option<Vec<Part>> = parts.collect();
        let parts = parts.ok_or(TextOrderError::NoSalt)?;
        let order = TextOrder::of_parts(parts, global, ties);
        Ok(TextOrder {
            keys,
            separator,
            keyed,
            salt,
            ..order
        })
    }

    /// The order of rows by some values, the most significant first; without any, by the whole row.
    pub(crate) fn of_values(values: Vec<RowValue>, ties: Ties) -> TextOrder {
        let global = KeyOptions::default();
        if values.is_empty() {
            let order = TextOrder::of_parts(vec![Part::line(false)], global, ties);
            return TextOrder {
                keys: vec![TextKey::line(global)],
                keyed: false,
                ..order
            };
        }
        let parts = values.into_iter().map(Part::of_value).collect();
        TextOrder::of_parts(parts, global, ties)
    }

    /// The order of records with lengths by some of their bytes; without any, by all.
    pub(crate) fn of_stretches(stretches: Vec<Stretch>, ties: Ties) -> TextOrder {
        let parts: Vec<Part> = stretches.into_iter().map(Part::of_stretch).collect();
        if parts.is_empty() {
            TextOrder::of_values(Vec::new(), ties)
        } else {
            TextOrder::of_parts(parts, KeyOptions::default(), ties)
        }
    }

    fn of_parts(parts: Vec<Part>, global: KeyOptions, ties: Ties) -> TextOrder {
        let bytes = parts.iter().filter_map(Part::bytes_of_collated);
        let mut rest: Vec<Part> = bytes.collect();
        if ties == Ties::Record && !parts.iter().chain(&rest).any(Part::is_line) {
            rest.push(Part::line(global.reverse));
        }
        let line_only = match &parts[..] {
            [only] if only.is_line() => Some(only.flip()),
            _ => None,
        };
        TextOrder {
            keys: Vec::new(),
            global,
            separator: None,
            ties,
            keyed: true,
            parts,
            rest,
            line_only,
            salt: None,
            locale: None,
            nulls: NullWords::default(),
        }
    }

    /// The same order, but keys that are read as text have the order of a language; of rows those, too,
    /// in which digits count as numbers. Those that it takes for equal, such as a letter with its accent
    /// in one character and in two, have the order of their bytes, behind all keys. So equal keys, of
    /// which `-u` keeps one, have equal bytes and stand together.
    ///
    /// # Errors
    /// If such a key has an option by which some of its bytes do not count.
    pub fn with_locale(mut self, locale: Locale) -> Result<TextOrder, TextOrderError> {
        let mut parts = std::mem::take(&mut self.parts);
        for (number, part) in parts.iter_mut().enumerate() {
            if !part.collate(locale) {
                // Values of rows have no such options.
                let letters = self.keys[number].options.of_text();
                return Err(TextOrderError::Locale { letters });
            }
        }
        self.locale = Some(locale);
        Ok(self.with_parts(parts))
    }

    /// The same order with other parts for its keys.
    fn with_parts(self, parts: Vec<Part>) -> TextOrder {
        let order = TextOrder::of_parts(parts, self.global, self.ties);
        TextOrder {
            parts: order.parts,
            rest: order.rest,
            line_only: order.line_only,
            ..self
        }
    }

    /// The language whose order text has.
    #[must_use]
    pub fn locale(&self) -> Option<Locale> {
        self.locale
    }

    /// The keys, with the options that they have in the end.
    #[must_use]
    pub fn keys(&self) -> &[TextKey] {
        &self.keys
    }

    /// The keys that were given, with the options that they have in the end; none if the key is the
    /// whole line.
    #[must_use]
    pub fn given(&self) -> &[TextKey] {
        if self.keyed { &self.keys } else { &[] }
    }

    /// The byte between fields.
    #[must_use]
    pub fn separator(&self) -> Option<u8> {
        self.separator
    }

    /// The options of keys that have none, and of the last resort.
    #[must_use]
    pub fn options(&self) -> KeyOptions {
        self.global
    }

    /// The salt of a random order.
    #[must_use]
    pub fn salt(&self) -> Option<[u8; 16]> {
        self.salt
    }

    /// The tie-breaker between lines with equal keys.
    #[must_use]
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// Whether the last resort puts the largest line first.
    #[must_use]
    pub fn ties_reverse(&self) -> bool {
        self.global.reverse
    }

    /// Whether lines that compare equal are the same bytes.
    #[must_use]
    pub fn is_total(&self) -> bool {
        self.ties == Ties::Record || self.all().any(Part::is_line)
    }

    /// Word `depth` of a line; 0 past the last. Word 0 is the prefix.
    #[inline]
    #[must_use]
    pub fn word(&self, line: &[u8], depth: u32) -> u64 {
        match self.line_only {
            Some(flip) => group(line, depth as usize).map_or(0, |word| word ^ flip),
            None => self.word_of_parts(line, depth as usize),
        }
    }

    fn word_of_parts(&self, line: &[u8], mut depth: usize) -> u64 {
        for part in self.all() {
            match part.word(line, depth) {
                Ok(word) => return word,
                Err(words) => depth -= words,
            }
        }
        0
    }

    /// Upper bound on the words of a line of so many bytes, below 2^31: a longer one is too long for them.
    #[must_use]
    pub fn most_words(&self, longest_line: usize) -> u32 {
        let words = self.all().map(|part| part.most_words(longest_line));
        let words = words.fold(0, usize::saturating_add);
        u32::try_from(words)
            .unwrap_or(u32::MAX)
            .min(u32::MAX / 2 - 1)
    }

    /// The order of two lines: by their keys, then by the last resort if there is one.
    #[inline]
    #[must_use]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let mut by_part = self.all().map(|part| part.compare(a, b));
        let differs = by_part.find(|ordering| ordering.is_ne());
        differs.unwrap_or(Ordering::Equal)
    }

    /// The order of two lines that have this prefix: a first key that it holds whole is not sought.
    #[inline]
    #[must_use]
    pub fn compare_behind(&self, prefix: u64, a: &[u8], b: &[u8]) -> Ordering {
        let told = usize::from(self.seeks() && self.is_key(prefix));
        let mut by_part = self.all().skip(told).map(|part| part.compare(a, b));
        let differs = by_part.find(|ordering| ordering.is_ne());
        differs.unwrap_or(Ordering::Equal)
    }

    /// Whether all keys of two lines are equal. Text in the order of a language is equal if its bytes
    /// are.
    #[must_use]
    pub fn keys_equal(&self, a: &[u8], b: &[u8]) -> bool {
        self.parts.iter().all(|part| part.equal(a, b))
    }

    /// Gives the bytes of each key in a line to `then`. Lines in which they are the same have equal keys.
    pub fn each_key(&self, line: &[u8], then: &mut dyn FnMut(&[u8])) {
        for part in &self.parts {
            then(&line[part.ranges(line).0]);
        }
    }

    /// Word 0 of each line, with one decision about the order for all of them. As many lines are
    /// read as there are places in `out`, or fewer if there are fewer.
    pub fn prefixes<'a>(&self, lines: impl Iterator<Item = &'a [u8]>, out: &mut [u64]) {
        match self.line_only {
            Some(flip) => fill(lines, out, |line| group(line, 0).unwrap_or(0) ^ flip),
            None => {
                let first = self.all().next();
                first.expect("an order has a key").fill(lines, out);
            }
        }
    }

    /// The parts for the keys, then those behind them.
    #[inline]
    pub(super) fn all(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().chain(&self.rest)
    }

    /// The parts for the keys alone.
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }
}
