//! Decimal numbers of any length (`-n`), and with a unit (`-h`).
//!
//! ```text
//!  1203.50    0x81 + 4 | 12 03 5 0        4 digits before the point; two digits in a byte, as 0..=99
//!  0.005      0x81     | 00 50
//!  0          0x80                        also "-0", "x", and nothing at all
//! -1203.50    0x7E - 4 | 87 96 50         the complement, 1 - 0.120350, so that it needs no end mark
//!  2K         0x81     | 0x82 | 20        with -h the unit comes first: K 1, M 2 .. Y 8
//! ```
//!
//! Zeros before the whole part and after the fraction are left out, so equal numbers have equal
//! bytes, and numbers of up to twelve digits fit one word. Nothing is ever rounded.

use super::scan::past_blanks;
use super::words::Sink;

/// The header of 0; those of negative numbers are less.
pub(super) const ZERO: u8 = 0x80;
/// The largest number of digits before the point that the header holds.
const MOST_IN_HEADER: usize = 100;
/// The header of longer numbers: the number of digits follows in eight bytes.
const LONGER: u8 = 0xF0;

/// The units of `-h`, from the smallest; the last two are those of coreutils 9.2.
const UNITS: &[u8] = b"KMGTPEZYRQ";

/// A byte that is skipped in the whole part, but not before a unit. GNU's C locale has no separator of groups of digits; its
/// code for "none" is this byte where C's characters are signed.
const SKIPPED: u8 = 0x80;

/// A number at the start of a key, without the digits that do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number<'a> {
    negative: bool,
    /// The digits before the point, the first not 0; among them [`SKIPPED`] if `grouped`.
    whole: &'a [u8],
    grouped: bool,
    /// The digits after the point, the last not 0.
    fraction: &'a [u8],
}

impl<'a> Number<'a> {
    /// Reads the number at the start of `key`.
    #[inline]
    pub(super) fn read(key: &'a [u8]) -> Number<'a> {
        let text = past_blanks(key);
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let mut whole = digits(rest);
        let grouped = rest.get(whole.len()) == Some(&SKIPPED);
        if grouped {
            let belongs = |byte: &&u8| byte.is_ascii_digit() || **byte == SKIPPED;
            whole = &rest[..rest.iter().take_while(belongs).count()];
        }
        let fraction = match &rest[whole.len()..] {
            [b'.', after @ ..] => digits(after),
            _ => &[],
        };
        let counts = |byte: &u8| *byte != b'0' && *byte != SKIPPED;
        let zeros = whole.iter().position(counts).unwrap_or(whole.len());
        Number {
            negative,
            whole: &whole[zeros..],
            grouped,
            fraction: strip_zeros(fraction),
        }
    }

    fn is_zero(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    /// Writes bytes that compare as the numbers do.
    #[inline]
    pub(super) fn encode(&self, out: &mut impl Sink) {
        if self.is_zero() {
            return out.push(ZERO);
        }
        if self.grouped {
            let counts = |byte: &u8| *byte != SKIPPED;
            let whole: Vec<u8> = self.whole.iter().copied().filter(counts).collect();
            let number = Number {
                whole: &whole,
                grouped: false,
                ..*self
            };
            return number.encode(out);
        }
        let flip = if self.negative { 0xFF } else { 0 };
        let whole = self.whole.len();
        if whole <= MOST_IN_HEADER {
            out.push((ZERO + 1 + whole as u8) ^ flip);
        } else {
            out.push(LONGER ^ flip);
            let length = (whole as u64).to_be_bytes();
            out.push_all(&length.map(|byte| byte ^ flip));
        }
        if self.fraction.is_empty() {
            // The header has the magnitude, so these zeros do not count either.
            encode_digits(strip_zeros(self.whole), &[], self.negative, out);
        } else {
            encode_digits(self.whole, self.fraction, self.negative, out);
        }
    }
}

/// Writes the digits of `0.WHOLEFRACTION`, the last of which is not 0, in pairs; or those of 1 less
/// that number.
#[inline]
pub(super) fn encode_digits(whole: &[u8], fraction: &[u8], complement: bool, out: &mut impl Sink) {
    let count = whole.len() + fraction.len();
    let digit = |place: usize| match place.checked_sub(whole.len()) {
        None => whole[place] - b'0',
        Some(place) => fraction.get(place).map_or(0, |digit| digit - b'0'),
    };
    for place in (0..count).step_by(2) {
        let pair = 10 * digit(place) + digit(place + 1);
        let last = place + 2 >= count;
        out.push(match (complement, last) {
            (false, _) => pair,
            (true, false) => 99 - pair,
            (true, true) => 100 - pair,
        });
        if out.is_full() {
            break;
        }
    }
}

/// The digits at the start of `text`.
#[inline]
pub(super) fn digits(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    &text[..count]
}

/// Without the zeros at the end.
pub(super) fn strip_zeros(digits: &[u8]) -> &[u8] {
    let last = digits.iter().rposition(|&digit| digit != b'0');
    &digits[..last.map_or(0, |last| last + 1)]
}

/// The only word of a number of up to twelve digits, which is most numbers; `None` for others. It is
/// that of [`Number::encode`], by arithmetic.
#[inline]
pub(super) fn only_word(key: &[u8]) -> Option<u64> {
    let text = past_blanks(key);
    let negative = text.first() == Some(&b'-');
    let mut text = &text[usize::from(negative)..];
    while let [b'0', rest @ ..] = text {
        text = rest;
    }
    let (whole, value) = more_digits(text, (0, 0));
    let (count, value) = match &text[whole..] {
        [SKIPPED, ..] => return None,
        [b'.', fraction @ ..] => more_digits(fraction, (whole, value)),
        _ => (whole, value),
    };
    let value = value * POWERS.get(count)?;
    if value == 0 {
        return Some(u64::from(ZERO) << 56 | 1);
    }
    Some(word_of(ZERO + 1 + whole as u8, value, negative))
}

/// The word of a number with this header, whose digits are those of `value` with zeros to twelve;
/// not 0.
#[inline]
pub(super) fn word_of(header: u8, value: u64, negative: bool) -> u64 {
    let (header, value) = if negative {
        (!header, POWERS[0] - value)
    } else {
        (header, value)
    };
    let (high, low) = (value / 1_000_000, value % 1_000_000);
    let pairs = |six: u64| (six / 10_000) << 16 | (six / 100 % 100) << 8 | (six % 100);
    let pairs = (pairs(high) << 24) | pairs(low);
    let bytes = 7 - u64::from(pairs.trailing_zeros() / 8);
    u64::from(header) << 56 | pairs << 8 | bytes
}

/// 10^12, and smaller powers: what a number of so many digits lacks to twelve.
pub(super) const POWERS: [u64; 13] = {
    let mut powers = [1; 13];
    let mut count = 12;
    while count > 0 {
        powers[count - 1] = 10 * powers[count];
        count -= 1;
    }
    powers
};

/// Continues a number of so many digits and of this value with those at the start of `text`. Stops
/// at thirteen, which are too many.
#[inline]
fn more_digits(text: &[u8], (mut count, mut value): (usize, u64)) -> (usize, u64) {
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 || count > 12 {
            break;
        }
        value = 10 * value + u64::from(digit);
        count += 1;
    }
    (count, value)
}

/// A number as units see it.
struct Scan {
    negative: bool,
    is_zero: bool,
    /// Whether there is a digit.
    found: bool,
    /// The bytes up to the unit: a point belongs to them even without digits after it, as in `5.K`.
    length: usize,
}

fn scan(text: &[u8]) -> Scan {
    let negative = text.first() == Some(&b'-');
    let sign = usize::from(negative);
    let whole = digits(&text[sign..]);
    let (point, fraction) = match &text[sign + whole.len()..] {
        [b'.', after @ ..] => (1, digits(after)),
        _ => (0, &[][..]),
    };
    let is_zero = |digits: &[u8]| digits.iter().all(|&digit| digit == b'0');
    Scan {
        negative,
        is_zero: is_zero(whole) && is_zero(fraction),
        found: !(whole.is_empty() && fraction.is_empty()),
        length: sign + whole.len() + point + fraction.len(),
    }
}

/// The number of a unit: 0 if it is none, from 1 for K. `k` always is a unit; with `fold`, all
/// small letters are.
fn unit(byte: u8, fold: bool) -> i8 {
    let capital = if fold || byte == b'k' {
        byte.to_ascii_uppercase()
    } else {
        byte
    };
    let place = UNITS.iter().position(|&known| known == capital);
    place.map_or(0, |place| place as i8 + 1)
}

/// The unit after the number of a key: 0 without one, from 1 for K, negative for negative numbers.
fn unit_order(key: &[u8], fold: bool) -> i8 {
    let text = past_blanks(key);
    let number = scan(text);
    let order = match text.get(number.length) {
        Some(&byte) if !number.is_zero => unit(byte, fold),
        _ => 0,
    };
    if number.negative { -order } else { order }
}

/// The length of the number at the start of `text`, with its unit if `human` is set; 0 if there is
/// no digit.
pub(super) fn length(text: &[u8], human: bool) -> usize {
    let number = scan(text);
    let unit = text.get(number.length).map_or(0, |&byte| unit(byte, false));
    if number.found {
        number.length + usize::from(human && unit > 0)
    } else {
        0
    }
}

/// Writes bytes that compare as numbers with units do: first by the sign and the unit.
pub(super) fn encode_human(key: &[u8], fold: bool, out: &mut impl Sink) {
    out.push(unit_order(key, fold).wrapping_add(i8::MIN) as u8);
    Number::read(key).encode(out);
}

/// The most bytes that the number of a key of so many bytes is encoded in.
pub(super) fn most_bytes(key: usize) -> usize {
    // A unit, a header and the length of the whole part; two digits in a byte.
    (key / 2).saturating_add(1 + 1 + 8 + 1)
}
