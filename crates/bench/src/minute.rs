//! `bench minute`: how many records are sorted in a minute, from disk to disk (MinuteSort).
//!
//! MinuteSort (sortbenchmark.org) as whole processes: start-up, checks and the sync of the output
//! are within the minute; making the input, dropping it from the page cache and validating the
//! output are not. The floor is reading as many bytes and writing as many at once, in one pass.

mod search;

use std::path::{Path, PathBuf};

use clap::Args;
use record::{Checksum, Generator, RECORD_BYTES};
use serde_json::{Map, Value, json};

use crate::cold::Cold;
use crate::contender::{Input, gristmill};
use crate::external::{OUTPUT, Place, REPORT, Racer, Told, check_plan, report, temporary_bytes};
use crate::measure::Row;
use crate::records::{generated, what_is_wrong};
use crate::room::{check_room, free_bytes};
use crate::scratches::Scratches;
use crate::table::{Report, Section};
use cli::failure::CliFailure;
use cli::machine;
use cli::say;
use cli::size::{grouped, readable, size};

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

/// The small run has so many records for each second of the limit: 20 MB, which every disk reads
/// and writes in less.
const FIRST_PER_SECOND: u64 = 200_000;
const SMOKE_FIRST: u64 = 2_000;

/// A smoke run sorts no more than this.
const SMOKE_MOST: u64 = 20_000;

/// Measures.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let limit_s = f64::from(arguments.seconds);
    let first = match arguments.smoke {
        true => SMOKE_FIRST,
        false => FIRST_PER_SECOND * u64::from(arguments.seconds),
    };
    let scratches = Scratches::new(&arguments.directory, &arguments.temporary)?;
    let most = most_records(scratches.work.path())?;
    let most = if arguments.smoke {
        most.min(SMOKE_MOST)
    } else {
        most
    };
    let told = Told {
        memory_bytes: arguments.memory,
        temporary: &scratches.temporary,
    };
    check_plan(first, &told)?;
    let racer = Racer::ours(gristmill()?, &told, Input::Binary.file());
    let temporary = scratches.temporary.clone();
    let place = Place {
        temporary: temporary.clone(),
        cold: Cold::find(arguments.smoke),
        groups: None,
        smoke: arguments.smoke,
        scratch: scratches.work,
    };
    let mut minute = Minute {
        place,
        racer,
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

/// Records for whose input, output and temporary files there is room.
fn most_records(place: &Path) -> Result<u64, CliFailure> {
    /// Input, output, temporary files with their margin, and some room for others.
    const FILES: u64 = 4;
    let most = free_bytes(place)? / FILES / RECORD_BYTES as u64;
    check_room(&[(place, 0)]).map(|()| most.max(1))
}

/// The tries so far.
struct Minute {
    place: Place,
    racer: Racer,
    tries: Vec<Try>,
    rows: Vec<Row>,
}

impl Minute {
    fn try_to_sort(&mut self, records: u64) -> Result<(), CliFailure> {
        let checksum = self.make(records)?;
        let took = self.place.run(&self.racer)?;
        if let Some(why) = what_is_wrong(&self.place.file(OUTPUT), records, checksum) {
            let message = format!("the output is not the sorted input: {why}");
            return Err(CliFailure::new("disorder", message));
        }
        say::err(format!(
            "{} records: {:.3} s",
            grouped(records),
            took.seconds
        ));
        let report = report(&self.place.file(REPORT))?;
        let more = json!({
            "records": records,
            "bytes": records * RECORD_BYTES as u64,
            "plan": report["plan"],
            "passes": report["passes"],
            "validated": true,
            "peak_rss_bytes": report["peak_rss_bytes"],
        });
        self.tries.push(Try {
            records,
            seconds: took.seconds,
        });
        self.rows.push(Row {
            name: format!("try {}", self.tries.len()),
            command: self.racer.shown(),
            seconds: vec![took.seconds],
            published: false,
            more: more.as_object().cloned().unwrap_or_default(),
        });
        Ok(())
    }

    fn make(&self, records: u64) -> Result<Checksum, CliFailure> {
        let input = self.place.file(Input::Binary.file());
        self.place.clear();
        // The last one's; it is not there the first time.
        let _ = std::fs::remove_file(&input);
        let bytes = records * RECORD_BYTES as u64;
        let mut needs = vec![(self.place.scratch.path(), 2 * bytes)];
        let first = self.place.temporary.first().map(PathBuf::as_path);
        needs.extend(first.map(|place| (place, temporary_bytes(bytes))));
        check_room(&needs)?;
        generated(&input, Generator::default(), records)
    }

    fn report(self, limit_s: f64, most: u64, memory_bytes: u64) -> Result<Report, CliFailure> {
        let Some(best) = search::best(&self.tries, limit_s) else {
            let message =
                format!("nothing could be sorted within {limit_s} s; give more --seconds");
            return Err(CliFailure::new("too_slow", message));
        };
        // The input of the last try lies there still; the floor is that of the best.
        self.make(best.records)?;
        let floor = Row {
            name: "floor of one pass".to_owned(),
            command: "read as many bytes as the best and write as many at once".to_owned(),
            seconds: vec![self.place.floor()?.seconds],
            published: false,
            more: Map::new(),
        };
        let mut rows = vec![floor];
        rows.extend(self.rows);
        for row in &mut rows[1..] {
            row.more
                .insert("within".to_owned(), (row.median() <= limit_s).into());
        }
        let facts = json!({
            "limit_s": limit_s,
            "records": best.records,
            "bytes": best.records * RECORD_BYTES as u64,
            "seconds": (best.seconds * 1e6).round() / 1e6,
            "memory_bytes": memory_bytes,
            "cores": machine::cores(),
            "cold": self.place.cold.name(),
            "room_for_records": most,
        });
        let section = Section::new(
            "disk to disk, cold, durable",
            (best.records, "record"),
            rows,
        );
        Ok(Report {
            bench: "minute",
            facts: facts.as_object().cloned().unwrap_or_default(),
            sections: vec![Section {
                columns: Some(columns),
                ..section
            }],
        })
    }
}

/// The tries: how many records, how long, and whether in time.
fn columns(rows: &[Row]) -> Vec<Vec<String>> {
    let heading = ["", "records", "bytes", "seconds", "in time", "plan", ""];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for row in rows {
        let number = |field: &str| row.more.get(field).and_then(Value::as_u64);
        let in_time = match row.more.get("within").and_then(Value::as_bool) {
            Some(true) => "yes",
            Some(false) => "no",
            None => "-",
        };
        let plan = row.more.get("plan").and_then(Value::as_str).unwrap_or("-");
        lines.push(vec![
            row.name.clone(),
            number("records").map_or("-".to_owned(), grouped),
            number("bytes").map_or("-".to_owned(), readable),
            format!("{:.3}", row.median()),
            in_time.to_owned(),
            plan.to_owned(),
            row.command.clone(),
        ]);
    }
    lines
}
