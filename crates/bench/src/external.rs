//! `bench external`: what memory does not hold, sorted from disk to disk, beside its floor and
//! peers.
//!
//! The floor of two passes is reading the input and writing as much at once, direct, twice. Every
//! figure is taken from outside, in the same way for everybody, cold and with a durable output.

mod input;
mod outcome;
mod race;
mod racer;

pub use race::{Place, report};
pub use racer::{OUTPUT, REPORT, Racer, Told};

use std::path::{Path, PathBuf};

use clap::Args;
use pipeline::Failure;
use record::RECORD_BYTES;
use serde_json::{Map, Value};
use sort::{IoChoice, Plan, Resources, Shape, SortError, Tuning};

use crate::Common;
use crate::cold::Cold;
use crate::contender::Input;
use crate::group::Groups;
use crate::room::{check_room, directory};
use crate::scratches::Scratches;
use crate::table::{Report, Section};
use cli::failure::CliFailure;
use cli::size::{grouped, readable, size};
use cli::{machine, say};

use input::Pattern;
use outcome::{columns, facts, rows};
use race::Race;
use racer::PEERS;

/// Sort more than memory holds, from disk to disk, beside its floor and the peers that are found.
///
/// The floor of two passes is twice reading the input and writing as much at once, past the page
/// cache. Everybody gets the same memory, reads an input that is not in the page cache and makes
/// the output durable; the first output of each is validated. Peers are GNU sort (text) and sortbin
/// on PATH, and what is built in bench/peers.
#[derive(Args)]
pub struct Arguments {
    /// How much to sort [default: 10G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Memory for everybody [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// The order in which keys come
    #[arg(long, value_enum, default_value_t)]
    input: Pattern,
    /// Where input and output are
    #[arg(
        long = "dir",
        alias = "directory",
        value_name = "DIR",
        default_value = "."
    )]
    directory: PathBuf,
    /// Where temporary files are; several share the load where a contender knows how [default:
    /// --dir]
    #[arg(long = "tmp", value_name = "DIR")]
    temporary: Vec<PathBuf>,
    /// Where peers were built [default: bench/peers, if it is there]
    #[arg(long, value_name = "DIR")]
    peers: Option<PathBuf>,
    /// Run everybody in a fresh control group of that memory, page cache included (root)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    cgroup_limit: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

const SIZE: u64 = 10 << 30;
const SMOKE_SIZE: u64 = 1 << 20;
const MEMORY: u64 = 1 << 30;
const SMOKE_MEMORY: u64 = 64 << 20;

/// Temporary files take so many per cent of the input's bytes at most: chunks and blocks are not
/// all full.
const TEMPORARY_PERCENT: u64 = 112;

/// Measures.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let records = records(common.size(arguments.size, SIZE, SMOKE_SIZE), "--size")?;
    let (groups, group_facts) = groups(arguments.cgroup_limit);
    let limit = groups
        .as_ref()
        .and(arguments.cgroup_limit)
        .unwrap_or(u64::MAX);
    let memory_bytes = common
        .size(arguments.memory, MEMORY, SMOKE_MEMORY)
        .min(limit.saturating_sub(machine::CGROUP_RESERVE_BYTES));
    let peers = peers(arguments.peers.as_deref())?;
    let scratches = Scratches::new(&arguments.directory, &arguments.temporary)?;
    let told = Told {
        memory_bytes,
        temporary: &scratches.temporary,
    };
    let racers = Racer::all(&told, peers.as_deref())?;
    check_disks(&scratches, records * RECORD_BYTES as u64, &racers)?;
    check_plan(records, &told)?;
    let place = Place {
        scratch: scratches.work,
        temporary: scratches.temporary.clone(),
        cold: Cold::find(common.smoke),
        groups,
        smoke: common.smoke,
    };
    let cold = place.cold;
    let mut race = Race::new(place, arguments.input, records, racers)?;
    race.run(common.runs)?;
    let mut facts = facts(&race, memory_bytes, cold);
    facts.extend(group_facts);
    let title = "disk to disk, cold, durable";
    let section = Section {
        columns: Some(columns),
        ..Section::new(title, (records, "record"), rows(&race))
    };
    Ok(Report {
        bench: "external",
        facts,
        sections: vec![section],
    })
}

/// How many records are so many bytes.
pub fn records(bytes: u64, option: &str) -> Result<u64, CliFailure> {
    let records = bytes / RECORD_BYTES as u64;
    if records > 0 {
        return Ok(records);
    }
    Err(CliFailure::usage(format!(
        "{option} {bytes} is less than a record of {RECORD_BYTES} bytes"
    )))
}

/// Refuses memory in which ours could not sort so many records, before anything is made.
pub fn check_plan(records: u64, told: &Told) -> Result<(), CliFailure> {
    let shape = Shape {
        inputs: 1,
        records: Some(records),
        record_bytes: RECORD_BYTES,
        sequential_output: false,
        stable: false,
        outputs: 1,
        temporary: told.temporary.len(),
    };
    let (cores, memory_bytes) = (machine::cores(), told.memory_bytes);
    let resources = Resources {
        cores,
        memory_bytes,
        io: IoChoice::Auto,
    };
    let tuning = Tuning::default();
    let plan = Plan::new(&shape, &resources, &tuning);
    match plan.or_else(|_| Plan::two_pass(&shape, &resources, &tuning)) {
        Ok(_) => Ok(()),
        Err(SortError::TooLittleMemory { needed, limit, .. }) => {
            let message = format!(
                "{} records cannot be sorted in --memory {}; give at least {}M",
                grouped(records),
                readable(limit),
                needed.div_ceil(1 << 20)
            );
            Err(CliFailure::new("memory_limit", message))
        }
        Err(error) => Err(CliFailure::from(Failure::from(error))),
    }
}

/// Where peers were built: as asked for, or where they usually are, or nowhere.
fn peers(asked: Option<&Path>) -> Result<Option<PathBuf>, CliFailure> {
    match asked {
        Some(place) => directory(place, "--peers").map(Some),
        None => Ok(Path::new(PEERS).canonicalize().ok()),
    }
}

/// Where groups can be made, if they are wanted; else it is said why not.
fn groups(limit: Option<u64>) -> (Option<Groups>, Map<String, Value>) {
    let found = limit.map(Groups::find);
    let why = found
        .as_ref()
        .and_then(|found| found.as_ref().err())
        .cloned();
    if let Some(why) = &why {
        say::err(format!(
            "--cgroup-limit is skipped: {why}; be root where groups can be made"
        ));
    }
    let mut facts = Map::new();
    if limit.is_some() {
        let used = if why.is_none() { limit } else { None };
        facts.insert("cgroup_limit_bytes".to_owned(), used.into());
        facts.insert("cgroup_skipped".to_owned(), why.into());
    }
    (found.and_then(Result::ok), facts)
}

/// Refuses disks without room for inputs, and for output and temporary files of the contender that
/// is running, or for the floor's file.
fn check_disks(scratches: &Scratches, bytes: u64, racers: &[Racer]) -> Result<(), CliFailure> {
    let reads = |input: &&Input| racers.iter().any(|racer| racer.input == **input);
    let files = Input::ALL.iter().filter(reads).count() as u64 + 1;
    let mut needs = vec![(scratches.work.path(), bytes.saturating_mul(files))];
    // Who knows one directory puts all of it there.
    let first = scratches.temporary.first().map(PathBuf::as_path);
    needs.extend(first.map(|place| (place, temporary_bytes(bytes))));
    check_room(&needs)
}

/// Room for temporary files of a sort of so many bytes.
pub fn temporary_bytes(bytes: u64) -> u64 {
    bytes / 100 * TEMPORARY_PERCENT
}
