//! Sizes in bytes with a unit, as `du -h`, `ls -h` and vendors of disks write them.
//!
//! ```text
//! 512   512B        1
//! 1K   1Ki  1KiB    1,024      and M, G, T, P, E, Z, Y, R, Q its powers
//! 1kB  1KB          1,000      the same
//! ```

use num_bigint::BigUint;

use crate::text::decimal;
use crate::text::number::digits;
use crate::text::row::ValueError;
use crate::text::words::Sink;

/// The units above bytes, each by its power.
const UNITS: &[u8] = b"KMGTPEZYRQ";

/// Digits of the largest unit, 1024 to the tenth power, and of an exponent.
pub(super) const MOST_DIGITS: usize = 31 + 24;

pub(super) fn encode(value: &[u8], out: &mut impl Sink) -> Result<(), ValueError> {
    let text = value.trim_ascii();
    let negative = text.starts_with(b"-");
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(text);
    let behind = &text[whole.len()..];
    let fraction = behind.strip_prefix(b".").map_or(&[][..], digits);
    let point = usize::from(behind.starts_with(b"."));
    let unit = behind[point + fraction.len()..].trim_ascii_start();
    let (power, base) = unit_of(unit).ok_or(ValueError::NotASize)?;
    if whole.is_empty() && fraction.is_empty() {
        return Err(ValueError::NotASize);
    }
    let all = [whole, fraction].concat();
    let sign = if negative { "-" } else { "" };
    let (number, exponent) = if base == 1024 && power > 0 {
        let number = BigUint::parse_bytes(&all, 10).ok_or(ValueError::NotASize)?;
        let number = number * BigUint::from(1024_u32).pow(power);
        (number.to_string(), 0)
    } else {
        let number = String::from_utf8(all).map_err(|_| ValueError::NotASize)?;
        (number, 3 * i64::from(power))
    };
    let exponent = exponent - fraction.len() as i64;
    decimal::encode(format!("{sign}{number}e{exponent}").as_bytes(), out);
    Ok(())
}

/// The power and the base of a unit.
fn unit_of(unit: &[u8]) -> Option<(u32, u32)> {
    let Some((first, rest)) = unit.split_first() else {
        return Some((0, 1024));
    };
    if first.eq_ignore_ascii_case(&b'b') {
        return rest.is_empty().then_some((0, 1024));
    }
    let first = first.to_ascii_uppercase();
    let power = UNITS.iter().position(|unit| *unit == first)? as u32 + 1;
    match rest {
        [] | [b'i'] | [b'i', b'B' | b'b'] => Some((power, 1024)),
        [b'B' | b'b'] => Some((power, 1000)),
        _ => None,
    }
}
