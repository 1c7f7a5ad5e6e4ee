//! `gristmill-bench stages`: the rates of stages, and the cores that those with one worker leave idle.
//!
//! ```text
//! for each content:  draw, compress, cut and sort the inputs
//!                    > each way through the sort, in turns > reports > stages
//! ```
//!
//! Everything is in memory (a tmpfs), so that no disk is the bottleneck. Rates are measured: the bytes
//! of a stage over the seconds in which it was busy, on this machine. What many cores would do is computed
//! from them, and never run.

mod inputs;
mod ways;
mod work;

use std::path::PathBuf;
use terminal::launcher::cores;

use clap::Args;
use serde_json::json;
use terminal::ending::failure::CliFailure;
use units::{amount, size};

use crate::programs::{RaceDirectories, Settings, Told, gristmill};
use crate::race::{Race, Row};
use crate::room::{check_room, directory};
use crate::table::{Report, Section};
use crate::{Common, chosen};
use inputs::{Content, Maker};
use ways::{WAYS, Way};
use work::{COLUMNS, Work};

/// Stages: how fast each is, and how many cores those with one worker let a sort keep busy.
///
/// Sorts run in memory, between files and pipes, compressed or not, in one pass and in two. A stage
/// with one worker limits its phase, however many cores there are. Columns with * are computed: *cores
/// is the work of all stages of its phase over that of the stage; the others are the part of so many
/// cores that it leaves busy at most. The row of a whole sort takes the slowest such stage of each phase.
/// A wait for a core or a disk counts as busy, so run nothing else.
#[derive(Args)]
pub struct Arguments {
    /// Records to sort; repeat it for several [default: all]
    #[arg(long = "content", value_enum, value_name = "CONTENT")]
    contents: Vec<Content>,
    /// How much to sort [default: 1GB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Memory for a sort that holds everything; others get a quarter of the input [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Where to work: a directory in memory with room for eight times the input
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    directory: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

const SIZE: u64 = 1_000_000_000;
const SMOKE_SIZE: u64 = 1_000_000;
const MEMORY: u64 = 4 << 30;
const SMOKE_MEMORY: u64 = 64 << 20;

/// The least memory of a sort that does not hold everything.
const LEAST_MEMORY: u64 = 64 << 20;

/// Its input, three times compressed and once in sorted files, its output and its temporary files.
const ROOM: u64 = 8;

/// Returns the rows that `gristmill-bench stages` prints.
///
/// # Errors
/// Too little room; the first failure of a sort.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let bytes = common.size(arguments.size, SIZE, SMOKE_SIZE);
    let memory_bytes = common.size(arguments.memory, MEMORY, SMOKE_MEMORY);
    let place = directory(&arguments.directory, "--directory")?;
    check_room(&[(&place, bytes.saturating_mul(ROOM))])?;
    let contents = chosen(&arguments.contents, &Content::ALL);
    let sections = contents.iter().map(|content| {
        let mut sorts = Sorts {
            // Nothing is on a disk, so nothing is waited for.
            place: RaceDirectories::new(&place, &[], Settings::warm(true))?,
            work: WAYS.map(|_| Work::default()),
        };
        sorts.measure(*content, bytes, memory_bytes, common.runs)
    });
    Ok(Report {
        bench: "stages",
        facts: json!({
            "bytes": bytes,
            "memory": amount(memory_bytes),
            "cores": cores(),
            "measured": "GB/s and M/s of a busy worker (of a whole sort: in all), ns/byte of the input, waits for locks",
            "computed": "*: cores that a sort can keep busy beside this stage, and part of N cores",
        }),
        sections: sections.collect::<Result<_, _>>()?,
    })
}

/// The directory of the sorts of one content, and the work that each way through the sort took.
struct Sorts {
    place: RaceDirectories,
    work: [Work; WAYS.len()],
}

impl Sorts {
    fn measure(
        &mut self,
        content: Content,
        bytes: u64,
        memory_bytes: u64,
        runs: u16,
    ) -> Result<Section, CliFailure> {
        let file = gristmill()?;
        let temporary = self.place.temporary.clone();
        let told = |memory_bytes| Told {
            memory_bytes,
            temporary: &temporary,
        };
        let holding = told(memory_bytes);
        let spilling = told((bytes / 4).clamp(LEAST_MEMORY.min(memory_bytes), memory_bytes));
        let maker = Maker {
            place: &self.place,
            content,
            told: &holding,
            gristmill: &file,
        };
        let input = maker.make(bytes)?;
        let mut race = Race::new();
        let fitting = |way: &(usize, &Way)| way.1.is_for(content);
        for (number, way) in WAYS.iter().enumerate().filter(fitting) {
            let told = if way.spills { &spilling } else { &holding };
            let program = way.program(content, &file, told);
            race.enter(way.name, program.shown(), move |sorts: &mut Sorts| {
                let took = sorts.place.run(&program)?;
                sorts.work[number].add(&sorts.place.report()?);
                Ok(took.seconds)
            });
        }
        let rows = race.run(runs, self)?;
        let done = self.work.iter().filter(|work| work.is_done());
        let rows: Vec<Row> = rows
            .into_iter()
            .zip(done)
            .flat_map(|(row, work)| work.rows(row, &input))
            .collect();
        let (title, item) = content.title();
        Ok(Section::new(title, (input.records, item), rows).with_columns(&COLUMNS))
    }
}
