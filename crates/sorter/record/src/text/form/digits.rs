//! Whole numbers of any length as bytes: their length, then their digits.

use crate::text::words::Sink;

/// The number of digits from which on it needs eight bytes more.
const LONG: usize = 0xFF;

/// Writes bytes that compare as the numbers of these digits do. `digit` gives the byte of a digit, in the order of
/// digits; `flip` has all bits set for numbers below zero, which are complements.
pub(super) fn encode(digits: &[u8], flip: u8, digit: impl Fn(u8) -> u8, out: &mut impl Sink) {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let digits = &digits[zeros..];
    if digits.len() < LONG {
        out.push(digits.len() as u8 ^ flip);
    } else {
        out.push(LONG as u8 ^ flip);
        out.push_all(&(digits.len() as u64).to_be_bytes().map(|byte| byte ^ flip));
    }
    for &byte in digits {
        out.push(digit(byte) ^ flip);
        if out.is_full() {
            return;
        }
    }
}

/// The most bytes of a number of so many digits.
pub(super) fn most_bytes(digits: usize) -> usize {
    digits.saturating_add(1 + 8)
}
