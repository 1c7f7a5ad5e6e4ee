//! Decimal numbers of mainframes as bytes that compare as the numbers do.
//!
//! ```text
//! -1234567   packed (COMP-3)   12 34 56 7D               two digits a byte, the sign behind the last
//!            zoned (DISPLAY)   F1 F2 F3 F4 F5 F6 D7      a digit a byte, the sign before the last
//!            zoned in ASCII    31 32 33 34 35 36 50      "123456P"
//!
//! encoded    class | digits, two a byte, inverted if negative
//!            00      the field as it is                  it holds no number
//!            01      ED CB A9 8F                         negative
//!            02      12 34 56 70                         zero or more
//! ```
//!
//! Signs are those of IBM's z/Architecture (Principles of Operation, "Decimal-Number Formats"): A, C,
//! E and F are plus, B and D minus. -0 is 0. A field that holds no number, such as one of blanks,
//! comes before all numbers, ordered by its bytes; so the order is total and nothing is refused.
//!
//! These functions see the bytes of one field, so they serve records of any length.

use std::cmp::Ordering;

use crate::year::Year;

/// The longest field: as long as the formats PD and ZD of DFSORT.
pub(crate) const MOST_BYTES: usize = 32;

/// Room for the encoding of the longest field, and for a word that begins at its last byte.
const ROOM: usize = 1 + MOST_BYTES + 7;

const NO_NUMBER: u8 = 0;
const NEGATIVE: u8 = 1;
const ZERO_OR_MORE: u8 = 2;
/// A year that is not known, behind all others.
const UNKNOWN_END: u8 = 3;

/// How a field holds the digits and the sign of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decimal {
    /// COMP-3: two digits in a byte, the sign in the low half of the last.
    Packed,
    /// DISPLAY in EBCDIC: a digit in a byte; the high half of the last byte is the sign.
    Zoned,
    /// DISPLAY in ASCII: digits, the last of which may be `{`, `A` to `I` (plus) or `}`, `J` to `R`
    /// (minus), as EBCDIC shows it, or `p` to `y` (minus), as compilers for ASCII write it.
    ZonedAscii,
    /// A year of two digits.
    Year(Year),
}

/// The encoding of a field, with zeros behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Encoded([u8; ROOM]);

/// A digit and the sign beside it.
type SignedDigit = (u8, Sign);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

impl Decimal {
    /// Bytes of the encoding of a field of `bytes` bytes.
    pub(crate) const fn width(bytes: usize) -> usize {
        1 + bytes
    }

    /// Encodes a field. Of one that is too long the first bytes count, and it holds no number.
    pub(crate) fn encode(self, field: &[u8]) -> Encoded {
        let mut all = [0; ROOM];
        let (class, digits) = all.split_first_mut().expect("there is room");
        let sign = match self {
            _ if field.len() > MOST_BYTES => None,
            Decimal::Packed => packed(field, digits),
            Decimal::Zoned => zoned(field, digits, (0xF0, ebcdic_sign)),
            Decimal::ZonedAscii => zoned(field, digits, (0x30, ascii_sign)),
            Decimal::Year(year) if year.is_end(field) => {
                *class = UNKNOWN_END;
                return Encoded(all);
            }
            Decimal::Year(year) => year.place(field).map(|place| {
                digits[0] = place;
                Sign::Plus
            }),
        };
        let taken = &mut digits[..field.len().min(MOST_BYTES)];
        match sign {
            None => {
                *class = NO_NUMBER;
                taken.copy_from_slice(&field[..taken.len()]);
            }
            Some(Sign::Minus) if taken.iter().any(|&pair| pair != 0) => {
                *class = NEGATIVE;
                taken.iter_mut().for_each(|pair| *pair = !*pair);
            }
            Some(_) => *class = ZERO_OR_MORE,
        }
        Encoded(all)
    }

    /// Whether the number of a field is negative, and its digits; `None` if it holds no number.
    pub(crate) fn digits(self, field: &[u8]) -> Option<(bool, impl Iterator<Item = u8>)> {
        let Encoded(all) = self.encode(field);
        let is_negative = all[0] == NEGATIVE;
        let count = match self {
            Decimal::Packed => (2 * field.len()).saturating_sub(1),
            Decimal::Zoned | Decimal::ZonedAscii | Decimal::Year(_) => field.len(),
        };
        let half = move |place: usize| {
            let pair = all[1 + place / 2] ^ if is_negative { 0xFF } else { 0 };
            let is_first = place.is_multiple_of(2);
            if is_first { pair >> 4 } else { pair & 0x0F }
        };
        (all[0] != NO_NUMBER).then(|| (is_negative, (0..count).map(half)))
    }

    /// The order of two fields of the same length.
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        self.encode(a).cmp(&self.encode(b))
    }
}

impl Encoded {
    /// Eight bytes from byte `from` on, which is in the encoding.
    pub(crate) fn word(&self, from: usize) -> u64 {
        let bytes = self.0[from..].first_chunk().expect("there is room");
        u64::from_be_bytes(*bytes)
    }
}

/// Writes the digits of a packed number two a byte, the last with a zero. Returns its sign; `None` if
/// it is no number.
fn packed(field: &[u8], digits: &mut [u8]) -> Option<Sign> {
    let (&last, pairs) = field.split_last()?;
    let is_pair = |pair: &u8| pair >> 4 <= 9 && pair & 0x0F <= 9;
    if !pairs.iter().all(is_pair) || last >> 4 > 9 {
        return None;
    }
    digits[..pairs.len()].copy_from_slice(pairs);
    digits[pairs.len()] = last & 0xF0;
    sign_of(last & 0x0F)
}

/// Writes the digits of a zoned number two a byte. Those before the last have `zone`, and the last is
/// read by `signed`.
fn zoned(
    field: &[u8],
    digits: &mut [u8],
    (zone, signed): (u8, fn(u8) -> Option<SignedDigit>),
) -> Option<Sign> {
    let (&last, before) = field.split_last()?;
    let (last, sign) = signed(last)?;
    for (place, &byte) in before.iter().enumerate() {
        let digit = byte ^ zone;
        if digit > 9 {
            digits.fill(0);
            return None;
        }
        put(digits, place, digit);
    }
    put(digits, before.len(), last);
    Some(sign)
}

/// Puts a digit at its place, into a half byte.
fn put(digits: &mut [u8], place: usize, digit: u8) {
    let is_first = place.is_multiple_of(2);
    digits[place / 2] |= if is_first { digit << 4 } else { digit };
}

/// The sign that a half byte stands for.
fn sign_of(half: u8) -> Option<Sign> {
    match half {
        0xA | 0xC | 0xE | 0xF => Some(Sign::Plus),
        0xB | 0xD => Some(Sign::Minus),
        _ => None,
    }
}

fn ebcdic_sign(byte: u8) -> Option<SignedDigit> {
    let digit = byte & 0x0F;
    (digit <= 9).then_some(digit).zip(sign_of(byte >> 4))
}

fn ascii_sign(byte: u8) -> Option<SignedDigit> {
    match byte {
        b'0'..=b'9' => Some((byte - b'0', Sign::Plus)),
        b'{' => Some((0, Sign::Plus)),
        b'A'..=b'I' => Some((1 + byte - b'A', Sign::Plus)),
        b'}' => Some((0, Sign::Minus)),
        b'J'..=b'R' => Some((1 + byte - b'J', Sign::Minus)),
        b'p'..=b'y' => Some((byte - b'p', Sign::Minus)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Decimal; 3] = [Decimal::Packed, Decimal::Zoned, Decimal::ZonedAscii];

    #[test]
    fn no_length_and_no_byte_is_too_much() {
        for decimal in ALL {
            for bytes in 0..=2 * MOST_BYTES {
                for byte in 0..=255 {
                    let field = vec![byte; bytes];
                    let encoded = decimal.encode(&field);
                    assert!(encoded.0[0] <= ZERO_OR_MORE);
                    assert_eq!(decimal.compare(&field, &field), Ordering::Equal);
                }
            }
        }
    }

    #[test]
    fn the_drawing_is_right() {
        let start = |decimal: Decimal, field: &[u8]| decimal.encode(field).word(0).to_be_bytes();
        let number = [1, 0xED, 0xCB, 0xA9, 0x8F];
        let packed = start(Decimal::Packed, &[0x12, 0x34, 0x56, 0x7D]);
        assert_eq!(packed[..5], number);
        let zoned = [0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xD7];
        assert_eq!(start(Decimal::Zoned, &zoned)[..5], number);
        assert_eq!(start(Decimal::ZonedAscii, b"123456P")[..5], number);
        assert_eq!(start(Decimal::ZonedAscii, b"123456w")[..5], number);
        assert_eq!(start(Decimal::Packed, &[0x40; 4])[..5], [0, 64, 64, 64, 64]);
    }

    #[test]
    fn bytes_that_are_no_number_come_before_all_numbers() {
        let least = b"99999R";
        for other in [
            b"      ", b"12345?", b"12 456", b"-12345", b"}}}}}}", b"zzzzzz",
        ] {
            assert!(
                Decimal::ZonedAscii.compare(other, least).is_lt(),
                "{other:?}"
            );
        }
        assert!(Decimal::ZonedAscii.compare(b"      ", b"zzzzzz").is_lt());
    }
}
