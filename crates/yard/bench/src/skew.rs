//! `gristmill-bench skew`: skewed lines beside even ones of the same bytes, lines and key length.
//!
//! ```text
//! heavy key     999 of 1000 lines have one key of 10 bytes       | key of 10 bytes each, 100 bytes a line
//! mixed sizes   1 line of 10 has 100 KB, the others 100 bytes    | as many lines, each of the mean length
//! ```
//!
//! The workloads are those of CrocSort (VLDB 2026), HeavyKey-Extreme and a bimodal case of Multimodal, at the sizes
//! told. How evenly workers shared the work is taken from the report of each sort.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kernel::patterns::Random;
use pipeline::{StageReport, most_uneven};
use serde_json::{Value, json};
use terminal::ending::failure::CliFailure;
use terminal::launcher::cores;
use terminal::text;
use units::{amount, size};

use crate::programs::{Ends, Input, Program, RaceDirectories, Settings, Told, gristmill};
use crate::race::{Race, Row, Run};
use crate::room::{check_room, directory};
use crate::same::failed;
use crate::table::{Column, RATIO, Report, Section};
use crate::{Common, chosen};

/// Sort skewed lines, and even ones of the same bytes, lines and key length.
///
/// Lines are sorted by their first field, -k1,1, in memory and with memory of a tenth of the input. The ratio is to
/// even lines. The last columns are of the stage whose workers were busy most unevenly: records, bytes and busy
/// seconds of the worker with the most, over the mean.
#[derive(Args)]
pub struct Arguments {
    /// Kinds of skew; repeat it for several [default: all]
    #[arg(long = "case", value_enum, value_name = "CASE")]
    cases: Vec<Case>,
    /// How much to sort [default: 1GB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Where to work: a directory with room for four times the input
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

const SIZE: u64 = 1_000_000_000;
const SMOKE_SIZE: u64 = 3_000_000;

/// Memory that holds the input, in times its size, and the part of the input that does not.
const HOLDING_TIMES: u64 = 4;
const SPILLING_SHARE: u64 = 10;

/// The least memory of a sort that does not hold everything.
const LEAST_MEMORY: u64 = 32 << 20;

/// Both inputs, an output and temporary files.
const ROOM: u64 = 4;

const KEY_BYTES: usize = 10;
const USUAL_BYTES: usize = 100;
const LONG_BYTES: usize = 100_000;

/// A kind of skew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Case {
    /// One key has 99.9 % of the lines
    HeavyKey,
    /// A tenth of the lines has 100 KB, the others 100 bytes
    MixedSizes,
}

/// Where the even lines are; the skewed ones are in the usual input.
const EVEN: &str = "even.txt";

impl Case {
    const ALL: [Case; 2] = [Case::HeavyKey, Case::MixedSizes];

    fn title(self) -> &'static str {
        match self {
            Case::HeavyKey => "one key has 99.9 % of the lines, -k1,1",
            Case::MixedSizes => "a tenth of the lines has 100 KB, -k1,1",
        }
    }

    /// Bytes of a line with its end, of which every `of`th is longer.
    fn line_bytes(self, is_skewed: bool, number: u64) -> usize {
        let mean = (9 * USUAL_BYTES + LONG_BYTES) / 10;
        match self {
            Case::HeavyKey => USUAL_BYTES,
            Case::MixedSizes if !is_skewed => mean,
            Case::MixedSizes if number.is_multiple_of(10) => LONG_BYTES,
            Case::MixedSizes => USUAL_BYTES,
        }
    }

    /// Writes about so many bytes of even lines, and as many of skewed ones. Returns the number of each.
    fn draw_both(self, place: &RaceDirectories, bytes: u64) -> Result<u64, CliFailure> {
        let mut lines = 0;
        for (name, is_skewed) in [(EVEN, false), (Input::Text.file(), true)] {
            let path = place.file(name);
            let drawn = self.draw(&path, is_skewed, bytes);
            lines = drawn.map_err(|cause| failed(&path, &cause))?;
        }
        Ok(lines)
    }

    /// Writes about so many bytes. Returns the number of lines.
    fn draw(self, path: &Path, is_skewed: bool, bytes: u64) -> io::Result<u64> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut random = Random::new(1);
        let (mut lines, mut written, mut line) = (0_u64, 0, Vec::new());
        // Whole tens of lines, so that both have as many bytes.
        while written < bytes || !lines.is_multiple_of(10) {
            line.clear();
            let is_heavy = is_skewed && self == Case::HeavyKey && random.below(1000) > 0;
            let key = if is_heavy { 0 } else { random.next_u64() };
            write!(line, "{key:0KEY_BYTES$} ")?;
            line.truncate(KEY_BYTES);
            line.push(b' ');
            while line.len() + 1 < self.line_bytes(is_skewed, lines) {
                line.push(b'a' + random.below(26) as u8);
            }
            line.push(b'\n');
            file.write_all(&line)?;
            (lines, written) = (lines + 1, written + line.len() as u64);
        }
        file.into_inner()?.sync_all()?;
        Ok(lines)
    }
}

/// Returns the rows that `gristmill-bench skew` prints.
///
/// # Errors
/// Too little room; the first failure of a sort.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let bytes = common.size(arguments.size, SIZE, SMOKE_SIZE);
    let place = directory(&arguments.directory, "--directory")?;
    check_room(&[(&place, bytes.saturating_mul(ROOM))])?;
    let cases = chosen(&arguments.cases, &Case::ALL);
    let memories = [
        ("in memory", (bytes * HOLDING_TIMES).max(LEAST_MEMORY)),
        (
            "memory of a tenth",
            (bytes / SPILLING_SHARE).max(LEAST_MEMORY),
        ),
    ];
    let mut sections = Vec::new();
    for case in cases {
        for (how, memory_bytes) in memories {
            let settings = Settings::warm(common.smoke);
            let mut place = RaceDirectories::new(&place, &[], settings)?;
            let temporary = place.temporary.clone();
            let told = Told {
                memory_bytes,
                temporary: &temporary,
            };
            let lines = case.draw_both(&place, bytes)?;
            let rows = race(&told, common.runs, &mut place)?;
            let title = format!("{}, {how} ({})", case.title(), amount(memory_bytes));
            sections.push(Section::new(title, (lines, "line"), rows).with_columns(&COLUMNS));
        }
    }
    Ok(Report {
        bench: "skew",
        facts: json!({
            "bytes": bytes,
            "cores": cores(),
            "inputs": "in the page cache",
        }),
        sections,
    })
}

/// Sorts even and skewed lines in turns.
fn race(told: &Told, runs: u16, place: &mut RaceDirectories) -> Result<Vec<Row>, CliFailure> {
    let file = gristmill()?;
    let mut race = Race::new();
    for (name, input) in [("even", EVEN), ("skewed", Input::Text.file())] {
        let program = Program::ours_reporting(&file, &["-k1,1"], told)
            .reading(Input::Text)
            .between(Ends::Files, &[input]);
        race.enter(name, program.shown(), move |place: &mut RaceDirectories| {
            let took = place.run(&program)?;
            Ok(Run {
                seconds: Some(took.seconds),
                figures: unevenness(&place.report()?),
            })
        });
    }
    race.run(runs, place)
}

/// The stage of several workers that were busy most unevenly, of those that were busy for a tenth of the time.
fn unevenness(report: &Value) -> Value {
    let seconds = report["seconds"].as_f64().unwrap_or(0.0);
    let stages: Vec<StageReport<String>> =
        serde_json::from_value(report["stages"].clone()).unwrap_or_default();
    most_uneven(&stages, seconds).map_or(Value::Null, |stage| {
        let [records, bytes, busy_s] = stage.unevenness();
        json!({
            "uneven_stage": stage.name,
            "uneven_records": records,
            "uneven_bytes": bytes,
            "uneven_busy_s": busy_s,
        })
    })
}

const COLUMNS: [Column; 6] = [
    Column("time", |_, row| text::time(row.median() * 1e6)),
    RATIO,
    Column("stage", |_, row| {
        row.shown("uneven_stage", |name| name.as_str().map(str::to_owned))
    }),
    Column("records", |_, row| times(row, "uneven_records")),
    Column("bytes", |_, row| times(row, "uneven_bytes")),
    Column("busy", |_, row| times(row, "uneven_busy_s")),
];

fn times(row: &Row, name: &str) -> String {
    row.shown(name, |times| {
        times.as_f64().map(|times| format!("{times:.2}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewed_lines_have_the_bytes_and_keys_of_even_ones() {
        let place = tempfile::tempdir().unwrap();
        for case in Case::ALL {
            let drawn = [false, true].map(|is_skewed| {
                let path = place.path().join("lines");
                case.draw(&path, is_skewed, 150_000).unwrap();
                std::fs::read_to_string(path).unwrap()
            });
            let [even, skewed] = drawn.each_ref();
            assert_eq!(even.len(), skewed.len(), "{case:?}");
            assert_eq!(even.lines().count(), skewed.lines().count());
            for line in even.lines().chain(skewed.lines()) {
                assert_eq!(line.find(' '), Some(KEY_BYTES), "{line:.30}");
            }
        }
    }

    #[test]
    fn the_most_uneven_stage_is_one_of_several_busy_workers() {
        let stage = |name: &str, workers: u64, busy: [f64; 2]| {
            json!({
                "name": name, "workers": workers, "units": 1, "records": 100, "bytes": 1000, "busy_s": busy[0],
                "starved_s": 0.0, "blocked_s": 0.0, "locked_s": 0.5,
                "most": { "records": 75, "bytes": 500, "busy_s": busy[1] },
            })
        };
        let report = json!({
            "seconds": 10.0,
            "stages": [
                stage("reader", 2, [0.5, 0.5]),
                stage("sorter", 2, [8.0, 6.0]),
                stage("writer", 2, [8.0, 4.0]),
                stage("counter", 1, [9.0, 9.0]),
            ],
        });
        let found = unevenness(&report);
        assert_eq!(found["uneven_stage"], "sorter");
        let figures = ["uneven_records", "uneven_bytes", "uneven_busy_s"].map(|name| &found[name]);
        assert_eq!(figures, [1.5, 1.0, 1.5]);
        assert_eq!(
            unevenness(&json!({ "seconds": 1.0, "stages": [] })),
            Value::Null
        );
    }
}
