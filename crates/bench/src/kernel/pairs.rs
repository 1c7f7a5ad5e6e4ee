//! Pairs of a 10-byte key and a row: our sort, the sorts of the papers, and std's.

use kernel::patterns::{Random, entries_of};
use kernel::variants::Variant;
use kernel::{Entry, Rows, Slab, WholeRecords, sort, sort_parallel};

use crate::host::threads_in_words;
use crate::measure::{Subject, copy, measure, timed, touch, wrong};
use crate::table::Section;
use cli::failure::CliFailure;

/// gensort's key.
pub(super) const KEY_BYTES: usize = 10;

/// Bits of a row in the peers' 128-bit pair; the other 80 are the key.
const ROW_BITS: u32 = 48;

#[derive(Clone, Copy)]
enum How {
    Copy,
    Sort,
    Parallel,
    Variant(Variant),
    StandardTuples,
    StandardNumbers,
}

/// Measures sorts of `count` pairs on so many threads.
pub(super) fn measure_on(runs: u16, count: usize, threads: usize) -> Result<Section, CliFailure> {
    let mut keys = touch(Slab::<u8>::new(count * KEY_BYTES))?;
    Random::new(1).fill(&mut keys);
    let subjects = if threads == 1 {
        on_one_thread()
    } else {
        on_all_threads()
    };
    let mut pairs = Pairs::new(&keys, threads)?;
    let rows = measure(runs, subjects, |how| pairs.time(how))?;
    let title = format!(
        "10-byte keys with their rows, {}",
        threads_in_words(threads)
    );
    Ok(Section::new(title, (count as u64, "pair"), rows))
}

fn on_one_thread() -> Vec<Subject<How>> {
    vec![
        Subject::new("copy", "memory copy of the pairs", How::Copy),
        Subject::new("gristmill", "kernel::sort", How::Sort),
        Subject::new(
            "partial radix, 22 bits",
            "kernel::variants partial-radix: NOW-Sort 6.5, with clean-up",
            How::Variant(Variant::PartialRadix),
        ),
        Subject::new(
            "mergesort",
            "kernel::variants mergesort: psort, quasi in place",
            How::Variant(Variant::Mergesort),
        ),
        Subject::new(
            "in-place permutation",
            "kernel::variants american-flag: McIlroy 1993",
            How::Variant(Variant::AmericanFlag),
        ),
        Subject::new(
            "std, (prefix, row)",
            "sort_unstable by 8 key bytes and row",
            How::StandardTuples,
        ),
        Subject::new(
            "std, u128",
            "sort_unstable of 10 key bytes and 6 of the row",
            How::StandardNumbers,
        ),
    ]
}

fn on_all_threads() -> Vec<Subject<How>> {
    vec![
        Subject::new("copy", "memory copy of the pairs", How::Copy),
        Subject::new("gristmill", "kernel::sort_parallel", How::Parallel),
    ]
}

struct Pairs<'a> {
    keys: &'a [u8],
    entries: Vec<Entry>,
    sorted: Slab<Entry>,
    scratch: Slab<Entry>,
    threads: usize,
}

impl Pairs<'_> {
    fn new(keys: &[u8], threads: usize) -> Result<Pairs<'_>, CliFailure> {
        let entries = entries_of(keys, KEY_BYTES);
        let sorted = touch(Slab::<Entry>::new(entries.len()))?;
        let scratch = touch(Slab::<Entry>::new(entries.len()))?;
        Ok(Pairs {
            keys,
            entries,
            sorted,
            scratch,
            threads,
        })
    }

    fn time(&mut self, how: How) -> Result<f64, CliFailure> {
        let chunks = [self.keys];
        let words = WholeRecords(Rows::new(&chunks, KEY_BYTES));
        let Pairs {
            entries,
            sorted,
            scratch,
            threads,
            ..
        } = self;
        sorted.copy_from_slice(entries);
        let seconds = match how {
            How::Copy => return Ok(timed(|| copy(entries, sorted, *threads))),
            How::StandardNumbers => return self.time_numbers(),
            How::Sort => timed(|| sort(sorted, scratch, &words)),
            How::Parallel => timed(|| sort_parallel(sorted, scratch, &words, *threads)),
            How::Variant(variant) => timed(|| variant.sort(sorted, scratch, &words)),
            How::StandardTuples => {
                timed(|| sorted.sort_unstable_by_key(|entry| (entry.prefix, entry.row)))
            }
        };
        let sound = sorted.is_sorted_by_key(|entry| entry.prefix);
        if sound {
            Ok(seconds)
        } else {
            Err(wrong("a sort of pairs"))
        }
    }

    /// As peers hold a pair: one number, ten key bytes and then six of the row.
    fn time_numbers(&self) -> Result<f64, CliFailure> {
        let mut numbers = touch(Slab::<u128>::new(self.entries.len()))?;
        let keys = self.keys.chunks_exact(KEY_BYTES);
        for ((number, entry), key) in numbers.iter_mut().zip(&self.entries).zip(keys) {
            let high = u128::from(entry.prefix) << (u64::BITS);
            let low = u128::from(u16::from_be_bytes([key[8], key[9]])) << ROW_BITS;
            *number = high | low | u128::from(entry.row);
        }
        let seconds = timed(|| numbers.sort_unstable());
        if numbers.is_sorted() {
            Ok(seconds)
        } else {
            Err(wrong("std's sort"))
        }
    }
}
