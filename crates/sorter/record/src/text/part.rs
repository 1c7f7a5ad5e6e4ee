//! A key of an order, ready for use: where it is, how it becomes words, and its direction.
//!
//! ```text
//! -k3,3n      Fields(place)    Numeric    0
//! price:desc  Row(column 2)    Text       all bits set: the complements of its words
//! ```
//!
//! The bytes of a key are part of the line, except for values of rows with doubled quotes or escapes,
//! which are rare: [`Found`] tells them apart.

mod filling;

use std::cmp::Ordering;
use std::ops::Range;

use super::byte_field::{BytePlace, Stretch};
use super::edit::is_same_folded;
use super::encoding::{Code, Difference, Filled};
use super::key::TextKey;
use super::locale::Locale;
use super::place::Place;
use super::row::{Found, FoundAt, NullWords, RowPlace, RowValue, ValueOrder};
use super::words::{ABOVE, Window, group};

pub(super) use filling::fill;

/// A key, ready for use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    source: Source,
    code: Code,
    /// All bits set to complement the words of a reversed key; otherwise 0.
    flip: u64,
    /// The first bytes of a text, which all lines share and which are left out.
    skipped: usize,
    /// Whether it is a value of a type.
    is_value: bool,
    /// The word of a key without a value, if such a key is above all others before the direction turns them.
    nothing: Option<u64>,
    /// Whether small and capital letters are alike in text of a language, so that equal keys may differ in bytes.
    is_folded: bool,
}

/// Where the bytes of a key come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// Fields of a line, or all of it.
    Fields(Place),
    /// Fields of a line that are a value of a type, and words that stand for a missing one.
    Value(Place, NullWords),
    /// A value of a row, and such words.
    Row(RowPlace, NullWords),
    /// Bytes of a record with a length.
    Bytes(BytePlace),
}

impl Source {
    #[inline]
    fn find<'l>(&self, line: &'l [u8]) -> Found<'l> {
        match self {
            Source::Fields(place) => Found::Plain(place.key(line)),
            Source::Value(place, nulls) => Found::Plain(nulls.taken_from_field(place.key(line))),
            Source::Row(place, nulls) if nulls.is_empty() => place.find(line),
            Source::Row(place, nulls) => nulls.taken_from(place.find(line)),
            Source::Bytes(place) => Found::Plain(&line[place.range(line)]),
        }
    }
}

impl Part {
    /// The part for a key; `None` if it needs a salt and there is none.
    pub(super) fn new(
        key: &TextKey,
        separator: Option<u8>,
        salt: Option<[u8; 16]>,
    ) -> Option<Part> {
        let source = Source::Fields(Place::of(key, separator));
        Some(match key.value {
            Some(order) => Part::typed(source, order),
            None => Part::of(source, Code::new(&key.options, salt)?, key.options.reverse),
        })
    }

    fn of(source: Source, code: Code, reverse: bool) -> Part {
        Part {
            source,
            code,
            flip: flip(reverse),
            skipped: 0,
            is_value: false,
            nothing: None,
            is_folded: false,
        }
    }

    fn typed(source: Source, order: ValueOrder) -> Part {
        let part = Part {
            is_value: true,
            nothing: order.has_nulls_above().then_some(0),
            is_folded: order.no_case,
            ..Part::of(source, Code::of_value(order), order.descending)
        };
        part.with_nothing()
    }

    /// The part for the whole line.
    pub(super) fn line(reverse: bool) -> Part {
        Part::of(Source::Fields(Place::line()), Code::Text, reverse)
    }

    /// The part for a value of a row.
    pub(super) fn of_value(value: RowValue) -> Part {
        Part::typed(Source::Row(value.place, value.nulls), value.order)
    }

    /// The part for bytes of a record with a length.
    pub(super) fn of_stretch(stretch: Stretch) -> Part {
        let source = Source::Bytes(stretch.place);
        Part::of(source, stretch.code, stretch.reversed)
    }

    /// Compares text by a language, and other keys as before. False if it is text of which not all bytes
    /// count as they are.
    pub(super) fn collate(&mut self, locale: Locale) -> bool {
        match self.code {
            Code::Edited(_) => return false,
            Code::Folded if !self.is_value => return false,
            code => self.code = code.collated(locale).unwrap_or(code),
        }
        *self = self.clone().with_nothing();
        true
    }

    /// The same key, in whose place these words stand for a missing value if it is one of a type.
    pub(super) fn with_nulls(self, nulls: &NullWords) -> Part {
        match self.source {
            Source::Fields(place) if self.is_value => Part {
                source: Source::Value(place, nulls.clone()),
                ..self
            },
            _ => self,
        }
    }

    /// The same key with the word that its code gives to nothing: levels of a language have marks of their own.
    fn with_nothing(self) -> Part {
        let nothing = self.code.word(&[], 0).unwrap_or(0);
        Part {
            nothing: self.nothing.map(|_| nothing),
            ..self
        }
    }

    /// The same key by its bytes, if it is text in the order of a language.
    pub(super) fn bytes_of_collated(&self) -> Option<Part> {
        let is_collated = matches!(self.code, Code::Collated(_));
        (is_collated && !self.is_folded).then(|| Part {
            code: Code::Text,
            ..self.clone()
        })
    }

    /// Whether the part is all bytes of the line, so that nothing can follow it.
    pub(super) fn is_line(&self) -> bool {
        let is_whole = matches!(&self.source, Source::Fields(place) if place.is_line());
        is_whole && self.code == Code::Text
    }

    /// Whether the part is a value of a type, which may be missing.
    pub(super) fn is_value(&self) -> bool {
        self.is_value
    }

    /// Whether this is the only word of a key.
    #[inline]
    pub(super) fn is_whole_in(&self, word: u64) -> bool {
        Code::is_last(word ^ self.flip)
    }

    /// The bits that are reversed in its words.
    pub(super) fn flip(&self) -> u64 {
        self.flip
    }

    /// The code of the key.
    pub(super) fn code(&self) -> Code {
        self.code
    }

    /// The bytes of the line that are the key, and those inside of its quotes.
    pub(super) fn ranges(&self, line: &[u8]) -> (Range<usize>, Range<usize>) {
        let range = match &self.source {
            Source::Row(place, _) => return place.ranges(line),
            Source::Fields(place) | Source::Value(place, _) => place.range(line),
            Source::Bytes(place) => place.range(line),
        };
        (range.clone(), range)
    }

    /// Gives the key in `line` to `then`.
    pub(super) fn with<T>(&self, line: &[u8], then: impl FnOnce(&[u8]) -> T) -> T {
        self.seek(line).with(then)
    }

    /// Word `depth` of the key in `line`, or the number of its words if that is past the last.
    #[inline]
    pub(super) fn word(&self, line: &[u8], depth: usize) -> Result<u64, usize> {
        let word = match self.seek(line) {
            Found::Plain(key) => self.code.word(key, depth),
            Found::Coded(coded) if self.code == Code::Text => {
                let mut window = Window::new(depth);
                coded.decode(&mut window);
                window.word()
            }
            Found::Coded(coded) => coded.with(|key| self.code.word(key, depth)),
        };
        word.map(|word| self.placed(word, depth) ^ self.flip)
    }

    /// A word where it belongs: that of a key without a value may be above all others.
    #[inline]
    fn placed(&self, word: u64, depth: usize) -> u64 {
        if depth == 0 && self.nothing == Some(word) {
            ABOVE
        } else {
            word
        }
    }

    /// Whether a key has no value and is above all others.
    fn is_above(&self, key: &[u8]) -> bool {
        self.nothing.is_some() && self.code.word(key, 0).ok() == self.nothing
    }

    /// The words of the key in `line` from `from` on.
    pub(super) fn words_from(&self, line: &[u8], from: usize, out: &mut [u64]) -> Filled {
        let filled = self
            .find(line)
            .with(|key| self.code.words_from(key, from, out));
        let words = out[..filled.filled].iter_mut().zip(from..);
        words.for_each(|(word, depth)| *word = self.placed(*word, depth) ^ self.flip);
        filled
    }

    /// The order of the keys in two lines.
    #[inline]
    pub(super) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare_found(self.seek(a), self.seek(b))
    }

    /// The order of two keys that are found.
    #[inline]
    pub(super) fn compare_found(&self, a: Found<'_>, b: Found<'_>) -> Ordering {
        self.flipped(pair(a, b, |a, b| {
            match (self.is_above(a), self.is_above(b)) {
                (false, false) => self.code.compare(a, b),
                (a, b) => a.cmp(&b),
            }
        }))
    }

    #[inline]
    fn flipped(&self, ordering: Ordering) -> Ordering {
        if self.flip == 0 {
            ordering
        } else {
            ordering.reverse()
        }
    }

    /// The key in `line`, where that is not looked for in a hot loop.
    #[inline(never)]
    pub(super) fn find<'l>(&self, line: &'l [u8]) -> Found<'l> {
        self.seek(line)
    }

    #[inline]
    fn seek<'l>(&self, line: &'l [u8]) -> Found<'l> {
        match self.source.find(line) {
            Found::Plain(key) => Found::Plain(&key[self.skipped..]),
            coded => coded,
        }
    }

    /// The key in `line`, if it is text that stands there as it is.
    #[inline]
    pub(super) fn text_in<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        match self.seek(line) {
            Found::Plain(key) if self.code == Code::Text && self.nothing.is_none() => Some(key),
            _ => None,
        }
    }

    /// The same text without its first bytes.
    pub(super) fn behind(&self, bytes: usize) -> Part {
        Part {
            skipped: self.skipped + bytes,
            ..self.clone()
        }
    }

    /// The first word of the text in `line`, of which the bytes that are left out are `skipped`; none if
    /// they are not.
    #[inline]
    pub(super) fn word_behind(&self, line: &[u8], skipped: &[u8]) -> Option<u64> {
        match self.source.find(line) {
            Found::Plain(text) => {
                let key = text.strip_prefix(skipped)?;
                Some(group(key, 0).unwrap_or(0) ^ self.flip)
            }
            Found::Coded(_) => None,
        }
    }

    /// Where the key is in `line`.
    pub(super) fn place(&self, line: &[u8]) -> FoundAt {
        FoundAt::new(self.find(line), line)
    }

    /// Whether the keys in two lines are equal. Text in the order of a language is equal only if its
    /// bytes are: there are characters that a language does not see.
    pub(super) fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        match self.code {
            Code::Collated(_) if self.is_folded => pair(self.find(a), self.find(b), is_same_folded),
            Code::Collated(_) => pair(self.find(a), self.find(b), |a, b| a == b),
            _ => self.compare(a, b).is_eq(),
        }
    }

    /// As [`Code::against`], with the keys in lines.
    pub(super) fn against(
        &self,
        line: &[u8],
        words: Range<usize>,
        then: impl FnOnce(&mut dyn FnMut(&[u8]) -> Difference),
    ) -> usize {
        self.find(line).with(|key| {
            let is_above = self.is_above(key);
            self.code.against(key, words, |difference| {
                then(&mut |other| {
                    let found =
                        self.find(other)
                            .with(|other| match (is_above, self.is_above(other)) {
                                (false, false) => difference(other),
                                (one, other) => (one != other).then(|| (0, one.cmp(&other))),
                            });
                    let (word, ordering) = found?;
                    Some((word, self.flipped(ordering)))
                });
            })
        })
    }

    /// The most words of the key in a line of at most so many bytes.
    pub(super) fn most_words(&self, line: usize) -> usize {
        // A decoded value is shorter than its bytes in the row.
        self.code.most_words(line)
    }
}

#[inline]
fn pair<T>(a: Found<'_>, b: Found<'_>, then: impl FnOnce(&[u8], &[u8]) -> T) -> T {
    match (a, b) {
        (Found::Plain(a), Found::Plain(b)) => then(a, b),
        (a, b) => a.with(|a| b.with(|b| then(a, b))),
    }
}

fn flip(reverse: bool) -> u64 {
    if reverse { u64::MAX } else { 0 }
}
