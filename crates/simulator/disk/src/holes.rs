//! The ranges of a file that use no space, since they were never written or were released. They
//! read as zeros.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges that neither overlap nor touch.
#[derive(Clone, Default)]
pub(super) struct Holes {
    /// Ends by starts.
    ends: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Holes {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the range that are holes.
    pub fn inside(&self, range: &Range<u64>) -> u64 {
        let met = self.met(range);
        met.map(|hole| hole.end.min(range.end) - hole.start.max(range.start))
            .sum()
    }

    /// Makes the range a hole.
    pub fn dig(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let met = self.take(&range);
        let start = met
            .iter()
            .map(|hole| hole.start)
            .fold(range.start, u64::min);
        let end = met.iter().map(|hole| hole.end).fold(range.end, u64::max);
        self.add(start..end);
    }

    /// Gives the range space.
    pub fn fill(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        for hole in self.take(&range) {
            self.add(hole.start..hole.end.min(range.start));
            self.add(hole.start.max(range.end)..hole.end);
        }
    }

    /// The holes that overlap or touch the range, last first.
    fn met(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<'_> {
        let start = range.start;
        let before = self
            .ends
            .range(..=range.end)
            .rev()
            .map(|(&start, &end)| start..end);
        before.take_while(move |hole| hole.end >= start)
    }

    fn take(&mut self, range: &Range<u64>) -> Vec<Range<u64>> {
        let met: Vec<_> = self.met(range).collect();
        for hole in &met {
            self.ends.remove(&hole.start);
            self.bytes -= hole.end - hole.start;
        }
        met
    }

    fn add(&mut self, hole: Range<u64>) {
        if !hole.is_empty() {
            self.bytes += hole.end - hole.start;
            self.ends.insert(hole.start, hole.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use node::Random;

    use super::*;

    fn range_below(random: &mut Random, bytes: usize) -> Range<u64> {
        let (one, other) = (
            random.below(bytes + 1) as u64,
            random.below(bytes + 1) as u64,
        );
        one.min(other)..one.max(other)
    }

    /// Compares with one flag per byte.
    #[test]
    fn holes_agree_with_flags() {
        const BYTES: usize = 60;
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let (mut holes, mut flags) = (Holes::default(), [false; BYTES]);
            for _ in 0..60 {
                let range = range_below(&mut random, BYTES);
                let dig = random.below(2) == 0;
                flags[range.start as usize..range.end as usize].fill(dig);
                if dig {
                    holes.dig(range)
                } else {
                    holes.fill(range)
                }

                let range = range_below(&mut random, BYTES);
                let count = |flags: &[bool]| flags.iter().filter(|&&hole| hole).count() as u64;
                assert_eq!(holes.bytes(), count(&flags));
                let expected = count(&flags[range.start as usize..range.end as usize]);
                assert_eq!(holes.inside(&range), expected);
                let runs = flags.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
                assert_eq!(holes.ends.len(), runs, "holes that touch are one");
            }
        }
    }
}
