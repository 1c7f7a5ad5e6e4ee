//! `gristmill-bench datamation`: a million records from disk to disk, cold, with a copy as the
//! floor.
//!
//! The Datamation benchmark (Anon et al., 1985) with whole processes: start-up, checks and fsync
//! are included. Each program handles one record before its run. That brings its own file back into
//! the page cache, from which it was dropped with everything else: the data are cold, `cp` is not.

use std::path::PathBuf;
use terminal::launcher::cores;

use clap::Args;
use record::{Generator, RECORD_BYTES};
use serde_json::json;
use terminal::ending::failure::CliFailure;

use crate::Common;
use crate::programs::{
    Input, OUTPUT, Program, RaceDirectories, Role, Settings, Told, gristmill, is_on_path,
};
use crate::race::{Race, Run};
use crate::records::{Inputs, generated};
use crate::room::directory;
use crate::table::{Report, Section};

/// Sort a million records from disk to disk, and compare with a copy and the peers on PATH.
///
/// Every program's output is made durable, and its input is not in the page cache. Each output of
/// a sort is validated. The ratio is to the copy.
#[derive(Args)]
pub struct Arguments {
    /// Where to work: some 500 bytes a record are needed for a while
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// How many records [default: 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    records: Option<u64>,
    /// Instead of peers, measure the sort with one thing changed: its I/O, its cores, its threads, its passes
    #[arg(long)]
    ablate: bool,
    #[command(flatten)]
    pub common: Common,
}

const RECORDS: u64 = 1_000_000;
const SMOKE_RECORDS: u64 = 2_000;

/// Memory for peers that ask how much: as much as they need for a million records.
const PEER_MEMORY_BYTES: u64 = 512 << 20;

/// Returns the rows that `gristmill-bench datamation` prints.
///
/// # Errors
/// The first failure of a program; an output that is not the sorted input.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let records = common
        .size(arguments.records, RECORDS, SMOKE_RECORDS)
        .max(1);
    let told = Told {
        memory_bytes: PEER_MEMORY_BYTES,
        temporary: &[PathBuf::from(".")],
    };
    let ours = Program::ours(gristmill()?);
    let others = if arguments.ablate {
        ablations(&ours)
    } else {
        Program::peers(&told)
    };
    let mut programs = vec![Program::copy(), ours];
    programs.extend(others);
    let directory = directory(&arguments.directory, "--directory")?;
    let mut place = RaceDirectories::new(&directory, &[], Settings::new(common.smoke))?;
    let small = place.warm_up()?.to_owned();
    let inputs = Inputs::new(records, &programs, |input| {
        let generator = Generator {
            style: input.style(),
            skewed: false,
        };
        generated(&small.join(input.file()), generator, 1)?;
        generated(&place.file(input.file()), generator, records)
    })?;
    let mut race = Race::new();
    for program in &programs {
        let command = match program.role {
            Role::Ours => program.shown(),
            Role::Copy | Role::Peer => format!("{} && sync {OUTPUT}", program.shown()),
        };
        race.enter(&program.name, command, |place: &mut RaceDirectories| {
            time(program, place, &inputs)
        });
    }
    let rows = race.run(common.runs, &mut place)?;
    let title = "disk to disk, cold, durable";
    Ok(Report {
        bench: "datamation",
        facts: json!({
            "records": records,
            "bytes": records * RECORD_BYTES as u64,
            "cores": cores(),
            "cold": place.settings.cold_name(),
            "checksum": inputs.checksum(Input::Binary).to_string(),
        }),
        sections: vec![Section::new(title, (records, "record"), rows)],
    })
}

/// The sort with one thing changed. The poster of psort ("Lowering latency in clusters") changes disks, links, clocks and
/// daemons, which are no options of a sort: fewer cores are as near as this gets.
fn ablations(ours: &Program) -> Vec<Program> {
    let with = |name: &str, options: &[&str]| ours.clone().renamed(name).with(options);
    let mut all = vec![
        with("direct I/O, always", &["--io", "direct"]),
        with("I/O through the page cache", &["--io", "buffered"]),
        with("one thread for each stage", &["--parallel", "1"]),
        with("two passes", &["--plan", "two-pass"]),
    ];
    if is_on_path("taskset") {
        all.push(
            ours.clone()
                .renamed("one core")
                .launched_by("taskset --cpu-list 0"),
        );
    }
    all
}

fn time(program: &Program, place: &RaceDirectories, inputs: &Inputs) -> Result<Run, CliFailure> {
    let took = place.run(program)?;
    if program.role == Role::Copy {
        return Ok(took.seconds.into());
    }
    match inputs.what_is_wrong(program.input, &place.file(OUTPUT)) {
        Some(why) => Err(program.wrong(&why)),
        None => Ok(Run {
            seconds: Some(took.seconds),
            figures: json!({ "validated": true }),
        }),
    }
}
