//! Whole numbers with sixteen digits, of any length: `1F`, `0x1f`, `-0xFF`.

use super::digits;
use crate::text::row::ValueError;
use crate::text::words::Sink;

/// Numbers below zero, zero and above are told apart by their first byte.
const BELOW: u8 = 0x7F;
const ZERO: u8 = 0x80;
const ABOVE: u8 = 0x81;

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
    let flip = if is_below { 0xFF } else { 0 };
    // Capital letters are behind digits, too.
    digits::encode(number, flip, |digit| digit.to_ascii_uppercase(), out);
    Ok(())
}

pub(super) fn most_bytes(value: usize) -> usize {
    digits::most_bytes(value).saturating_add(1)
}
