//! A figure of a paper as an experiment: what is run, what is drawn, and what the paper claims of
//! it.
//!
//! An experiment is a TOML file. The shortest ones have one series; all else has defaults:
//!
//! ```text
//!   [[series]]
//!   program = "merge-min"
//!   vary = "incast"
//!   over = [1, 2, 4, 8, 16]
//! ```
//!
//! The head of a file names a machine and the seeds of the runs:
//!
//! ```text
//!   title, source     what it shows, or else the file's name; paper and figure
//!   says, note        what the paper says of it; what to know when looking at ours
//!   machine           where it runs, "nanopu" if it is not said
//!   [changes]         what is changed of the machine, by the names of `sim`'s options
//!   seed, runs        of the first run, and how many: a figure is their mean
//!   [smoke]           what is smaller at smoke size: runs, and options of all programs that have them
//! ```
//!
//! What follows is in tables, each explained in the room of that name:
//!
//! ```text
//!   [chart.NAME]      axes, and the points that the paper gives
//!   [[series]]        a curve of ours: a program, one thing varied, what is taken of each run
//!   [[line]]          a figure that the paper claims: of a run of its own, or of points of series
//!   [[trend]]         what the paper says of a curve: rising, flat, lowest at 8
//!   [breakdown]       who did what when, of one run
//! ```
//!
//! There are two sizes. The full one is the paper's, and what it claims is judged there alone. The
//! smoke one is over in a moment: it shows that all runs, and that it gives what it gave. A file
//! that names nothing smaller is small by itself: it has the full size only.
//!
//! Whatever the size, every program checks its own result; where it is wrong the experiment has
//! failed.

mod breakdown;
mod built_in;
mod chart;
mod check;
mod claim;
mod line;
mod measure;
mod plan;
mod recipe;
mod result;
mod series;
#[cfg(test)]
mod tests;
mod trend;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

pub use breakdown::BreakdownTable;
pub use chart::ChartTable;
pub use claim::{Claim, Outcome};
pub use line::{Compared, Line};
pub use measure::Measure;
pub use recipe::Told;
pub use series::{Series, XOf};
pub use trend::{Shape, Trend};

use crate::changes::Changes;
use crate::error::LabError;
use crate::figure::{Figure, Size};
use crate::job::Seeds;
use crate::many;
use crate::observer::Observer;
use crate::place::Place;
use plan::Plan;
use recipe::Values;

/// An experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// By which it was loaded.
    #[serde(skip)]
    name: String,
    /// Seeds that somebody asked for, over the file's.
    #[serde(skip)]
    asked: Asked,
    /// What it shows.
    #[serde(default)]
    pub title: String,
    /// Paper and figure.
    #[serde(default)]
    pub source: String,
    /// What the paper says of it.
    pub says: Option<String>,
    /// What to know when looking at it.
    pub note: Option<String>,
    /// On which machine it runs.
    #[serde(default = "nanopu")]
    pub machine: String,
    /// What is changed of the machine.
    #[serde(default)]
    pub changes: Changes,
    #[serde(default = "first_seed")]
    seed: u64,
    #[serde(default = "one_run")]
    runs: u64,
    #[serde(default)]
    smoke: Values,
    #[serde(default, rename = "chart")]
    charts: BTreeMap<String, ChartTable>,
    #[serde(default)]
    series: Vec<Series>,
    #[serde(default, rename = "line")]
    lines: Vec<Line>,
    #[serde(default, rename = "trend")]
    trends: Vec<Trend>,
    breakdown: Option<BreakdownTable>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    seed: Option<u64>,
    runs: Option<u64>,
}

fn too_many(runs: u64, all: u64) -> LabError {
    LabError::usage(format!(
        "--runs {runs}: that is {all} runs in all, whose reports are held together; {MOST_RUNS} are \
         the most"
    ))
}

/// A report of a run is some kilobytes.
const MOST_RUNS: u64 = 100_000;

const US_PER_SECOND: f64 = 1e6;

/// What of the table `smoke` is no option of a program.
const RUNS: &str = "runs";

fn nanopu() -> String {
    "nanopu".to_owned()
}

fn first_seed() -> u64 {
    Seeds::default().first
}

fn one_run() -> u64 {
    Seeds::default().runs
}

/// What an experiment costs at a size, as far as that is known before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// How many runs.
    pub runs: u64,
    /// The most cores of one.
    pub most_cores: u32,
}

impl Experiment {
    /// Names of the experiments that come with the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        built_in::names()
    }

    /// The experiment of that name, of the last part of it, or in that file.
    ///
    /// # Errors
    /// When there is none, its file cannot be understood, or something in it cannot run.
    pub fn load(name: &str) -> Result<Experiment, LabError> {
        let (name, text) = built_in::text_of(name)?;
        Experiment::parse(&name, &text)
    }

    fn parse(name: &str, text: &str) -> Result<Experiment, LabError> {
        let experiment: Experiment =
            toml::from_str(text).map_err(|error| file(name, told(text, &error)))?;
        let experiment = experiment.completed(name);
        experiment.check().map_err(|why| file(name, why))?;
        Ok(experiment)
    }

    /// The same with that name, and with defaults for the names that a file may leave out.
    fn completed(mut self, name: &str) -> Experiment {
        let or = |word: &mut String, default: &str| {
            if word.is_empty() {
                default.clone_into(word);
            }
        };
        or(&mut self.title, name);
        or(&mut self.source, "no paper");
        for series in &mut self.series {
            or(&mut series.label, &series.program);
            or(&mut series.id, &series.label);
            if series.chart.is_empty() {
                let chart = ChartTable::of(series);
                series.chart = format!("{} by {}", chart.y, chart.x);
                self.charts.entry(series.chart.clone()).or_insert(chart);
            }
        }
        self.lines
            .iter_mut()
            .for_each(|line| or(&mut line.id, &line.claim));
        Experiment {
            name: name.to_owned(),
            ..self
        }
    }

    /// The same from these seeds, where they are said, at either size.
    #[must_use]
    pub fn with_seeds(self, seed: Option<u64>, runs: Option<u64>) -> Experiment {
        Experiment {
            asked: Asked { seed, runs },
            ..self
        }
    }

    /// The size at which it runs when it is asked for this one.
    pub fn size(&self, asked: Size) -> Size {
        let is_smaller = |series: &Series| series.smoke.is_some();
        let of_breakdown = self
            .breakdown
            .as_ref()
            .is_some_and(|table| !table.smoke.is_empty());
        let has_smoke =
            !self.smoke.is_empty() || of_breakdown || self.series.iter().any(is_smaller);
        if has_smoke { asked } else { Size::Full }
    }

    /// Where it runs.
    ///
    /// # Errors
    /// When there is no such machine, or it cannot be changed so.
    pub fn place(&self) -> Result<Place, LabError> {
        Place::named(&self.machine, &self.changes)
    }

    /// The seeds of its runs at that size.
    pub fn seeds(&self, size: Size) -> Seeds {
        let of_smoke = match (self.size(size), self.smoke.get(RUNS)) {
            (Size::Smoke, Some(Told::Whole(runs))) => Some(*runs),
            _ => None,
        };
        let runs = self.asked.runs.or(of_smoke).unwrap_or(self.runs);
        Seeds {
            first: self.asked.seed.unwrap_or(self.seed),
            runs,
        }
    }

    /// What it costs at that size.
    ///
    /// # Errors
    /// When something in it cannot run from the seeds that were asked for.
    pub fn cost(&self, size: Size) -> Result<Cost, LabError> {
        let plan = self.plan(size)?;
        let cores = plan.jobs.iter().map(|job| job.parameters().cores());
        Ok(Cost {
            runs: plan.count(),
            most_cores: cores.max().unwrap_or(0),
        })
    }

    /// Runs it, with at most so many runs at once; none of the figure depends on how many.
    ///
    /// # Errors
    /// When a run does not end, or does not give what is to be taken of it.
    pub fn run(&self, observer: &Observer, size: Size, workers: usize) -> Result<Figure, LabError> {
        let size = self.size(size);
        let plan = self.plan(size)?;
        let reports = many::run(&plan.jobs, &plan.runs, observer, workers)?;
        let figure = result::figure(self, &plan, size, &reports);
        figure.map_err(|why| file(&self.name, why))
    }

    fn plan(&self, size: Size) -> Result<Plan, LabError> {
        let seeds = self.seeds(size);
        seeds.check()?;
        if seeds.runs > MOST_RUNS {
            return Err(too_many(seeds.runs, seeds.runs));
        }
        let plan = Plan::new(self, self.size(size)).map_err(|why| file(&self.name, why))?;
        match plan.count() {
            0..=MOST_RUNS => Ok(plan),
            all => Err(too_many(seeds.runs, all)),
        }
    }

    /// Whether claims are judged at that size.
    fn judges(&self, size: Size) -> bool {
        self.size(size) == Size::Full
    }

    /// What is smaller at that size than its titles and labels say.
    fn smaller(&self, size: Size) -> Vec<String> {
        let told = self
            .smoke
            .iter()
            .map(|(name, value)| format!("{name} {value}"));
        if self.judges(size) {
            Vec::new()
        } else {
            told.collect()
        }
    }

    /// What gives it again.
    fn command(&self, size: Size) -> String {
        let mut command = format!("gristmill lab run {}", self.name);
        if size == Size::Full && self.size(Size::Smoke) == Size::Smoke {
            command += " --full";
        }
        for (option, value) in [("seed", self.asked.seed), ("runs", self.asked.runs)] {
            if let Some(value) = value {
                command += &format!(" --{option} {value}");
            }
        }
        command
    }
}

fn file(name: &str, why: String) -> LabError {
    LabError::File {
        path: Path::new(name).to_owned(),
        why,
    }
}

/// An error of the parser on one line, with the table it is in.
fn told(text: &str, error: &toml::de::Error) -> String {
    let before = &text[..error.span().map_or(0, |span| span.start)];
    let line = 1 + before.matches('\n').count();
    // An error of a whole table points at its header, which is before nothing of it.
    let header = |line: &&str| line.trim_start().starts_with('[') && line.contains(']');
    let table = text
        .lines()
        .take(line)
        .filter(header)
        .last()
        .map(|line| line.trim());
    let table = table
        .map(|table| format!(", in {table}"))
        .unwrap_or_default();
    format!("line {line}{table}: {}", error.message().replace('\n', " "))
}
