//! Runs of one prefix: what the next words have to decide.
//!
//! ```text
//! prefix   2 5 5 5 7      the run of 5s is sorted by word 1, its runs by word 2, ...
//! ```
//!
//! A run first skips every word in which all of its rows agree. It does so in windows that double,
//! so that no word is read more than a constant number of times a row: a thousand equal records of
//! a megabyte cost reading them once, and records that part at the last word do too.

use crate::{Entry, Words};

/// Words compared before all rows of a run are asked for more: the rest of a cache line.
const FIRST_WINDOW: u32 = 8;
/// Words compared at most before the next row's turn: 32 KiB, so that the first row stays in cache.
const LAST_WINDOW: u32 = 4096;

/// Calls `found` with every maximal run of one prefix in `sorted`, as position and length.
pub(crate) fn runs(sorted: &[Entry], mut found: impl FnMut(usize, usize)) {
    let mut start = 0;
    for run in sorted.chunk_by(|left, right| left.prefix == right.prefix) {
        found(start, run.len());
        start += run.len();
    }
}

/// Rows between a prefetch and its use: more than the dozen misses that a core keeps open.
const AHEAD: usize = 16;

/// The first word from `depth` on in which the rows of `run` do not all agree, or `words.words()`.
pub(crate) fn first_difference(run: &[Entry], words: &impl Words, mut depth: u32) -> u32 {
    let mut window = FIRST_WINDOW;
    while depth < words.words() {
        let mut agreed = words.words().min(depth.saturating_add(window));
        let until = agreed;
        for (number, entry) in run.iter().enumerate().skip(1) {
            prefetch_ahead(run, number, words, depth);
            agreed = words.first_difference(run[0].row, entry.row, depth, agreed);
            if agreed == depth {
                return depth;
            }
        }
        if agreed < until {
            return agreed;
        }
        depth = until;
        window = (window * 2).min(LAST_WINDOW);
    }
    depth
}

/// Makes word `depth` of each row its entry's prefix.
pub(crate) fn load(range: &mut [Entry], words: &impl Words, depth: u32) {
    for number in 0..range.len() {
        prefetch_ahead(range, number, words, depth);
        range[number].prefix = words.word(range[number].row, depth);
    }
}

/// Asks for word `depth` of the row [`AHEAD`] of this one.
#[inline(always)]
fn prefetch_ahead(range: &[Entry], number: usize, words: &impl Words, depth: u32) {
    if let Some(later) = range.get(number + AHEAD) {
        words.prefetch(later.row, depth);
    }
}
