//! `gristmill-bench stage`: a stage of the sort alone, between a synthetic source and a sink.
//!
//! The table is TritonSort's Figure 8: the size of a unit, the workers, the time of a unit, and so
//! the rate that the stage reaches if no other holds it up. The slowest of those that run at the
//! same time bounds the sort: reader and distributor, then sorter and writer.
//!
//! The time of a run is the busy time of its average worker, disks included; fsync belongs to no
//! stage.

use host::memory::memory_limit;
use std::path::PathBuf;
use terminal::launcher::cores;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use kernel::Slab;
use pipeline::{Control, StageReport};
use record::RECORD_BYTES;
use serde_json::{Value, json};
use sort::alone::{Alone, Stage, alone};
use sort::{IoChoice, Resources, Tuning};
use terminal::ending::failure::CliFailure;
use terminal::ending::scratch::Scratch;

use crate::Common;
use crate::buffers::{copy, touch};
use crate::host::{check_memory, on_node};
use crate::race::{Race, Row, Run};
use crate::table::{Column, RATIO, Report, Section};

/// Run a stage of the sort alone, between a synthetic source and a sink.
///
/// The ratio is to copying the input once in memory, on all cores.
#[derive(Args)]
pub struct Arguments {
    /// Stage to run
    #[arg(value_name = "NAME", value_parser = names())]
    name: Named,
    /// How many records of 100 bytes pass [default: 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    records: Option<u64>,
    /// Where to read and write
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

/// The stages that a name stands for.
#[derive(Clone, Debug)]
struct Named(Vec<Stage>);

const ALL: &str = "all";

fn names() -> impl TypedValueParser<Value = Named> {
    let known = Stage::ALL.map(word).into_iter().chain([ALL.to_owned()]);
    let stages = |name: String| {
        Stage::ALL
            .into_iter()
            .filter(move |stage| name == ALL || name == word(*stage))
    };
    PossibleValuesParser::new(known).map(move |name| Named(stages(name).collect()))
}

/// A stage's name as one word of a command line.
fn word(stage: Stage) -> String {
    stage.name().replace(' ', "-")
}

const RECORDS: u64 = 1_000_000;

/// The least that still makes several buckets, so that the sampler has work.
const SMOKE_RECORDS: u64 = 50_000;

/// Bytes of memory for each record: the copy's two sides, or a stage's records and their source.
const BYTES_EACH: u64 = 3 * RECORD_BYTES as u64;

/// Returns the rows that `gristmill-bench stage` prints.
///
/// # Errors
/// Too little memory; a disk that fails.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let records = common
        .size(arguments.records, RECORDS, SMOKE_RECORDS)
        .max(1);
    check_memory(records.saturating_mul(BYTES_EACH), "--records")?;
    let place = Scratch::new(&arguments.directory, "bench")?;
    let mut race = Race::new();
    let command = "memory copy of the input, all cores";
    race.enter("copy", command, |_: &mut ()| copied(records));
    for &stage in &arguments.name.0 {
        let command = format!("gristmill-bench stage {} --records {records}", word(stage));
        let place = &place;
        race.enter(stage.name(), command, move |_| {
            let report = run_alone(stage, records, place)?;
            Ok(Run {
                seconds: Some(report.busy_each_s()),
                figures: raw(&report),
            })
        });
    }
    let mut rows = race.run(common.runs, &mut ())?;
    rows.iter_mut().skip(1).for_each(derive);
    let title = "stages alone, busy time of the average worker";
    Ok(Report {
        bench: "stage",
        facts: json!({ "records": records, "cores": cores() }),
        sections: vec![Section::new(title, (records, "record"), rows).with_columns(&COLUMNS)],
    })
}

fn run_alone(stage: Stage, records: u64, place: &Scratch) -> Result<StageReport, CliFailure> {
    let job = Alone {
        stage,
        records,
        directory: place.path().to_owned(),
        resources: Resources {
            cores: cores(),
            memory_bytes: memory_limit(None),
            io: IoChoice::Direct,
        },
        tuning: Tuning::default(),
        control: Control::default(),
    };
    on_node(move |node| {
        let job = job.clone();
        async move { alone(&node, &job).await }
    })
}

fn copied(records: u64) -> Result<f64, CliFailure> {
    let bytes = records as usize * RECORD_BYTES;
    let from = touch(Slab::<u8>::new(bytes))?;
    let mut to = touch(Slab::<u8>::new(bytes))?;
    Ok(copy(&from, &mut to, cores()))
}

/// The figures that one run gives.
fn raw(report: &StageReport) -> Value {
    json!({
        "workers": report.workers,
        "units": report.units,
        "bytes": report.bytes,
        "starved_s": report.starved_s,
        "blocked_s": report.blocked_s,
    })
}

/// Figure 8's figures of a stage, from the median of its busy times.
fn derive(row: &mut Row) {
    let (units, workers) = (row.figure("units").max(1.0), row.figure("workers"));
    let busy = row.median().max(f64::MIN_POSITIVE);
    let megabytes = row.figure("bytes") / 1e6;
    row.add(json!({
        "unit_mb": megabytes / units,
        "busy_ms_per_unit": busy * workers / units * 1e3,
        "mb_per_s_per_worker": megabytes / workers / busy,
        "mb_per_s": megabytes / busy,
    }));
}

/// Figure 8.
const COLUMNS: [Column; 9] = [
    Column("unit MB", |_, row| shown(row, "unit_mb")),
    Column("workers", |_, row| {
        row.shown("workers", |workers| Some(workers.to_string()))
    }),
    Column("busy ms/unit", |_, row| shown(row, "busy_ms_per_unit")),
    Column("MB/s/worker", |_, row| shown(row, "mb_per_s_per_worker")),
    Column("MB/s", |_, row| shown(row, "mb_per_s")),
    Column("min ms", |_, row| number(row.least() * 1e3)),
    Column("median ms", |_, row| number(row.median() * 1e3)),
    Column("max ms", |_, row| number(row.most() * 1e3)),
    RATIO,
];

fn shown(row: &Row, figure: &str) -> String {
    row.shown(figure, |figure| figure.as_f64().map(number))
}

/// Three figures that count, about.
fn number(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.4}"),
    }
}
