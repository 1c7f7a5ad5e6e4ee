//! Searches a line eight bytes at a time.
//!
//! ```text
//! bytes        a  l  p  h  a  ,  b  e        one load
//! marks        .  .  .  .  .  80 .  .        a bit for each byte that was searched for
//! ```
//!
//! The first byte is the lowest of the word, so that the first mark is its lowest bit.

use crate::steps::count;

/// A word with 1 in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;
/// All bits of each byte but the highest.
const LOW: u64 = 0x7F * EACH;

/// Marks the bytes of `word` that are `byte`.
#[inline]
pub(super) fn marks_of(word: u64, byte: u8) -> u64 {
    let other = word ^ (u64::from(byte) * EACH);
    !(((other & LOW) + LOW) | other | LOW)
}

/// The number of bytes that are marked.
#[inline]
pub(super) fn count_marks(marks: u64) -> usize {
    ((marks >> 7).wrapping_mul(EACH) >> 56) as usize
}

/// Eight bytes from `at` on, which is before the end; with marks on those that are in the text.
#[inline]
pub(super) fn load(text: &[u8], at: usize) -> (u64, u64) {
    count(8);
    const ALL: u64 = 0x80 * EACH;
    match text[at..].first_chunk() {
        Some(chunk) => (u64::from_le_bytes(*chunk), ALL),
        None => {
            let rest = &text[at..];
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            let inside = (1 << (8 * rest.len())) - 1;
            (u64::from_le_bytes(bytes), ALL & inside)
        }
    }
}

/// Marks the blanks among the bytes of `word`.
#[inline]
fn marks_of_blanks(word: u64) -> u64 {
    marks_of(word, b' ') | marks_of(word, b'\t') | marks_of(word, b'\n')
}

/// Whether a byte is a blank. A newline is one too: it is in a line only with `-z`.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// Without the blanks at its start.
#[inline]
pub(super) fn past_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| is_blank(byte)).count();
    &text[blanks..]
}

/// The place of the `number`-th `byte`, counted from 1, at or after `from`.
#[inline]
pub(super) fn nth(line: &[u8], from: usize, byte: u8, number: usize) -> Option<usize> {
    let mut nth = Nth {
        left: number,
        at: from,
    };
    while let Some(chunk) = line[nth.at..].first_chunk() {
        count(8);
        let marks = marks_of(u64::from_le_bytes(*chunk), byte);
        if let Some(place) = nth.found(marks) {
            return Some(place);
        }
    }
    let places = line[nth.at..].iter().enumerate();
    let mut found = places.filter(|&(_, &other)| other == byte);
    found.nth(nth.left - 1).map(|(place, _)| nth.at + place)
}

/// The end of the last of `number` fields that blanks separate, counted from the start of one.
#[inline]
pub(super) fn past_words(line: &[u8], from: usize, number: usize) -> usize {
    let mut nth = Nth {
        left: number,
        at: from,
    };
    // A field ends where a blank follows a byte that is none. Those before the field end nothing.
    let mut before = 0x80;
    while let Some(chunk) = line[nth.at..].first_chunk() {
        count(8);
        let blanks = marks_of_blanks(u64::from_le_bytes(*chunk));
        let ends = blanks & !((blanks << 8) | before);
        before = blanks >> 56;
        if let Some(place) = nth.found(ends) {
            return place;
        }
    }
    let mut after_blank = before != 0;
    for (place, &byte) in line[nth.at..].iter().enumerate() {
        let ends = is_blank(byte) && !after_blank;
        after_blank = is_blank(byte);
        nth.left -= usize::from(ends);
        if nth.left == 0 {
            return nth.at + place;
        }
    }
    line.len()
}

/// A search for the last of some marks.
struct Nth {
    /// The number of marks that are still to come.
    left: usize,
    /// The place of the next eight bytes.
    at: usize,
}

impl Nth {
    /// The place of the last mark, if it is among these; otherwise counts them.
    #[inline]
    fn found(&mut self, mut marks: u64) -> Option<usize> {
        let count = count_marks(marks);
        if count < self.left {
            self.left -= count;
            self.at += 8;
            return None;
        }
        for _ in 1..self.left {
            marks &= marks - 1;
        }
        Some(self.at + marks.trailing_zeros() as usize / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_byte_itself_is_marked() {
        for byte in 0..=255_u8 {
            for other in 0..=255_u8 {
                let word = u64::from_le_bytes([other, byte, other, byte, byte, other, 0, 1]);
                let expected = word
                    .to_le_bytes()
                    .map(|found| if found == byte { 0x80 } else { 0 });
                assert_eq!(marks_of(word, byte).to_le_bytes(), expected);
            }
        }
    }

    #[test]
    fn each_byte_is_found_wherever_it_is() {
        let line: Vec<u8> = (0..100)
            .map(|place| [b',', b' ', b'x', b'\t'][place * place % 7 % 4])
            .collect();
        for from in 0..line.len() {
            let commas: Vec<usize> = (from..100).filter(|&place| line[place] == b',').collect();
            for count in 1..=commas.len() {
                assert_eq!(nth(&line, from, b',', count), Some(commas[count - 1]));
            }
            assert_eq!(nth(&line, from, b',', commas.len() + 1), None);
            let ends = |place: &usize| {
                *place > from && is_blank(line[*place]) && !is_blank(line[*place - 1])
            };
            let ends: Vec<usize> = (from..100).filter(ends).chain([100, 100]).collect();
            for count in 1..=ends.len() {
                assert_eq!(past_words(&line, from, count), ends[count - 1]);
            }
        }
    }
}
