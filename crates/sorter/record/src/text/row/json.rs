//! Passes over the parts of a JSON text (RFC 8259), and decodes strings.
//!
//! ```text
//! {"a": [1, "x]"], "b": "caf\u00e9"}
//!       ^         |      ^        |
//!       past_value       string, with an escape
//! ```
//!
//! The text is valid when it is sorted, so that only its structure needs a look: quotes, brackets,
//! commas. The searches read sixteen bytes at a time. Of an invalid text they find something, within
//! its bytes.

use super::super::scan::Sixteen;
use super::super::words::Sink;

/// The end of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StringEnd {
    /// The place of the closing quote, or the end of the text.
    pub(super) quote: usize,
    /// Whether there is an escape.
    pub(super) escaped: bool,
}

/// The first of some bytes at or after `at`; the end of the text if there is none.
#[inline]
fn find<const N: usize>(text: &[u8], mut at: usize, bytes: [u8; N]) -> usize {
    while at < text.len() {
        let found = Sixteen::at(text, at).marks_of(bytes);
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += Sixteen::BYTES;
    }
    text.len()
}

/// The place of the next byte that is no white space.
#[inline]
pub(super) fn past_blanks(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = text.get(at) {
        at += 1;
    }
    at
}

/// The end of the string whose opening quote is before `from`.
#[inline]
pub(super) fn string_end(text: &[u8], from: usize) -> StringEnd {
    let mut at = from;
    let mut escaped = false;
    loop {
        at = find(text, at, [b'"', b'\\']);
        if text.get(at) != Some(&b'\\') {
            let quote = at.min(text.len());
            return StringEnd { quote, escaped };
        }
        escaped = true;
        at += 2;
    }
}

/// The place behind the value at `at`.
#[inline]
pub(super) fn past_value(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b'"') => (string_end(text, at + 1).quote + 1).min(text.len()),
        Some(b'{' | b'[') => past_nested(text, at),
        _ => past_bare(text, at),
    }
}

/// The place behind the number, boolean or null at `at`.
#[inline]
pub(super) fn past_bare(text: &[u8], at: usize) -> usize {
    let belongs = |byte: &&u8| !matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
    let rest = text.get(at..).unwrap_or_default();
    at.min(text.len()) + rest.iter().take_while(belongs).count()
}

/// The place behind the object or array at `at`.
fn past_nested(text: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = at;
    loop {
        at = find(text, at, [b'{', b'[', b'}', b']', b'"']);
        match text.get(at) {
            None => return text.len(),
            Some(b'"') => at = string_end(text, at + 1).quote,
            Some(b'{' | b'[') => depth += 1,
            Some(_) => depth = depth.saturating_sub(1),
        }
        at = (at + 1).min(text.len());
        if depth == 0 {
            return at;
        }
    }
}

/// Writes the bytes that a string stands for, without its quotes. Of an unknown escape, a mistake,
/// the byte behind the backslash counts.
pub(super) fn decode(string: &[u8], out: &mut impl Sink) {
    let mut rest = string;
    while let Some(place) = memchr::memchr(b'\\', rest) {
        out.push_all(&rest[..place]);
        if out.is_full() {
            return;
        }
        rest = &rest[place..];
        let plain = match rest.get(1) {
            Some(b'b') => 0x08,
            Some(b'f') => 0x0C,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let length = decode_unicode(rest, out);
                rest = &rest[length..];
                continue;
            }
            Some(&other) => other,
            None => b'\\',
        };
        out.push(plain);
        rest = rest.get(2..).unwrap_or_default();
    }
    out.push_all(rest);
}

/// Writes the character of the escape at the start of `text`, which may be a pair of surrogates,
/// and returns the length of the escape.
fn decode_unicode(text: &[u8], out: &mut impl Sink) -> usize {
    let Some(first) = unit(text) else {
        out.push(b'\\');
        return 1;
    };
    let second = unit(&text[6..]);
    let (character, length) = match (first, second) {
        (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
            (0x1_0000 + ((first - 0xD800) << 10 | (low - 0xDC00)), 12)
        }
        _ => (first, 6),
    };
    let character = char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.push_all(character.encode_utf8(&mut [0; 4]).as_bytes());
    length
}

/// The code unit of the escape `\uXXXX` at the start of `text`.
fn unit(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    let mut digits = digits.iter().map(|&digit| char::from(digit).to_digit(16));
    digits.try_fold(0, |unit, digit| Some(unit << 4 | digit?))
}

/// The place of an escape of one surrogate without the other, in valid JSON.
pub(crate) fn lone_surrogate(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr(b'\\', text.get(at..)?)?;
        at += match (unit(&text[at..]), text.get(at + 6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => return Some(at),
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
}
