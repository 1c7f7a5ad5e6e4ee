//! The lengths of records that differ: estimates, or counted from all of them.

use std::ops::Add;

use serde::{Deserialize, Serialize};

/// The part of a record that every buffer has room for. A few records that are longer take the rest of
/// their bytes in few buffers, and not in all.
pub(crate) const USUAL_BYTES: usize = 64 << 10;

/// The longest record whose length differs from others, also where nothing is sorted. Places in a unit and
/// in a chunk are numbers of 32 bits, and a unit has other records beside it.
pub(crate) const LONGEST_BYTES: usize = 2 << 30;

/// The lengths that plans count on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths {
    /// Of all records, about; 0 without records.
    pub mean: usize,
    /// Bytes of the longest, at most.
    pub longest: usize,
    /// Bytes of all records together behind the first [`USUAL_BYTES`] of each; `u64::MAX` if not all were
    /// seen.
    pub beyond: u64,
}

impl Lengths {
    /// Of records that not all were seen.
    pub(crate) const fn about(mean: usize, longest: usize) -> Lengths {
        let beyond = u64::MAX;
        Lengths {
            mean,
            longest,
            beyond,
        }
    }

    /// The lengths of these and other records.
    pub(crate) fn and(self, other: Lengths) -> Lengths {
        // The records of an input without one have no mean.
        let means = [self.mean, other.mean].into_iter().filter(|&mean| mean > 0);
        Lengths {
            mean: means.min().unwrap_or(0),
            longest: self.longest.max(other.longest),
            beyond: self.beyond.saturating_add(other.beyond),
        }
    }
}

/// Counts the lengths of all records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LengthCounter {
    pub records: u64,
    /// Bytes of the longest.
    pub longest: u64,
    beyond: u64,
}

impl LengthCounter {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.records += 1;
        self.longest = self.longest.max(bytes);
        self.beyond += bytes.saturating_sub(USUAL_BYTES as u64);
    }

    /// The lengths of these records, of `bytes` bytes together.
    pub(crate) fn lengths(self, bytes: u64) -> Lengths {
        Lengths {
            mean: bytes.checked_div(self.records).unwrap_or(0) as usize,
            longest: self.longest as usize,
            beyond: self.beyond,
        }
    }
}

impl Add for LengthCounter {
    type Output = LengthCounter;

    fn add(self, other: LengthCounter) -> LengthCounter {
        LengthCounter {
            records: self.records + other.records,
            longest: self.longest.max(other.longest),
            beyond: self.beyond + other.beyond,
        }
    }
}
