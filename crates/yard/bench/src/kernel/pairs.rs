//! Sorts of pairs of a 10-byte key and a row: ours, those of the papers, std's, and rayon's.

use kernel::patterns::{Random, entries_of};
use kernel::{Entry, Rows, Slab, WholeRecords, sort, sort_parallel};
use rayon::slice::ParallelSliceMut;
use terminal::ending::failure::CliFailure;

use super::variants;
use crate::buffers::{checked, copy, timed, touch};
use crate::host::threads_in_words;
use crate::race::Race;
use crate::table::Section;

/// gensort's key.
pub(super) const KEY_BYTES: usize = 10;

/// Bits of a row in the pair of std and rayon; the other 80 are the key.
const ROW_BITS: usize = 48;

/// Bytes of memory for each pair: its key, three entries, and two numbers of a peer.
pub(super) const BYTES_EACH: u64 =
    (KEY_BYTES + 3 * size_of::<Entry>() + 2 * size_of::<u128>()) as u64;

/// Measures sorts of `count` pairs.
pub(super) fn measure_on(runs: u16, count: usize, threads: usize) -> Result<Section, CliFailure> {
    let mut race = Race::new();
    let command = "memory copy of the pairs";
    race.enter("copy", command, |pairs: &mut Pairs| Ok(pairs.copy(threads)));
    if threads == 1 {
        on_one_thread(&mut race);
    } else {
        on_all_threads(&mut race, threads);
    }
    let rows = race.run(runs, &mut Pairs::new(count)?)?;
    let threads = threads_in_words(threads);
    let title = format!("10-byte keys with their rows, {threads}");
    Ok(Section::new(title, (count as u64, "pair"), rows))
}

fn on_one_thread(race: &mut Race<'_, Pairs>) {
    race.enter("gristmill", "kernel::sort", |pairs| {
        pairs.time(|entries, scratch, words| sort(entries, scratch, words))
    });
    for variant in &variants::ALL {
        race.enter(variant.name, variant.source, |pairs| {
            pairs.time(|entries, scratch, words| variant.sort(entries, scratch, words))
        });
    }
    let command = "sort_unstable by 8 key bytes and row";
    race.enter("std, (prefix, row)", command, Pairs::time_standard);
    let command = "sort_unstable of 10 key bytes and 6 of the row";
    race.enter("std, u128", command, |pairs| {
        pairs.time_numbers(<[u128]>::sort_unstable)
    });
}

fn on_all_threads(race: &mut Race<'_, Pairs>, threads: usize) {
    race.enter("gristmill", "kernel::sort_parallel", move |pairs| {
        pairs.time(|entries, scratch, words| sort_parallel(entries, scratch, words, threads))
    });
    race.enter("rayon, u128", "par_sort_unstable", |pairs| {
        pairs.time_numbers(|numbers| numbers.par_sort_unstable())
    });
}

/// Drawn pairs; every sort begins with their copy.
struct Pairs {
    keys: Slab<u8>,
    entries: Vec<Entry>,
    sorted: Slab<Entry>,
    scratch: Slab<Entry>,
}

impl Pairs {
    /// Draws pairs with uniform keys.
    fn new(count: usize) -> Result<Pairs, CliFailure> {
        let mut keys = touch(Slab::<u8>::new(count * KEY_BYTES))?;
        Random::new(1).fill(&mut keys);
        Ok(Pairs {
            entries: entries_of(&keys, KEY_BYTES),
            keys,
            sorted: touch(Slab::new(count))?,
            scratch: touch(Slab::new(count))?,
        })
    }

    fn copy(&mut self, threads: usize) -> f64 {
        copy(&self.entries, &mut self.sorted, threads)
    }

    /// The seconds of a sort of entries.
    fn time(
        &mut self,
        sort: impl FnOnce(&mut [Entry], &mut [Entry], &WholeRecords),
    ) -> Result<f64, CliFailure> {
        let chunks = [&self.keys[..]];
        let words = WholeRecords(Rows::new(&chunks, KEY_BYTES));
        let (sorted, scratch) = (&mut self.sorted, &mut self.scratch);
        sorted.copy_from_slice(&self.entries);
        let seconds = timed(|| sort(sorted, scratch, &words));
        let is_sorted = sorted.is_sorted_by_key(|entry| entry.prefix);
        checked(seconds, is_sorted, "a sort of pairs")
    }

    /// The seconds of std's sort by (prefix, row).
    fn time_standard(&mut self) -> Result<f64, CliFailure> {
        self.time(|entries, _, _| entries.sort_unstable_by_key(|pair| (pair.prefix, pair.row)))
    }

    /// The seconds of a sort of the pairs as numbers: ten key bytes, then six of the row.
    fn time_numbers(&self, sort: impl FnOnce(&mut [u128])) -> Result<f64, CliFailure> {
        let keys = self.keys.chunks_exact(KEY_BYTES).zip(&self.entries);
        let mut numbers: Vec<u128> = keys
            .map(|(key, entry)| {
                let low = u128::from(u16::from_be_bytes([key[8], key[9]])) << ROW_BITS;
                u128::from(entry.prefix) << u64::BITS | low | u128::from(entry.row)
            })
            .collect();
        let seconds = timed(|| sort(&mut numbers));
        checked(seconds, numbers.is_sorted(), "a sort of numbers")
    }
}
