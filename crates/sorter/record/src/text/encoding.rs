//! How the bytes of a key become words, and how two keys compare.
//!
//! ```text
//! Text                 the bytes themselves          any word is one load
//! Folded               the same, as capital letters  and a few operations more
//! Edited  Numeric ..   encoded, byte after byte      a word stops the encoder when it is complete
//! Decimal Natural Date the same, of values of rows   nothing is encoded of an empty value
//! ```
//!
//! Encodings are not stored. Two keys compare by their first words, which is nearly always enough,
//! and otherwise by ever longer fronts of their encodings. A key that is compared with many others
//! ([`Code::against`]) is encoded once for all of them.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::ops::Range;

use crate::field::{Field, WORD_BYTES};
use crate::steps::count;

use super::edit::{Edit, fold_eight};
use super::form::Form;
use super::general::{self, General};
use super::locale::Locale;
use super::month::month;
use super::number::{self, Number, encode_human};
use super::options::{KeyOptions, TextKind};
use super::row::{ValueKind, ValueOrder};
use super::words::{Front, GROUP, Sink, Window, group, groups, mismatch, word_of};
use super::{date, decimal, natural, random, version};

/// The low byte of a word: the number of its bytes, or that more follow.
const COUNT: u64 = 0xFF;

/// Bytes of the encodings of two keys that are compared first.
const FIRST_FRONT: usize = 512;

/// The next fronts are longer by this factor, so that all of them together take little more than the
/// last one.
const LONGER: usize = 8;

/// What the bytes of a key are read as, with all that this needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Text,
    /// Text without a difference between small and capital letters.
    Folded,
    /// Text of which some bytes do not count.
    Edited(Edit),
    Numeric,
    Human {
        fold: bool,
    },
    General,
    Month,
    Version(Edit),
    Random {
        edit: Edit,
        salt: [u8; 16],
    },
    Decimal,
    Natural,
    Date,
    /// A number or translated text of a binary record; with its direction.
    Field(Field),
    /// Text in the order of a language.
    Collated(Locale),
    /// A value in a form of its own.
    Form(Form),
}

/// The first word in which two keys differ, and their order there; `None` if they are equal.
pub(super) type Difference = Option<(usize, Ordering)>;

/// Memory that comparisons of a thread use again.
#[derive(Default)]
struct Scratch {
    edited: Vec<u8>,
    first: Vec<u8>,
    second: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Code {
    /// The code of a key with `options`, which do not contradict each other. `None` if it needs a
    /// salt and there is none.
    pub(super) fn new(options: &KeyOptions, salt: Option<[u8; 16]>) -> Option<Code> {
        let edit = Edit::new(options.dictionary, options.printable, options.fold);
        Some(match options.kind() {
            TextKind::Text if !edit.keeps_all() => Code::Edited(edit),
            TextKind::Text if edit.folds() => Code::Folded,
            TextKind::Text => Code::Text,
            TextKind::Numeric => Code::Numeric,
            TextKind::General => Code::General,
            TextKind::Human => Code::Human { fold: edit.folds() },
            TextKind::Month => Code::Month,
            TextKind::Version => Code::Version(edit),
            TextKind::Random => Code::Random { edit, salt: salt? },
        })
    }

    /// The code of a value of a row.
    pub(super) fn of_value(order: ValueOrder) -> Code {
        let code = match order.kind {
            ValueKind::Text if order.no_case => Code::Folded,
            ValueKind::Text => Code::Text,
            ValueKind::Number => Code::Decimal,
            ValueKind::Natural => Code::Natural,
            ValueKind::Date => Code::Date,
            ValueKind::Form(form) => Code::Form(form),
        };
        let collated = order.locale.and_then(|locale| code.collated(locale));
        collated.unwrap_or(code)
    }

    /// The code of the same text in the order of a language; `None` if it is no text of which all letters count.
    pub(super) fn collated(self, locale: Locale) -> Option<Code> {
        match self {
            Code::Text => Some(Code::Collated(locale)),
            Code::Folded => Some(Code::Collated(locale.without_case())),
            Code::Natural => Some(Code::Collated(locale.with_numbers())),
            _ => None,
        }
    }

    /// Whether no word of a key follows this one.
    #[inline]
    pub(super) fn is_last(word: u64) -> bool {
        // That of a missing value has all bits set.
        word & COUNT < 8 || word & COUNT == COUNT
    }

    /// Word `depth` of a key, or the number of its words if that is past the last.
    #[inline]
    pub(super) fn word(self, key: &[u8], depth: usize) -> Result<u64, usize> {
        match self {
            Code::Text => group(key, depth),
            Code::Folded => group(key, depth).map(fold_word),
            Code::Numeric if depth == 0 => Ok(first_word(number::only_word(key), |out| {
                Number::read(key).encode(out);
            })),
            Code::Decimal if depth == 0 => Ok(first_word(decimal::only_word(key), |out| {
                decimal::encode(key, out);
            })),
            Code::General if depth == 0 => Ok(first_word(general::first_of_whole(key), |out| {
                General::read(key).0.encode(out);
            })),
            _ => {
                let mut window = Window::new(depth);
                self.encode(key, &mut window);
                window.word()
            }
        }
    }

    /// The words of a key from `from` on, as many as there are places for.
    pub(super) fn words_from(self, key: &[u8], from: usize, out: &mut [u64]) -> Filled {
        match self {
            Code::Text => fill_groups(key, from, out),
            // The byte behind a full word decides whether it is the last.
            _ => with_scratch(|encoded, _| {
                let most = (from + out.len()).saturating_mul(GROUP).saturating_add(1);
                self.encode(key, &mut Front::new(encoded, most));
                fill_groups(encoded, from, out)
            }),
        }
    }

    /// The order of two keys.
    #[inline]
    pub(super) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Code::Text => a.cmp(b),
            Code::Edited(edit) => edit.apply(a).cmp(edit.apply(b)),
            _ if a == b => Ordering::Equal,
            Code::Folded => {
                let fold = |key: &[u8], depth| group(key, depth).map_or(0, fold_word);
                let words = |key| (0..).map(move |depth| fold(key, depth));
                // Equal keys end in the same word, which says that nothing follows.
                let mut pairs = words(a).zip(words(b));
                let last = pairs.find(|(a, b)| a != b || Code::is_last(*a));
                last.map_or(Ordering::Equal, |(a, b)| a.cmp(&b))
            }
            _ => {
                let first = |key| self.word(key, 0).unwrap_or(0);
                let (x, y) = (first(a), first(b));
                if x != y || Code::is_last(x) {
                    x.cmp(&y)
                } else {
                    self.compare_encoded(a, b)
                }
            }
        }
    }

    /// The order of two keys by their encodings, of which no more is made than the order needs.
    fn compare_encoded(self, a: &[u8], b: &[u8]) -> Ordering {
        with_scratch(|first, second| {
            let mut most = FIRST_FRONT;
            loop {
                self.encode(a, &mut Front::new(first, most));
                self.encode(b, &mut Front::new(second, most));
                let ordering = first.cmp(&second);
                if ordering.is_ne() || first.len() < most {
                    return ordering;
                }
                most = most.saturating_mul(LONGER);
            }
        })
    }

    /// Gives `then` the differences between a key and others in some words, if it may have some; all
    /// words before these are equal. Returns the number of the key's words, or more than `words.end`.
    pub(super) fn against(
        self,
        key: &[u8],
        words: Range<usize>,
        then: impl FnOnce(&mut dyn FnMut(&[u8]) -> Difference),
    ) -> usize {
        // The byte behind a full word decides whether it is the last.
        let most = words.end.saturating_mul(GROUP).saturating_add(1);
        let front = |key: &[u8]| key.len().min(most);
        match self {
            Code::Text => {
                let key = &key[..front(key)];
                let all = groups(key.len());
                // The keys are equal if they are in all words of one.
                if all > words.start {
                    then(&mut |other| difference_of(key, &other[..front(other)], words.start));
                }
                all
            }
            Code::Folded => {
                let key = &key[..front(key)];
                then(&mut |other| {
                    let fold = |byte: &u8| byte.to_ascii_uppercase();
                    let other = &other[..front(other)];
                    let mut pairs = key.iter().map(fold).zip(other.iter().map(fold));
                    let place = pairs.position(|(a, b)| a != b);
                    let shorter = key.len().min(other.len());
                    let place = place.or_else(|| (key.len() != other.len()).then_some(shorter))?;
                    let at = |key: &[u8]| key.get(place).map(fold);
                    Some((word_of(place, shorter), at(key).cmp(&at(other))))
                });
                groups(key.len())
            }
            _ => with_scratch(|first, second| {
                self.encode(key, &mut Front::new(first, most));
                then(&mut |other| {
                    self.encode(other, &mut Front::new(second, most));
                    difference_of(first, second, words.start)
                });
                groups(first.len())
            }),
        }
    }

    /// Writes bytes that compare as the keys do.
    fn encode(self, key: &[u8], out: &mut impl Sink) {
        match self {
            // These stop when the sink is full; others read all of the key.
            Code::Text | Code::Folded | Code::Edited(_) | Code::Natural | Code::Collated(_) => {}
            _ => count(key.len()),
        }
        match self {
            Code::Text => out.push_all(key),
            Code::Folded => key
                .iter()
                .for_each(|byte| out.push(byte.to_ascii_uppercase())),
            Code::Edited(edit) => {
                for byte in edit.apply(key) {
                    out.push(byte);
                    if out.is_full() {
                        break;
                    }
                }
            }
            Code::Numeric => Number::read(key).encode(out),
            Code::Human { fold } => encode_human(key, fold, out),
            Code::General => General::read(key).0.encode(out),
            Code::Month => out.push(month(key)),
            Code::Version(edit) => with_edited(key, edit, |key| version::encode(key, out)),
            Code::Random { edit, salt } => {
                with_edited(key, edit, |key| random::encode(key, salt, out));
            }
            Code::Decimal => decimal::encode(key, out),
            Code::Natural => natural::encode(key, out),
            Code::Date => date::encode(key, out),
            Code::Field(field) => encode_field(field, key, out),
            Code::Collated(locale) => locale.encode(key, out),
            // A value of another form, which no sort has, counts as an empty one.
            Code::Form(form) => form.encode(key, out).unwrap_or_default(),
        }
    }

    /// The most words of a key of at most so many bytes.
    pub(super) fn most_words(self, key: usize) -> usize {
        groups(match self {
            Code::Text | Code::Folded | Code::Edited(_) => key,
            Code::Numeric | Code::Human { .. } => number::most_bytes(key),
            Code::General => general::MOST_BYTES,
            Code::Month => 1,
            Code::Version(_) => version::most_bytes(key),
            Code::Random { .. } => random::most_bytes(key),
            Code::Decimal => decimal::most_bytes(key),
            Code::Natural => natural::most_bytes(key),
            Code::Date => date::most_bytes(key),
            Code::Field(field) => field.width(),
            Code::Collated(_) => Locale::most_bytes(key),
            Code::Form(form) => form.most_bytes(key),
        })
    }
}

/// Some words of a key.
pub(super) struct Filled {
    /// The number of them that was found.
    pub(super) filled: usize,
    /// The number of the key's words, if those that were found reach to the end.
    pub(super) all: usize,
}

fn fill_groups(key: &[u8], from: usize, out: &mut [u64]) -> Filled {
    let all = groups(key.len());
    let words = (from..all).map_while(|depth| group(key, depth).ok());
    let mut filled = 0;
    for (place, word) in out.iter_mut().zip(words) {
        *place = word;
        filled += 1;
    }
    Filled { filled, all }
}

/// Word 0 of a key: the `only` one that arithmetic finds, or else that of its encoding.
#[inline]
fn first_word(only: Option<u64>, encode: impl FnOnce(&mut Window)) -> u64 {
    only.unwrap_or_else(|| {
        let mut window = Window::new(0);
        encode(&mut window);
        window.word().unwrap_or(0)
    })
}

/// A word with its letters folded, and its count unchanged.
#[inline]
fn fold_word(word: u64) -> u64 {
    // The count is at most 8, so it is no letter.
    fold_eight(word)
}

fn difference_of(a: &[u8], b: &[u8], from: usize) -> Difference {
    let place = mismatch(a, b, from.saturating_mul(GROUP))?;
    let word = word_of(place, a.len().min(b.len()));
    Some((word, a.get(place).cmp(&b.get(place))))
}

/// Gives memory for two encodings to `then`.
fn with_scratch<T>(then: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>) -> T) -> T {
    // Encoders borrow the scratch memory for edits, so these two are out of it meanwhile.
    let take = |scratch: &mut Scratch| {
        let both = (&mut scratch.first, &mut scratch.second);
        (std::mem::take(both.0), std::mem::take(both.1))
    };
    let (mut first, mut second) = SCRATCH.with_borrow_mut(take);
    let result = then(&mut first, &mut second);
    SCRATCH.with_borrow_mut(|scratch| (scratch.first, scratch.second) = (first, second));
    result
}

/// Writes the encoding of a field; zeros stand for bytes that the record does not have.
fn encode_field(field: Field, key: &[u8], out: &mut impl Sink) {
    let mut padded = Vec::new();
    let key = if key.len() < field.bytes {
        padded.extend_from_slice(key);
        padded.resize(field.bytes, 0);
        &padded
    } else {
        key
    };
    let width = field.width();
    for from in (0..width).step_by(WORD_BYTES) {
        let count = WORD_BYTES.min(width - from);
        out.push_all(&field.part(key, from, count).to_be_bytes()[..count]);
    }
}

/// Gives `key` to `then`, edited.
fn with_edited<T>(key: &[u8], edit: Edit, then: impl FnOnce(&[u8]) -> T) -> T {
    if edit.keeps_all() && !edit.folds() {
        return then(key);
    }
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.edited.clear();
        scratch.edited.extend(edit.apply(key));
        then(&scratch.edited)
    })
}
