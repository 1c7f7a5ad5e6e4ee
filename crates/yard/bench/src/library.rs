//! `gristmill-bench library`: records pushed one by one through the library, beside the command.
//!
//! ```text
//! command          file > gristmill sort --format gensort > file
//! library, files   file > record by record > Feed::push > Sorted::next > record by record > file
//! library, memory  an array               > Feed::push > Sorted::next > each key is looked at
//! ```
//!
//! The first two do the same, from outside: input in the page cache, output durable, the same memory
//! and directories. In the third only the sort is timed; the array is not part of its memory. Ratios
//! are to the command. All outputs must be the same bytes.

mod pushed;

use std::path::PathBuf;
use terminal::launcher::cores;

use clap::Args;
use record::{Generator, RECORD_BYTES, Style};
use serde_json::json;
use terminal::ending::failure::CliFailure;
use units::{amount, size};

use crate::Common;
use crate::programs::{Input, OUTPUT, Program, RaceDirectories, Settings, Told, gristmill};
use crate::race::{Race, Row, Run};
use crate::records::generated;
use crate::room::directory;
use crate::same::same;
use crate::table::{Report, Section};

pub use pushed::Arguments as Pushed;

/// Records pushed one by one through the library and read back, beside the command on files.
#[derive(Args)]
pub struct Arguments {
    /// How many records of 100 bytes to sort [default: 10000000]
    #[arg(long, value_name = "N")]
    records: Option<u64>,
    /// Memory for each sort [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Where to work
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

const RECORDS: u64 = 10_000_000;
const SMOKE_RECORDS: u64 = 100_000;
const MEMORY: u64 = 4 << 30;
const SMOKE_MEMORY: u64 = 64 << 20;

/// Returns the rows that `gristmill-bench library` prints.
///
/// # Errors
/// The first failure of a sort; outputs that differ.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let records = common.size(arguments.records, RECORDS, SMOKE_RECORDS);
    let memory_bytes = common.size(arguments.memory, MEMORY, SMOKE_MEMORY);
    let work = directory(&arguments.directory, "--directory")?;
    let mut place = RaceDirectories::new(&work, &[], Settings::warm(common.smoke))?;
    let generator = Generator {
        style: Style::Binary,
        skewed: false,
    };
    generated(&place.file(Input::Binary.file()), generator, records)?;
    let told = Told {
        memory_bytes,
        temporary: &place.temporary.clone(),
    };
    let mut race = Race::new();
    let programs = [
        Program::ours_told(gristmill()?, &told),
        Program::library("library, files", &[], &told)?,
        Program::library("library, memory", &["--in-memory"], &told)?,
    ];
    for program in programs {
        let name = program.name.clone();
        race.enter(name, program.shown(), move |place: &mut RaceDirectories| {
            if !common.smoke {
                touch_memory(TOUCHED);
            }
            time(&program, place)
        });
    }
    let rows: Vec<Row> = race.run(common.runs, &mut place)?;
    let title = "pushed and read one by one, input in the page cache, durable";
    Ok(Report {
        bench: "library",
        facts: json!({
            "records": records,
            "bytes": records * RECORD_BYTES as u64,
            "memory": amount(memory_bytes),
            "cores": cores(),
        }),
        sections: vec![Section::new(title, (records, "record"), rows)],
    })
}

/// Bytes that are touched before each run, more than a run needs.
const TOUCHED: usize = 3 << 30;

/// Touches memory and frees it. The host of a virtual machine takes free memory back and gives it
/// again on the first touch, which takes seconds: longer than the sorts that are compared.
fn touch_memory(bytes: usize) {
    const PAGE: usize = 4096;
    let mut memory = vec![0_u8; bytes];
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    std::hint::black_box(&memory);
}

fn time(program: &Program, place: &RaceDirectories) -> Result<Run, CliFailure> {
    let took = place.run(program)?;
    let (output, expected) = (place.file(OUTPUT), place.file("expected"));
    // A program that only looks at the records has written its own time.
    let seconds = match pushed::time_in(&output) {
        Some(seconds) => seconds,
        None if !expected.exists() => {
            std::fs::rename(&output, &expected).map_err(|cause| {
                CliFailure::new("io", format!("cannot keep an output: {cause}"))
            })?;
            took.seconds
        }
        None if same(&output, &expected)? => took.seconds,
        None => return Err(program.wrong("its bytes are not those of the command")),
    };
    Ok(Run {
        seconds: Some(seconds),
        figures: json!({
            "peak_rss_bytes": took.peak_rss_bytes,
            "temp_peak_bytes": took.temp_peak_bytes,
        }),
    })
}
