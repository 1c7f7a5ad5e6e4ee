//! Floating-point numbers (`-g`), read as C's `strtold` does.
//!
//! ```text
//! "x", ""         0                                   no number: before all others
//! nan, nan(5)     0 0 0 | 80 bits, lowest byte first    GNU compares their bytes in memory
//! -inf .. inf     2^79 + bits, or 2^79 - bits         big-endian, without zeros at the end
//!                 bits = exponent and mantissa, as `extended` rounds them; 0 and -0 are equal
//! ```
//!
//! Ten bytes at most for a number; small whole numbers and short binary fractions need one word.

use super::extended::{BIAS, Exact, INFINITY, round_decimal};
use super::number::digits;
use super::words::Sink;

/// What a key was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum General {
    /// No number.
    Nothing,
    /// Not a number, with the bits that GNU compares.
    Nan(u128),
    /// A number: its sign and the bits of its size.
    Value { negative: bool, bits: u128 },
}

/// The bit of the sign in NaN.
const SIGN: u128 = 1 << 79;
/// The payload of a NaN has the lowest 62 bits.
const PAYLOAD: u64 = (1 << 62) - 1;

impl General {
    /// Reads the number at the start of `key`, and says where it ends.
    pub(super) fn read(key: &[u8]) -> (General, usize) {
        let blanks = key.iter().take_while(|byte| is_blank(**byte)).count();
        let text = &key[blanks..];
        let (sign, size) = match text {
            [b'-' | b'+', size @ ..] => (1, size),
            _ => (0, text),
        };
        let negative = text.first() == Some(&b'-');
        let value = |(bits, length)| {
            let negative = negative && bits > 0;
            (General::Value { negative, bits }, length)
        };
        let read = match size {
            [b'1'..=b'9', ..] => decimal(size).map(value),
            _ if starts_with(size, b"nan") => {
                let (payload, length) = payload(&size[3..]);
                let sign = if negative { SIGN } else { 0 };
                let bits = sign | INFINITY | 1 << 62 | u128::from(payload);
                Some((General::Nan(bits), 3 + length))
            }
            _ if starts_with(size, b"infinity") => Some(value((INFINITY, 8))),
            _ if starts_with(size, b"inf") => Some(value((INFINITY, 3))),
            [b'0', b'x' | b'X', hex @ ..] => Some(value(match hexadecimal(hex) {
                Some((bits, length)) => (bits, 2 + length),
                // The number is the 0 before the x.
                None => (0, 1),
            })),
            _ => decimal(size).map(value),
        };
        read.map_or((General::Nothing, 0), |(number, length)| {
            (number, blanks + sign + length)
        })
    }

    /// Writes bytes that compare as the numbers do.
    pub(super) fn encode(self, out: &mut impl Sink) {
        let number = match self {
            // Less than NaN; -inf is 0 0 0x80.
            General::Nothing => return out.push(0),
            General::Nan(bits) => {
                out.push_all(&[0, 0, 0]);
                return out.push_all(&bits.to_le_bytes()[..10]);
            }
            General::Value {
                negative: false,
                bits,
            } => SIGN + bits,
            General::Value { bits, .. } => SIGN - bits,
        };
        let bytes = (number << 48).to_be_bytes();
        let zeros = number.trailing_zeros() as usize / 8;
        out.push_all(&bytes[..10_usize.saturating_sub(zeros).max(1)]);
    }
}

/// The first word of a whole number of up to 18 digits, which is that of [`General::encode`], by
/// arithmetic; `None` for others.
#[inline]
pub(super) fn first_of_whole(key: &[u8]) -> Option<u64> {
    let blanks = key.iter().take_while(|byte| is_blank(**byte)).count();
    let text = &key[blanks..];
    let mut value = 0_u64;
    let mut count = 0;
    while let Some(digit @ b'0'..=b'9') = text.get(count).copied() {
        value = 10 * value + u64::from(digit - b'0');
        count += 1;
        if count > MOST_WHOLE {
            return None;
        }
    }
    let goes_on = matches!(text.get(count), Some(b'.' | b'e' | b'E'));
    if value == 0 || goes_on {
        return None;
    }
    let shift = value.leading_zeros();
    let mantissa = value << shift;
    let exponent = (SIGN >> 64) as u64 | (BIAS as u64 + 63 - u64::from(shift));
    let bytes = 10 - u64::from(mantissa.trailing_zeros()) / 8;
    Some(exponent << 48 | (mantissa >> 24) << 8 | bytes.min(8))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Digits of a whole number that 64 bits hold.
const MOST_WHOLE: usize = 18;

/// The most bytes of an encoding.
pub(super) const MOST_BYTES: usize = 13;

fn starts_with(text: &[u8], word: &[u8]) -> bool {
    let start = text.get(..word.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The number in the brackets after `nan`, if it is one, as `strtoull` reads it, and the length of
/// the brackets.
fn payload(text: &[u8]) -> (u64, usize) {
    let [b'(', inside @ ..] = text else {
        return (0, 0);
    };
    let belongs = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let length = inside.iter().take_while(belongs).count();
    if inside.get(length) != Some(&b')') {
        return (0, 0);
    }
    let (digits, radix) = match &inside[..length] {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] => (digits, 8),
        digits => (digits, 10),
    };
    let mut values = digits.iter().map(|&byte| char::from(byte).to_digit(radix));
    let value = values.try_fold(0_u64, |value, digit| {
        let digit = u64::from(digit?);
        let larger = value.checked_mul(u64::from(radix));
        let larger = larger.and_then(|value| value.checked_add(digit));
        Some(larger.unwrap_or(u64::MAX))
    });
    (value.unwrap_or(0) & PAYLOAD, length + 2)
}

/// The power after `letter`, with or without a sign, and its length; 0 if there is none.
fn power(text: &[u8], letter: u8) -> (i64, usize) {
    let (negative, sign, rest) = match text {
        [first, rest @ ..] if first.eq_ignore_ascii_case(&letter) => match rest {
            [b'-', rest @ ..] => (true, 1, rest),
            [b'+', rest @ ..] => (false, 1, rest),
            _ => (false, 0, rest),
        },
        _ => return (0, 0),
    };
    let digits = digits(rest);
    if digits.is_empty() {
        return (0, 0);
    }
    // Far beyond any exponent, and far from an overflow.
    let most = i64::MAX / 40;
    let add = |power: i64, digit: &u8| 10 * power.min(most) + i64::from(digit - b'0');
    let size = digits.iter().fold(0, add).min(most);
    let power = if negative { -size } else { size };
    (power, 1 + sign + digits.len())
}

/// A decimal number and its length; `None` if there is no digit.
fn decimal(text: &[u8]) -> Option<(u128, usize)> {
    let whole = digits(text);
    let (point, fraction) = match &text[whole.len()..] {
        [b'.', fraction @ ..] => (1, digits(fraction)),
        _ => (0, &[][..]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mantissa = whole.len() + point + fraction.len();
    let (power, length) = power(&text[mantissa..], b'e');
    // The number is 0.DIGITS, times ten to this exponent.
    let exponent = power.saturating_add(whole.len() as i64);
    Some((round_decimal(whole, fraction, exponent), mantissa + length))
}

/// A hexadecimal number after its `0x`, and its length; `None` if there is no digit.
fn hexadecimal(text: &[u8]) -> Option<(u128, usize)> {
    let mut exact = Exact {
        bits: 0,
        exponent: 0,
        sticky: false,
    };
    let mut point = false;
    let mut found = false;
    let mut mantissa = 0;
    for &byte in text {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                found = true;
                let full = exact.bits >> 124 != 0;
                if full {
                    exact.sticky |= digit != 0;
                } else {
                    exact.bits = exact.bits << 4 | u128::from(digit);
                }
                exact.exponent += 4 * (i64::from(full) - i64::from(point));
            }
            None if byte == b'.' && !point => point = true,
            None => break,
        }
        mantissa += 1;
    }
    let (power, length) = power(&text[mantissa..], b'p');
    exact.exponent = exact.exponent.saturating_add(power);
    found.then(|| (exact.round(), mantissa + length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::Window;

    #[test]
    fn a_whole_number_has_the_word_of_its_encoding() {
        let near = |power: u64| [power - 1, power, power + 1];
        let twos = (1..59).flat_map(|bits| near(1 << bits));
        let tens = (1..18).flat_map(|zeros| near(10_u64.pow(zeros)));
        let mut told = 0;
        for number in twos.chain(tens) {
            for (before, behind) in [("", ""), (" \t", "x"), ("00", " 1"), ("", ".5"), ("", "e3")] {
                let key = format!("{before}{number}{behind}");
                let mut window = Window::new(0);
                General::read(key.as_bytes()).0.encode(&mut window);
                if let Some(word) = first_of_whole(key.as_bytes()) {
                    assert_eq!(Ok(word), window.word(), "{key}");
                    told += 1;
                }
            }
        }
        assert!(told > 500, "{told}");
        for key in ["", "0", "0x1f", "-5", ".5", "nan", "1234567890123456789"] {
            assert_eq!(first_of_whole(key.as_bytes()), None, "{key}");
        }
    }
}
