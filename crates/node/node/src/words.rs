//! The contents of a message: words of eight bytes. Short messages need no allocation.
//!
//! A nanoPU core reads and writes its messages word by word through two registers (NanoSort,
//! section 2.1); other networks carry words as little-endian bytes.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The longest message without an allocation: a step, and a key with its origin.
pub const INLINE_WORDS: usize = 3;

/// The words of a message. Up to [`INLINE_WORDS`] are held by value, more are shared.
#[derive(Clone)]
pub struct Words(Form);

// A read that straddles two earlier writes waits until both are in the cache. With four bytes each for
// tag and count, words are moved in aligned parts.
#[derive(Clone)]
#[repr(u32)]
enum Form {
    /// Apart from `Inline`, since most packets are empty: making one writes the tag only.
    Empty,
    Inline(u32, [u64; INLINE_WORDS]),
    /// The words from an index on.
    Shared(u32, Arc<[u64]>),
}

impl Words {
    /// The empty message.
    pub const fn new() -> Words {
        Words(Form::Empty)
    }

    /// Whether the words are held by value.
    #[inline]
    pub fn is_inline(&self) -> bool {
        !matches!(self.0, Form::Shared(..))
    }

    /// The words `first`, then `rest`.
    pub fn after(first: u64, rest: &[u64]) -> Words {
        if rest.len() < INLINE_WORDS {
            let words = [first, or_zero(rest, 0), or_zero(rest, 1)];
            return Words(Form::Inline(1 + rest.len() as u32, words));
        }
        Words(Form::Shared(
            0,
            std::iter::once(first).chain(rest.iter().copied()).collect(),
        ))
    }

    /// The words after the first `count`, without copying those of a long message.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn skip(&self, count: usize) -> Words {
        match &self.0 {
            Form::Shared(begin, words) if count <= self.len() => {
                Words(Form::Shared(begin + count as u32, Arc::clone(words)))
            }
            _ => Words::from(&self[count..]),
        }
    }

    /// Removes the first word.
    #[inline]
    pub fn take_first(&mut self) -> Option<u64> {
        let first = *self.first()?;
        match &mut self.0 {
            Form::Empty => {}
            Form::Inline(count, words) => {
                words.copy_within(1.., 0);
                *count -= 1;
            }
            Form::Shared(begin, _) => *begin += 1,
        }
        Some(first)
    }
}

/// A word of a short message, one by one: a copy of unknown length would call a function for each message.
#[inline]
fn or_zero(words: &[u64], index: usize) -> u64 {
    words.get(index).copied().unwrap_or(0)
}

impl Default for Words {
    fn default() -> Words {
        Words::new()
    }
}

impl From<&[u64]> for Words {
    #[inline]
    fn from(words: &[u64]) -> Words {
        if words.len() > INLINE_WORDS {
            return Words(Form::Shared(0, words.into()));
        }
        let inline = [0, 1, 2].map(|index| or_zero(words, index));
        Words(Form::Inline(words.len() as u32, inline))
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        match &self.0 {
            Form::Empty => &[],
            Form::Inline(count, words) => &words[..*count as usize],
            Form::Shared(begin, words) => &words[*begin as usize..],
        }
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, out)
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Words) -> bool {
        **self == **other
    }
}

impl Eq for Words {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_ones_hold_what_was_put_in() {
        for count in 0..10 {
            let words: Vec<u64> = (0..count).collect();
            let held = Words::from(&words[..]);
            assert_eq!((&*held, held.clone()), (&words[..], held.clone()));
            let longer = Words::after(7, &words);
            assert_eq!((longer[0], &longer[1..]), (7, &words[..]));
            let mut rest = longer.clone();
            assert_eq!((rest.take_first(), &rest), (Some(7), &held));
            assert_eq!(longer.skip(1), held);
            assert_eq!(*held.skip(words.len() / 2), words[words.len() / 2..]);
            assert!(longer.skip(1).skip(words.len()).is_empty());
            words
                .iter()
                .for_each(|word| assert_eq!(rest.take_first(), Some(*word)));
            assert_eq!((rest.take_first(), rest.is_empty()), (None, true));
            assert_eq!(longer.len(), words.len() + 1);
        }
        assert!(Words::new().is_empty());
    }

    #[test]
    fn they_fit_in_half_a_cache_line() {
        assert_eq!(std::mem::size_of::<Words>(), 32);
        assert_eq!(std::mem::size_of::<Option<Words>>(), 32);
    }
}
