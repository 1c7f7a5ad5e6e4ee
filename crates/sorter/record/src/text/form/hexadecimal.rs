//! Whole numbers with sixteen digits, of any length: `1F`, `0x1f`, `-0xFF`.

use crate::text::row::ValueError;
use crate::text::words::Sink;

/// Numbers below zero, zero and above are told apart by their first byte.
const BELOW: u8 = 0x7F;
const ZERO: u8 = 0x80;
const ABOVE: u8 = 0x81;

/// Bytes of the number of digits: a value has less than 2^32.
const LENGTH_BYTES: usize = 4;

pub(super) fn encode(value: &[u8], out: &mut impl Sink) -> Result<(), ValueError> {
    let text = value.trim_ascii();
    let (is_below, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let number = match text {
        [b'0', b'x' | b'X', rest @ ..] => rest,
        rest => rest,
    };
    if number.is_empty() || !number.iter().all(u8::is_ascii_hexdigit) {
        return Err(ValueError::NotHexadecimal);
    }
    if number.iter().all(|digit| *digit == b'0') {
        out.push(ZERO);
        return Ok(());
    }
    out.push(if is_below { BELOW } else { ABOVE });
    // Numbers below zero are complements.
    let flip = if is_below { 0xFF } else { 0 };
    let zeros = number.iter().take_while(|digit| **digit == b'0').count();
    let digits = &number[zeros..];
    let length = (digits.len() as u64).to_be_bytes().map(|byte| byte ^ flip);
    out.push_all(&length[8 - LENGTH_BYTES..]);
    for digit in digits {
        // Capital letters are behind digits, too.
        out.push(digit.to_ascii_uppercase() ^ flip);
        if out.is_full() {
            break;
        }
    }
    Ok(())
}

pub(super) fn most_bytes(value: usize) -> usize {
    value.saturating_add(1 + LENGTH_BYTES)
}
