//! Skewed gensort keys (`-s`): many records with few prefixes.
//!
//! A record number of `i` binary digits belongs to class `i`, so half the records of a data set of
//! `2^k` are in the last class. The first part of the key, whose length the record's state decides
//! (0 to 48 bits of binary keys, 0 to 6 characters of ASCII keys), is replaced by the prefix of the
//! class, which is the first part of record `i`'s own unskewed key.
//!
//! ```text
//! key of record 1000   | 10110100 11010.. |     class 10, drawn length 5
//! key of record 10     | 01100..          |
//! skewed               | 01100100 11010.. |
//! ```
//!
//! So about a third of all records begin with the same byte although whole keys hardly ever repeat:
//! a trap for partitioners that look at leading bits only.
//!
//! Source: the documented behaviour of gensort 1.5, with its quirk (see [`class`]).

use super::RECORD_BYTES;
use super::ascii;
use super::lcg::Lcg;

/// Bit lengths of 128-bit numbers, from 0.
const CLASSES: usize = 129;
const PREFIX_BYTES: usize = 6;
const PREFIX_BITS: u32 = 48;

static BINARY_PREFIXES: [u64; CLASSES] = binary_prefixes();
static ASCII_PREFIXES: [[u8; PREFIX_BYTES]; CLASSES] = ascii_prefixes();

/// Skews the key of binary record `number`, whose state is `state`.
#[inline]
pub(super) fn binary(number: u128, state: u128, record: &mut [u8; RECORD_BYTES]) {
    let replaced_bits = (state >> 32) as u32 & 63;
    if (1..=PREFIX_BITS).contains(&replaced_bits) {
        let kept = u64::MAX >> replaced_bits;
        let own = (state >> 64) as u64;
        let skewed = BINARY_PREFIXES[class(number)] & !kept | own & kept;
        record[..8].copy_from_slice(&skewed.to_be_bytes());
    }
}

/// Skews the key of ASCII record `number`, whose state is `state`.
#[inline]
pub(super) fn ascii(number: u128, state: u128, record: &mut [u8; RECORD_BYTES]) {
    let replaced_bytes = (state >> 32) as usize & 7;
    if replaced_bytes <= PREFIX_BYTES {
        let prefix = &ASCII_PREFIXES[class(number)];
        record[..replaced_bytes].copy_from_slice(&prefix[..replaced_bytes]);
    }
}

/// The bit length of `number`, with a quirk of the reference: if any of the top four bits of a half
/// is set, the half counts as full, so classes 61 to 63 and 125 to 127 stay empty.
#[inline]
fn class(number: u128) -> usize {
    let (high, low) = ((number >> 64) as u64, number as u64);
    if high != 0 {
        64 + half_class(high)
    } else {
        half_class(low)
    }
}

#[inline]
fn half_class(half: u64) -> usize {
    if half >> 60 != 0 {
        64
    } else {
        (u64::BITS - half.leading_zeros()) as usize
    }
}

const fn binary_prefixes() -> [u64; CLASSES] {
    let mut prefixes = [0; CLASSES];
    let mut sequence = Lcg::of_record(0);
    let mut class = 0;
    while class < CLASSES {
        prefixes[class] = (sequence.draw() >> 64) as u64;
        class += 1;
    }
    prefixes
}

const fn ascii_prefixes() -> [[u8; PREFIX_BYTES]; CLASSES] {
    let mut prefixes = [[0; PREFIX_BYTES]; CLASSES];
    let mut sequence = Lcg::of_record(0);
    let mut class = 0;
    while class < CLASSES {
        let key = ascii::key(sequence.draw());
        prefixes[class] = [key[0], key[1], key[2], key[3], key[4], key[5]];
        class += 1;
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn a_class_is_the_bit_length_except_for_full_halves() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8].map(class), [0, 1, 2, 2, 3, 3, 4]);
        assert_eq!(class((1 << 60) - 1), 60);
        assert_eq!(class(1 << 60), 64, "the quirk: 61 by its bit length");
        assert_eq!(class(u128::from(u64::MAX)), 64);
        assert_eq!(class(1 << 64), 65);
        assert_eq!(class((1 << 124) - 1), 124);
        assert_eq!(class(1 << 124), 128, "the quirk: 125 by its bit length");
        assert_eq!(class(u128::MAX), 128);
    }
}
