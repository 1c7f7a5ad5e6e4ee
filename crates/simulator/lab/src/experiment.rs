//! Experiments: figures of papers as files that say what runs, what is drawn, and what is claimed.
//!
//! An experiment is a TOML file. The shortest one is a series; everything else has defaults:
//!
//! ```text
//!   [[series]]
//!   program = "merge-min"
//!   vary = "incast"
//!   over = [1, 2, 4, 8, 16]
//! ```
//!
//! The head of a file names a machine and seeds:
//!
//! ```text
//!   title, source     heading (else the file's name); paper and figure
//!   says, shows, note the paper's finding; what ours shows; caveats
//!   machine           "nanopu" if it is missing
//!   [changes]         changes of the machine, by the names of `sim`'s options
//!   seed, runs        seed of the first run; runs per point, whose mean is the figure
//!   breakdown         id of a series: its first run is drawn core by core
//!   [smoke]           runs, and options of all programs that have them, at smoke size
//! ```
//!
//! Tables follow, each explained in the module of that name:
//!
//! ```text
//!   [chart.NAME]      axes, and the points that the paper gives
//!   [[series]]        one of our curves: a program, one thing that varies, a measure
//!   [[line]]          a claim of the paper about a run, a point, or the shape of a curve
//!   [[grid]]          a choice that the paper leaves open: all combinations are run and judged
//! ```
//!
//! A file is checked as a whole when it is read, and all mistakes are told at once (`read`, `mistake`,
//! `check`). docs/experiments.md has every key.
//!
//! There are two sizes. Full size is the paper's, and only there claims are judged. Smoke size
//! takes a moment: it shows that everything runs and that results have not changed. A file without
//! smaller values has the full size only. At both sizes every program checks its own result, and a
//! wrong result fails the experiment.

mod breakdown;
mod built_in;
mod chart;
mod check;
mod grid;
mod judged;
mod line;
mod measure;
mod mistake;
mod plan;
mod read;
mod recipe;
mod result;
mod series;
mod shape;
mod terms;
#[cfg(test)]
mod tests;

pub use judged::{UNNAMED, readings};
pub use result::Sample;

use std::collections::BTreeMap;
use std::path::Path;

use plot::{Figure, Size};
use serde::Deserialize;

use crate::changes::Changes;
use crate::error::LabError;
use crate::estimate::{self, Estimate};
use crate::job::Seeds;
use crate::many;
use crate::observer::Observer;
use crate::place::Place;
use chart::ChartTable;
use grid::{Dial, Plans, Reading};
use line::Line;
use mistake::Mistakes;
pub(crate) use mistake::meant;
use recipe::Values;
use series::Series;

/// A file that says what runs, what is drawn and what is claimed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    #[serde(skip)]
    name: String,
    /// Seed and runs that replace the file's.
    #[serde(skip)]
    asked: [Option<u64>; 2],
    /// Whether its runs begin in any memory.
    #[serde(skip)]
    anyway: bool,
    /// Heading of the figure.
    #[serde(default)]
    pub title: String,
    /// Paper, and figure or section.
    #[serde(default)]
    pub source: String,
    says: Option<String>,
    shows: Option<String>,
    note: Option<String>,
    #[serde(default = "nanopu")]
    machine: String,
    #[serde(default)]
    changes: Changes,
    seed: Option<u64>,
    runs: Option<u64>,
    breakdown: Option<String>,
    #[serde(default)]
    smoke: Values,
    #[serde(default, rename = "chart")]
    charts: BTreeMap<String, ChartTable>,
    #[serde(default)]
    grid: Vec<Dial>,
    #[serde(default)]
    series: Vec<Series>,
    #[serde(default, rename = "line")]
    lines: Vec<Line>,
}

/// Most runs of an experiment: a report of a run has some kilobytes.
const MOST_RUNS: u64 = 100_000;

/// The key of `[smoke]` that is no option of a program.
const RUNS: &str = "runs";

fn nanopu() -> String {
    "nanopu".to_owned()
}

/// The cost of an experiment at a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Number of runs of all jobs.
    pub runs: u64,
    /// Cores of the largest run.
    pub most_cores: u32,
}

/// The results of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Its charts and claims.
    pub figure: Figure,
    /// The value of every run, series by series.
    pub samples: Vec<Sample>,
}

impl Experiment {
    /// Names of the built-in experiments.
    pub fn names() -> impl Iterator<Item = &'static str> {
        built_in::names()
    }

    /// The built-in experiment of that name, or of that last part of it, or the one in that file.
    ///
    /// # Errors
    /// If there is none, or if it is wrong or cannot run.
    pub fn load(name: &str) -> Result<Experiment, LabError> {
        let (name, text) = built_in::text_of(name)?;
        Experiment::parse(&name, &text)
    }

    fn parse(name: &str, text: &str) -> Result<Experiment, LabError> {
        let (read, mut mistakes) = read::read(text);
        if let Some(mut experiment) = read {
            experiment.complete(name);
            experiment.check(&mut mistakes);
            if mistakes.is_empty() {
                return Ok(experiment);
            }
        }
        Err(LabError::mistakes(Path::new(name), mistakes.finish()))
    }

    /// Fills in the names that a file may leave out.
    fn complete(&mut self, name: &str) {
        let or = |word: &mut String, default: &str| {
            if word.is_empty() {
                default.clone_into(word);
            }
        };
        or(&mut self.name, name);
        or(&mut self.title, name);
        let all = 0..self.series.len();
        let labels: Vec<_> = all.map(|at| self.default_label(at)).collect();
        // Without tables of charts a chart is a name that series share.
        let has_charts = !self.charts.is_empty();
        for (series, label) in self.series.iter_mut().zip(&labels) {
            or(&mut series.label, label);
            or(&mut series.id, &series.label);
            let is_named = !series.chart.is_empty();
            if !is_named {
                let chart = ChartTable::of(series);
                series.chart = format!("{} by {}", chart.y, chart.x);
            }
            if !is_named || !has_charts {
                self.charts.entry(series.chart.clone()).or_default();
            }
            if let Some(chart) = self.charts.get_mut(&series.chart) {
                chart.complete(series);
            }
        }
        let lines = self.lines.iter_mut();
        lines.for_each(|line| or(&mut line.id, &line.claim));
    }

    /// The label of a series that has none: its program, and what distinguishes it from others.
    fn default_label(&self, at: usize) -> String {
        let series = &self.series[at];
        let others = (self.series.iter().enumerate())
            .filter(|(other, it)| *other != at && it.label.is_empty());
        let alike = others.filter(|(_, it)| it.program == series.program);
        let mut alike = alike.peekable();
        if alike.peek().is_none() {
            return series.program.clone();
        }
        let varied = (alike.any(|(_, it)| it.vary != series.vary)).then_some(&series.vary);
        let varied = varied.map(|name| format!("by {name}"));
        let options = series.with.iter();
        let options = options.map(|(name, value)| format!("{name} {value}"));
        let machine = series.machine.iter().cloned();
        let changes = series.changes.told().into_iter().chain(varied);
        let words = machine.chain(options).chain(changes);
        let words: Vec<_> = [series.program.clone()].into_iter().chain(words).collect();
        words.join(", ")
    }

    /// Its name, or the path of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is one of [`Experiment::names`].
    pub fn is_built_in(&self) -> bool {
        Experiment::names().any(|name| name == self.name)
    }

    /// The experiment with these seeds, where given, at both sizes.
    #[must_use]
    pub fn with_seeds(self, seed: Option<u64>, runs: Option<u64>) -> Experiment {
        let asked = [seed, runs];
        Experiment { asked, ..self }
    }

    /// The size that it runs at for a requested size.
    pub fn size(&self, wanted: Size) -> Size {
        let of_series = self.series.iter().any(|series| series.smoke.is_some());
        let has_smoke = of_series || self.grid.iter().any(Dial::has_smoke);
        if has_smoke || !self.smoke.is_empty() {
            wanted
        } else {
            Size::Full
        }
    }

    /// The place of its runs.
    ///
    /// # Errors
    /// A profile error if the machine does not exist, or a usage error if a change is wrong.
    pub fn place(&self) -> Result<Place, LabError> {
        Place::named(&self.machine, &self.changes)
    }

    /// The name of its machine, or its file.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// The seeds of its runs at that size.
    pub fn seeds(&self, size: Size) -> Seeds {
        let is_smoke = self.size(size) == Size::Smoke;
        let of_smoke = self.smoke.get(RUNS).filter(|_| is_smoke);
        let of_smoke = of_smoke.and_then(|runs| Some(runs.number()? as u64));
        let ([seed, runs], default) = (self.asked, Seeds::default());
        let runs = runs.or(of_smoke).or(self.runs);
        Seeds {
            first: seed.or(self.seed).unwrap_or(default.first),
            runs: runs.unwrap_or(default.runs),
        }
    }

    /// Its cost at that size.
    ///
    /// # Errors
    /// A usage error if there are too many runs, or a file error if it cannot run with the given
    /// seeds.
    pub fn cost(&self, size: Size) -> Result<Cost, LabError> {
        let readings = Reading::all(self, self.size(size));
        let plans = self.plans(&readings, size)?;
        let cores = plans.jobs.iter().map(|job| job.parameters().cores());
        Ok(Cost {
            runs: plans.count(),
            most_cores: cores.max().unwrap_or(0),
        })
    }

    /// The estimate for all its runs at that size, up to `workers` at once; `None` if no program
    /// knows its load.
    ///
    /// # Errors
    /// As [`Experiment::cost`].
    pub fn estimate(&self, size: Size, workers: usize) -> Result<Option<Estimate>, LabError> {
        let readings = Reading::all(self, self.size(size));
        let plans = self.plans(&readings, size)?;
        Ok(estimate::of_all(&plans.jobs, workers))
    }

    /// The experiment with the right to begin whatever the memory is.
    #[must_use]
    pub fn anyway(self, anyway: bool) -> Experiment {
        Experiment { anyway, ..self }
    }

    /// Runs it on at most `workers` threads; the figure does not depend on their number.
    ///
    /// # Errors
    /// The error of a run that does not end, or a file error if a run lacks what is measured.
    pub fn run(&self, observer: &Observer, size: Size, workers: usize) -> Result<Figure, LabError> {
        Ok(self.results(observer, size, workers)?.figure)
    }

    /// As [`Experiment::run`], with the value of every run.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn results(
        &self,
        observer: &Observer,
        size: Size,
        workers: usize,
    ) -> Result<Results, LabError> {
        let size = self.size(size);
        let readings = Reading::all(self, size);
        let plans = self.plans(&readings, size)?;
        let reports = many::run(&plans.jobs, observer, workers)?;
        let results = result::of_all(self, &readings, &plans, size, &reports);
        results.map_err(|why| self.refused(why))
    }

    fn plans<'a>(&self, readings: &'a [Reading], size: Size) -> Result<Plans<'a>, LabError> {
        let seeds = self.seeds(size);
        seeds.check()?;
        let bounded = |all: u64| match all {
            0..=MOST_RUNS => Ok(()),
            all => Err(LabError::usage(format!(
                "--runs {}: that makes {all} runs, whose reports are all kept in memory; the maximum \
                 is {MOST_RUNS}",
                seeds.runs
            ))),
        };
        bounded(seeds.runs)?;
        let mut mistakes = Mistakes::default();
        let mut plans = Plans::new(readings, self, self.size(size), &mut mistakes);
        if !mistakes.is_empty() {
            return Err(LabError::mistakes(Path::new(&self.name), mistakes.finish()));
        }
        let jobs = plans.jobs.into_iter();
        plans.jobs = jobs.map(|job| job.anyway(self.anyway)).collect();
        bounded(plans.count()).map(|()| plans)
    }

    /// The options that are smaller at that size than titles and labels say.
    fn smaller(&self, size: Size) -> Vec<String> {
        let smaller = self.smoke.iter().filter(|_| size == Size::Smoke);
        let words = smaller.map(|(name, value)| format!("{name} {value}"));
        words.collect()
    }

    /// Whether programs run with other options at that size than the paper's.
    fn is_shrunk(&self, size: Size) -> bool {
        size == Size::Smoke && self.smoke.keys().any(|name| name != RUNS)
    }

    /// Whether it runs with the seeds of its file, and as often.
    fn has_own_seeds(&self) -> bool {
        self.asked == [None, None]
    }

    /// The command that repeats it.
    pub fn command(&self, size: Size) -> String {
        let mut command = format!("gristmill lab run {}", self.name);
        if size == Size::Full && self.size(Size::Smoke) == Size::Smoke {
            command += " --full";
        }
        for (option, value) in ["seed", "runs"].into_iter().zip(self.asked) {
            if let Some(value) = value {
                command += &format!(" --{option} {value}");
            }
        }
        command
    }

    fn refused(&self, why: String) -> LabError {
        LabError::file(Path::new(&self.name), why)
    }
}
