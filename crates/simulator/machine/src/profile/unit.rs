//! Units of the numbers in a profile's file.
//!
//! Each unit has a range, so a wrong number is an error at its line. Decimals become whole numbers
//! when they are read, so no run depends on floating-point numbers.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

use crate::schedule::Ticks;

/// Far above any machine; a few thousand times this, the longest wait for a timeout, fits 64 bits.
const MOST_WHOLE: u64 = 1_000_000_000_000;

/// Ticks of a step of a core or NIC, or of a unit of work. 2^32 keys of a million ticks and 32
/// levels each take 2^57 ticks, as do that many messages of 128 words.
const MOST_CYCLES: u64 = 1_000_000;

/// A second in nanoseconds: slower than any link.
const MOST_DECIMAL: u64 = 1_000_000_000;

/// A duration in nanoseconds, with a resolution of a femtosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nanoseconds {
    femtoseconds: u64,
}

impl Nanoseconds {
    /// `ns` nanoseconds, rounded.
    pub fn of(ns: f64) -> Nanoseconds {
        Nanoseconds {
            femtoseconds: (ns * 1e6).round() as u64,
        }
    }

    /// The number of nanoseconds.
    pub fn value(self) -> f64 {
        self.femtoseconds as f64 / 1e6
    }
}

impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Nanoseconds, D::Error> {
        let picoseconds = thousandths(from)?;
        Ok(Nanoseconds {
            femtoseconds: picoseconds * 1000,
        })
    }
}

/// The ticks of a step; may be 0.
impl<'de> Deserialize<'de> for Ticks {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Ticks, D::Error> {
        whole(from, 0, MOST_CYCLES).map(Ticks)
    }
}

/// A time that may be much longer than a step.
pub(super) fn long_time<'de, D: Deserializer<'de>>(from: D) -> Result<Ticks, D::Error> {
    whole(from, 0, MOST_WHOLE).map(Ticks)
}

/// The bytes of an optional key; may be 0.
pub(super) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    whole(from, 0, MOST_WHOLE).map(Some)
}

/// A count of at least 1.
pub(super) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    whole(from, 1, u64::from(u32::MAX)).map(|count| count as u32)
}

/// A count that may be 0.
pub(super) fn from_0<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    whole(from, 0, u64::from(u32::MAX)).map(|count| count as u32)
}

/// The rate of an optional key, in thousandths; above 0.
pub(super) fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    match thousandths(from)? {
        0 => Err(D::Error::custom("expected a rate above 0")),
        rate => Ok(Some(rate)),
    }
}

/// A decimal in thousandths of its unit; may be 0.
pub(super) fn thousandths<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_any(Decimal { most: MOST_DECIMAL })
}

/// The ticks of a unit of work, in thousandths; may be 0.
pub(super) fn cost<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_any(Decimal { most: MOST_CYCLES })
}

/// The bytes of a cache; may be 0.
pub(super) fn cache<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    whole(from, 0, MOST_WHOLE)
}

fn whole<'de, D: Deserializer<'de>>(from: D, least: u64, most: u64) -> Result<u64, D::Error> {
    from.deserialize_u64(Range { least, most })
}

/// Reads whole numbers of a range.
struct Range {
    least: u64,
    most: u64,
}

impl Visitor<'_> for Range {
    type Value = u64;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a whole number from {} to {}", self.least, self.most)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        let found = u64::try_from(number)
            .ok()
            .filter(|n| (self.least..=self.most).contains(n));
        found.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}

/// Reads numbers with up to three decimals, as thousandths.
struct Decimal {
    most: u64,
}

impl Visitor<'_> for Decimal {
    type Value = u64;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "a number from 0 to {}, with at most three decimals",
            self.most
        )
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        let found = u64::try_from(number).ok().filter(|n| *n <= self.most);
        found
            .map(|n| n * 1000)
            .ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        let thousandths = (number * 1000.0).round();
        // A number with at most three decimals is restored exactly from its thousandths.
        if (0.0..=self.most as f64).contains(&number) && thousandths / 1000.0 == number {
            return Ok(thousandths as u64);
        }
        Err(E::invalid_value(Unexpected::Float(number), &self))
    }
}
