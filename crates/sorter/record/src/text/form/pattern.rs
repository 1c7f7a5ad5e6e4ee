//! Dates as they are written: the day or the month first, with names of months, or by a pattern of `strptime`.
//!
//! ```text
//! dmy        5/1/2024   05.01.24 17:30   5 Jan 2024, 5:30:01 PM      2024-01-05
//! mdy        1/5/2024   Jan 5, 2024      January 5th 2024            2024-01-05
//! %d.%m.%y   05.01.24                                                2024-01-05
//! ```
//!
//! A year of two digits is from 1969 to 2068, as POSIX has it. Names of months are English, with three letters or
//! more. Without a zone a time is in UTC.

use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use crate::text::date::{self, Instant};
use crate::text::month;
use crate::text::number::digits;
use crate::text::row::ValueError;
use crate::text::words::Sink;

/// How dates are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatePattern {
    /// `dmy`.
    DayFirst,
    /// `mdy`.
    MonthFirst,
    /// A pattern, which lives as long as the process: few are ever asked for.
    Pattern(&'static str),
}

static KNOWN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// The directives of a pattern.
const DIRECTIVES: &str = "YymdeHIMSfpbBhaAjszZTDFRnt%";

/// The year of a date without one: a leap year, so that each day exists.
const NO_YEAR: i64 = 1972;

impl DatePattern {
    /// Reads `dmy`, `mdy` or a pattern; `None` if it is none of them.
    #[must_use]
    pub fn new(text: &str) -> Option<DatePattern> {
        match text {
            "dmy" => return Some(DatePattern::DayFirst),
            "mdy" => return Some(DatePattern::MonthFirst),
            _ => {}
        }
        let mut letters = text.chars();
        let mut directives = 0;
        while let Some(letter) = letters.next() {
            if letter == '%' {
                letters.next().filter(|next| DIRECTIVES.contains(*next))?;
                directives += 1;
            }
        }
        if directives == 0 {
            return None;
        }
        // Nothing that panics runs while it is locked.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().copied().find(|pattern| *pattern == text);
        Some(DatePattern::Pattern(found.unwrap_or_else(|| {
            let pattern: &'static str = Box::leak(text.into());
            known.push(pattern);
            pattern
        })))
    }

    /// The text of [`DatePattern::new`].
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            DatePattern::DayFirst => "dmy",
            DatePattern::MonthFirst => "mdy",
            DatePattern::Pattern(pattern) => pattern,
        }
    }

    pub(super) fn encode(self, value: &[u8], out: &mut impl Sink) -> Result<(), ValueError> {
        let instant = self.instant(value).ok_or(ValueError::NotOfPattern(self))?;
        instant.encode(out);
        Ok(())
    }

    /// The date of a value that has this form.
    pub(super) fn instant(self, value: &[u8]) -> Option<Instant<'_>> {
        let text = value.trim_ascii();
        let mut found = Parts::default();
        let read = match self {
            DatePattern::DayFirst => found.read_free(text, true),
            DatePattern::MonthFirst => found.read_free(text, false),
            DatePattern::Pattern(pattern) => found.read(text, pattern.as_bytes()),
        };
        let rest = read?;
        found.instant().filter(|_| rest.is_empty())
    }

    /// The part of a text that makes it no pattern.
    pub(super) fn mistake(text: &str) -> String {
        let mut letters = text.chars();
        while letters.any(|letter| letter == '%') {
            match letters.next() {
                Some(letter) if DIRECTIVES.contains(letter) => {}
                Some(letter) => return format!("%{letter} is none of its letters"),
                None => return "a % at its end has no letter".to_owned(),
            }
        }
        "it has no %".to_owned()
    }
}

/// The parts of a date that were read.
#[derive(Default)]
struct Parts<'a> {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    /// From 1, of the year.
    day_of_year: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    fraction: &'a [u8],
    /// Whether the hour has AM or PM behind it: the latter.
    is_afternoon: Option<bool>,
    /// Seconds ahead of UTC.
    offset: i64,
    /// Seconds since 1970, which stand for all others.
    epoch: Option<i64>,
}

impl<'a> Parts<'a> {
    /// Reads a text by a pattern, and returns the rest of the text.
    fn read(&mut self, mut text: &'a [u8], pattern: &[u8]) -> Option<&'a [u8]> {
        let mut letters = pattern.iter();
        while let Some(&letter) = letters.next() {
            text = match letter {
                b'%' => self.directive(text, *letters.next()?)?,
                b' ' => text.trim_ascii_start(),
                letter => text.strip_prefix(&[letter])?,
            };
        }
        Some(text)
    }

    fn directive(&mut self, text: &'a [u8], directive: u8) -> Option<&'a [u8]> {
        let number = |most, place: &mut i64| {
            let (found, rest) = number(text, most)?;
            *place = found;
            Some(rest)
        };
        match directive {
            // A year of two digits, which `%y` reads, is no year of the first century.
            b'Y' if digits(text).len() >= 4 => number(4, self.year.insert(0)),
            b'Y' => None,
            b'y' => {
                let rest = number(2, self.year.insert(0))?;
                self.year = self.year.map(of_two_digits);
                Some(rest)
            }
            b'm' => number(2, self.month.insert(0)),
            b'd' | b'e' => number(2, self.day.insert(0)),
            b'j' => number(3, self.day_of_year.insert(0)),
            b'H' | b'I' => number(2, &mut self.hour),
            b'M' => number(2, &mut self.minute),
            b'S' => number(2, &mut self.second),
            b's' => number(11, self.epoch.insert(0)),
            b'f' => {
                self.fraction = digits(text);
                let rest = &text[self.fraction.len()..];
                (!self.fraction.is_empty()).then_some(rest)
            }
            b'p' => self.half_of_day(text),
            b'b' | b'B' | b'h' => {
                let (found, rest) = month_name(text)?;
                self.month = Some(found);
                Some(rest)
            }
            b'a' | b'A' => {
                let (day, rest) = letters(text);
                (day.len() >= 3).then_some(rest)
            }
            b'z' | b'Z' => self.zone(text),
            b'T' => self.read(text, b"%H:%M:%S"),
            b'R' => self.read(text, b"%H:%M"),
            b'D' => self.read(text, b"%m/%d/%y"),
            b'F' => self.read(text, b"%Y-%m-%d"),
            b'n' | b't' => Some(text.trim_ascii_start()),
            _ => text.strip_prefix(b"%"),
        }
    }

    fn half_of_day(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        let (half, rest) = text.split_first_chunk::<2>()?;
        self.is_afternoon = Some(match &half.map(|letter| letter.to_ascii_uppercase()) {
            b"AM" => false,
            b"PM" => true,
            _ => return None,
        });
        Some(rest)
    }

    fn zone(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        let (name, rest) = letters(text);
        if matches!(name, b"UTC" | b"GMT" | b"Z" | b"z") {
            return Some(rest);
        }
        let belongs = |byte: &&u8| byte.is_ascii_digit() || b"+-:".contains(byte);
        let length = text.iter().take_while(belongs).count();
        self.offset = date::zone(&text[..length]).filter(|_| length > 0)?;
        Some(&text[length..])
    }

    /// Reads a date of three parts with any of `/ . - ,` and blanks between them, then perhaps a time.
    fn read_free(&mut self, text: &'a [u8], day_first: bool) -> Option<&'a [u8]> {
        let mut rest = text;
        let mut numbers = [(0, 0); 3];
        let (mut found, mut named) = (0, false);
        for part in 0..3 {
            let here = digits(rest);
            if here.is_empty() {
                let (month, behind) = month_name(rest).filter(|_| !named)?;
                (self.month, named, rest) = (Some(month), true, behind);
            } else {
                let (value, behind) = number(rest, 4)?;
                numbers[found] = (value, here.len());
                found += 1;
                // 1st, 2nd, 3rd, 4th
                let (ending, after) = letters(behind);
                rest = if matches!(ending, b"st" | b"nd" | b"rd" | b"th") {
                    after
                } else {
                    behind
                };
            }
            if part < 2 {
                rest = past_separator(rest)?;
            }
        }
        let (first, second, third) = (numbers[0], numbers[1], numbers[2]);
        let (year, month, day) = match (found, first.1) {
            (2, 4) => (first, None, second),
            (2, _) => (second, None, first),
            (3, 4) => (first, Some(second), third),
            (3, _) if day_first => (third, Some(second), first),
            (3, _) => (third, Some(first), second),
            _ => return None,
        };
        self.year = Some(match year.1 {
            4 => year.0,
            2 => of_two_digits(year.0),
            _ => return None,
        });
        self.day = Some(day.0).filter(|_| day.1 <= 2);
        self.day?;
        if let Some((month, length)) = month {
            self.month = Some(month).filter(|_| length <= 2);
        }
        self.month?;
        let time = match rest {
            [] => return Some(rest),
            [b'T', time @ ..] => time,
            [b',' | b' ', ..] => rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start(),
            _ => return None,
        };
        self.read_time(time)
    }

    /// Reads a time: `H:MM[:SS[.FRACTION]] [AM|PM] [ZONE]`.
    fn read_time(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        let mut rest = self.read(text, b"%H:%M")?;
        if rest.starts_with(b":") {
            rest = self.read(rest, b":%S")?;
            if rest.starts_with(b".") {
                rest = self.read(rest, b".%f")?;
            }
        }
        rest = rest.trim_ascii_start();
        rest = self.half_of_day(rest).unwrap_or(rest).trim_ascii_start();
        if rest.is_empty() {
            Some(rest)
        } else {
            self.zone(rest)
        }
    }

    /// The instant, if there is such a day and time.
    fn instant(&self) -> Option<Instant<'a>> {
        if let Some(seconds) = self.epoch {
            let fraction = self.fraction;
            return Some(Instant { seconds, fraction });
        }
        let year = self.year.unwrap_or(NO_YEAR);
        let days = match self.day_of_year {
            Some(day) => {
                let (first, next) = (date::days(year, 1, 1)?, date::days(year + 1, 1, 1)?);
                Some(first + day - 1).filter(|found| day > 0 && *found < next)?
            }
            None => date::days(year, self.month.unwrap_or(1), self.day.unwrap_or(1))?,
        };
        let hour = match self.is_afternoon {
            None => self.hour,
            Some(is_afternoon) if (1..=12).contains(&self.hour) => {
                self.hour % 12 + if is_afternoon { 12 } else { 0 }
            }
            Some(_) => return None,
        };
        // A leap second is the second before it.
        let exists = hour < 24 && self.minute < 60 && self.second <= 60;
        let time = (hour * 60 + self.minute) * 60 + self.second.min(59);
        exists.then_some(Instant {
            seconds: days * 24 * 60 * 60 + time - self.offset,
            fraction: self.fraction,
        })
    }
}

fn of_two_digits(year: i64) -> i64 {
    if year < 69 { 2000 + year } else { 1900 + year }
}

/// The number of at most so many digits at the start of `text`, and the rest.
fn number(text: &[u8], most: usize) -> Option<(i64, &[u8])> {
    let found = digits(&text[..text.len().min(most)]);
    let add = |number: i64, digit: &u8| 10 * number + i64::from(digit - b'0');
    (!found.is_empty()).then(|| (found.iter().fold(0, add), &text[found.len()..]))
}

/// The text behind one separator, or a comma or point and blanks.
fn past_separator(text: &[u8]) -> Option<&[u8]> {
    let rest = match text {
        [b'/' | b'-', rest @ ..] => return Some(rest),
        [b'.' | b',', rest @ ..] => rest,
        rest => rest,
    };
    let behind = rest.trim_ascii_start();
    (behind.len() < text.len()).then_some(behind)
}

/// The letters at the start of `text`, and the rest.
fn letters(text: &[u8]) -> (&[u8], &[u8]) {
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic();
    text.split_at(text.iter().take_while(is_letter).count())
}

/// The month of a name or of its first letters, three or more, perhaps with a point behind them.
fn month_name(text: &[u8]) -> Option<(i64, &[u8])> {
    let (name, rest) = letters(text);
    let month = month::of_name(name)?;
    Some((i64::from(month), rest.strip_prefix(b".").unwrap_or(rest)))
}
