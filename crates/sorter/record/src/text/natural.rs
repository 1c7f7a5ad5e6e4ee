//! Text with numbers in it: `file2` before `file10`.
//!
//! ```text
//! file10      f  i  l  e  0x32  10        a run of two digits that count, then the digits in pairs
//! file2       f  i  l  e  0x31  20        one digit
//! file002     the same                    zeros before a number do not count
//! file        f  i  l  e
//! ```
//!
//! A run of digits is marked by a byte of those that digits have (`0x30` to `0x39`), so that it
//! keeps the place of digits among other bytes, and text without digits has its own bytes.
//!
//! Unlike `-V` (`version`), bytes have the order of their codes, no suffix is set apart, and neither
//! `~` nor a point is special.

use super::number::digits;
use super::words::Sink;

/// Marks a run by the number of its digits that count, up to seven.
const RUN: u8 = b'0';
const IN_MARK: usize = 7;
/// The number of digits follows in one byte, or in eight.
const LONG: u8 = b'8';
const LONGEST: u8 = b'9';

/// Writes bytes that compare as the texts do.
pub(super) fn encode(text: &[u8], out: &mut impl Sink) {
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        if out.is_full() {
            return;
        }
        if !first.is_ascii_digit() {
            out.push(*first);
            rest = behind;
            continue;
        }
        let run = digits(rest);
        rest = &rest[run.len()..];
        encode_run(run, out);
    }
}

fn encode_run(run: &[u8], out: &mut impl Sink) {
    let zeros = run.iter().take_while(|&&digit| digit == b'0').count();
    let number = &run[zeros..];
    match (number.len(), u8::try_from(number.len())) {
        (0..=IN_MARK, Ok(count)) => out.push(RUN + count),
        (_, Ok(count)) => out.push_all(&[LONG, count]),
        (count, Err(_)) => {
            out.push(LONGEST);
            out.push_all(&(count as u64).to_be_bytes());
        }
    }
    for pair in number.chunks(2) {
        let digit = |place: usize| pair.get(place).map_or(0, |digit| digit - b'0');
        out.push(10 * digit(0) + digit(1));
        if out.is_full() {
            return;
        }
    }
}

/// The most bytes that a text of so many bytes is encoded in: a run of one digit becomes two.
pub(super) fn most_bytes(text: usize) -> usize {
    text.saturating_mul(2)
}
