//! Runs of equal prefixes, which the next words decide.
//!
//! ```text
//! prefix   2 5 5 5 7      the run of 5s is sorted by word 1, its runs by word 2, ...
//! ```
//!
//! A run first skips every word in which all of its rows agree. It does so in windows that double
//! in size, so no word is read more than a constant number of times per row: a thousand equal
//! records of a megabyte, or records that differ in the last word, are read about once.
//!
//! A run that was divided often has rows that part one after the other. Then their whole orders with
//! one of them, drawn like the pivot of a quicksort, divide it: however long rows are, each is looked at
//! about `log2` as often as there are rows, and not once for each word.

use crate::words::{EQUAL, prefetch_ahead};
use crate::{Entry, Words};

/// Words of the first window: a cache line.
const FIRST_WINDOW: u32 = 8;

/// Divisions by a word after which pivots divide a run.
pub(super) const MOST_DIVISIONS: u32 = 16;

/// Calls `found` with the position and length of every maximal run of one prefix in `sorted`.
pub(crate) fn runs(sorted: &[Entry], mut found: impl FnMut(usize, usize)) {
    let mut start = 0;
    for run in sorted.chunk_by(|left, right| left.prefix == right.prefix) {
        found(start, run.len());
        start += run.len();
    }
}

/// The first word from `depth` on in which two rows of `run` differ, or `words.words()`.
pub(crate) fn first_difference(run: &[Entry], words: &impl Words, mut depth: u32) -> u32 {
    let mut window = FIRST_WINDOW;
    while depth < words.words() {
        let until = words.words().min(depth.saturating_add(window));
        let agreed = match run.len() {
            0 | 1 => until,
            _ => words.first_difference_of_run(run, depth, until),
        };
        if agreed < until {
            return agreed;
        }
        depth = until;
        window = window.saturating_mul(2);
    }
    depth
}

/// Compares all rows of a run with one of them, from word `depth` on.
pub(super) fn compare_with_pivot(run: &mut [Entry], words: &impl Words, depth: u32) {
    // The golden ratio of 2^64 spreads numbers, so pivots of ordered runs are not all at one end. Only
    // an input that is made for it has bad ones, and its rows are looked at more often.
    let drawn = (run[0].row ^ run.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let pivot = run[(drawn >> 32) as usize % run.len()].row;
    words.compare_with(pivot, run, depth);
    debug_assert!(run.iter().any(|entry| entry.prefix == EQUAL), "the pivot");
}

/// Loads word `depth` of each row as its entry's prefix.
pub(crate) fn load(range: &mut [Entry], words: &impl Words, depth: u32) {
    for number in 0..range.len() {
        prefetch_ahead(range, number, words, depth);
        range[number].prefix = words.word(range[number].row, depth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of `words` words each. All are equal except for word `differs` of row 2.
    struct Rows {
        words: u32,
        differs: u32,
    }

    impl Words for Rows {
        fn words(&self) -> u32 {
            self.words
        }

        fn word(&self, row: u64, depth: u32) -> u64 {
            u64::from(row == 2 && depth == self.differs)
        }
    }

    /// The search returns exactly the word that differs: loading an earlier one would be useless.
    #[test]
    fn the_first_word_in_which_rows_differ_is_found() {
        let entries: Vec<Entry> = (0..4).map(|row| Entry { prefix: 0, row }).collect();
        let last = if cfg!(miri) { 40 } else { 9_000 };
        let windows = [7, 8, 9, 23, 24, 25, 56, 300, 4088, 4087, 8184];
        for differs in (0..6)
            .chain(windows)
            .chain([last])
            .filter(|&depth| depth <= last)
        {
            let words = Rows {
                words: last,
                differs,
            };
            for from in (0..=differs).step_by(1 + differs as usize / 3) {
                let found = first_difference(&entries, &words, from);
                assert_eq!(found, differs, "of {last} words, from {from}");
            }
            assert_eq!(
                first_difference(&entries[..2], &words, 0),
                last,
                "these rows agree"
            );
        }
    }

    #[test]
    fn a_run_has_one_prefix() {
        let entries = [2, 5, 5, 5, 7].map(|prefix| Entry { prefix, row: 0 });
        let mut found = Vec::new();
        runs(&entries, |start, len| found.push((start, len)));
        assert_eq!(found, [(0, 1), (1, 3), (4, 1)]);
    }
}
