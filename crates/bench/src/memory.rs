//! `bench memory`: a million keys in memory, beside a copy of them.
//!
//! Two inputs: plain 8-byte keys, from an array to a sorted array, which costs ours the way into
//! entries and out again; and the pairs of a 10-byte key and a row that a sort of records makes.
//! IPS4o's published time of the first is shown beside, marked: it is from another machine.

use clap::Args;
use kernel::patterns::{Random, entries_of};
use kernel::{Entry, Rows, Slab, WholeRecords, sort_parallel};

use crate::Common;
use crate::host::{check_memory, thread_counts, threads_in_words};
use crate::measure::{Row, Subject, copy, measure, on_threads, timed, touch, wrong};
use crate::table::{Report, Section};
use cli::failure::CliFailure;
use cli::machine;

/// Sort a million keys in memory, beside a copy of them and IPS4o's published 2 ms.
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
const PAIR_KEY_BYTES: usize = 10;

/// Bytes of memory for each key: both inputs, the same again to sort in, and scratch.
const BYTES_EACH: u64 = 160;

/// Measures.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let keys = common.size(arguments.keys, KEYS, SMOKE_KEYS).max(1);
    check_memory(keys.saturating_mul(BYTES_EACH), "--keys")?;
    let sections = vec![
        plain_keys(common.runs, keys as usize)?,
        pairs(common.runs, keys as usize)?,
    ];
    let mut facts = serde_json::Map::new();
    facts.insert("keys".to_owned(), keys.into());
    facts.insert("cores".to_owned(), machine::cores().into());
    Ok(Report {
        bench: "memory",
        facts,
        sections,
    })
}

#[derive(Clone, Copy)]
enum How {
    Copy,
    Gristmill(usize),
    Standard,
}

fn plain_keys(runs: u16, count: usize) -> Result<Section, CliFailure> {
    let mut keys = touch(Slab::<u64>::new(count))?;
    let mut random = Random::new(1);
    keys.iter_mut().for_each(|key| *key = random.next_u64());
    let mut sorted = touch(Slab::<u64>::new(count))?;
    let mut entries = touch(Slab::<Entry>::new(count))?;
    let mut scratch = touch(Slab::<Entry>::new(count))?;
    let mut subjects = vec![Subject::new("copy", "memory copy of the keys", How::Copy)];
    subjects.extend(thread_counts().into_iter().map(|threads| {
        let name = format!("gristmill, {}", threads_in_words(threads));
        Subject::new(
            name,
            "keys > entries > kernel::sort_parallel > keys",
            How::Gristmill(threads),
        )
    }));
    subjects.push(Subject::new("std", "<[u64]>::sort_unstable", How::Standard));
    let mut rows = measure(runs, subjects, |how| {
        sorted.copy_from_slice(&keys);
        let seconds = match how {
            How::Copy => return Ok(timed(|| copy(&keys, &mut sorted, 1))),
            How::Standard => timed(|| sorted.sort_unstable()),
            How::Gristmill(threads) => {
                timed(|| sort_keys(&mut sorted, &mut entries, &mut scratch, threads))
            }
        };
        if sorted.is_sorted() {
            Ok(seconds)
        } else {
            Err(wrong("a sort of keys"))
        }
    })?;
    rows.push(Row::published(
        "IPS4o, 1M keys",
        "published; another machine",
        IPS4O_SECONDS,
    ));
    Ok(Section::new(
        "8-byte keys in memory",
        (count as u64, "key"),
        rows,
    ))
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
    let mut keys = touch(Slab::<u8>::new(count * PAIR_KEY_BYTES))?;
    Random::new(2).fill(&mut keys);
    let entries = entries_of(&keys, PAIR_KEY_BYTES);
    let chunks = [&keys[..]];
    let words = WholeRecords(Rows::new(&chunks, PAIR_KEY_BYTES));
    let mut sorted = touch(Slab::<Entry>::new(count))?;
    let mut scratch = touch(Slab::<Entry>::new(count))?;
    let mut subjects = vec![Subject::new("copy", "memory copy of the pairs", How::Copy)];
    subjects.extend(thread_counts().into_iter().map(|threads| {
        let name = format!("gristmill, {}", threads_in_words(threads));
        Subject::new(name, "kernel::sort_parallel", How::Gristmill(threads))
    }));
    subjects.push(Subject::new(
        "std",
        "sort_unstable by (prefix, row)",
        How::Standard,
    ));
    let rows = measure(runs, subjects, |how| {
        sorted.copy_from_slice(&entries);
        let seconds = match how {
            How::Copy => return Ok(timed(|| copy(&entries, &mut sorted, 1))),
            How::Standard => {
                timed(|| sorted.sort_unstable_by_key(|entry| (entry.prefix, entry.row)))
            }
            How::Gristmill(threads) => {
                timed(|| sort_parallel(&mut sorted, &mut scratch, &words, threads))
            }
        };
        let sound = sorted.is_sorted_by_key(|entry| entry.prefix);
        if sound {
            Ok(seconds)
        } else {
            Err(wrong("a sort of pairs"))
        }
    })?;
    Ok(Section::new(
        "10-byte keys with their rows in memory",
        (count as u64, "pair"),
        rows,
    ))
}
