//! `bench stage`: a stage of the sort alone, between a synthetic source and a sink.
//!
//! The table is TritonSort's Figure 8: what a unit is, who works on it, how long, and so the rate
//! that the stage could reach if nobody held it up. The slowest of those that run at the same time
//! bounds the sort: reader and distributor, then sorter and writer.
//!
//! The time of a run is what its average worker was busy, disks included; fsync belongs to no
//! stage.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use kernel::Slab;
use pipeline::{Control, StageReport};
use record::RECORD_BYTES;
use serde_json::json;
use sort::stages::{Alone, Stage, alone};
use sort::{IoChoice, Resources, Tuning};

use crate::Common;
use crate::host::{check_memory, on_node};
use crate::measure::{Row, Subject, copy, measure, timed, touch};
use crate::table::{Report, Section};
use cli::failure::CliFailure;
use cli::machine;
use cli::scratch::Scratch;

/// Run a stage of the sort alone, between a synthetic source and a sink.
///
/// The ratio is to copying the input once in memory, on all cores.
#[derive(Args)]
pub struct Arguments {
    /// Which
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
    let known = Stage::ALL.map(Stage::name).into_iter().chain([ALL]);
    let stages = |name: String| {
        Stage::ALL
            .into_iter()
            .filter(move |s| name == ALL || name == s.name())
    };
    PossibleValuesParser::new(known).map(move |name| Named(stages(name).collect()))
}

const RECORDS: u64 = 1_000_000;

/// The least that still makes several buckets, so that the sampler has work.
const SMOKE_RECORDS: u64 = 50_000;

/// Bytes of memory for each record: the copy's two sides, or a stage's records and their source.
const BYTES_EACH: u64 = 3 * RECORD_BYTES as u64;

/// Measures.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let records = common
        .size(arguments.records, RECORDS, SMOKE_RECORDS)
        .max(1);
    check_memory(records.saturating_mul(BYTES_EACH), "--records")?;
    let place = Scratch::new(&arguments.directory, "bench")?;
    let stages = &arguments.name.0;
    let floor = Subject::new("copy", "memory copy of the input, all cores", None);
    let subject = |&stage: &Stage| {
        let command = format!("gristmill-bench stage {} --records {records}", stage.name());
        Subject::new(stage.name(), command, Some(stage))
    };
    let subjects = std::iter::once(floor)
        .chain(stages.iter().map(subject))
        .collect();
    let mut last: Vec<StageReport> = Vec::new();
    let mut rows = measure(common.runs, subjects, |stage| {
        let Some(stage) = stage else {
            return copied(records);
        };
        let report = run_alone(stage, records, &place)?;
        let seconds = report.busy_each_s();
        last.retain(|other| other.name != report.name);
        last.push(report);
        Ok(seconds)
    })?;
    for row in &mut rows {
        if let Some(report) = last.iter().find(|report| report.name == row.name) {
            describe(row, report);
        }
    }
    let title = "stages alone, busy time of the average worker";
    let section = Section {
        columns: Some(columns),
        ..Section::new(title, (records, "record"), rows)
    };
    let facts = json!({ "records": records, "cores": machine::cores() });
    Ok(Report {
        bench: "stage",
        facts: facts.as_object().cloned().unwrap_or_default(),
        sections: vec![section],
    })
}

fn run_alone(stage: Stage, records: u64, place: &Scratch) -> Result<StageReport, CliFailure> {
    let job = Alone {
        stage,
        records,
        directory: place.path().to_owned(),
        resources: Resources {
            cores: machine::cores(),
            memory_bytes: machine::memory_limit(None),
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
    Ok(timed(|| copy(&from, &mut to, machine::cores())))
}

/// What Figure 8 says of a stage, from the median of its busy times.
fn describe(row: &mut Row, report: &StageReport) {
    let (units, workers) = (report.units.max(1) as f64, report.workers as f64);
    let (megabytes, busy) = (
        report.bytes as f64 / 1e6,
        row.median().max(f64::MIN_POSITIVE),
    );
    let figures = json!({
        "unit_mb": megabytes / units,
        "workers": report.workers,
        "units": report.units,
        "bytes": report.bytes,
        "busy_ms_per_unit": busy * workers / units * 1e3,
        "mb_per_s_per_worker": megabytes / workers / busy,
        "mb_per_s": megabytes / busy,
        "starved_s": report.starved_s,
        "blocked_s": report.blocked_s,
    });
    row.more
        .extend(figures.as_object().cloned().unwrap_or_default());
}

/// Figure 8.
fn columns(rows: &[Row]) -> Vec<Vec<String>> {
    const FIGURES: [(&str, &str); 5] = [
        ("unit MB", "unit_mb"),
        ("workers", "workers"),
        ("busy ms/unit", "busy_ms_per_unit"),
        ("MB/s/worker", "mb_per_s_per_worker"),
        ("MB/s", "mb_per_s"),
    ];
    let mut heading = vec![String::new()];
    heading.extend(FIGURES.map(|(title, _)| title.to_owned()));
    heading.extend(["min ms", "median ms", "max ms", "ratio", ""].map(str::to_owned));
    let floor = rows.first().map_or(0.0, Row::median);
    let mut lines = vec![heading];
    for row in rows {
        let figure = |(_, field)| match row.more.get(field) {
            Some(value) if field == "workers" => value.to_string(),
            Some(value) => number(value.as_f64().unwrap_or(0.0)),
            None => "-".to_owned(),
        };
        let mut line = vec![row.name.clone()];
        line.extend(FIGURES.map(figure));
        line.extend([row.least(), row.median(), row.most()].map(|s| number(s * 1e3)));
        line.extend([format!("{:.2}", row.median() / floor), row.command.clone()]);
        lines.push(line);
    }
    lines
}

/// Three figures that count, about.
fn number(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.4}"),
    }
}
