//! What came of an experiment: charts of ours beside the paper's points, and claims.
//!
//! A figure is plain data: it can be kept as JSON, read again, and drawn by whoever likes.
//! Everything in it is simulated, so it is the same on every computer; what a run took of this
//! computer's time is not in it.

use serde::{Deserialize, Serialize};

use crate::experiment::Claim;
use crate::spread::Spread;

/// What came of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its name: `nanosort/figure-12`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Paper and figure.
    pub source: String,
    /// What the paper says, in a sentence or two.
    pub says: Option<String>,
    /// What to know when looking at it.
    pub note: Option<String>,
    /// How large it was run.
    pub size: Size,
    /// At smoke size what was smaller than titles and labels say, each as `name value`.
    #[serde(default)]
    pub smaller: Vec<String>,
    /// On which machine.
    pub machine: String,
    /// Hash of the machine's file, sixteen hexadecimal digits; none on threads.
    pub machine_hash: Option<String>,
    /// What was changed of the machine, each as `name value`.
    pub changes: Vec<String>,
    /// The first seed, and how many runs.
    pub seed: u64,
    /// How many runs each point has, each of the next seed.
    pub runs: u64,
    /// The command that gives it again.
    pub command: String,
    /// What is drawn.
    pub charts: Vec<Chart>,
    /// What the paper claims, beside ours. None at smoke size: the claims are of the full one.
    pub claims: Vec<Claim>,
    /// What the programs' own checks found wrong, and where: nothing, if all is right.
    #[serde(default)]
    pub faults: Vec<String>,
    /// Who did what when, of one run.
    pub breakdown: Option<Breakdown>,
}

/// How large an experiment is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// In a moment: does it run, and is it the same as before?
    #[default]
    Smoke,
    /// As large as the paper's.
    Full,
}

/// Series over one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What was varied.
    pub x: Axis,
    /// What came out.
    pub y: Axis,
    /// Ours.
    pub series: Vec<Series>,
    /// Points that the paper gives; none at smoke size, which they are not of.
    pub paper: Vec<Mark>,
}

/// One direction of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it is, with its unit: `time (us)`.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
    /// Names of its places 0, 1, 2 ...: then it has no numbers.
    #[serde(default)]
    pub names: Vec<String>,
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps are equal differences; it begins at zero.
    #[default]
    Linear,
    /// Equal steps are equal ratios.
    Log,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What they have in common.
    pub label: String,
    /// In the order of x.
    pub points: Vec<Point>,
}

/// What the runs gave at one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// What was varied.
    pub x: f64,
    /// What came out, over the runs.
    pub y: Spread,
}

/// A point that the paper gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// What it is.
    pub label: String,
    /// What was varied.
    pub x: f64,
    /// What the paper says.
    pub y: f64,
    /// Its standard deviation, where the paper gives one.
    pub sd: Option<f64>,
}

/// Who did what when, of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    /// The stages, in the order of the program.
    pub stages: Vec<StageSpread>,
    /// All cores over time.
    pub picture: Picture,
}

/// How the cores' times in a stage spread, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageSpread {
    /// What the program calls it.
    pub name: String,
    /// How many cores went through it.
    pub cores: usize,
    /// Least, quartiles, 99th percentile and most of the times in it.
    pub time_us: [f64; 6],
    /// The same of the times waited in it.
    pub idle_us: [f64; 6],
}

/// All cores over time: of each cell's cores and moments, the stage that most were in. Cells are in
/// rows, the lowest cores first; each is a stage's number, or the number of stages for none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Cells of a row: moments, from 0 to `end_us`.
    pub columns: usize,
    /// Rows: groups of neighbouring cores.
    pub rows: usize,
    /// How many cores there are.
    pub cores: u32,
    /// When the last core ended.
    pub end_us: f64,
    /// `rows` times `columns` of them, in base 36, a digit each.
    pub cells: String,
}
