//! The result of an experiment: charts, claims, and a breakdown of one run.
//!
//! A figure is plain data that JSON can hold. It has simulated values only, so it is the same on
//! every computer; wall time and memory of a run are not in it.

use serde::{Deserialize, Deserializer, Serialize};

/// The result of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Name of the experiment, such as `nanosort/figure-12`.
    pub name: String,
    /// Heading on the page.
    pub title: String,
    /// Paper, and figure or section.
    pub source: String,
    /// The paper's finding, in a sentence or two.
    pub says: Option<String>,
    /// A paragraph on the curves, in our words.
    #[serde(default)]
    pub shows: Option<String>,
    /// Caveats for the reader.
    pub note: Option<String>,
    /// Size at which the experiment ran.
    pub size: Size,
    /// At smoke size, the options that are smaller than titles and labels say, as `name value`.
    #[serde(default)]
    pub smaller: Vec<String>,
    /// Name of the machine, or `threads`.
    pub machine: String,
    /// Hash of the machine's file in sixteen hexadecimal digits; none on threads.
    pub machine_hash: Option<String>,
    /// Changes of the machine, each as `name value`.
    pub changes: Vec<String>,
    /// Seed of the first run; each next run has the next seed.
    pub seed: u64,
    /// Number of runs per point.
    pub runs: u64,
    /// Command that repeats the experiment.
    pub command: String,
    /// Charts in the order in which the series name them.
    pub charts: Vec<Chart>,
    /// Merge trees that are drawn below the charts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<Tree>,
    /// The paper's claims beside ours. At smoke size those whose figure at that size is known.
    pub claims: Vec<Claim>,
    /// Failed checks of the programs themselves, with job and seed.
    #[serde(default)]
    pub faults: Vec<String>,
    /// Stages of one run over cores and time.
    pub breakdown: Option<Breakdown>,
    /// The claims for every reading of the paper, in place of charts and claims.
    #[serde(default)]
    pub grid: Option<Grid>,
}

/// Size at which an experiment runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// Takes a moment: shows that the experiment runs and that its results have not changed.
    #[default]
    Smoke,
    /// The paper's size, at which claims are judged.
    Full,
}

/// Series over one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Heading above the chart.
    pub title: String,
    /// Axis of the varied option.
    pub x: Axis,
    /// Axis of the measured values.
    pub y: Axis,
    /// Our curves, in the order of the file.
    pub series: Vec<Series>,
    /// The paper's points; none at smoke size.
    pub paper: Vec<Mark>,
}

/// One direction of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Quantity and unit, such as `time (us)`.
    pub label: String,
    /// Linear or logarithmic division.
    pub scale: Scale,
    /// Names of the places 0, 1, 2 ... on an axis without numbers.
    #[serde(default)]
    pub names: Vec<String>,
}

/// Division of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps are equal differences; the axis begins at zero.
    #[default]
    Linear,
    /// Equal steps are equal ratios.
    Log,
}

/// A curve of measured points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Points by ascending x.
    pub points: Vec<Point>,
}

/// A measured point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Value of the varied option, or its place on the axis.
    pub x: f64,
    /// Measured values over the runs.
    pub y: Spread,
}

/// Mean, standard deviation, minimum and maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Arithmetic mean of the values.
    pub mean: f64,
    /// Standard deviation of a sample; 0 for a single value.
    pub sd: f64,
    /// Smallest of the values.
    pub min: f64,
    /// Largest of the values.
    pub max: f64,
}

/// A point that the paper gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Words beside the point, or in the legend.
    pub label: String,
    /// Place on the x axis.
    pub x: f64,
    /// Published value, in the unit of the y axis.
    pub y: f64,
    /// The published standard deviation, where there is one.
    pub sd: Option<f64>,
}

/// The shape of a merge tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// Its name, such as `incast 4`.
    pub label: String,
    /// Number of cores; core 0 is the root.
    pub cores: u32,
    /// The message of each core but the root.
    pub links: Vec<Link>,
}

/// A value that a core sends up a merge tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The core that sends it.
    pub child: u32,
    /// The core that merges it with its own.
    pub parent: u32,
    /// The level on which it does, from 1.
    pub level: u32,
}

/// A figure of the paper beside ours. The names of the fields are a contract with scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// A word for programs.
    pub id: String,
    /// The claim in the paper's words.
    pub claim: String,
    /// The paper's statement, which several claims may be about.
    #[serde(default)]
    pub statement: String,
    /// The reading of the paper whose figure it is, where the paper leaves choices open.
    #[serde(default)]
    pub reading: Option<String>,
    /// Unit of both figures.
    pub unit: String,
    /// The paper's figure, in that unit.
    pub paper: f64,
    /// Whether the paper says "at least".
    pub at_least: bool,
    /// Whether the paper says "at most".
    #[serde(default)]
    pub at_most: bool,
    /// How far ours may be off, as a share; none for a bound or a shape without slack, or a claim that is
    /// only shown.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// Our figure; `null` in JSON if there is none.
    #[serde(deserialize_with = "number_or_nan")]
    pub ours: f64,
    /// Ours divided by the paper's, less one; positive if ours is larger.
    #[serde(deserialize_with = "number_or_nan")]
    pub deviation: f64,
    /// Where our figure comes from.
    #[serde(default)]
    pub set_by: SetBy,
    /// Caveats about the comparison.
    pub note: Option<String>,
    /// Result of the comparison.
    pub outcome: Outcome,
    /// Reason of a claim that is missed.
    pub known_miss: Option<String>,
    /// Whether the claim failed, and why.
    pub check: Check,
}

/// The origin of our figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetBy {
    /// Nothing was adjusted to the paper's figure.
    #[default]
    Predicted,
    /// A number of the machine was chosen to give this figure, or it took part in the choice of a
    /// reading: agreement shows only that the simulator adds up.
    Fit,
    /// The figure is our own aim, and no paper's.
    Aim,
}

impl SetBy {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            SetBy::Predicted => "predicted",
            SetBy::Fit => "fit",
            SetBy::Aim => "our aim",
        }
    }
}

/// Whether a claim's check passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// False if something is wrong.
    pub passed: bool,
    /// The reason of a failure.
    pub fault: Option<String>,
}

/// Result of comparing our figure with the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Ours agrees with the claim.
    Met,
    /// Shown alone: the experiment names no tolerance.
    Shown,
    /// Ours does not agree, for a known reason.
    Missed,
    /// Ours does not agree, has changed, or comes from a wrong result.
    Failed,
}

impl Outcome {
    /// All outcomes, the worst last.
    pub const ALL: [Outcome; 4] = [
        Outcome::Met,
        Outcome::Shown,
        Outcome::Missed,
        Outcome::Failed,
    ];

    /// The outcome in JSON and on the page.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Met => "met",
            Outcome::Shown => "shown",
            Outcome::Missed => "missed",
            Outcome::Failed => "failed",
        }
    }
}

impl Claim {
    /// The reason of a failure.
    pub fn fault(&self) -> Option<&str> {
        self.check.fault.as_deref()
    }

    /// Ours divided by the paper's.
    pub fn ratio(&self) -> f64 {
        self.ours / self.paper
    }

    /// Why it is missed or has failed, after the word for it.
    pub fn reason(&self) -> Option<(&'static str, &str)> {
        let missed = self.known_miss.as_deref().map(|why| ("Missed", why));
        missed.or_else(|| Some(("Failed", self.fault()?)))
    }
}

/// JSON has no NaN: it is written as `null`.
fn number_or_nan<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or(f64::NAN))
}

/// Stages of one run over cores and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    /// Stages in the order of the program.
    pub stages: Vec<StageSpread>,
    /// The stage of every core at every moment.
    pub picture: Picture,
    /// The critical path of the run.
    #[serde(default)]
    pub path: Option<Path>,
}

/// Times of the cores in a stage, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageSpread {
    /// The program's name for the stage.
    pub name: String,
    /// Number of cores that ran the stage.
    pub cores: usize,
    /// Minimum, quartiles, 99th percentile and maximum of the time in the stage.
    pub time_us: [f64; 6],
    /// The same quantiles of the time that cores waited in it.
    pub idle_us: [f64; 6],
}

/// The stage of every core over time, as a raster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Cells per row: time from 0 to `end_us`.
    pub columns: usize,
    /// Groups of neighbouring cores, the lowest ranks first.
    pub rows: usize,
    /// Cores of the machine.
    pub cores: u32,
    /// End of the last core, in microseconds.
    pub end_us: f64,
    /// One base-36 digit per cell, row by row: the stage in which its cores spent most time, or the
    /// number of stages for none.
    pub cells: String,
}

/// The claims for every combination of open choices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Names of the open choices.
    pub dials: Vec<String>,
    /// The combinations, the best first.
    pub readings: Vec<Reading>,
}

/// A combination of open choices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The value of each choice.
    pub values: Vec<String>,
    /// The same claims in every reading.
    pub claims: Vec<Claim>,
    /// Mean distance from the paper's figures, as a share: the geometric mean of the ratios, each
    /// taken as above 1. Bounds and shapes of curves say no distance.
    pub off: f64,
}

/// The chain of work and messages that made the last core last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// The kinds of time, in the order of the table's columns.
    pub kinds: Vec<String>,
    /// The stages in the order of the path.
    pub stages: Vec<PathStage>,
    /// Where the path is: time in microseconds, and core.
    pub points: Vec<(f64, u32)>,
}

/// The part of a path in a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathStage {
    /// The program's name for the stage.
    pub name: String,
    /// Time of each kind, in microseconds.
    pub us: Vec<f64>,
}
