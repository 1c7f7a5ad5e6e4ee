//! Rounds numbers to x86's extended precision, the `long double` by which GNU sorts with `-g`.
//!
//! ```text
//! bits    | exponent, 15 | 1 mantissa, 63 |       a number from 0 up to infinity
//!
//! exact value   m * 2^e  (+ something less than 2^e)         m of up to 128 bits
//!               | kept, 64 bits | the rest |                  to nearest, ties to even
//! ```
//!
//! The bits, read as one number, have the order of the values. Small decimals are rounded with 128
//! bits; others with whole numbers of any length. Nothing is rounded twice.

use num_bigint::BigUint;

/// Bits of the mantissa.
const MANTISSA: u32 = 64;
/// The exponent of 1, as it is stored.
pub(super) const BIAS: i64 = 16383;
/// The exponent of the smallest normal number.
const LEAST: i64 = 1 - BIAS;
/// The stored exponent of infinity.
const TOP: i64 = 0x7FFF;
/// The largest power of five in 64 bits.
const MOST_FIVES: u32 = 27;
/// Digits that can decide how a decimal is rounded, with a margin. A tie has fewer.
const MOST_DIGITS: usize = 12_000;
/// So many digits are a number of 64 bits.
const FEW_DIGITS: usize = 19;

pub(super) const INFINITY: u128 = (TOP as u128) << 64 | 1 << 63;

/// An exact value: `bits * 2^exponent`, and less than `2^exponent` more if `sticky`. Then
/// there must be at least 65 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) bits: u128,
    pub(super) exponent: i64,
    pub(super) sticky: bool,
}

impl Exact {
    /// The nearest extended number.
    pub(super) fn round(self) -> u128 {
        if self.bits == 0 {
            return 0;
        }
        let shift = self.bits.leading_zeros();
        let bits = self.bits << shift;
        // The value is 1.something times two to this power.
        let power = self
            .exponent
            .saturating_sub(i64::from(shift))
            .saturating_add(127);
        if power > BIAS {
            return INFINITY;
        }
        // Below the smallest normal number, each power costs a bit.
        let lost = i64::from(128 - MANTISSA) + (LEAST.saturating_sub(power)).max(0);
        if lost > 128 {
            return 0;
        }
        let kept = bits.checked_shr(lost as u32).unwrap_or(0);
        let rest = bits << (128 - lost);
        let half = 1 << 127;
        let up = rest > half || rest == half && (self.sticky || kept & 1 == 1);
        // A carry out of the mantissa lands in the exponent, where it belongs.
        let stored = (power.max(LEAST) + BIAS - 1) as u128;
        let first_bit = 1 << 63;
        let rounded = kept + u128::from(up);
        match rounded >> 64 {
            0 if rounded < first_bit => rounded,
            0 => (stored + 1) << 64 | rounded,
            _ => (stored + 2) << 64 | first_bit,
        }
    }
}

/// The nearest extended number to `0.WHOLEFRACTION * 10^exponent`, for digits in any number.
pub(super) fn round_decimal(whole: &[u8], fraction: &[u8], exponent: i64) -> u128 {
    let count = whole.len() + fraction.len();
    if count <= FEW_DIGITS {
        let value = value_of(fraction, value_of(whole, 0));
        if let Some(exact) = small(value, exponent.saturating_sub(count as i64)) {
            return exact.round();
        }
    }
    let mut digits = whole.iter().chain(fraction).map(|digit| digit - b'0');
    let is_zero = |digit: &u8| *digit == 0;
    let mut exponent = exponent;
    // However many zeros there are, the digits after them count.
    let Some(first) = digits.by_ref().find(|digit| {
        let zero = is_zero(digit);
        exponent = exponent.saturating_sub(i64::from(zero));
        !zero
    }) else {
        return 0;
    };
    if exponent > 4940 {
        return INFINITY;
    }
    if exponent < -4960 {
        return 0;
    }
    let mut value = u64::from(first);
    let mut rest = digits.clone();
    let mut read = 1;
    for digit in rest.by_ref().take(18) {
        value = 10 * value + u64::from(digit);
        read += 1;
    }
    let exact = if rest.all(|digit| digit == 0) {
        small(value, exponent - read).unwrap_or_else(|| large(&value.into(), exponent - read))
    } else {
        let mut all = vec![first];
        all.extend(digits.by_ref().take(MOST_DIGITS));
        // The digits that are cut off can only break a tie, which this does in their place.
        if !digits.all(|digit| digit == 0) {
            all.push(1);
        }
        let value = BigUint::from_radix_be(&all, 10).unwrap_or_default();
        large(&value, exponent - all.len() as i64)
    };
    exact.round()
}

/// The value of digits behind those of `front`.
#[inline]
fn value_of(digits: &[u8], front: u64) -> u64 {
    let add = |value: u64, digit: &u8| 10 * value + u64::from(digit - b'0');
    digits.iter().fold(front, add)
}

/// `value * 10^tens` with 128 bits, if they suffice.
#[inline]
fn small(value: u64, tens: i64) -> Option<Exact> {
    if tens.unsigned_abs() > u64::from(MOST_FIVES) {
        return None;
    }
    if tens == 0 || value == 0 {
        return Some(Exact {
            bits: value.into(),
            exponent: 0,
            sticky: false,
        });
    }
    let value = u128::from(value);
    let fives = u128::from(5_u64.pow(tens.unsigned_abs() as u32));
    if tens >= 0 {
        return Some(Exact {
            bits: value * fives,
            exponent: tens,
            sticky: false,
        });
    }
    // The quotient of 128 bits and up to 63 has at least 65: the mantissa and one more. That bit and
    // whether there is a rest decide.
    let shift = value.leading_zeros();
    let value = value << shift;
    Some(Exact {
        bits: value / fives,
        exponent: tens - i64::from(shift),
        sticky: !value.is_multiple_of(fives),
    })
}

/// `value * 10^tens` with whole numbers of any length.
fn large(value: &BigUint, tens: i64) -> Exact {
    let fives = BigUint::from(5_u8).pow(tens.unsigned_abs() as u32);
    if tens >= 0 {
        return top_bits(&(value * fives), tens, false);
    }
    let shift = (fives.bits() + 130).saturating_sub(value.bits());
    let value = value << shift;
    let quotient = &value / &fives;
    let sticky = &quotient * &fives != value;
    top_bits(&quotient, tens - shift as i64, sticky)
}

/// The highest 128 bits of `value * 2^exponent`.
fn top_bits(value: &BigUint, exponent: i64, sticky: bool) -> Exact {
    let shift = value.bits().saturating_sub(128);
    let top = value >> shift;
    let low = top.iter_u64_digits().enumerate();
    let bits = low.fold(0, |bits, (place, part)| {
        bits | u128::from(part) << (64 * place)
    });
    let rest = value.trailing_zeros().is_some_and(|zeros| zeros < shift);
    Exact {
        bits,
        exponent: exponent + shift as i64,
        sticky: sticky || rest,
    }
}
