//! Semantic versions (semver.org, 2.0.0), with fewer or more numbers if need be.
//!
//! ```text
//! v1.2        NUMBER 1  NUMBER 2  RELEASE               equal to 1.2.0: zeros at the end are left out
//! 1.2.0-rc.1  NUMBER 1  NUMBER 2  BEFORE  TEXT rc END  NUMERAL 1  LAST
//! 1.2.1       NUMBER 1  NUMBER 2  NUMBER 1  RELEASE     BEFORE < RELEASE < NUMBER
//! ```
//!
//! A build, behind a plus, does not count.

use crate::text::row::ValueError;
use crate::text::version::encode_number;
use crate::text::words::Sink;

const BEFORE: u8 = 1;
const RELEASE: u8 = 2;
const NUMBER: u8 = 3;

/// Parts of the name of a candidate: fewer parts are before more, and numerals before texts.
const LAST: u8 = 0;
const NUMERAL: u8 = 1;
const TEXT: u8 = 2;
/// Behind a text, whose bytes are larger.
const END: u8 = 0;

pub(super) fn encode(value: &[u8], out: &mut impl Sink) -> Result<(), ValueError> {
    let text = value.trim_ascii();
    let text = match text {
        [b'v' | b'V', rest @ ..] => rest,
        rest => rest,
    };
    let mut around = text.splitn(2, |byte| *byte == b'+');
    let version = around.next().unwrap_or_default();
    let mut halves = version.splitn(2, |byte| *byte == b'-');
    let numbers = halves.next().unwrap_or_default();
    let candidate = halves.next();
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let is_name = |part: &[u8]| {
        let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        !part.is_empty() && part.iter().all(belongs)
    };
    let all =
        |text: &[u8], holds: &dyn Fn(&[u8]) -> bool| text.split(|byte| *byte == b'.').all(holds);
    let build = around.next();
    let is_right = all(numbers, &is_number)
        && candidate.is_none_or(|names| all(names, &is_name))
        && build.is_none_or(|names| all(names, &is_name));
    if !is_right {
        return Err(ValueError::NotAVersion);
    }
    let is_zero = |part: &[u8]| part.iter().all(|digit| *digit == b'0');
    let zeros = numbers.rsplit(|byte| *byte == b'.');
    let zeros = zeros.take_while(|part| is_zero(part)).count();
    let counted = numbers.split(|byte| *byte == b'.').count() - zeros;
    for part in numbers.split(|byte| *byte == b'.').take(counted) {
        out.push(NUMBER);
        encode_number(part, out);
    }
    let Some(candidate) = candidate else {
        out.push(RELEASE);
        return Ok(());
    };
    out.push(BEFORE);
    for part in candidate.split(|byte| *byte == b'.') {
        if is_number(part) {
            out.push(NUMERAL);
            encode_number(part, out);
        } else {
            out.push(TEXT);
            out.push_all(part);
            out.push(END);
        }
    }
    out.push(LAST);
    Ok(())
}

/// A number of one digit, or a text of one byte, takes at most three bytes, and points are left out.
pub(super) fn most_bytes(value: usize) -> usize {
    value.saturating_mul(3).saturating_add(16)
}
