//! Cuts strings of bytes into words that compare as the strings do.
//!
//! ```text
//! "disk-to-disk"     d i s k - t o  8     7 bytes, and 8: more follow
//!                    - d i s k 0 0  5     the rest, and the number of its bytes
//! "disk-to"          d i s k - t o  7     exactly 7: one word
//! ""                 0 0 0 0 0 0 0  0     there is always a word
//! ```
//!
//! A string is less than any other that it begins, as 7 is less than 8, and `"a"` less than
//! `"a\0"`, as 1 is less than 2. Equal words end at the same place, so that the words of another
//! string may follow at once.

use crate::steps::count;

/// The bytes of a string in one word.
pub(super) const GROUP: usize = 7;

/// The low byte of a word that is not the last.
const MORE: u64 = 8;

/// The word of a missing value that stands above all others. No string has so large a count.
pub(super) const ABOVE: u64 = u64::MAX;

/// The number of words of a string of so many bytes.
#[inline]
pub(super) fn groups(bytes: usize) -> usize {
    bytes.div_ceil(GROUP).max(1)
}

/// Word `depth` of `text`, or the number of its words if that is past the last.
#[inline]
pub(super) fn group(text: &[u8], depth: usize) -> Result<u64, usize> {
    let from = depth.saturating_mul(GROUP);
    match text.get(from..) {
        Some([a, b, c, d, e, f, g, _, ..]) => {
            Ok(u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, 0]) | MORE)
        }
        Some(rest) if !rest.is_empty() || depth == 0 => Ok(last(text, rest.len())),
        _ => Err(groups(text.len())),
    }
}

/// The last word, of the `rest` last bytes of `text`, at most seven.
#[inline]
fn last(text: &[u8], rest: usize) -> u64 {
    let bytes = match text.last_chunk::<8>() {
        // The shift leaves the rest; its lowest byte is free, as the rest has at most seven.
        Some(chunk) if rest > 0 => u64::from_be_bytes(*chunk) << (64 - 8 * rest),
        Some(_) => 0,
        None => {
            let mut bytes = [0; 8];
            bytes[..rest].copy_from_slice(&text[text.len() - rest..]);
            u64::from_be_bytes(bytes)
        }
    };
    bytes | rest as u64
}

/// The first place in which two strings differ as words do: an index of the shorter, or its length;
/// `None` if they are equal.
pub(super) fn mismatch(a: &[u8], b: &[u8], from: usize) -> Option<usize> {
    let common = a.len().min(b.len());
    let mut at = from.min(common);
    while let (Some(first), Some(second)) = (a[at..].first_chunk::<8>(), b[at..].first_chunk()) {
        let difference = u64::from_le_bytes(*first) ^ u64::from_le_bytes(*second);
        if difference != 0 {
            return Some(at + difference.trailing_zeros() as usize / 8);
        }
        count(8);
        at += 8;
    }
    let rest = a[at..common].iter().zip(&b[at..common]);
    let equal = rest.take_while(|(a, b)| a == b).count();
    (at + equal < a.len().max(b.len())).then_some(at + equal)
}

/// The word that holds the first difference of two strings, which is at `place` as [`mismatch`]
/// finds it, in the shorter of `shorter` bytes.
pub(super) fn word_of(place: usize, shorter: usize) -> usize {
    if place < shorter {
        place / GROUP
    } else {
        groups(shorter) - 1
    }
}

/// Takes the bytes of an encoding, one after the other.
pub(super) trait Sink {
    /// Takes the next byte.
    fn push(&mut self, byte: u8);
    /// Whether further bytes would change nothing, so that the encoder may stop.
    fn is_full(&self) -> bool;

    fn push_all(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.push(byte);
        }
    }
}

impl Sink for Vec<u8> {
    fn push(&mut self, byte: u8) {
        Vec::push(self, byte);
    }

    fn is_full(&self) -> bool {
        false
    }

    fn push_all(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Keeps nothing: an encoding is made to see whether it can be.
pub(super) struct Nowhere;

impl Sink for Nowhere {
    fn push(&mut self, _: u8) {}

    fn is_full(&self) -> bool {
        true
    }

    fn push_all(&mut self, _: &[u8]) {}
}

/// Keeps the first bytes of an encoding.
pub(super) struct Front<'v> {
    bytes: &'v mut Vec<u8>,
    most: usize,
}

impl Front<'_> {
    /// The first `most` bytes of an encoding, in memory that is used again.
    pub(super) fn new(bytes: &mut Vec<u8>, most: usize) -> Front<'_> {
        bytes.clear();
        Front { bytes, most }
    }
}

impl Sink for Front<'_> {
    #[inline]
    fn push(&mut self, byte: u8) {
        if !self.is_full() {
            count(1);
            self.bytes.push(byte);
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.bytes.len() >= self.most
    }

    fn push_all(&mut self, bytes: &[u8]) {
        let room = self.most - self.bytes.len();
        let bytes = &bytes[..bytes.len().min(room)];
        count(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }
}

/// Keeps one word of an encoding, and so needs no memory for the rest.
#[derive(Debug)]
pub(super) struct Window {
    from: usize,
    seen: usize,
    bytes: u64,
}

impl Window {
    /// A window onto word `depth`.
    #[inline]
    pub(super) fn new(depth: usize) -> Window {
        Window {
            from: depth.saturating_mul(GROUP),
            seen: 0,
            bytes: 0,
        }
    }

    /// The word, or the number of words if that is past the last.
    #[inline]
    pub(super) fn word(&self) -> Result<u64, usize> {
        match self.seen.checked_sub(self.from) {
            Some(inside) if inside > GROUP => Ok(self.bytes | MORE),
            Some(inside) if inside > 0 || self.from == 0 => Ok(self.bytes | inside as u64),
            _ => Err(groups(self.seen)),
        }
    }
}

impl Sink for Window {
    #[inline]
    fn push(&mut self, byte: u8) {
        count(1);
        let place = self.seen.wrapping_sub(self.from);
        if place < GROUP {
            self.bytes |= u64::from(byte) << (56 - 8 * place);
        }
        self.seen += 1;
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.seen > self.from.saturating_add(GROUP)
    }
}
