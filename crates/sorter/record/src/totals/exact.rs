//! Decimal numbers that are added up exactly.
//!
//! ```text
//! 9.5 + 3.25 = 12.75        95 at scale 1, 325 at scale 2: 1275 at scale 2
//! 1.50 + 1.50 = 3.00        decimal places stay, as those of money
//! ```

use std::fmt;

use crate::rows::{ValueError, ValueKind};

/// The most digits of a number and of a total: all such numbers fit 128 bits, as DECIMAL(38) of databases does.
pub(super) const MOST_DIGITS: u32 = 38;

/// The first number with more digits.
const END: i128 = 10_i128.pow(MOST_DIGITS);

/// A decimal number of at most 38 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    /// The number without its point.
    units: i128,
    /// Digits behind the point.
    scale: u32,
}

impl Exact {
    pub(super) fn whole(units: i128) -> Option<Exact> {
        let fits = units.unsigned_abs() < END.unsigned_abs();
        fits.then_some(Exact { units, scale: 0 })
    }

    /// The number of a text, perhaps with blanks around it; `None` if there is nothing else.
    ///
    /// # Errors
    /// If it is no number, or has too many digits.
    pub(super) fn read(text: &[u8]) -> Result<Option<Exact>, ValueError> {
        ValueKind::Number.check(text)?;
        let text = text.trim_ascii();
        if text.is_empty() {
            return Ok(None);
        }
        Exact::of_number(text)
            .ok_or(ValueError::Digits(MOST_DIGITS))
            .map(Some)
    }

    fn of_number(text: &[u8]) -> Option<Exact> {
        let (mantissa, power) = match memchr::memchr2(b'e', b'E', text) {
            None => (text, 0),
            Some(at) => {
                let power = std::str::from_utf8(&text[at + 1..]).ok()?;
                (&text[..at], power.parse::<i64>().ok()?)
            }
        };
        let (mut units, mut scale, mut is_behind) = (0_i128, -power, false);
        for &byte in mantissa {
            if byte.is_ascii_digit() {
                units = units.checked_mul(10)? + i128::from(byte - b'0');
                scale += i64::from(is_behind);
            } else {
                is_behind |= byte == b'.';
            }
            if units >= END {
                return None;
            }
        }
        if mantissa.first() == Some(&b'-') {
            units = -units;
        }
        if units == 0 {
            scale = scale.clamp(0, MOST_DIGITS.into());
        }
        // A power of ten ends a whole number with zeros.
        let zeros = u32::try_from((-scale).max(0)).ok()?;
        let scale = u32::try_from(scale.max(0)).ok();
        Some(Exact {
            units: shifted(units, zeros)?,
            scale: scale.filter(|scale| *scale <= MOST_DIGITS)?,
        })
    }

    /// The sum; `None` if it has too many digits.
    pub(super) fn plus(self, other: Exact) -> Option<Exact> {
        let scale = self.scale.max(other.scale);
        let at_scale = |number: Exact| shifted(number.units, scale - number.scale);
        let units = at_scale(self)?.checked_add(at_scale(other)?)?;
        (units.unsigned_abs() < END.unsigned_abs()).then_some(Exact { units, scale })
    }

    /// A number by which such numbers are compared that were added up in any order: it adds up as they do.
    pub(super) fn checksum(self) -> u128 {
        let at_most_places = 10_u128.pow(MOST_DIGITS - self.scale);
        (self.units as u128).wrapping_mul(at_most_places)
    }

    /// The number without its point; that of a whole one is the number.
    pub(super) fn units(self) -> i128 {
        self.units
    }
}

/// A number with so many zeros more; `None` if it has too many digits.
fn shifted(units: i128, zeros: u32) -> Option<i128> {
    let shifted = units.checked_mul(10_i128.checked_pow(zeros)?)?;
    (shifted.unsigned_abs() < END.unsigned_abs()).then_some(shifted)
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.units < 0 { "-" } else { "" };
        let (units, one) = (self.units.unsigned_abs(), 10_u128.pow(self.scale));
        write!(f, "{sign}{}", units / one)?;
        match self.scale as usize {
            0 => Ok(()),
            scale => write!(f, ".{:0scale$}", units % one),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Exact {
        Exact::read(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn sums_are_exact() {
        for (a, b, sum) in [
            ("9.5", "3.25", "12.75"),
            ("1.50", "1.50", "3.00"),
            ("0.1", "0.2", "0.3"),
            ("-0.05", "0.04", "-0.01"),
            ("5", "-9", "-4"),
            ("1e3", "1", "1001"),
            ("12e-3", "0", "0.012"),
            ("+7", " 8 ", "15"),
            (".5", "5.", "5.5"),
            ("-0", "-0", "0"),
            ("0e99", "1", "1"),
            ("0e-99", "-0.0", &format!("0.{}", "0".repeat(38))),
            ("00012", "1E+0002", "112"),
            (
                "99999999999999999999999999999999999998",
                "1",
                &"9".repeat(38),
            ),
        ] {
            let total = read(a).plus(read(b)).unwrap();
            assert_eq!(total.to_string(), sum, "{a} + {b}");
            assert_eq!(read(b).plus(read(a)), Some(total), "{b} + {a}");
        }
    }

    #[test]
    fn a_total_of_39_digits_is_none() {
        let most = read(&"9".repeat(38));
        assert_eq!(most.plus(read("1")), None);
        assert_eq!(most.plus(read("0.1")), None);
        assert_eq!(Exact::whole(END), None);
        assert_eq!(Exact::whole(-END), None);
        assert_eq!(Exact::whole(i128::MIN), None);
        for text in ["1e38", "1e-39", &"1".repeat(39), "1e999999999999999999"] {
            let error = Exact::read(text.as_bytes()).unwrap_err();
            assert_eq!(error, ValueError::Digits(38), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        assert_eq!(Exact::read(b""), Ok(None));
        assert_eq!(Exact::read(b"  "), Ok(None));
        for text in ["x", "1,5", "1.2.3", "true", "--1", "1e", "."] {
            assert!(Exact::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
