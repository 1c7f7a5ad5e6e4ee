//! The work of stages, from reports of sorts, and what follows from it for many cores.
//!
//! ```text
//! phase     |--------- work of all its stages, spread over N cores ---------|
//!           |------------- a stage with one worker -------------|             cannot be spread
//! ```
//!
//! Stages of a phase run at once. So a phase takes the longer of two times at least: its work over N,
//! and the work of its slowest stage with one worker. The phases follow each other. Nothing of this
//! sees that a load or a bucket has one worker at a time, or that a library has threads of its own.

use serde_json::{Map, Value, json};
use sort::StageName;
use terminal::text;

use crate::race::{Row, median};
use crate::table::Column;

/// Numbers of cores for which the limits are computed.
const CORES: [(f64, &str); 3] = [
    (4.0, "computed_at_4_cores"),
    (16.0, "computed_at_16_cores"),
    (64.0, "computed_at_64_cores"),
];

/// The uncompressed records that were sorted.
pub struct Input {
    pub bytes: u64,
    pub records: u64,
}

/// The phases of a sort: it reads the input, and it writes the output.
const PHASES: [u64; 2] = [1, 2];

/// The phase of a stage. A merge sorts while it reads, other plans while they write.
fn phase_of(stage: &str, plan: &str) -> u64 {
    use StageName::{
        Counter, Loader, Merger, Reloader, RunMerger, RunReader, Slicer, Sorter, Writer,
    };
    match StageName::of(stage) {
        Some(Sorter) if plan == "merge" => 1,
        Some(
            Loader | Reloader | Sorter | RunReader | RunMerger | Slicer | Merger | Counter | Writer,
        ) => 2,
        _ => 1,
    }
}

/// A stage in all runs of a way.
struct Stage {
    name: String,
    phase: u64,
    /// The most in any run.
    workers: u64,
    /// Of each run, as the seconds.
    bytes: Vec<f64>,
    busy_s: Vec<f64>,
    locked_s: Vec<f64>,
}

impl Stage {
    fn busy_s(&self) -> f64 {
        median(&self.busy_s)
    }

    /// Whether it had one worker in every run.
    fn is_alone(&self) -> bool {
        self.workers == 1
    }
}

/// The stages of one way through the sort.
#[derive(Default)]
pub struct Work {
    plan: String,
    stages: Vec<Stage>,
}

impl Work {
    /// Adds the stages of a report.
    pub fn add(&mut self, report: &Value) {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.plan = word(&report["plan"]);
        for stage in report["stages"].as_array().into_iter().flatten() {
            let known = self.stage(word(&stage["name"]));
            known.workers = known.workers.max(stage["workers"].as_u64().unwrap_or(0));
            known.bytes.extend(stage["bytes"].as_f64());
            known.busy_s.extend(stage["busy_s"].as_f64());
            known.locked_s.extend(stage["locked_s"].as_f64());
        }
    }

    fn stage(&mut self, name: String) -> &mut Stage {
        let known = self.stages.iter().position(|stage| stage.name == name);
        let number = known.unwrap_or_else(|| {
            self.stages.push(Stage {
                phase: phase_of(&name, &self.plan),
                name,
                workers: 0,
                bytes: Vec::new(),
                busy_s: Vec::new(),
                locked_s: Vec::new(),
            });
            self.stages.len() - 1
        });
        &mut self.stages[number]
    }

    /// Whether it has a report.
    pub fn is_done(&self) -> bool {
        !self.stages.is_empty()
    }

    /// The row of the whole sort with its figures, and a row for each stage that was busy.
    pub fn rows(&self, mut whole: Row, input: &Input) -> Vec<Row> {
        whole.add(json!({ "way": whole.name, "plan": self.plan }));
        whole.add(rates(input, input.bytes as f64, whole.median()));
        whole.add(per_byte(input, self.busy_s(None)));
        whole.add(limits(|cores| {
            let phases = PHASES.into_iter();
            let least: f64 = phases.map(|phase| self.least_s(phase, cores)).sum();
            self.busy_s(None) / least
        }));
        let locked = self.stages.iter().map(|stage| median(&stage.locked_s));
        whole.add(json!({ "locked_share": locked.sum::<f64>() / self.busy_s(None) }));
        let way = whole.name.clone();
        let mut rows = vec![whole];
        let worked = self.stages.iter().filter(|stage| stage.busy_s() > 0.0);
        rows.extend(worked.map(|stage| self.row(stage, &way, input)));
        rows
    }

    fn row(&self, stage: &Stage, way: &str, input: &Input) -> Row {
        let workers = match stage.workers {
            1 => "its one worker".to_owned(),
            workers => format!("its {workers} workers"),
        };
        let mut row = Row::new(format!("  {}", stage.name), workers);
        row.seconds.clone_from(&stage.busy_s);
        row.add(json!({ "way": way, "stage": stage.name, "phase": stage.phase, "workers": stage.workers }));
        row.add(rates(input, median(&stage.bytes), stage.busy_s()));
        row.add(per_byte(input, stage.busy_s()));
        row.add(json!({ "locked_share": median(&stage.locked_s) / stage.busy_s() }));
        if stage.is_alone() {
            let work = self.busy_s(Some(stage.phase));
            row.add(limits(|cores| work / stage.busy_s().max(work / cores)));
        }
        row
    }

    /// The work of all stages, or of those of a phase.
    fn busy_s(&self, phase: Option<u64>) -> f64 {
        let stages = self.stages.iter();
        let of = stages.filter(|stage| phase.is_none_or(|phase| phase == stage.phase));
        of.map(Stage::busy_s).sum()
    }

    /// The least time of a phase with so many cores.
    fn least_s(&self, phase: u64, cores: f64) -> f64 {
        let alone = self
            .stages
            .iter()
            .filter(|stage| stage.is_alone() && stage.phase == phase);
        let slowest = alone.map(Stage::busy_s).fold(0.0, f64::max);
        slowest.max(self.busy_s(Some(phase)) / cores)
    }
}

/// The rates at which a stage handled `bytes` of the input in `seconds`.
fn rates(input: &Input, bytes: f64, seconds: f64) -> Value {
    let per_s = bytes / seconds;
    let records_per_s = per_s * input.records as f64 / input.bytes as f64;
    json!({ "bytes": bytes, "gb_per_s": per_s / 1e9, "records_per_s": records_per_s })
}

fn per_byte(input: &Input, busy_s: f64) -> Value {
    json!({ "busy_ns_per_input_byte": busy_s * 1e9 / input.bytes as f64 })
}

/// The part of some cores that is busy at most, and of any number of cores how many.
/// `busy_of` returns how many of so many cores are busy.
fn limits(busy_of: impl Fn(f64) -> f64) -> Value {
    let mut limits = Map::new();
    limits.insert("computed_cores".to_owned(), busy_of(f64::INFINITY).into());
    for (cores, name) in CORES {
        limits.insert(name.to_owned(), (busy_of(cores) / cores).into());
    }
    limits.into()
}

pub const COLUMNS: [Column; 11] = [
    Column("phase", |_, row| {
        row.shown("phase", |phase| Some(phase.to_string()))
    }),
    Column("workers", |_, row| {
        row.shown("workers", |workers| Some(workers.to_string()))
    }),
    Column("time", |_, row| text::time(row.median() * 1e6)),
    Column("GB/s", |_, row| shown(row, "gb_per_s", 1.0)),
    Column("M/s", |_, row| shown(row, "records_per_s", 1e-6)),
    Column("ns/byte", |_, row| {
        shown(row, "busy_ns_per_input_byte", 1.0)
    }),
    Column("locks %", |_, row| percent(row, "locked_share")),
    Column("*cores", |_, row| shown(row, "computed_cores", 1.0)),
    Column("*% of 4", |_, row| percent(row, CORES[0].1)),
    Column("*% of 16", |_, row| percent(row, CORES[1].1)),
    Column("*% of 64", |_, row| percent(row, CORES[2].1)),
];

/// A figure of which one row has thousands and another thousandths.
fn shown(row: &Row, name: &str, unit: f64) -> String {
    match row.figure(name) * unit {
        // A stage that handles no bytes has no rate.
        0.0 => "-".to_owned(),
        figure if figure < 10.0 => format!("{figure:.2}"),
        figure => format!("{figure:.0}"),
    }
}

fn percent(row: &Row, name: &str) -> String {
    row.shown(name, |part| {
        part.as_f64().map(|part| format!("{:.1}", part * 100.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sort with 8 s of work in each phase, of which one stage alone has 1 s and another 4 s.
    fn work(plan: &str) -> Work {
        let stage = |name: &str, workers: u64, busy_s: f64| json!({ "name": name, "workers": workers, "bytes": 1e9, "busy_s": busy_s, "locked_s": busy_s / 8.0 });
        let report = json!({
            "plan": plan,
            "stages": [
                stage("sampler", 1, 1.0),
                stage("distributor", 2, 7.0),
                stage("sorter", 2, 4.0),
                stage("counter", 1, 4.0),
            ],
        });
        let mut work = Work::default();
        work.add(&report);
        work
    }

    #[test]
    fn a_stage_alone_limits_its_phase() {
        let mut whole = Row::new("counted", "gristmill sort");
        whole.seconds.push(10.0);
        let (bytes, records) = (1_000_000_000, 10_000_000);
        let rows = work("two-pass").rows(whole, &Input { bytes, records });
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let all = [
            "counted",
            "  sampler",
            "  distributor",
            "  sorter",
            "  counter",
        ];
        assert_eq!(names, all);
        let of =
            |rows: &[&Row], name| -> Vec<f64> { rows.iter().map(|row| row.figure(name)).collect() };
        let each: Vec<&Row> = rows.iter().collect();
        assert_eq!(
            of(&each, "busy_ns_per_input_byte"),
            [16.0, 1.0, 7.0, 4.0, 4.0]
        );
        assert_eq!(of(&each, "locked_share"), [0.125; 5]);
        assert_eq!(of(&each, "workers"), [0.0, 1.0, 2.0, 2.0, 1.0]);
        let computed: Vec<&Row> = rows
            .iter()
            .filter(|row| row.figures.contains_key("computed_cores"))
            .collect();
        let figures = |name| of(&computed, name);
        assert_eq!(figures("gb_per_s"), [0.1, 1.0, 0.25]);
        assert_eq!(figures("records_per_s"), [1e6, 1e7, 2.5e6]);
        // Without a limit of cores the phases take 1 s and 4 s.
        assert_eq!(figures("computed_cores"), [16.0 / 5.0, 8.0, 2.0]);
        assert_eq!(figures(CORES[0].1), [16.0 / 6.0 / 4.0, 1.0, 0.5]);
        assert_eq!(figures(CORES[1].1), [16.0 / 5.0 / 16.0, 0.5, 0.125]);
    }

    #[test]
    fn a_merge_sorts_while_it_reads() {
        let merge = work("merge");
        assert_eq!(merge.busy_s(Some(1)), 12.0);
        assert_eq!(work("two-pass").busy_s(Some(1)), 8.0);
    }
}
