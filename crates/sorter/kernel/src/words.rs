//! The order beyond the prefix: a row as a sequence of 64-bit words.
//!
//! The caller, who knows the format, provides the words (normalised key bytes, then the rest of the
//! record, then perhaps the input position); the kernels only compare words:
//!
//! ```text
//! row a   | word 0 = prefix | word 1 | word 2 | ...      a < b  iff  a's word is smaller at the
//! row b   | word 0 = prefix | word 1 | word 2 | ...              first word in which they differ
//! ```
//!
//! Rows whose words are all equal are interchangeable: their order in the output is not specified.

use std::cmp::Ordering;

use crate::{Entry, Rows};

/// Rows between a prefetch and its use: more than the dozen misses that a core keeps open.
const AHEAD: usize = 16;

/// The prefix of a row that was compared with another as a whole.
pub const EQUAL: u64 = 1;

/// The total order of rows, one 64-bit word at a time.
pub trait Words {
    /// The number of words of every row, at least 1.
    fn words(&self) -> u32;

    /// Word `depth` of `row`; word 0 is the entry's prefix. `depth` is below [`Words::words`].
    fn word(&self, row: u64, depth: u32) -> u64;

    /// Prefetches the memory of word `depth` of `row`.
    ///
    /// Worth overriding if rows are far apart (see [`Rows::prefetch`]): ties jump over all of
    /// memory, and a prefetched miss costs a tenth of any other.
    #[inline]
    fn prefetch(&self, row: u64, depth: u32) {
        let _ = (row, depth);
    }

    /// The first depth in `from..until` at which two rows differ, or `until` if they agree.
    ///
    /// Worth overriding if words are plain bytes: long equal records are then compared as memory.
    #[inline]
    fn first_difference(&self, left: u64, right: u64, from: u32, until: u32) -> u32 {
        (from..until)
            .find(|&depth| self.word(left, depth) != self.word(right, depth))
            .unwrap_or(until)
    }

    /// The first depth in `from..until` at which any row of a run differs from the first one, or
    /// `until`. The run has several rows.
    ///
    /// Worth overriding if words must be looked for: the first row's are needed for all others.
    #[inline]
    fn first_difference_of_run(&self, run: &[Entry], from: u32, until: u32) -> u32 {
        let mut agreed = until;
        for (number, entry) in run.iter().enumerate().skip(1) {
            prefetch_ahead(run, number, self, from);
            agreed = self.first_difference(run[0].row, entry.row, from, agreed);
            if agreed == from {
                break;
            }
        }
        agreed
    }

    /// Loads the word in which the first two rows of a run differ as the prefix of each row, and returns its
    /// number, if no two rows differ in a word before it, from `from` on. If they do, or if that is not
    /// worth a guess, prefixes are undefined.
    ///
    /// Worth overriding if words must be looked for: rows are then looked at once, and not once for the
    /// first difference and once for its word.
    fn load_guessed(&self, run: &mut [Entry], from: u32) -> Option<u32> {
        let _ = (run, from);
        None
    }

    /// Compares rows with `pivot` by all words from `from` on; words before it are equal. Their
    /// prefixes become less than [`EQUAL`], equal, or greater.
    ///
    /// Worth overriding if words must be looked for: the pivot's are needed for all others.
    fn compare_with(&self, pivot: u64, rows: &mut [Entry], from: u32) {
        let all = self.words();
        for entry in rows {
            let depth = self.first_difference(pivot, entry.row, from, all);
            // Rows without a word that differs have none there, and so are equal.
            let word = |row| (depth < all).then(|| self.word(row, depth));
            entry.prefix = prefix_of(word(entry.row).cmp(&word(pivot)));
        }
    }
}

/// The prefix of a row for its order with a pivot.
#[inline]
pub fn prefix_of(order: Ordering) -> u64 {
    EQUAL.wrapping_add_signed(order as i64)
}

/// Prefetches word `depth` of the row some rows behind `number`, in a loop over the rows of `range`.
#[inline(always)]
pub fn prefetch_ahead<W: Words + ?Sized>(range: &[Entry], number: usize, words: &W, depth: u32) {
    if let Some(later) = range.get(number + AHEAD) {
        words.prefetch(later.row, depth);
    }
}

/// Bytes compared at once: four cache lines. A difference is then searched in 32 words.
const STRETCH: usize = 256;

/// The order by the whole record, as unsigned bytes, ascending.
#[derive(Clone, Copy, Debug)]
pub struct WholeRecords<'a>(pub Rows<'a>);

impl Words for WholeRecords<'_> {
    #[inline]
    fn words(&self) -> u32 {
        self.0.record_bytes().div_ceil(8) as u32
    }

    #[inline]
    fn word(&self, row: u64, depth: u32) -> u64 {
        word_of(self.0.get(row), depth)
    }

    #[inline]
    fn prefetch(&self, row: u64, depth: u32) {
        self.0.prefetch(row, depth as usize * 8);
    }

    fn first_difference(&self, left: u64, right: u64, from: u32, until: u32) -> u32 {
        let [left, right] = [left, right].map(|row| self.0.get(row));
        let end = left.len().min(until as usize * 8);
        let agree = |start: usize, end: usize| left[start..end] == right[start..end];
        let mut start = from as usize * 8;
        // Whole stretches as memory, then the words of the stretch that differs.
        while start < end && agree(start, end.min(start + STRETCH)) {
            start += STRETCH;
        }
        while start < end && agree(start, end.min(start + 8)) {
            start += 8;
        }
        until.min((start / 8) as u32)
    }
}

/// Bytes `8 * depth ..` of a record as a big-endian number, padded with zero bytes at its end.
#[inline]
pub(crate) fn word_of(record: &[u8], depth: u32) -> u64 {
    let rest = &record[depth as usize * 8..];
    match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few::few;
    use crate::row;

    /// The words of whole records, with nothing overridden.
    struct Plain<'a>(WholeRecords<'a>);

    impl Words for Plain<'_> {
        fn words(&self) -> u32 {
            self.0.words()
        }

        fn word(&self, row: u64, depth: u32) -> u64 {
            self.0.word(row, depth)
        }
    }

    /// Two records differ at one byte, or nowhere. Comparing them as memory finds the same word as
    /// comparing word by word.
    #[test]
    fn a_comparison_as_memory_finds_the_same_word() {
        for record_bytes in few(&[1, 7, 8, 9, 60, STRETCH, 2 * STRETCH + 13]) {
            let step = if cfg!(miri) { 211 } else { 3 };
            for differs in (0..record_bytes).step_by(step).chain([record_bytes]) {
                let mut bytes = vec![5; 2 * record_bytes];
                if let Some(byte) = bytes[record_bytes..].get_mut(differs) {
                    *byte = 6;
                }
                let chunks = [&bytes[..]];
                let words = WholeRecords(Rows::new(&chunks, record_bytes));
                let (left, right) = (row(0, 0), row(0, record_bytes as u32));
                for from in 0..words.words() {
                    for until in from..=words.words() {
                        let found = words.first_difference(left, right, from, until);
                        let expected = Plain(words).first_difference(left, right, from, until);
                        assert_eq!(
                            found, expected,
                            "{differs} of {record_bytes}, {from}..{until}"
                        );
                    }
                }
            }
        }
    }
}
