//! Searches a line sixteen bytes at a time.
//!
//! ```text
//! bytes        a  l  p  h  a  ,  b  e  t  a  ,  g  a  m  m  a        one register
//! marks        .  .  .  .  .  1  .  .  .  .  1  .  .  .  .  .        a bit for each byte that is sought
//! ```
//!
//! The first byte has the lowest bit. At the end of a line the last sixteen bytes are read again, so that
//! no byte is read for itself alone.

use wide::u8x16;

use crate::steps::count;

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
    Ends::behind(line, from, Byte(byte)).nth(number)
}

/// The bytes between two fields.
pub(super) trait Between: Copy {
    /// The bytes of them that belong to no field.
    const BYTES: usize;

    /// Marks the ends of fields. `after` is the bit of the first byte if that follows such bytes, and
    /// becomes that of the first behind these.
    fn ends(self, bytes: Sixteen, after: &mut u32) -> u32;
}

/// A byte, which belongs to no field.
#[derive(Clone, Copy)]
pub(super) struct Byte(pub u8);

/// Blanks, which belong to the field after them.
#[derive(Clone, Copy)]
pub(super) struct Blanks;

impl Between for Byte {
    const BYTES: usize = 1;

    #[inline]
    fn ends(self, bytes: Sixteen, _: &mut u32) -> u32 {
        bytes.marks_of([self.0])
    }
}

impl Between for Blanks {
    const BYTES: usize = 0;

    #[inline]
    fn ends(self, bytes: Sixteen, after: &mut u32) -> u32 {
        let blanks = bytes.marks_of([b' ', b'\t', b'\n']);
        let ends = blanks & !(blanks << 1 | *after);
        *after = blanks >> (Sixteen::BYTES - 1);
        ends
    }
}

/// The ends of the fields of a line, from the start of one on.
pub(super) struct Ends<'l, B> {
    line: &'l [u8],
    between: B,
    /// The next sixteen bytes.
    next: usize,
    /// Ends in the sixteen bytes before those; the lowest bit is that of the first.
    marks: u32,
    after: u32,
}

impl<'l, B: Between> Ends<'l, B> {
    /// The ends of fields, the first of which starts at `from`.
    #[inline]
    pub(super) fn behind(line: &'l [u8], from: usize, between: B) -> Ends<'l, B> {
        Ends {
            line,
            between,
            next: from,
            marks: 0,
            // A field ends where a blank follows a byte that is none. Those before the field end nothing.
            after: 1,
        }
    }

    /// Passes `number` fields, of which the first begins at `start`. Returns the start of the next one.
    #[inline]
    pub(super) fn pass(&mut self, start: usize, number: usize) -> usize {
        if number == 0 {
            return start;
        }
        let end = self.nth(number);
        end.map_or(self.line.len(), |end| end + B::BYTES)
    }

    /// The end of the last of `number` more fields, at least one, unless that is the end of the line.
    #[inline]
    pub(super) fn nth(&mut self, number: usize) -> Option<usize> {
        let mut left = number;
        loop {
            while self.marks != 0 {
                let place = self.marks.trailing_zeros() as usize;
                self.marks &= self.marks - 1;
                left -= 1;
                if left == 0 {
                    return Some(self.next - Sixteen::BYTES + place);
                }
            }
            if self.next >= self.line.len() {
                return None;
            }
            let bytes = Sixteen::at(self.line, self.next);
            self.marks = self.between.ends(bytes, &mut self.after);
            self.next += Sixteen::BYTES;
        }
    }
}

/// Sixteen bytes of a text from some place on, or fewer at its end.
#[derive(Clone, Copy)]
pub(super) struct Sixteen {
    bytes: u8x16,
    /// The bits of bytes that are in the text.
    inside: u32,
    /// The bytes before the place.
    before: u32,
}

impl Sixteen {
    pub(super) const BYTES: usize = 16;

    /// The bytes from `at` on, which is before the end of the text.
    #[inline]
    pub(super) fn at(text: &[u8], at: usize) -> Sixteen {
        count(Sixteen::BYTES);
        let whole = |bytes: &[u8; 16], before| Sixteen {
            bytes: u8x16::new(*bytes),
            inside: 0xFFFF,
            before,
        };
        if let Some(bytes) = text[at..].first_chunk() {
            return whole(bytes, 0);
        }
        if let Some(bytes) = text.last_chunk() {
            // They overlap with bytes that were looked at.
            return whole(bytes, (Sixteen::BYTES - (text.len() - at)) as u32);
        }
        Sixteen {
            bytes: short(text),
            inside: (1 << text.len()) - 1,
            before: at as u32,
        }
    }

    /// A bit for each byte that is one of `bytes`; the lowest is that of the first.
    #[inline]
    pub(super) fn marks_of<const N: usize>(self, bytes: [u8; N]) -> u32 {
        let same = |byte| self.bytes.simd_eq(u8x16::splat(byte));
        let found = bytes.map(same).into_iter();
        let found = found.fold(u8x16::splat(0), |all, same| all | same);
        (found.to_bitmask() & self.inside) >> self.before
    }
}

/// A text of less than sixteen bytes, and zeros behind it.
#[inline(never)]
fn short(text: &[u8]) -> u8x16 {
    let behind = |bytes: usize| 8 * (text.len() - bytes) as u32;
    let bytes = if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        u128::from(first) | u128::from(last) << behind(8)
    } else if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        (u64::from(first) | u64::from(last) << behind(4)).into()
    } else {
        let bytes = text.iter().rev();
        bytes.fold(0, |all, &byte| all << 8 | u128::from(byte))
    };
    u8x16::new(bytes.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bytes_themselves_are_marked() {
        for length in 1..40 {
            let text: Vec<u8> = (0..length).map(|place| (place * 37 % 5) as u8).collect();
            for at in 0..length {
                let expected = (at..length.min(at + Sixteen::BYTES))
                    .filter(|&place| matches!(text[place], 0 | 3))
                    .map(|place| 1 << (place - at));
                assert_eq!(
                    Sixteen::at(&text, at).marks_of([0, 3]),
                    expected.sum::<u32>()
                );
            }
        }
    }

    #[test]
    fn each_end_is_found_wherever_it_is() {
        let line: Vec<u8> = (0..100)
            .map(|place| [b',', b' ', b'x', b'\t'][place * place % 7 % 4])
            .collect();
        for (from, until) in (0..100).flat_map(|from| (from..=100).map(move |until| (from, until)))
        {
            let line = &line[..until];
            let commas: Vec<usize> = (from..until).filter(|&place| line[place] == b',').collect();
            let is_end = |place: &usize| {
                *place > from && is_blank(line[*place]) && !is_blank(line[*place - 1])
            };
            let blanks: Vec<usize> = (from..until).filter(is_end).collect();
            check(line, from, Byte(b','), &commas);
            check(line, from, Blanks, &blanks);
        }
    }

    fn check(line: &[u8], from: usize, between: impl Between, ends: &[usize]) {
        let mut one_by_one = Ends::behind(line, from, between);
        for number in 0..ends.len() + 2 {
            let expected = ends.get(number).copied();
            assert_eq!(Ends::behind(line, from, between).nth(number + 1), expected);
            assert_eq!(one_by_one.nth(1), expected);
        }
    }
}
