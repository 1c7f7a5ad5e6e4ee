//! Dates and times as instants.
//!
//! ```text
//! 2024-02-29T13:45:06.25+01:00      1709210706 seconds since 1970, and .25
//!                                   |  5 bytes, from year 0 on     | 25      word 0, mostly
//! 2024-02-29 12:45                  without a zone, in UTC
//! 2024/02/29, 20240229              without a time, midnight
//! Thu, 29 Feb 2024 12:45:06 GMT     RFC 2822
//! ```
//!
//! The first forms are those of RFC 3339, with more freedom: a blank for `T`, no seconds, `+01`, a
//! fraction of any length. They are read here, because each row's date is read several times. Mail's
//! form is left to the crate `jiff`, which also knows its obsolete zones. As there, a leap second is
//! the second before it.

use std::fmt;

use super::words::Sink;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Seconds from the first instant, at the start of year 0 in a zone far east, to 1970.
const SECONDS_BEFORE_1970: i64 = 719_528 * DAY + DAY;
/// Seconds to the end of year 9999 fit these bytes.
const SECOND_BYTES: usize = 5;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instant<'a> {
    /// Seconds since the start of 1970 in UTC.
    pub(super) seconds: i64,
    /// Digits of a fraction of a second.
    pub(super) fraction: &'a [u8],
}

/// The reason why a text is no date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadDate {
    /// It has another form, or there is no such day or time.
    Form,
    /// A day and a month that can be mistaken for each other.
    Ambiguous,
}

impl<'a> Instant<'a> {
    /// Reads a date, perhaps with blanks around it; `None` if there is nothing else.
    ///
    /// # Errors
    /// If there is something else.
    #[inline]
    pub(super) fn read(text: &'a [u8]) -> Result<Option<Instant<'a>>, BadDate> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Ok(None);
        }
        match plain(text) {
            Some(instant) => Ok(Some(instant)),
            None => other(text).map(Some),
        }
    }

    /// Writes bytes that compare as the instants do.
    #[inline]
    pub(super) fn encode(self, out: &mut impl Sink) {
        let seconds = self.seconds.saturating_add(SECONDS_BEFORE_1970);
        let seconds = seconds.clamp(0, (1 << (8 * SECOND_BYTES)) - 1);
        out.push_all(&seconds.to_be_bytes()[8 - SECOND_BYTES..]);
        for pair in super::number::strip_zeros(self.fraction).chunks(2) {
            let digit = |place: usize| pair.get(place).map_or(0, |digit| digit - b'0');
            out.push(10 * digit(0) + digit(1));
            if out.is_full() {
                return;
            }
        }
    }
}

impl fmt::Display for Instant<'_> {
    /// The day, and unless it is midnight the time, both in UTC.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = day_of(self.seconds.div_euclid(DAY));
        write!(f, "{year:04}-{month:02}-{day:02}")?;
        let second = self.seconds.rem_euclid(DAY);
        if second == 0 && self.fraction.is_empty() {
            return Ok(());
        }
        let (hour, minute) = (second / HOUR, second % HOUR / 60);
        write!(f, " {hour:02}:{minute:02}:{:02}", second % 60)?;
        match std::str::from_utf8(self.fraction) {
            Ok(digits) if !digits.is_empty() => write!(f, ".{digits} UTC"),
            _ => f.write_str(" UTC"),
        }
    }
}

/// Writes bytes that compare as the instants do. A text that is none, which no sort has, counts as
/// an empty one.
#[inline]
pub(super) fn encode(text: &[u8], out: &mut impl Sink) {
    if let Ok(Some(instant)) = Instant::read(text) {
        instant.encode(out);
    }
}

/// The most bytes that the date of a value of so many bytes is encoded in.
pub(super) fn most_bytes(value: usize) -> usize {
    (value / 2).saturating_add(SECOND_BYTES + 1)
}

/// A date whose numbers go from large to small.
#[inline]
fn plain(text: &[u8]) -> Option<Instant<'_>> {
    let (days, rest) = date(text)?;
    let midnight = Instant {
        seconds: days * DAY,
        fraction: &[],
    };
    match rest {
        [] => Some(midnight),
        [b'T' | b't' | b' ', rest @ ..] => time(midnight, rest),
        _ => None,
    }
}

/// The days since 1970 of the date at the start of `text`.
#[inline]
fn date(text: &[u8]) -> Option<(i64, &[u8])> {
    let year = 100 * two(text, 0)? + two(text, 2)?;
    let (month, day, length) = match text.get(4)? {
        b'-' | b'/' => (two(text, 5)?, two(text, 8)?, 10),
        _ => (two(text, 4)?, two(text, 6)?, 8),
    };
    let belongs = match length {
        10 => text[4] == text[7],
        _ => text.len() == 8,
    };
    let days = days(year, month, day).filter(|_| belongs)?;
    Some((days, &text[length..]))
}

/// The days from the start of 1970 to a day, if there is such a day.
#[inline]
pub(super) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let exists = (1..=days_of_month(year, month)?).contains(&day);
    exists.then(|| days_since_1970(year, month, day))
}

/// The number of two digits at a place.
#[inline]
fn two(text: &[u8], at: usize) -> Option<i64> {
    let [tens, ones] = text.get(at..)?.first_chunk::<2>()?;
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| i64::from(10 * tens + ones))
}

fn days_of_month(year: i64, month: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(28 + i64::from(is_leap)),
        1..=12 => Some(31),
        _ => None,
    }
}

/// The days from the start of 1970, in the Gregorian calendar also before it began.
#[inline]
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin with March have the leap day at their end. From there on months of 31 and 30
    // days alternate, in fives: 153 days.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let of_years = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    of_years + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// The year, month and day that many days from the start of 1970.
fn day_of(days: i64) -> (i64, i64, i64) {
    // Years of 146,097 / 400 days, the mean, begin less than two days from those of the calendar.
    let about = 1970 + (400 * days).div_euclid(146_097);
    let begun = |year: &i64| days_since_1970(*year, 1, 1) <= days;
    let year = [about + 1, about]
        .into_iter()
        .find(begun)
        .unwrap_or(about - 1);
    let begins = |month: &i64| days_since_1970(year, *month, 1) <= days;
    let month = (1..=12).rev().find(begins).unwrap_or(1);
    (year, month, days - days_since_1970(year, month, 1) + 1)
}

/// The time behind a date, to the end of `text`: `HH:MM[:SS[.FRACTION]][ZONE]`.
#[inline]
fn time<'a>(midnight: Instant<'a>, text: &'a [u8]) -> Option<Instant<'a>> {
    let (hour, minute) = (two(text, 0)?, two(text, 3)?);
    let mut rest = &text[5..];
    let mut second = 0;
    let mut fraction: &[u8] = &[];
    if let [b':', behind @ ..] = rest {
        second = two(behind, 0)?;
        rest = &behind[2..];
        if let [b'.' | b',', behind @ ..] = rest {
            fraction = super::number::digits(behind);
            rest = &behind[fraction.len()..];
            if fraction.is_empty() {
                return None;
            }
        }
    }
    let exists = text[2] == b':' && hour < 24 && minute < 60 && second <= 60;
    let offset = zone(rest)?;
    let time = hour * HOUR + minute * MINUTE + second.min(59);
    exists.then_some(Instant {
        seconds: midnight.seconds + time - offset,
        fraction,
    })
}

/// The seconds that a zone is ahead of UTC: `Z`, `+HH`, `+HHMM`, `+HH:MM`, or nothing, which is UTC.
#[inline]
pub(super) fn zone(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix(b" ").unwrap_or(text) {
        [] if text.is_empty() => return Some(0),
        [b'Z' | b'z'] => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let hour = two(digits, 0)?;
    let minute = match &digits[2..] {
        [] => 0,
        [b':', minute @ ..] | minute if minute.len() == 2 => two(minute, 0)?,
        _ => return None,
    };
    let exists = hour < 24 && minute < 60;
    exists.then_some(sign * (hour * HOUR + minute * MINUTE))
}

/// A date of mail; or the reason why a text is no date.
#[cold]
fn other(text: &[u8]) -> Result<Instant<'_>, BadDate> {
    if is_ambiguous(text) {
        return Err(BadDate::Ambiguous);
    }
    mail(text).ok_or(BadDate::Form)
}

/// A date of mail.
#[cfg(feature = "dates")]
fn mail(text: &[u8]) -> Option<Instant<'_>> {
    let mail = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text);
    mail.ok().map(|mail| Instant {
        seconds: mail.as_second(),
        fraction: &[],
    })
}

#[cfg(not(feature = "dates"))]
fn mail(_: &[u8]) -> Option<Instant<'_>> {
    None
}

/// Whether a text begins as `1/2/2024`, `1.2.24` or `01-02-2024` do.
fn is_ambiguous(text: &[u8]) -> bool {
    let first = super::number::digits(text);
    let Some((separator @ (b'/' | b'.' | b'-'), rest)) = text[first.len()..].split_first() else {
        return false;
    };
    let second = super::number::digits(rest);
    let third = match rest[second.len()..].strip_prefix(&[*separator]) {
        Some(rest) => super::number::digits(rest),
        None => return false,
    };
    let is_short = |digits: &[u8]| (1..=2).contains(&digits.len());
    is_short(first) && is_short(second) && matches!(third.len(), 2 | 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_told_as_it_was_written() {
        for year in (0..=9999).step_by(7).chain([1600, 1900, 1970, 2000, 2024]) {
            for (month, day) in [(1, 1), (2, 28), (3, 1), (7, 15), (12, 31)] {
                let days = days_since_1970(year, month, day);
                assert_eq!(day_of(days), (year, month, day));
            }
        }
        assert_eq!(day_of(days_since_1970(2024, 2, 29)), (2024, 2, 29));
        let told = |text: &str| Instant::read(text.as_bytes()).unwrap().unwrap().to_string();
        assert_eq!(told("1969-12-31"), "1969-12-31");
        assert_eq!(
            told("2024-01-05T23:30:00.250-02:00"),
            "2024-01-06 01:30:00.250 UTC"
        );
    }
}
