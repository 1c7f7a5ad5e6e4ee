//! Which bin a prefix falls into: the top bits that matter, after stripping those that do not.
//!
//! NOW-Sort strips the bits that partitioning has used up; here every range of entries strips
//! whatever its own smallest and largest prefix have in common, so a long shared prefix or a narrow
//! range costs nothing:
//!
//! ```text
//! prefix - low      0 0 0 0 0 0 1 0 1 1 0 1 0 0 1 1 1 0 ...
//!                   stripped   |   bin   |   shift bits
//! ```
//!
//! `low` and the width may be guesses. A prefix outside of them is put into the first or last bin,
//! which keeps the order of bins right; only their balance suffers.

use crate::Entry;

/// A monotone map from prefixes to bins `0..=last`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digit {
    low: u64,
    shift: u32,
    last: u64,
    /// Every prefix of the range is known to lie inside `low ..= low + width`.
    inside: bool,
}

/// The prefixes a range of entries may hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    low: u64,
    high: u64,
    inside: bool,
}

/// Entries looked at to guess the bounds of a long range: a narrower guess would double the outer
/// bins of uniform keys, more looks would cost more cache misses than the bins gain.
const SAMPLES: usize = 128;

impl Bounds {
    /// The smallest and largest prefix of `range`, which is not empty.
    pub(super) fn exact(range: &[Entry]) -> Self {
        let (mut low, mut high) = (u64::MAX, 0);
        for entry in range {
            low = low.min(entry.prefix);
            high = high.max(entry.prefix);
        }
        Self { low, high, inside: true }
    }

    /// Both bounds over two ranges.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            inside: self.inside && other.inside,
        }
    }

    /// A guess from evenly spaced entries, widened by what such a sample of uniform keys misses.
    pub(super) fn sampled(range: &[Entry]) -> Self {
        let (mut low, mut high) = (u64::MAX, 0);
        for sample in 0..SAMPLES {
            let prefix = range[sample * range.len() / SAMPLES].prefix;
            low = low.min(prefix);
            high = high.max(prefix);
        }
        let missed = (high - low) / SAMPLES as u64;
        Self { low: low.saturating_sub(missed), high: high.saturating_add(missed), inside: false }
    }

    /// One value only, and surely so.
    pub(super) fn single(self) -> bool {
        self.inside && self.low == self.high
    }
}

impl Digit {
    /// A digit of at most `bits` bits over `bounds`.
    pub(super) fn new(bounds: Bounds, bits: u32) -> Self {
        let width = bounds.high - bounds.low;
        let shift = (u64::BITS - width.leading_zeros()).saturating_sub(bits);
        Self { low: bounds.low, shift, last: width >> shift, inside: bounds.inside }
    }

    /// How many bins there are.
    pub(super) fn bins(self) -> usize {
        self.last as usize + 1
    }

    /// The bin of `prefix`; always below [`Digit::bins`].
    #[inline(always)]
    pub(super) fn of(self, prefix: u64) -> usize {
        (prefix.saturating_sub(self.low) >> self.shift).min(self.last) as usize
    }

    /// The prefixes that bin number `bin` may hold, as far as they are known.
    pub(super) fn bounds_of(self, bin: usize) -> Option<Bounds> {
        let outer = bin == 0 || bin as u64 == self.last;
        if outer && !self.inside {
            return None;
        }
        let low = self.low + ((bin as u64) << self.shift);
        Some(Bounds { low, high: low.saturating_add((1 << self.shift) - 1), inside: true })
    }
}
