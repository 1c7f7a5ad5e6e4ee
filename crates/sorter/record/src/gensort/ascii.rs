//! ASCII gensort records: readable lines.
//!
//! ```text
//! AsfAGHM5om  00000000000000000000000000000000  0000222200002222000022220000222200002222000000001111
//! key         record number                     filler: 13 hex digits, each four times           CR LF
//! 0           12                                46                                               98
//! ```
//!
//! Let `h` and `l` be the upper and lower half of the record's state. The key is eight digits of
//! `h` and two of `l` in base 95 (the printable characters), least significant first; the filler is
//! the lowest 13 hexadecimal digits of `l`.
//!
//! Source: the documented layout of gensort 1.5.

use super::RECORD_BYTES;
use super::lcg::Lcg;
use super::skew;

const KEY_BYTES: usize = 10;
/// Key characters from the upper half of the state; the others come from the lower half.
const KEY_BYTES_FROM_HIGH: usize = 8;
const PRINTABLE: u64 = 95;
const FIRST_PRINTABLE: u8 = b' ';
const NUMBER_AT: usize = 12;
const NUMBER_DIGITS: usize = 32;
const FILLER_AT: usize = 46;
const FILLER_DIGITS: usize = 13;
const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// The bytes that all records share: the spaces and the line ending.
const BLANK: [u8; RECORD_BYTES] = {
    let mut line = [b' '; RECORD_BYTES];
    line[98] = b'\r';
    line[99] = b'\n';
    line
};

/// Fills `out` with the records from number `first` on.
pub(super) fn fill(first: u128, skewed: bool, out: &mut [[u8; RECORD_BYTES]]) {
    let mut sequence = Lcg::of_record(first);
    let mut number = first;
    for record in out {
        let state = sequence.draw();
        write_record(number, state, record);
        if skewed {
            skew::ascii(number, state, record);
        }
        number = number.wrapping_add(1);
    }
}

fn write_record(number: u128, state: u128, record: &mut [u8; RECORD_BYTES]) {
    *record = BLANK;
    record[..KEY_BYTES].copy_from_slice(&key(state));
    let digits = &mut record[NUMBER_AT..NUMBER_AT + NUMBER_DIGITS];
    let (pairs, _) = digits.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(number.to_be_bytes()) {
        *pair = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
    }
    let filler = &mut record[FILLER_AT..FILLER_AT + 4 * FILLER_DIGITS];
    for (index, run) in filler.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let digit = state >> (4 * (FILLER_DIGITS - 1 - index)) & 15;
        *run = [HEX[digit as usize]; 4];
    }
}

/// The ten characters of the key that `state` gives.
pub(super) const fn key(state: u128) -> [u8; KEY_BYTES] {
    let mut characters = [0; KEY_BYTES];
    let mut rest = (state >> 64) as u64;
    let mut index = 0;
    while index < KEY_BYTES {
        if index == KEY_BYTES_FROM_HIGH {
            rest = state as u64;
        }
        characters[index] = FIRST_PRINTABLE + (rest % PRINTABLE) as u8;
        rest /= PRINTABLE;
        index += 1;
    }
    characters
}
