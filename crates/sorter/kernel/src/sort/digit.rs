//! Maps prefixes to bins by their top bits, after stripping those that all prefixes share.
//!
//! NOW-Sort strips the bits that partitioning has used. Here every range strips the bits that its
//! smallest and largest prefix have in common, so a long shared prefix or a narrow range costs
//! nothing:
//!
//! ```text
//! prefix - low      0 0 0 0 0 0 1 0 1 1 0 1 0 0 1 1 1 0 ...
//!                   stripped   |   bin   |   shift bits
//! ```
//!
//! `low` and the width may be guesses. A prefix outside them goes to the first or last bin, which
//! keeps the order of bins right but not their balance.

use crate::Entry;

/// A monotone map from prefixes to bins `0..=last`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digit {
    low: u64,
    shift: u32,
    last: u64,
    /// Whether every prefix of the range is known to lie inside `low ..= low + width`.
    inside: bool,
}

/// Bounds of the prefixes of a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    low: u64,
    high: u64,
    inside: bool,
}

/// The sample that the bounds of a long range are guessed from: a smaller one would double the
/// outer bins of uniform keys, a larger one would cost more cache misses than the bins gain.
const SAMPLES: usize = 128;

impl Bounds {
    /// The smallest and largest prefix of `range`, which is not empty.
    pub(super) fn exact(range: &[Entry]) -> Self {
        let (mut low, mut high) = (u64::MAX, 0);
        for entry in range {
            low = low.min(entry.prefix);
            high = high.max(entry.prefix);
        }
        Self {
            low,
            high,
            inside: true,
        }
    }

    /// The bounds of two ranges together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            inside: self.inside && other.inside,
        }
    }

    /// A guess from evenly spaced entries, widened by the expected error for uniform keys.
    pub(super) fn sampled(range: &[Entry]) -> Self {
        let (mut low, mut high) = (u64::MAX, 0);
        for sample in 0..SAMPLES {
            let prefix = range[sample * range.len() / SAMPLES].prefix;
            low = low.min(prefix);
            high = high.max(prefix);
        }
        let missed = (high - low) / SAMPLES as u64;
        Self {
            low: low.saturating_sub(missed),
            high: high.saturating_add(missed),
            inside: false,
        }
    }

    /// Whether there is certainly only one prefix.
    pub(super) fn single(self) -> bool {
        self.inside && self.low == self.high
    }
}

impl Digit {
    /// A digit of at most `bits` bits over `bounds`.
    pub(super) fn new(bounds: Bounds, bits: u32) -> Self {
        let width = bounds.high - bounds.low;
        let shift = (u64::BITS - width.leading_zeros()).saturating_sub(bits);
        Self {
            low: bounds.low,
            shift,
            last: width >> shift,
            inside: bounds.inside,
        }
    }

    pub(super) fn bins(self) -> usize {
        self.last as usize + 1
    }

    /// The bin of `prefix`; always below [`Digit::bins`].
    #[inline(always)]
    pub(super) fn of(self, prefix: u64) -> usize {
        (prefix.saturating_sub(self.low) >> self.shift).min(self.last) as usize
    }

    /// The bounds of the prefixes in bin number `bin`, if they are known.
    pub(super) fn bounds_of(self, bin: usize) -> Option<Bounds> {
        let outer = bin == 0 || bin as u64 == self.last;
        if outer && !self.inside {
            return None;
        }
        let low = self.low + ((bin as u64) << self.shift);
        Some(Bounds {
            low,
            high: low.saturating_add((1 << self.shift) - 1),
            inside: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(prefixes: impl IntoIterator<Item = u64>) -> Vec<Entry> {
        prefixes
            .into_iter()
            .map(|prefix| Entry { prefix, row: 0 })
            .collect()
    }

    fn bounds(low: u64, high: u64, inside: bool) -> Bounds {
        Bounds { low, high, inside }
    }

    fn parts(bounds: Bounds) -> (u64, u64, bool) {
        (bounds.low, bounds.high, bounds.inside)
    }

    #[test]
    fn bounds_are_the_ends_of_the_range() {
        let exact = Bounds::exact(&entries([7, 3, 9, 4]));
        assert_eq!(parts(exact), (3, 9, true));
        assert!(!exact.single() && Bounds::exact(&entries([5, 5])).single());
        assert!(!bounds(5, 5, false).single(), "a guess is not certain");
        assert_eq!(parts(exact.and(bounds(1, 5, true))), (1, 9, true));
        assert_eq!(parts(exact.and(bounds(4, 12, false))), (3, 12, false));
    }

    /// The sample is every `len / SAMPLES`-th entry. Uniform keys are expected to lie outside it by
    /// the distance of two sampled keys.
    #[test]
    fn a_guess_is_wider_than_its_sample() {
        let sampled = |range: &[Entry]| parts(Bounds::sampled(range));
        let ascending = entries((0..1024).map(|number| 1000 + number));
        let missed = 127 * 8 / 128;
        assert_eq!(
            sampled(&ascending),
            (1000 - missed, 1000 + 127 * 8 + missed, false)
        );
        let ends = entries((0..1024).map(|number| if number % 16 == 0 { 0 } else { u64::MAX }));
        assert_eq!(sampled(&ends), (0, u64::MAX, false));
        let between = entries((0..1024).map(|number| u64::from(number % 8 != 0)));
        assert_eq!(
            sampled(&between),
            (0, 0, false),
            "keys between samples are not seen"
        );
    }

    #[test]
    fn bins_divide_the_width_by_a_power_of_two() {
        for (low, high, bits, bins) in [
            (0, 255, 4, 16),
            (1000, 1255, 4, 16),
            (1000, 1256, 4, 9),
            (0, u64::MAX, 11, 2048),
            (5, 8, 4, 4),
            (u64::MAX - 1, u64::MAX, 4, 2),
        ] {
            let digit = Digit::new(bounds(low, high, true), bits);
            assert_eq!(digit.bins(), bins, "{low}..={high} by {bits} bits");
            assert_eq!(
                (digit.of(low), digit.of(high)),
                (0, bins - 1),
                "{low}..={high}"
            );
        }
        let digit = Digit::new(bounds(1000, 1255, true), 4);
        assert_eq!(
            [1015, 1016, 1017, 1031, 1032].map(|prefix| digit.of(prefix)),
            [0, 1, 1, 1, 2]
        );
        assert_eq!(
            [0, 999, 1256, u64::MAX].map(|prefix| digit.of(prefix)),
            [0, 0, 15, 15]
        );
    }

    /// If the bounds of the range were guessed, those of the first and the last bin are unknown.
    #[test]
    fn a_bin_knows_its_bounds() {
        let of = |inside, bin| {
            Digit::new(bounds(1000, 1255, inside), 4)
                .bounds_of(bin)
                .map(parts)
        };
        assert_eq!(of(true, 0), Some((1000, 1015, true)));
        assert_eq!(of(true, 1), Some((1016, 1031, true)));
        assert_eq!(of(true, 15), Some((1240, 1255, true)));
        assert_eq!((of(false, 0), of(false, 15)), (None, None));
        assert_eq!((of(false, 1), of(false, 14)), (of(true, 1), of(true, 14)));
        let last = Digit::new(bounds(1, u64::MAX, true), 1)
            .bounds_of(1)
            .map(parts);
        assert_eq!(
            last,
            Some((1 + (1 << 63), u64::MAX, true)),
            "saturated at the end of the range"
        );
    }
}
