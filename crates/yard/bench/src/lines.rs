//! `gristmill-bench lines`: lines of text from file to file, with GNU sort and other peers.
//!
//! ```text
//! for each case:  draw the input > [ cp | gristmill | GNU sort | peers ] in turns > compare the outputs
//! ```
//!
//! Inputs are in the page cache, outputs are made durable. All sorts compare bytes (`LC_ALL=C`) and
//! are told the same memory and cores. An output must be the same bytes as GNU sort's; peers whose
//! ties are free are compared only where the whole line is the key.

mod cases;

use std::fs;
use std::path::{Path, PathBuf};
use terminal::launcher::cores;

use clap::Args;
use serde_json::json;
use terminal::ending::failure::CliFailure;
use units::{amount, size};

use crate::programs::{Input, OUTPUT, Program, RaceDirectories, Role, Settings, Told, gristmill};
use crate::race::{Race, Row, Run};
use crate::room::directory;
use crate::same::{failed, same};
use crate::table::{Report, Section};
use crate::{Common, chosen};
pub use cases::Case;

/// Sort lines of text, and compare with a copy, GNU sort and other peers.
///
/// Peers are GNU sort and the programs in bench/peers/lines and bench/peers/rows, which are called
/// PEER INPUT OUTPUT MEMORY_BYTES TMPDIR. The ratio is to the copy.
#[derive(Args)]
pub struct Arguments {
    /// Inputs and options to measure; repeat it for several [default: all]
    #[arg(long = "case", value_enum, value_name = "CASE")]
    cases: Vec<Case>,
    /// How much to sort [default: 2GB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Memory for each sort [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Where to work
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// A directory with peers in the folders lines and rows [default: bench/peers, if it exists]
    #[arg(long, value_name = "DIR")]
    peers: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

const SIZE: u64 = 2_000_000_000;
const SMOKE_SIZE: u64 = 100_000;
const MEMORY: u64 = 4 << 30;
const SMOKE_MEMORY: u64 = 64 << 20;

/// Peers that are used when the command line names none.
const PEERS: &str = "bench/peers";

/// Returns the rows that `gristmill-bench lines` prints.
///
/// # Errors
/// The first failure of ours or of GNU sort; outputs that differ.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let bytes = common.size(arguments.size, SIZE, SMOKE_SIZE);
    let memory_bytes = common.size(arguments.memory, MEMORY, SMOKE_MEMORY);
    let work = directory(&arguments.directory, "--directory")?;
    let peers = match &arguments.peers {
        Some(peers) => Some(directory(peers, "--peers")?),
        None => directory(Path::new(PEERS), "--peers").ok(),
    };
    let mut sections = Vec::new();
    for &case in chosen(&arguments.cases, &Case::ALL) {
        let settings = Settings::warm(common.smoke);
        let mut place = RaceDirectories::new(&work, &[], settings)?;
        let lines = case.draw(&place.file(Input::Text.file()), bytes)?;
        let told = Told {
            memory_bytes,
            temporary: &place.temporary.clone(),
        };
        let programs = programs(case, peers.as_deref(), &told)?;
        let rows = race(case, programs, common.runs, &mut place)?;
        let title = case.title();
        sections.push(Section::new(title, (lines, "line"), rows));
    }
    Ok(Report {
        bench: "lines",
        facts: json!({
            "bytes": bytes,
            "memory": amount(memory_bytes),
            "cores": cores(),
            "inputs": "in the page cache",
        }),
        sections,
    })
}

fn programs(case: Case, peers: Option<&Path>, told: &Told) -> Result<Vec<Program>, CliFailure> {
    let options = case.options();
    let mut programs = vec![
        Program::copy_of(Input::Text),
        Program::ours_lines(gristmill()?, options, told),
    ];
    if case != Case::Rows {
        programs.extend(Program::gnu_lines(options, told));
    }
    let peers = peers.map(|peers| peers.join(case.peers()));
    // Others have options of their own.
    if let Some(peers) = peers.filter(|peers| case.is_for_peers() && peers.is_dir()) {
        programs.extend(Program::in_directory(&peers, Input::Text, told));
    }
    Ok(programs)
}

/// Runs all programs in turns. The first output of each is compared with that of the others.
fn race(
    case: Case,
    programs: Vec<Program>,
    rounds: u16,
    place: &mut RaceDirectories,
) -> Result<Vec<Row>, CliFailure> {
    let mut race = Race::new();
    let expected = place.file("expected");
    for program in programs {
        let (name, shown) = (program.name.clone(), program.shown());
        let expected = expected.clone();
        let mut has_failed = false;
        race.enter(name, shown, move |place: &mut RaceDirectories| {
            if has_failed {
                return Ok(Run::none());
            }
            let took = match place.run(&program) {
                Ok(took) => took,
                Err(failure) if program.role == Role::Peer => {
                    has_failed = true;
                    return Ok(Run {
                        seconds: None,
                        figures: json!({ "failed": failure.message }),
                    });
                }
                Err(failure) => return Err(failure),
            };
            if program.role != Role::Copy {
                let output = place.file(OUTPUT);
                match expected.exists() {
                    true if !same(&output, &expected)? => {
                        return Err(program.wrong("its bytes are not those of the others"));
                    }
                    true => {}
                    false => rename(&output, &expected)?,
                }
            }
            Ok(Run {
                seconds: Some(took.seconds),
                figures: json!({
                    "case": case.title(),
                    "peak_rss_bytes": took.peak_rss_bytes,
                    "temp_peak_bytes": took.temp_peak_bytes,
                }),
            })
        });
    }
    race.run(rounds, place)
}

fn rename(from: &Path, to: &Path) -> Result<(), CliFailure> {
    fs::rename(from, to).map_err(|cause| failed(from, &cause))
}
