//! Numbers of a profile as they stand in its file.
//!
//! Each kind says which numbers it takes, so that a wrong one is refused at its line. Decimals
//! become thousandths at once: nothing that a run depends on is a fraction.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

/// Far above any machine; a few thousand of them, as the longest wait for a timeout is, fit 64
/// bits.
const MOST_WHOLE: u64 = 1_000_000_000_000;

/// Ticks of one step of a core or NIC, or of one unit of work. 2^32 keys at a million ticks and 32
/// levels each are 2^57 ticks, and so are as many messages of 128 words.
const MOST_CYCLES: u64 = 1_000_000;

/// A second in nanoseconds: slower than any link.
const MOST_DECIMAL: u64 = 1_000_000_000;

/// Ticks or bytes; may be 0.
#[derive(Clone, Copy)]
pub struct Whole(pub u64);

/// Ticks of one step; may be 0.
#[derive(Clone, Copy)]
pub struct Cycles(pub u64);

/// Thousandths of the ticks of one unit of work; may be 0.
#[derive(Clone, Copy)]
pub struct Cost(pub u64);

/// How many there are: at least one.
#[derive(Clone, Copy)]
pub struct Count(pub u32);

/// Thousandths of a unit; may be 0.
#[derive(Clone, Copy)]
pub struct Thousandths(pub u64);

impl Thousandths {
    /// The number as it stood in the file.
    pub fn value(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Whole, D::Error> {
        let range = Range {
            least: 0,
            most: MOST_WHOLE,
        };
        from.deserialize_u64(range).map(Whole)
    }
}

impl<'de> Deserialize<'de> for Cycles {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Cycles, D::Error> {
        let range = Range {
            least: 0,
            most: MOST_CYCLES,
        };
        from.deserialize_u64(range).map(Cycles)
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Cost, D::Error> {
        from.deserialize_any(Decimal { most: MOST_CYCLES })
            .map(Cost)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Count, D::Error> {
        let range = Range {
            least: 1,
            most: u64::from(u32::MAX),
        };
        from.deserialize_u64(range).map(|count| Count(count as u32))
    }
}

impl<'de> Deserialize<'de> for Thousandths {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Thousandths, D::Error> {
        from.deserialize_any(Decimal { most: MOST_DECIMAL })
            .map(Thousandths)
    }
}

/// Takes whole numbers of a range.
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

/// Takes numbers with up to three decimals, as thousandths.
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
        // A decimal that the file can say in three digits comes back from its thousandths.
        if (0.0..=self.most as f64).contains(&number) && thousandths / 1000.0 == number {
            return Ok(thousandths as u64);
        }
        Err(E::invalid_value(Unexpected::Float(number), &self))
    }
}
