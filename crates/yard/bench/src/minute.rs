//! `gristmill-bench minute`: the records sorted in a minute, from disk to disk (MinuteSort).
//!
//! MinuteSort (sortbenchmark.org) as whole processes: start-up, checks and the sync of the output
//! are within the minute; making the input, dropping it from the page cache and validating the
//! output are not. The floor is reading as many bytes and writing as many at once, in one pass.

mod search;

use std::path::{Path, PathBuf};
use terminal::launcher::cores;

use clap::Args;
use record::{Generator, RECORD_BYTES};
use serde_json::{Value, json};
use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use units::{amount, grouped, size};

use crate::external::{check_plan, temporary_bytes};
use crate::programs::{Input, OUTPUT, Program, RaceDirectories, Settings, Told, gristmill};
use crate::race::Row;
use crate::records::{Inputs, generated};
use crate::room::{check_room, free_bytes};
use crate::table::{Column, Report, Section};
use search::Try;

/// Sort as many records as end within a minute, from disk to disk.
///
/// A small run gives the rate, a run at the estimated size follows, and one or two refine it. The
/// best that ended in time is reported. Every output is validated.
#[derive(Args)]
pub struct Arguments {
    /// Memory to sort in
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: u64,
    /// Where input and output are
    #[arg(
        long = "dir",
        alias = "directory",
        value_name = "DIR",
        default_value = "."
    )]
    directory: PathBuf,
    /// Where temporary files are; several share the load [default: --dir]
    #[arg(long = "tmp", value_name = "DIR")]
    temporary: Vec<PathBuf>,
    /// Sort on the ranks that this program on PATH starts, such as `mpirun -n 4`: all see --dir, each has --memory
    #[arg(long, value_name = "COMMAND", default_value = "")]
    launcher: String,
    /// Seconds of the minute, for short trials
    #[arg(long, value_name = "N", default_value_t = 60,
        value_parser = clap::value_parser!(u16).range(1..=3600))]
    seconds: u16,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Begin tiny, and leave the page cache of others alone: to see that it works
    #[arg(long)]
    smoke: bool,
}

/// Records of the small run for each second of the limit: 20 MB, which every disk reads and writes
/// in less.
const FIRST_PER_SECOND: u64 = 200_000;
const SMOKE_FIRST: u64 = 2_000;

/// A smoke run sorts no more than this.
const SMOKE_MOST: u64 = 20_000;

/// Returns the rows that `gristmill-bench minute` prints.
///
/// # Errors
/// Too little memory or room; a failure of the measured command.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let limit_s = f64::from(arguments.seconds);
    let first = if arguments.smoke {
        SMOKE_FIRST
    } else {
        FIRST_PER_SECOND * u64::from(arguments.seconds)
    };
    let settings = Settings::new(arguments.smoke);
    let place = RaceDirectories::new(&arguments.directory, &arguments.temporary, settings)?;
    let most = most_records(place.path())?;
    let most = if arguments.smoke {
        most.min(SMOKE_MOST)
    } else {
        most
    };
    let told = Told {
        memory_bytes: arguments.memory,
        temporary: &place.temporary,
    };
    check_plan(first, &told)?;
    let program = Program::ours_told(gristmill()?, &told).launched_by(&arguments.launcher);
    let mut minute = Minute {
        place,
        program,
        tries: Vec::new(),
        rows: Vec::new(),
    };
    let mut next = Some(first.min(most));
    while let Some(records) = next {
        minute.try_to_sort(records)?;
        next = search::next(&minute.tries, limit_s, most);
    }
    minute.report(limit_s, most, arguments.memory)
}

/// The most memory of a rank.
fn peak(report: &Value) -> u64 {
    let ranks = report["ranks"].as_array().into_iter().flatten();
    let peaks = ranks
        .chain([report])
        .map(|rank| rank["peak_rss_bytes"].as_u64());
    peaks.flatten().max().unwrap_or(0)
}

/// Records for whose input, output and temporary files there is room.
fn most_records(place: &Path) -> Result<u64, CliFailure> {
    /// Input, output, temporary files with their margin, and some room for others.
    const FILES: u64 = 4;
    let most = free_bytes(place)? / FILES / RECORD_BYTES as u64;
    check_room(&[(place, 0)]).map(|()| most.max(1))
}

/// The tries so far.
struct Minute {
    place: RaceDirectories,
    program: Program,
    tries: Vec<Try>,
    rows: Vec<Row>,
}

impl Minute {
    fn try_to_sort(&mut self, records: u64) -> Result<(), CliFailure> {
        let inputs = self.make(records)?;
        let seconds = self.place.run(&self.program)?.seconds;
        if let Some(why) = inputs.what_is_wrong(Input::Binary, &self.place.file(OUTPUT)) {
            return Err(self.program.wrong(&why));
        }
        say::err(format!("{} records: {seconds:.3} s", grouped(records)));
        let report = self.place.report()?;
        self.tries.push(Try { records, seconds });
        let mut row = Row::new(format!("try {}", self.tries.len()), self.program.shown());
        row.seconds.push(seconds);
        row.add(json!({
            "records": records,
            "bytes": records * RECORD_BYTES as u64,
            "plan": report["plan"],
            "passes": report["passes"],
            "validated": true,
            "peak_rss_bytes": peak(&report),
        }));
        self.rows.push(row);
        Ok(())
    }

    fn make(&self, records: u64) -> Result<Inputs, CliFailure> {
        let input = self.place.file(Input::Binary.file());
        self.place.clear();
        // The last one's; it is not there the first time.
        let _ = std::fs::remove_file(&input);
        let bytes = records * RECORD_BYTES as u64;
        check_room(&[
            (self.place.path(), 2 * bytes),
            (&self.place.temporary[0], temporary_bytes(bytes)),
        ])?;
        let programs = std::slice::from_ref(&self.program);
        Inputs::new(records, programs, |_| {
            generated(&input, Generator::default(), records)
        })
    }

    fn report(self, limit_s: f64, most: u64, memory_bytes: u64) -> Result<Report, CliFailure> {
        let Some(best) = search::best(&self.tries, limit_s) else {
            let message =
                format!("nothing could be sorted within {limit_s} s; give more --seconds");
            return Err(CliFailure::new("too_slow", message));
        };
        // The input of the last try is still there; the floor is that of the best.
        self.make(best.records)?;
        let command = "read as many bytes as the best and write as many at once";
        let mut floor = Row::new("floor of one pass", command);
        floor.seconds.push(self.place.floor()?.seconds);
        let mut rows = vec![floor];
        rows.extend(self.rows);
        for row in &mut rows[1..] {
            row.add(json!({ "within": row.median() <= limit_s }));
        }
        let title = "disk to disk, cold, durable";
        let items = (best.records, "record");
        Ok(Report {
            bench: "minute",
            facts: json!({
                "limit_s": limit_s,
                "records": best.records,
                "bytes": best.records * RECORD_BYTES as u64,
                "seconds": (best.seconds * 1e6).round() / 1e6,
                "memory_bytes": memory_bytes,
                "cores": cores(),
                "cold": self.place.settings.cold_name(),
                "room_for_records": most,
            }),
            sections: vec![Section::new(title, items, rows).with_columns(&COLUMNS)],
        })
    }
}

/// The tries: how many records, how long, and whether in time.
const COLUMNS: [Column; 5] = [
    Column("records", |_, row| {
        row.shown("records", |records| records.as_u64().map(grouped))
    }),
    Column("bytes", |_, row| {
        row.shown("bytes", |bytes| bytes.as_u64().map(amount))
    }),
    Column("seconds", |_, row| format!("{:.3}", row.median())),
    Column("in time", |_, row| {
        row.shown("within", |within| match within {
            Value::Bool(true) => Some("yes".to_owned()),
            _ => Some("no".to_owned()),
        })
    }),
    Column("plan", |_, row| {
        row.shown("plan", |plan| plan.as_str().map(str::to_owned))
    }),
];
