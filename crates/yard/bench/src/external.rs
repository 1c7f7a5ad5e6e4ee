//! `gristmill-bench external`: more records than memory holds, sorted from disk to disk, with
//! their floor and peers.
//!
//! The floor of two passes is reading the input and writing as much at once, direct, twice. Every
//! figure is taken from outside, in the same way for all programs, with cold inputs and durable
//! outputs.

mod contest;
mod input;

use host::memory::CGROUP_RESERVE_BYTES;
use std::path::{Path, PathBuf};
use terminal::launcher::cores;

use clap::Args;
use pipeline::Failure;
use record::RECORD_BYTES;
use serde_json::{Value, json};
use sort::{Framing, IoChoice, Pack, Plan, Resources, Shape, SortError, SpillLayout, Tuning};
use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use units::{amount, grouped, size};

use crate::Common;
use crate::programs::{Groups, Input, PEERS, Program, RaceDirectories, Settings, Told, gristmill};
use crate::records::Inputs;
use crate::room::{check_room, directory};
use crate::table::{Report, Section};
use contest::{COLUMNS, Contest};
use input::Pattern;

/// Sort more than memory holds, from disk to disk, and compare with the floor and with peers.
///
/// The floor of two passes is twice reading the input and writing as much at once, past the page
/// cache. All sorts get the same memory, inputs are not in the page cache, and outputs are made
/// durable; the first output of each is validated. Peers are GNU sort (text) and sortbin on PATH,
/// and the programs in bench/peers/built.
#[derive(Args)]
pub struct Arguments {
    /// How much to sort [default: 10G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Memory for each sort [default: 1G]
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
    /// The directory of built peers [default: bench/peers, if it exists]
    #[arg(long, value_name = "DIR")]
    peers: Option<PathBuf>,
    /// Run each program in a fresh control group of that memory, page cache included (root)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    cgroup_limit: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

const SIZE: u64 = 10 << 30;
const SMOKE_SIZE: u64 = 1 << 20;
const MEMORY: u64 = 1 << 30;
const SMOKE_MEMORY: u64 = 64 << 20;

/// The most that temporary files take, in % of the input: not all chunks and blocks are
/// full.
const TEMPORARY_PERCENT: u64 = 112;

/// Returns the rows that `gristmill-bench external` prints.
///
/// # Errors
/// Too little memory or room; a failure of the measured command.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let records = records(common.size(arguments.size, SIZE, SMOKE_SIZE))?;
    let groups = groups(arguments.cgroup_limit);
    let memory_bytes = arguments.memory_bytes(groups.as_ref());
    let peers = peers(arguments.peers.as_deref())?;
    let why = groups.as_ref().and_then(|found| found.as_ref().err());
    let why = why.cloned();
    let settings = Settings {
        groups: groups.and_then(Result::ok),
        ..Settings::new(common.smoke)
    };
    let place = RaceDirectories::new(&arguments.directory, &arguments.temporary, settings)?;
    let told = Told {
        memory_bytes,
        temporary: &place.temporary,
    };
    let programs = programs(&told, peers.as_deref())?;
    check_disks(&place, records * RECORD_BYTES as u64, &programs)?;
    check_plan(records, &told)?;
    let inputs = Inputs::new(records, &programs, |input| {
        say::err(format!("making {}", input.file()));
        let path = place.file(input.file());
        arguments.input.make(&path, input.style(), records)
    })?;
    let mut contest = Contest {
        place,
        inputs,
        floors: Vec::new(),
        failed: Vec::new(),
    };
    let rows = contest.run(common.runs, programs)?;
    let mut facts = facts(&contest, records, memory_bytes);
    facts["input"] = arguments.input.name().into();
    if let Some(limit) = arguments.cgroup_limit {
        facts["cgroup_limit_bytes"] = why.is_none().then_some(limit).into();
        facts["cgroup_skipped"] = why.into();
    }
    let title = "disk to disk, cold, durable";
    Ok(Report {
        bench: "external",
        facts,
        sections: vec![Section::new(title, (records, "record"), rows).with_columns(&COLUMNS)],
    })
}

impl Arguments {
    /// The memory for each sort, within its control group.
    fn memory_bytes(&self, groups: Option<&Result<Groups, String>>) -> u64 {
        let limit = match (groups, self.cgroup_limit) {
            (Some(Ok(_)), Some(limit)) => limit.saturating_sub(CGROUP_RESERVE_BYTES),
            _ => u64::MAX,
        };
        let asked = self.common.size(self.memory, MEMORY, SMOKE_MEMORY);
        asked.min(limit)
    }
}

/// Ours, the peers on PATH, and those that were built in a directory.
fn programs(told: &Told<'_>, built: Option<&Path>) -> Result<Vec<Program>, CliFailure> {
    let mut programs = vec![Program::ours_told(gristmill()?, told)];
    programs.extend(Program::peers(told));
    programs.extend(
        built
            .into_iter()
            .flat_map(|peers| Program::built(peers, told)),
    );
    Ok(programs)
}

/// The facts that hold for all rows.
fn facts(contest: &Contest, records: u64, memory_bytes: u64) -> Value {
    let (failed, floors) = (contest.failed.iter(), contest.floors.iter());
    json!({
        "records": records,
        "bytes": records * RECORD_BYTES as u64,
        "memory_bytes": memory_bytes,
        "cores": cores(),
        "cold": contest.place.settings.cold_name(),
        "checksum": contest.inputs.checksum(Input::Binary).to_string(),
        "floor_one_pass_s": floors.clone().map(|floor| floor.seconds).collect::<Vec<_>>(),
        "floor_direct": floors.clone().all(|floor| floor.direct),
        "failed": failed
            .map(|(name, why)| json!({ "name": name, "why": why }))
            .collect::<Vec<_>>(),
    })
}

fn records(bytes: u64) -> Result<u64, CliFailure> {
    let records = bytes / RECORD_BYTES as u64;
    if records > 0 {
        return Ok(records);
    }
    Err(CliFailure::usage(format!(
        "--size {bytes} is less than a record of {RECORD_BYTES} bytes"
    )))
}

/// Refuses memory in which ours could not sort that many records, before anything is made.
///
/// # Errors
/// Too little memory; the message has the least that is enough.
pub fn check_plan(records: u64, told: &Told) -> Result<(), CliFailure> {
    let shape = Shape {
        inputs: 1,
        bytes: Some(records * RECORD_BYTES as u64),
        is_about: false,
        framing: Framing::fixed(RECORD_BYTES),
        sequential_output: false,
        stable: false,
        outputs: 1,
        temporary: told.temporary.len(),
        sources: Default::default(),
        coding: Default::default(),
        pack: Pack::Never,
        spill_layout: SpillLayout::Log,
        stripe: None,
    };
    let (cores, memory_bytes) = (cores(), told.memory_bytes);
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
                amount(limit),
                needed.div_ceil(1 << 20)
            );
            Err(CliFailure::new("memory_limit", message))
        }
        Err(error) => Err(::host::failure::ended(Failure::from(error))),
    }
}

/// The directory of peers: the named one, or the default if it exists.
fn peers(asked: Option<&Path>) -> Result<Option<PathBuf>, CliFailure> {
    match asked {
        Some(place) => directory(place, "--peers").map(Some),
        None => Ok(Path::new(PEERS).canonicalize().ok()),
    }
}

/// The maker of control groups with that limit, or the reason why there is none, which is reported.
fn groups(limit: Option<u64>) -> Option<Result<Groups, String>> {
    let found = Groups::find(limit?);
    if let Err(why) = &found {
        say::err(format!(
            "--cgroup-limit is ignored: {why}; run as root on a system that allows control groups"
        ));
    }
    Some(found)
}

/// Refuses disks without room for inputs, and for output and temporary files of the program that is
/// running, or for the floor's file.
fn check_disks(
    place: &RaceDirectories,
    bytes: u64,
    programs: &[Program],
) -> Result<(), CliFailure> {
    let reads = |input: &&Input| programs.iter().any(|program| program.input == **input);
    let files = Input::ALL.iter().filter(reads).count() as u64 + 1;
    check_room(&[
        (place.path(), bytes.saturating_mul(files)),
        // A sort that takes one directory puts all of it there.
        (&place.temporary[0], temporary_bytes(bytes)),
    ])
}

/// The room for temporary files of a sort of that many bytes.
pub fn temporary_bytes(bytes: u64) -> u64 {
    bytes / 100 * TEMPORARY_PERCENT
}
