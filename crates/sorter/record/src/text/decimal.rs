//! Decimal numbers of rows: of any length, with any exponent, exactly.
//!
//! ```text
//!  1203.5, 1.2035e3   0x82 + 40 + 4 | 12 03 50        0.12035 * 10^4
//!  0.005, 5e-3        0x82 + 40 - 2 | 50              0.5 * 10^-2
//!  1e999              0xE7 | 1000 in 8 bytes | 10     exponents beyond -40..=60
//!  0, -0.0, 0e7       0x80
//! -1203.5             the complement, as in `number`
//!  (empty)            nothing, which is before all others
//! ```
//!
//! Zeros at either end are left out, so equal numbers have equal bytes; numbers of up to twelve
//! digits fit one word. Unlike `-n` (`number`), the whole value must be a number, and a plus sign
//! and an exponent are part of it; unlike `-g` (`general`), nothing is ever rounded.

use super::number::{POWERS, ZERO, digits, encode_digits, strip_zeros, word_of};
use super::words::Sink;

/// The exponents that the header holds.
const LEAST: i64 = -40;
const MOST: i64 = 60;
/// The header of a number with exponent 0.
const HEADER: u8 = ZERO + 2 + (-LEAST) as u8;
/// The headers of numbers with other exponents, which follow in eight bytes.
const BELOW: u8 = ZERO + 1;
const ABOVE: u8 = HEADER + MOST as u8 + 1;

/// The most digits of an exponent: with the digits of a number it still fits 64 bits.
const EXPONENT_DIGITS: usize = 18;

/// The most bytes that are read as one integer.
const SHORT: usize = 18;

/// A number without the digits that do not count: 0.WHOLEFRACTION times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal<'a> {
    negative: bool,
    /// The first digit is not 0.
    whole: &'a [u8],
    /// The last digit is not 0.
    fraction: &'a [u8],
    exponent: i64,
}

/// The reason why a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadDecimal {
    /// It has another form.
    Form,
    /// Its exponent has too many digits.
    Exponent,
}

impl<'a> Decimal<'a> {
    /// Reads a number, perhaps with blanks around it; `None` if there is nothing else.
    ///
    /// # Errors
    /// If there is something else.
    #[inline]
    pub(super) fn read(text: &'a [u8]) -> Result<Option<Decimal<'a>>, BadDecimal> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Ok(None);
        }
        let (negative, text) = sign(text);
        let whole = digits(text);
        let text = &text[whole.len()..];
        let fraction = match text {
            [b'.', fraction @ ..] => digits(fraction),
            _ => &[],
        };
        let point = usize::from(text.first() == Some(&b'.'));
        let power = match &text[point + fraction.len()..] {
            [] => 0,
            [b'e' | b'E', power @ ..] => read_power(power)?,
            _ => return Err(BadDecimal::Form),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(BadDecimal::Form);
        }
        Ok(Some(Decimal::normal(negative, whole, fraction, power)))
    }

    /// A number without zeros at its ends.
    #[inline]
    fn normal(negative: bool, whole: &'a [u8], fraction: &'a [u8], power: i64) -> Decimal<'a> {
        let digit = |byte: &u8| *byte != b'0';
        let mut exponent = power.saturating_add(whole.len() as i64);
        let zeros = whole.iter().position(digit).unwrap_or(whole.len());
        let (mut whole, mut fraction) = (&whole[zeros..], fraction);
        exponent = exponent.saturating_sub(zeros as i64);
        if whole.is_empty() {
            let zeros = fraction.iter().position(digit).unwrap_or(fraction.len());
            fraction = &fraction[zeros..];
            exponent = exponent.saturating_sub(zeros as i64);
        }
        fraction = strip_zeros(fraction);
        if fraction.is_empty() {
            whole = strip_zeros(whole);
        }
        Decimal {
            negative,
            whole,
            fraction,
            exponent,
        }
    }

    /// Writes bytes that compare as the numbers do.
    #[inline]
    fn encode(&self, out: &mut impl Sink) {
        if self.whole.is_empty() && self.fraction.is_empty() {
            return out.push(ZERO);
        }
        let flip = if self.negative { 0xFF } else { 0 };
        if let Some(header) = header(self.exponent) {
            out.push(header ^ flip);
        } else {
            let above = self.exponent > MOST;
            out.push(if above { ABOVE } else { BELOW } ^ flip);
            let biased = self.exponent as u64 ^ 1 << 63;
            out.push_all(&biased.to_be_bytes().map(|byte| byte ^ flip));
        }
        encode_digits(self.whole, self.fraction, self.negative, out);
    }
}

/// The header of an exponent that it holds.
#[inline]
fn header(exponent: i64) -> Option<u8> {
    let holds = (LEAST..=MOST).contains(&exponent);
    holds.then(|| (i64::from(HEADER) + exponent) as u8)
}

/// Whether there is a minus sign, and the text behind the sign.
#[inline]
fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

fn read_power(text: &[u8]) -> Result<i64, BadDecimal> {
    let (negative, text) = sign(text);
    let digits = digits(text);
    if digits.is_empty() || digits.len() < text.len() {
        return Err(BadDecimal::Form);
    }
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let digits = &digits[zeros..];
    if digits.len() > EXPONENT_DIGITS {
        return Err(BadDecimal::Exponent);
    }
    let add = |size: i64, digit: &u8| 10 * size + i64::from(digit - b'0');
    let size = digits.iter().fold(0, add);
    Ok(if negative { -size } else { size })
}

/// Writes bytes that compare as the numbers do. A text that is none, which no sort has, counts as an
/// empty one.
#[inline]
pub(super) fn encode(text: &[u8], out: &mut impl Sink) {
    if let Ok(Some(number)) = Decimal::read(text) {
        number.encode(out);
    }
}

/// The only word of most numbers, those of up to twelve digits without an exponent; `None` for
/// others. It is that of [`encode`], by arithmetic.
#[inline]
pub(super) fn only_word(text: &[u8]) -> Option<u64> {
    let (negative, number) = sign(text);
    if number.len() > SHORT {
        return None;
    }
    let (mut value, mut point) = (0_u64, None);
    for (place, byte) in number.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            value = 10 * value + u64::from(digit);
        } else if *byte == b'.' && point.is_none() {
            point = Some(place);
        } else {
            return None;
        }
    }
    let Some(log) = value.checked_ilog10() else {
        let found = number.len() > usize::from(point.is_some());
        return found.then_some(u64::from(ZERO) << 56 | 1);
    };
    let digits = log as usize + 1;
    let fraction = point.map_or(0, |place| number.len() - 1 - place);
    let header = header(digits as i64 - fraction as i64)?;
    let value = value * POWERS.get(digits)?;
    Some(word_of(header, value, negative))
}

/// The most bytes that the number of a value of so many bytes is encoded in.
pub(super) fn most_bytes(value: usize) -> usize {
    // A header and an exponent; two digits in a byte.
    (value / 2).saturating_add(1 + 8 + 1)
}
