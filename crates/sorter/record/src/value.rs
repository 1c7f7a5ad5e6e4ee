//! The value of a key, as people write it.

use crate::decimal::Decimal;
use crate::key::{Endian, Key, Kind};

/// The value of a key in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyValue {
    /// Bytes that are no number.
    Bytes,
    /// A number, in digits.
    Number(String),
    /// A key of decimal digits that has others; it comes before all numbers.
    NoNumber,
    /// The record ends before the key does.
    Missing,
}

impl Key {
    /// The value in a record.
    ///
    /// ```
    /// use record::{Key, KeyValue};
    /// let value = |key: &str| key.parse::<Key>().unwrap().value(b"\xfe\xff\x12\x3d");
    /// assert_eq!(value("0+2:i16le"), KeyValue::Number("-2".to_owned()));
    /// assert_eq!(value("2+2:packed"), KeyValue::Number("-123".to_owned()));
    /// assert_eq!(value("0+2:packed"), KeyValue::NoNumber);
    /// assert_eq!(value("0+8"), KeyValue::Missing);
    /// ```
    #[must_use]
    pub fn value(&self, record: &[u8]) -> KeyValue {
        let end = self.offset.saturating_add(self.bytes);
        let Some(field) = record.get(self.offset..end) else {
            return KeyValue::Missing;
        };
        match self.kind {
            Kind::Bytes | Kind::Collated(_) => KeyValue::Bytes,
            Kind::Unsigned(endian) => KeyValue::Number(unsigned(field, endian).to_string()),
            Kind::Signed(endian) => KeyValue::Number(signed(field, endian).to_string()),
            Kind::Float(endian) => {
                let bits = unsigned(field, endian) as u64;
                KeyValue::Number(match field.len() {
                    4 => f32::from_bits(bits as u32).to_string(),
                    _ => f64::from_bits(bits).to_string(),
                })
            }
            Kind::Decimal(Decimal::Year(year)) => {
                let year = year.read(field).map(|year| year.to_string());
                year.map_or(KeyValue::NoNumber, KeyValue::Number)
            }
            Kind::Decimal(decimal) => decimal_value(decimal, field),
        }
    }
}

/// The integer of a field in two's complement.
pub(crate) fn signed(field: &[u8], endian: Endian) -> i128 {
    // The sign is the first bit of the field, not of the word.
    let unused = 128 - 8 * field.len() as u32;
    (unsigned(field, endian) << unused) as i128 >> unused
}

/// The integer of a field.
pub(crate) fn unsigned(field: &[u8], endian: Endian) -> u128 {
    let add = |number, &byte: &u8| number << 8 | u128::from(byte);
    match endian {
        Endian::Big => field.iter().fold(0, add),
        Endian::Little => field.iter().rev().fold(0, add),
    }
}

fn decimal_value(decimal: Decimal, field: &[u8]) -> KeyValue {
    let Some((is_negative, digits)) = decimal.digits(field) else {
        return KeyValue::NoNumber;
    };
    let digits: String = digits.map(|digit| char::from(b'0' + digit)).collect();
    let sign = if is_negative { "-" } else { "" };
    KeyValue::Number(match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => format!("{sign}{digits}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(key: &str, record: &[u8]) -> KeyValue {
        key.parse::<Key>().unwrap().value(record)
    }

    #[test]
    fn numbers_are_read_in_every_type() {
        let number = |text: &str| KeyValue::Number(text.to_owned());
        for (key, record, expected) in [
            ("0+1:u8", &b"\xff"[..], number("255")),
            ("0+1:i8", b"\xff", number("-1")),
            ("1+2:u16be", b"\0\x01\x02", number("258")),
            ("1+2:u16le", b"\0\x01\x02", number("513")),
            ("0+16:i128be", &[0xff; 16], number("-1")),
            ("0+16:u128be", &[0xff; 16], number(&u128::MAX.to_string())),
            ("0+4:f32be", &1.5_f32.to_be_bytes(), number("1.5")),
            ("0+8:f64le", &(-0.25_f64).to_le_bytes(), number("-0.25")),
            ("0+4:packed", b"\x12\x34\x56\x7d", number("-1234567")),
            ("0+1:packed", b"\x0d", number("0")),
            (
                "0+7:zoned",
                b"\xf1\xf2\xf3\xf4\xf5\xf6\xd7",
                number("-1234567"),
            ),
            ("0+4:zoned", b"\xf0\xf0\xf4\xc2", number("42")),
            ("0+7:zoned-ascii", b"123456P", number("-1234567")),
            ("0+3:zoned-ascii", b"a12", KeyValue::NoNumber),
            ("0+2:packed", b"  ", KeyValue::NoNumber),
            ("0+2:y2c=1950", b"\xf2\xf4", number("2024")),
            ("0+2:y2c-ascii=1950", b"50", number("1950")),
            ("0+2:y2p=1975", b"\x07\x4c", number("2074")),
            ("0+1:y2d=1975", b"\x75", number("1975")),
            ("0+1:y2b=2000", b"\x18", number("2024")),
            ("0+1:y2b=1950", b"\x72", number("2014")),
            ("0+2:y2c=1950", b"\x40\x40", KeyValue::NoNumber),
            ("0+2", b"ab", KeyValue::Bytes),
            ("0+2:as-ebcdic", b"ab", KeyValue::Bytes),
            ("1+2", b"ab", KeyValue::Missing),
        ] {
            assert_eq!(value(key, record), expected, "{key}");
        }
    }
}
