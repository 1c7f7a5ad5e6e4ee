//! Sorts of pairs: ours, those of the papers, std's, and other crates'.

use kernel::{Entry, sort, sort_parallel};
use rayon::slice::ParallelSliceMut;
use rdst::{RadixKey, RadixSort};
use terminal::ending::failure::CliFailure;
use voracious_radix_sort::RadixSort as _;

use super::variants;
use crate::host::threads_in_words;
use crate::pairs::{KEY_BYTES, Pairs, ROW_BITS};
use crate::race::Race;
use crate::table::Section;

/// Bytes of memory for each pair: its key, three entries, and the peers' two numbers.
pub(super) const BYTES_EACH: u64 =
    (KEY_BYTES + 3 * size_of::<Entry>() + 2 * size_of::<Number>()) as u64;

/// A pair as rdst sorts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Number(u128);

impl RadixKey for Number {
    const LEVELS: usize = KEY_BYTES;

    fn get_level(&self, level: usize) -> u8 {
        (self.0 >> (ROW_BITS + 8 * level)) as u8
    }
}

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
        pairs.time_numbers(|number| number, <[u128]>::sort_unstable)
    });
    race.enter("voracious, u128", "voracious_sort", |pairs| {
        pairs.time_numbers(|number| number, |numbers| numbers.voracious_sort())
    });
    race.enter("rdst, u128", "radix sort on one thread", |pairs| {
        pairs.time_numbers(Number, |numbers| {
            numbers.radix_sort_builder().with_parallel(false).sort();
        })
    });
}

fn on_all_threads(race: &mut Race<'_, Pairs>, threads: usize) {
    race.enter("gristmill", "kernel::sort_parallel", move |pairs| {
        pairs.time(|entries, scratch, words| sort_parallel(entries, scratch, words, threads))
    });
    race.enter("voracious, u128", "voracious_mt_sort", move |pairs| {
        pairs.time_numbers(
            |number| number,
            |numbers| numbers.voracious_mt_sort(threads),
        )
    });
    race.enter("rdst, u128", "radix_sort_unstable", |pairs| {
        pairs.time_numbers(Number, |numbers| numbers.radix_sort_unstable())
    });
    race.enter("rayon, u128", "par_sort_unstable", |pairs| {
        pairs.time_numbers(|number| number, |numbers| numbers.par_sort_unstable())
    });
}
