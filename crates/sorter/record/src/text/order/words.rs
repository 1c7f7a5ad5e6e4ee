//! Several words of a line at once: each key is sought and encoded once.

use std::cmp::Ordering;
use std::ops::Range;

use super::TextOrder;

impl TextOrder {
    /// The words of a line from `from` on, each of whose keys is sought once. Past the last word they are
    /// 0. Returns how many there are, at most as many as there are places in `out`.
    pub fn words_from(&self, line: &[u8], from: u32, out: &mut [u64]) -> usize {
        let (mut filled, mut before) = (0, 0);
        for part in self.all() {
            let next = (from as usize + filled).saturating_sub(before);
            let words = part.words_from(line, next, &mut out[filled..]);
            filled += words.filled;
            before += words.all;
            if filled == out.len() {
                return filled;
            }
        }
        out[filled..].fill(0);
        filled
    }

    /// The first word from `from` on in which two lines differ, or `until` if that is not before it.
    /// All words before `from` must be equal.
    #[must_use]
    pub fn first_difference(&self, a: &[u8], b: &[u8], from: u32, until: u32) -> u32 {
        let mut found = until;
        self.against(a, from..until, |difference| match difference(b) {
            Some((word, _)) => {
                found = found.min(word);
                false
            }
            None => true,
        });
        found
    }

    /// Compares one line with many, so that each of its keys is found and encoded once. For one part of
    /// the order after the other, `compare` gets a function that says in which of these words another
    /// line differs there first, and how `line` compares with it. `compare` returns whether the next part
    /// is needed. All words before these must be equal.
    pub fn against(
        &self,
        line: &[u8],
        words: Range<u32>,
        mut compare: impl FnMut(&mut dyn FnMut(&[u8]) -> Option<(u32, Ordering)>) -> bool,
    ) {
        let (from, until) = (words.start as usize, words.end as usize);
        let (mut before, mut goes_on) = (0, true);
        let mut parts = self.all();
        while let Some(part) = parts.next().filter(|_| goes_on && before.max(from) < until) {
            let words = from.saturating_sub(before)..until - before;
            before += part.against(line, words, |difference| {
                goes_on = compare(&mut |other| {
                    let (word, ordering) = difference(other)?;
                    Some(((before + word) as u32, ordering))
                });
            });
        }
    }
}
