//! The order of a bucket's lines as the kernels see it: a sequence of words for each row.

use std::cmp::Ordering;

use kernel::{EQUAL, Entry, Words, prefetch_ahead, prefetch_row, prefix_of};
use record::LineOrder;
use record::text::TextOrder;

use super::windows::line_at;
use crate::records::block::Bucket;

/// Words of a line that are read at once, as a guess that lines differ in one of them.
const GUESSED_WORDS: u32 = 8;

/// Rows of a run that is worth a guess: those of a shorter one are in the cache when they are looked at again.
const LEAST_GUESSED: usize = 64;

/// The total order of a bucket's lines: the words of the order, and the position if that breaks
/// ties.
pub(super) struct LineWords<'a> {
    pub slices: &'a [&'a [u8]],
    pub bucket: &'a Bucket,
    pub order: &'a LineOrder,
    /// The order of lines of one prefix, and the words before its own: 1 if the prefix is all of the first
    /// key in every line, which then is not sought again; or else the whole order, and none.
    pub behind: (&'a TextOrder, u32),
    /// The whole order, of what lines do not share.
    pub text: &'a TextOrder,
    /// Words of the longest line.
    pub words: u32,
}

impl<'a> LineWords<'a> {
    #[inline]
    fn line(&self, row: u64) -> &'a [u8] {
        self.order
            .body(line_at(self.slices, row, self.order.framing))
    }

    /// Whether `a` may stand before `b`, which has the same prefix, positions included.
    pub(super) fn keeps_order(&self, a: &Entry, b: &Entry) -> bool {
        let (text, before) = self.behind;
        let order = if self.words > before {
            text.compare(self.line(a.row), self.line(b.row))
        } else {
            // The prefix is the whole order, and a look at a line costs a miss of the cache.
            Ordering::Equal
        };
        order
            .then(self.place(a.row).cmp(&self.place(b.row)))
            .is_lt()
    }

    fn place(&self, row: u64) -> u64 {
        self.order.ties().place(self.bucket.position(row))
    }
}

impl Words for LineWords<'_> {
    fn words(&self) -> u32 {
        self.words + u32::from(self.order.ties().are_by_position())
    }

    #[inline]
    fn word(&self, row: u64, depth: u32) -> u64 {
        let (text, before) = self.behind;
        if depth >= self.words {
            self.place(row)
        } else if depth < before {
            self.text.word(self.line(row), depth)
        } else {
            text.word(self.line(row), depth - before)
        }
    }

    #[inline]
    fn prefetch(&self, row: u64, _: u32) {
        prefetch_row(self.slices, row);
    }

    fn first_difference(&self, left: u64, right: u64, from: u32, until: u32) -> u32 {
        let (text, before) = self.behind;
        // Lines that are compared have the same prefix.
        let (from, end) = (from.max(before), until.min(self.words));
        if from >= end {
            return from;
        }
        let (left, right) = (self.line(left), self.line(right));
        before + text.first_difference(left, right, from - before, end - before)
    }

    fn first_difference_of_run(&self, run: &[Entry], from: u32, until: u32) -> u32 {
        // Most runs part where the first two rows do.
        let mut agreed = self.first_difference(run[0].row, run[1].row, from, until);
        let end = agreed.min(self.words);
        if from < end && run.len() > 2 {
            let first = self.line(run[0].row);
            let (text, before) = self.behind;
            let words = from.saturating_sub(before)..end - before;
            text.against(first, words, |difference| {
                for (number, entry) in run.iter().enumerate().skip(2) {
                    prefetch_ahead(run, number, self, from);
                    let found = difference(self.line(entry.row));
                    agreed = found.map_or(agreed, |(word, _)| agreed.min(before + word));
                    if agreed == from {
                        break;
                    }
                }
                agreed == end
            });
        }
        agreed
    }

    fn load_guessed(&self, run: &mut [Entry], from: u32) -> Option<u32> {
        if run.len() < LEAST_GUESSED {
            return None;
        }
        let (text, before) = self.behind;
        let from = from.max(before);
        let places = GUESSED_WORDS.min(self.words.saturating_sub(from)) as usize;
        let words_of = |entry: &Entry, out: &mut [u64]| {
            text.words_from(self.line(entry.row), from - before, out);
        };
        let (mut first, mut words) = ([0; GUESSED_WORDS as usize], [0; GUESSED_WORDS as usize]);
        words_of(&run[0], &mut first[..places]);
        words_of(&run[1], &mut words[..places]);
        let shared = (0..places).find(|&at| first[at] != words[at])?;
        let guess = from + shared as u32;
        for number in 0..run.len() {
            prefetch_ahead(run, number, self, from);
            if shared == 0 {
                run[number].prefix = self.word(run[number].row, guess);
                continue;
            }
            words_of(&run[number], &mut words[..=shared]);
            if words[..shared] != first[..shared] {
                return None;
            }
            run[number].prefix = words[shared];
        }
        Some(guess)
    }

    fn compare_with(&self, pivot: u64, rows: &mut [Entry], from: u32) {
        rows.iter_mut().for_each(|entry| entry.prefix = EQUAL);
        if from < self.words {
            let (text, before) = self.behind;
            let words = from.saturating_sub(before)..self.words - before;
            text.against(self.line(pivot), words, |difference| {
                let mut some_equal = false;
                for entry in rows.iter_mut().filter(|entry| entry.prefix == EQUAL) {
                    match difference(self.line(entry.row)) {
                        Some((_, order)) => entry.prefix = prefix_of(order.reverse()),
                        None => some_equal = true,
                    }
                }
                some_equal
            });
        }
        // Without that order chunks have no marks of positions.
        if self.order.ties().are_by_position() {
            let place = self.place(pivot);
            for entry in rows.iter_mut().filter(|entry| entry.prefix == EQUAL) {
                entry.prefix = prefix_of(self.place(entry.row).cmp(&place));
            }
        }
    }
}
