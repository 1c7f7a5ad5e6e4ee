//! Numbers in bytes of binary records, read and written.

use super::exact::{Exact, MOST_DIGITS};
use crate::decimal::{self, Decimal};
use crate::key::{Endian, Kind};
use crate::rows::ValueError;
use crate::value::{signed, unsigned};

/// Whether the numbers of a kind can be added up. Floats cannot: their sum depends on its order.
pub(super) fn adds_up(kind: Kind) -> bool {
    match kind {
        Kind::Unsigned(_) | Kind::Signed(_) => true,
        Kind::Decimal(decimal) => !matches!(decimal, Decimal::Year(_)),
        Kind::Bytes | Kind::Float(_) | Kind::Collated(_) => false,
    }
}

/// # Errors
/// If the bytes hold no number, or one of too many digits.
pub(super) fn read(kind: Kind, field: &[u8]) -> Result<Exact, ValueError> {
    let number = match kind {
        Kind::Unsigned(endian) => i128::try_from(unsigned(field, endian)).ok(),
        Kind::Signed(endian) => Some(signed(field, endian)),
        Kind::Decimal(decimal) => {
            let (is_negative, mut digits) = decimal.digits(field).ok_or(ValueError::NotANumber)?;
            let add = |sum: i128, digit: u8| sum.checked_mul(10)?.checked_add(digit.into());
            let number = digits.try_fold(0, add);
            number.map(|number| if is_negative { -number } else { number })
        }
        Kind::Bytes | Kind::Float(_) | Kind::Collated(_) => None,
    };
    let exact = number.and_then(Exact::whole);
    exact.ok_or(ValueError::Digits(MOST_DIGITS))
}

/// Whether so many bytes hold a number.
pub(super) fn fits(kind: Kind, bytes: usize, number: i128) -> bool {
    written(kind, &[0; decimal::MOST_BYTES][..bytes], number).is_some()
}

/// The number in the place of another one, if it has room there.
pub(super) fn written(kind: Kind, before: &[u8], number: i128) -> Option<Vec<u8>> {
    let bytes = before.len();
    match kind {
        Kind::Unsigned(endian) => {
            let number = u128::try_from(number).ok()?;
            integer(number.to_be_bytes(), (bytes, endian), 0)
        }
        Kind::Signed(endian) => {
            let fill = if number < 0 { 0xFF } else { 0 };
            let written = integer(number.to_be_bytes(), (bytes, endian), fill)?;
            (signed(&written, endian) == number).then_some(written)
        }
        Kind::Decimal(decimal) => decimal_of(decimal, before, number),
        Kind::Bytes | Kind::Float(_) | Kind::Collated(_) => None,
    }
}

/// The last `bytes` of a number, if all before them are `fill`.
fn integer(number: [u8; 16], (bytes, endian): (usize, Endian), fill: u8) -> Option<Vec<u8>> {
    let (before, kept) = number.split_at(number.len() - bytes);
    let mut kept = kept.to_vec();
    if endian == Endian::Little {
        kept.reverse();
    }
    before.iter().all(|&byte| byte == fill).then_some(kept)
}

/// A decimal number with the signs that z/Architecture prefers: C and D in packed ones, F (which prints as
/// digits) and D in zoned ones. In ASCII a minus is the letter that EBCDIC shows, or one of compilers for ASCII if
/// such a one was there before.
fn decimal_of(decimal: Decimal, before: &[u8], number: i128) -> Option<Vec<u8>> {
    let bytes = before.len();
    let width = match decimal {
        Decimal::Packed => 2 * bytes - 1,
        Decimal::Zoned | Decimal::ZonedAscii => bytes,
        Decimal::Year(_) => return None,
    };
    let digits = format!("{:0width$}", number.unsigned_abs());
    if digits.len() > width {
        return None;
    }
    let (is_negative, digits) = (number < 0, digits.bytes().map(|digit| digit - b'0'));
    let sign = if is_negative { 0xD } else { 0xC };
    let mut written: Vec<u8> = match decimal {
        Decimal::Packed => {
            let halves: Vec<u8> = digits.chain([sign]).collect();
            let pairs = halves.chunks_exact(2);
            return Some(pairs.map(|pair| pair[0] << 4 | pair[1]).collect());
        }
        Decimal::ZonedAscii => digits.map(|digit| b'0' + digit).collect(),
        Decimal::Zoned | Decimal::Year(_) => digits.map(|digit| 0xF0 + digit).collect(),
    };
    let last = written.last_mut().filter(|_| is_negative);
    if let Some(last) = last {
        *last = match (decimal, *last & 0x0F) {
            (Decimal::ZonedAscii, digit) if matches!(before.last(), Some(b'p'..=b'y')) => {
                b'p' + digit
            }
            (Decimal::ZonedAscii, 0) => b'}',
            (Decimal::ZonedAscii, digit) => b'J' - 1 + digit,
            (_, digit) => 0xD0 + digit,
        };
    }
    Some(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

    #[test]
    fn each_number_is_read_as_it_was_written() {
        for key in [
            "0+1:u8",
            "0+1:i8",
            "0+2:u16le",
            "0+2:i16be",
            "0+4:u32be",
            "0+4:i32le",
            "0+8:u64le",
            "0+8:i64be",
            "0+16:u128be",
            "0+16:i128le",
            "0+1:packed",
            "0+4:packed",
            "0+1:zoned",
            "0+5:zoned",
            "0+3:zoned-ascii",
        ] {
            let key: Key = key.parse().unwrap();
            assert!(adds_up(key.kind));
            let powers = (0..127).flat_map(|bits| [1_i128 << bits, (1 << bits) - 1]);
            let tens = (0..38).flat_map(|digits| [10_i128.pow(digits), 10_i128.pow(digits) - 1]);
            let mut fitting = 0;
            for number in powers.chain(tens).flat_map(|number| [number, -number]) {
                let Some(field) = written(key.kind, &vec![0; key.bytes], number) else {
                    continue;
                };
                fitting += 1;
                assert_eq!(field.len(), key.bytes);
                match Exact::whole(number) {
                    Some(exact) => assert_eq!(read(key.kind, &field), Ok(exact), "{key} {number}"),
                    None => assert_eq!(read(key.kind, &field), Err(ValueError::Digits(38))),
                }
            }
            assert!(fitting >= 6, "{key}");
        }
    }

    #[test]
    fn numbers_fit_up_to_the_ends_of_their_type() {
        let fits = |key: &str, number| {
            let key: Key = key.parse().unwrap();
            super::fits(key.kind, key.bytes, number)
        };
        for (key, least, most) in [
            ("0+1:u8", 0, 255),
            ("0+1:i8", -128, 127),
            ("0+4:i32le", i32::MIN.into(), i32::MAX.into()),
            ("0+8:u64be", 0, u64::MAX.into()),
            ("0+2:packed", -999, 999),
            ("0+3:zoned", -999, 999),
            ("0+2:zoned-ascii", -99, 99),
        ] {
            assert!(fits(key, least) && fits(key, most), "{key}");
            assert!(!fits(key, least - 1) && !fits(key, most + 1), "{key}");
        }
    }

    #[test]
    fn signs_are_those_of_the_architecture() {
        let of = |key: &str, number| {
            let key: Key = key.parse().unwrap();
            written(key.kind, &vec![0; key.bytes], number).unwrap()
        };
        assert_eq!(of("0+2:packed", 123), [0x12, 0x3C]);
        assert_eq!(of("0+2:packed", -7), [0x00, 0x7D]);
        assert_eq!(of("0+2:zoned", 12), [0xF1, 0xF2]);
        assert_eq!(of("0+2:zoned", -12), [0xF1, 0xD2]);
        assert_eq!(of("0+3:zoned-ascii", 120), b"120");
        assert_eq!(of("0+3:zoned-ascii", -120), b"12}");
        assert_eq!(of("0+3:zoned-ascii", -129), b"12R");
        assert_eq!(of("0+2:packed", 0), [0x00, 0x0C]);
        let key: Key = "0+2:zoned-ascii".parse().unwrap();
        assert_eq!(written(key.kind, b"0q", -12).unwrap(), b"1r");
        assert_eq!(written(key.kind, b"0q", 12).unwrap(), b"12");
    }
}
