//! `gristmill-bench memory`: a million keys sorted in memory, with a copy of them as the floor.
//!
//! Two inputs: plain 8-byte keys, from an array to a sorted array, which costs ours the way into
//! entries and out again; and the pairs of a 10-byte key and a row that a sort of records makes.
//! IPS4o's published time for the first is shown and marked, since it is from another machine.

use clap::Args;
use kernel::patterns::Random;
use kernel::{Entry, Slab, sort_parallel};
use serde_json::json;
use terminal::ending::failure::CliFailure;
use terminal::launcher::cores;

use crate::Common;
use crate::buffers::{checked, copy, on_threads, timed, touch};
use crate::host::{check_memory, thread_counts, threads_in_words};
use crate::pairs::Pairs;
use crate::race::{Race, Row};
use crate::table::{Report, Section};

/// Sort a million keys in memory, and compare with a copy and with IPS4o's published 2 ms.
#[derive(Args)]
pub struct Arguments {
    /// How many keys [default: 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    keys: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

const KEYS: u64 = 1_000_000;
const SMOKE_KEYS: u64 = 10_000;

/// A million 8-byte keys, as its authors published it.
const IPS4O_SECONDS: f64 = 2e-3;

const KEY_BYTES: usize = 8;

/// Bytes of memory for each key: both inputs, the same again to sort in, and scratch.
const BYTES_EACH: u64 = 160;

/// Returns the rows that `gristmill-bench memory` prints.
///
/// # Errors
/// Too little memory; a sort that does not sort.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let keys = common.size(arguments.keys, KEYS, SMOKE_KEYS).max(1);
    check_memory(keys.saturating_mul(BYTES_EACH), "--keys")?;
    let sections = vec![
        plain_keys(common.runs, keys as usize)?,
        pairs(common.runs, keys as usize)?,
    ];
    Ok(Report {
        bench: "memory",
        facts: json!({ "keys": keys, "cores": cores() }),
        sections,
    })
}

/// Keys, and memory to sort them in.
struct Keys {
    keys: Slab<u64>,
    sorted: Slab<u64>,
    entries: Slab<Entry>,
    scratch: Slab<Entry>,
}

impl Keys {
    fn new(count: usize) -> Result<Keys, CliFailure> {
        let mut keys = touch(Slab::<u64>::new(count))?;
        let mut random = Random::new(1);
        keys.iter_mut().for_each(|key| *key = random.next_u64());
        Ok(Keys {
            keys,
            sorted: touch(Slab::new(count))?,
            entries: touch(Slab::new(count))?,
            scratch: touch(Slab::new(count))?,
        })
    }

    fn time(
        &mut self,
        sort: impl FnOnce(&mut [u64], &mut [Entry], &mut [Entry]),
    ) -> Result<f64, CliFailure> {
        self.sorted.copy_from_slice(&self.keys);
        let seconds = timed(|| sort(&mut self.sorted, &mut self.entries, &mut self.scratch));
        checked(seconds, self.sorted.is_sorted(), "a sort of keys")
    }
}

fn plain_keys(runs: u16, count: usize) -> Result<Section, CliFailure> {
    let mut race = Race::new();
    race.enter("copy", "memory copy of the keys", |keys: &mut Keys| {
        Ok(copy(&keys.keys, &mut keys.sorted, 1))
    });
    for threads in thread_counts() {
        let name = format!("gristmill, {}", threads_in_words(threads));
        let command = "keys > entries > kernel::sort_parallel > keys";
        race.enter(name, command, move |keys: &mut Keys| {
            keys.time(|keys, entries, scratch| sort_keys(keys, entries, scratch, threads))
        });
    }
    race.enter("std", "<[u64]>::sort_unstable", |keys: &mut Keys| {
        keys.time(|keys, _, _| keys.sort_unstable())
    });
    let mut rows = race.run(runs, &mut Keys::new(count)?)?;
    rows.push(Row {
        seconds: vec![IPS4O_SECONDS],
        published: true,
        ..Row::new("IPS4o, 1M keys", "published; another machine")
    });
    let title = "8-byte keys in memory";
    Ok(Section::new(title, (count as u64, "key"), rows))
}

/// Sorts keys in place, by way of entries that carry them.
fn sort_keys(keys: &mut [u64], entries: &mut [Entry], scratch: &mut [Entry], threads: usize) {
    let share = keys.len().div_ceil(threads).max(1);
    on_threads(
        keys.chunks(share).zip(entries.chunks_mut(share)),
        |(keys, entries)| {
            for (entry, &prefix) in entries.iter_mut().zip(keys) {
                *entry = Entry { prefix, row: 0 };
            }
        },
    );
    sort_parallel(entries, scratch, &PrefixAlone, threads);
    on_threads(
        keys.chunks_mut(share).zip(entries.chunks(share)),
        |(keys, entries)| {
            for (key, entry) in keys.iter_mut().zip(entries) {
                *key = entry.prefix;
            }
        },
    );
}

/// Keys of eight bytes: an entry holds all of one, and equal ones are interchangeable.
struct PrefixAlone;

impl kernel::Words for PrefixAlone {
    fn words(&self) -> u32 {
        (KEY_BYTES / size_of::<u64>()) as u32
    }

    fn word(&self, _: u64, _: u32) -> u64 {
        unreachable!("the only word is the prefix")
    }
}

fn pairs(runs: u16, count: usize) -> Result<Section, CliFailure> {
    let mut race = Race::new();
    race.enter("copy", "memory copy of the pairs", |pairs: &mut Pairs| {
        Ok(pairs.copy(1))
    });
    for threads in thread_counts() {
        let name = format!("gristmill, {}", threads_in_words(threads));
        race.enter(name, "kernel::sort_parallel", move |pairs: &mut Pairs| {
            pairs.time(|entries, scratch, words| sort_parallel(entries, scratch, words, threads))
        });
    }
    let command = "sort_unstable by (prefix, row)";
    race.enter("std", command, Pairs::time_standard);
    let rows = race.run(runs, &mut Pairs::new(count)?)?;
    let title = "10-byte keys with their rows in memory";
    Ok(Section::new(title, (count as u64, "pair"), rows))
}
