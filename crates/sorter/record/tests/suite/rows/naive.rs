//! The order of values, with memory for everything and no haste.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};
use record::rows::ValueKind;

use super::forms;

/// The order of two values of a kind.
pub fn compare(kind: ValueKind, a: &[u8], b: &[u8]) -> Ordering {
    match kind {
        ValueKind::Text => a.cmp(b),
        ValueKind::Natural => natural(a).cmp(&natural(b)),
        ValueKind::Number => number(a).cmp(&number(b)),
        ValueKind::Date => instant(a).cmp(&instant(b)),
        ValueKind::Form(form) => {
            let text = |value| std::str::from_utf8(value).unwrap();
            forms::compare(form, text(a), text(b))
        }
    }
}

/// A byte, or a run of digits in the place of digits.
fn natural(text: &[u8]) -> Vec<(u8, BigUint)> {
    let same = |a: &u8, b: &u8| a.is_ascii_digit() && b.is_ascii_digit();
    let runs = text.chunk_by(same);
    runs.map(|run| {
        if run[0].is_ascii_digit() {
            (b'0', BigUint::parse_bytes(run, 10).unwrap())
        } else {
            (run[0], BigUint::default())
        }
    })
    .collect()
}

/// A number times 10^SCALE.
fn number(text: &[u8]) -> Option<BigInt> {
    const SCALE: usize = 200;
    let text = std::str::from_utf8(text).unwrap().trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let power: i64 = power.parse().unwrap();
    let zeros = (SCALE as i64 + power) as usize - fraction.len();
    let digits = format!("{whole}{fraction}{}", "0".repeat(zeros));
    (!text.is_empty()).then(|| digits.parse().unwrap())
}

/// Seconds as `jiff` finds them, and the digits of the fraction.
pub fn instant(text: &[u8]) -> (i64, String) {
    let text = std::str::from_utf8(text)
        .unwrap()
        .to_ascii_uppercase()
        .replace('/', "-");
    let (text, fraction) = match text.split_once('.') {
        None => (text.clone(), String::new()),
        Some((before, rest)) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let fraction = rest[..digits].trim_end_matches('0');
            (format!("{before}{}", &rest[digits..]), fraction.to_owned())
        }
    };
    let text = text.replace(' ', "T");
    let (date, time) = text.split_once('T').unwrap_or((&text, "00:00"));
    let date: jiff::civil::Date = date.parse().unwrap();
    let zoned = time.find(['Z', '+', '-']);
    let (time, zone) = time.split_at(zoned.unwrap_or(time.len()));
    let time: jiff::civil::Time = time.parse().unwrap();
    let unzoned = date
        .to_datetime(time)
        .to_zoned(jiff::tz::TimeZone::UTC)
        .unwrap();
    let seconds = unzoned.timestamp().as_second();
    (seconds - offset(zone), fraction)
}

fn offset(zone: &str) -> i64 {
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let number = |range| {
        digits
            .get(range)
            .map_or(0, |digits: &str| digits.parse::<i64>().unwrap())
    };
    let size = 3600 * number(0..2) + 60 * number(2..4);
    if zone.starts_with('-') { -size } else { size }
}
