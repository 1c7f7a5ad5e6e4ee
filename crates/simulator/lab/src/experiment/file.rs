//! The data of a file, with what it leaves out filled in.

use std::collections::BTreeMap;

use plot::Size;
use serde::Deserialize;

use super::built_in;
use super::chart::ChartTable;
use super::claim::ClaimTable;
use super::grid::GridTable;
use super::series::Series;
use crate::changes::Changes;
use crate::error::LabError;
use crate::job::Seeds;
use crate::place::Place;
use crate::sweep::{Values, unknown};

/// A file that says what runs, what is drawn and what is claimed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Read before all else (`mistake`).
    #[serde(rename = "format")]
    _format: Option<u32>,
    #[serde(skip)]
    pub(super) name: String,
    /// Seed and runs that replace the file's.
    #[serde(skip)]
    asked: [Option<u64>; 2],
    /// Whether its runs begin in any memory.
    #[serde(skip)]
    pub(super) anyway: bool,
    /// Heading of the figure.
    #[serde(default)]
    pub title: String,
    /// Paper, and figure or section.
    #[serde(default)]
    pub source: String,
    pub(super) says: Option<String>,
    pub(super) shows: Option<String>,
    pub(super) note: Option<String>,
    #[serde(default = "nanopu")]
    pub(super) machine: String,
    #[serde(default)]
    pub(super) changes: Changes,
    seed: Option<u64>,
    runs: Option<u64>,
    pub(super) breakdown: Option<String>,
    #[serde(default)]
    pub(super) smoke: Values,
    #[serde(default, rename = "chart")]
    pub(super) charts: BTreeMap<String, ChartTable>,
    #[serde(default)]
    pub(super) grid: Vec<GridTable>,
    #[serde(default)]
    pub(super) series: Vec<Series>,
    #[serde(default, rename = "line")]
    pub(super) lines: Vec<ClaimTable>,
}

/// The key of `[smoke]` that is no option of a program.
pub(super) const RUNS: &str = "runs";

fn nanopu() -> String {
    "nanopu".to_owned()
}

impl Experiment {
    /// Fills in the names that a file may leave out.
    pub(super) fn complete(&mut self, name: &str) {
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
        built_in::names().any(|name| name == self.name)
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
        let has_smoke = of_series || self.grid.iter().any(|table| table.smoke.is_some());
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

    /// The experiment with the right to begin whatever the memory is.
    #[must_use]
    pub fn anyway(self, anyway: bool) -> Experiment {
        Experiment { anyway, ..self }
    }

    /// Whether it runs every combination of some choices.
    pub fn compares_readings(&self) -> bool {
        !self.grid.is_empty()
    }

    /// The options that are smaller at that size than titles and labels say.
    pub(super) fn smaller(&self, size: Size) -> Vec<String> {
        let smaller = self.smoke.iter().filter(|_| size == Size::Smoke);
        let words = smaller.map(|(name, value)| format!("{name} {value}"));
        words.collect()
    }

    /// Whether programs run with other options at that size than the paper's.
    pub(super) fn is_shrunk(&self, size: Size) -> bool {
        size == Size::Smoke && self.smoke.keys().any(|name| name != RUNS)
    }

    /// Whether it runs with the seeds of its file, and as often.
    pub(super) fn has_own_seeds(&self) -> bool {
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

    /// The number of the series with that id.
    pub(super) fn position(&self, id: &str) -> Option<usize> {
        self.series.iter().position(|series| series.id == id)
    }

    /// As [`Experiment::position`], or what there is instead.
    pub(super) fn series_named(&self, id: &str) -> Result<usize, String> {
        self.position(id).ok_or_else(|| {
            let known: Vec<&str> = self.series.iter().map(|it| it.id.as_str()).collect();
            unknown("series", id, &known)
        })
    }
}
