//! A line: a figure that the paper claims, and how to come to ours.
//!
//! ```text
//!   [[line]]
//!   claim             what the paper says, in its words
//!   id                a word for programs; the claim if left out
//!   paper, unit       its figure
//!   at_least          the paper says at least so much: more is no failure
//!   at_most           the paper says at most so much: less is no failure
//!   note              what to know when the two figures are compared
//!   tolerance         how far ours may be off, as a share
//!   today             ours when the line was written: beyond the tolerance around it, or 1 % if there
//!                     is none, the line fails
//!   known_miss        why the paper's figure is not met: such a line is missed and does not fail
//!
//!   and one of
//!   program, with     what is run, and what it is told; machine, changes: over the experiment's
//!   series, at        a point of a series, by its value in `over`: it does not run again
//!   per_second        a rate that needs no run: ours is what there is of it in 1 us
//!
//!   measure, stage    what is taken of a run, if not the time, or what the series takes
//!   busy              a stage: short for measure = "busy" of that stage
//!   take              of the runs: "mean", if it is not said, "most", or "sd", their deviation
//!   repeats           how often a run does what is measured: the figure is of one
//!   does              how many units a run does: ours is `does` by its time in microseconds
//!   against           another series: ours compares `at` of the first with `against_at` of this,
//!   against_at        which is `at` if it is not said; alone it is a point of the same series
//!   as                "ratio": the first by the second; "fewer": what of the second is saved
//! ```
//!
//! Without `does` a time is in the line's unit, which is ns, us or ms then. A share says "18 %
//! fewer" as paper = 0.18.

use serde::Deserialize;

use super::claim::{Terms, above_0};
use super::measure::{Measure, Taken};
use super::recipe::{Recipe, Told, Values};
use super::{Experiment, Size};
use crate::changes::Changes;
use crate::spread::Spread;

/// A claim and how to come to it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// A word for programs.
    #[serde(default)]
    pub id: String,
    /// The paper's words.
    pub claim: String,
    /// The paper's figure.
    pub paper: f64,
    /// Of both figures.
    pub unit: String,
    /// Whether the paper says "at least".
    #[serde(default)]
    pub at_least: bool,
    /// Whether the paper says "at most".
    #[serde(default)]
    pub at_most: bool,
    /// What to know when the two figures are compared.
    pub note: Option<String>,
    /// How far ours may be off, as a share: of the paper's, and of today's.
    pub tolerance: Option<f64>,
    /// Ours when the line was written.
    pub today: Option<f64>,
    /// Why the paper's figure is not met.
    pub known_miss: Option<String>,
    /// What is run.
    pub program: Option<String>,
    /// Where, if not on the experiment's machine.
    pub machine: Option<String>,
    /// What the program is told.
    #[serde(default)]
    pub with: Values,
    /// What is changed of the machine for this line.
    #[serde(default)]
    pub changes: Changes,
    /// A series that has the figure.
    pub series: Option<String>,
    /// At which of its values.
    pub at: Option<Told>,
    /// A series to compare with.
    pub against: Option<String>,
    /// At which of its values, if not the same.
    pub against_at: Option<Told>,
    /// How the two compare.
    #[serde(rename = "as")]
    pub compared: Option<Compared>,
    /// What is taken of the runs' figures.
    #[serde(default)]
    pub take: Take,
    /// What is taken of a run.
    pub measure: Option<Measure>,
    /// Of which stage.
    pub stage: Option<String>,
    /// A stage whose busy time counts.
    pub busy: Option<String>,
    /// How often a run does it.
    pub repeats: Option<f64>,
    /// How many units a run does.
    pub does: Option<f64>,
    /// Units in a second, for a line that needs no run.
    pub per_second: Option<f64>,
}

/// What is taken of the figures of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// Their mean.
    #[default]
    Mean,
    /// The most.
    Most,
    /// Their standard deviation, as of a sample.
    Sd,
}

impl Take {
    pub(super) fn of(self, spread: Spread) -> f64 {
        match self {
            Take::Mean => spread.mean,
            Take::Most => spread.max,
            Take::Sd => spread.sd,
        }
    }
}

/// How two figures compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compared {
    /// The first by the second.
    #[default]
    Ratio,
    /// The share of the second that the first is less.
    Fewer,
}

impl Compared {
    pub(super) fn of(self, first: f64, second: f64) -> f64 {
        match self {
            Compared::Ratio => first / second,
            Compared::Fewer => 1.0 - first / second,
        }
    }
}

impl Line {
    pub(super) fn terms(&self) -> Terms<'_> {
        Terms {
            paper: self.paper,
            at_least: self.at_least,
            at_most: self.at_most,
            tolerance: self.tolerance,
            today: self.today,
            known_miss: self.known_miss.as_deref(),
        }
    }

    /// Whether two points are compared.
    pub(super) fn compares(&self) -> bool {
        self.against.is_some() || self.against_at.is_some()
    }

    /// What is wrong with it, whatever the experiment around it.
    pub(super) fn check(&self) -> Result<(), String> {
        self.terms().check()?;
        above_0("does", self.does)?;
        above_0("per_second", self.per_second)?;
        above_0("repeats", self.repeats)?;
        let ways = [
            self.program.is_some(),
            self.series.is_some(),
            self.per_second.is_some(),
        ];
        if ways.into_iter().filter(|way| *way).count() != 1 {
            return Err("it needs either a program, or a series, or per_second".to_owned());
        }
        let [is_run, is_point, _] = ways;
        let of_series = self.at.is_some() || self.compares() || self.compared.is_some();
        if of_series && !is_point {
            return Err("at, against, against_at and as need a series".to_owned());
        }
        let of_run =
            !self.with.is_empty() || self.machine.is_some() || self.changes != Changes::default();
        if of_run && !is_run {
            return Err("with, machine and changes need a program".to_owned());
        }
        if is_point && self.at.is_none() {
            return Err("at: missing, and there is a series".to_owned());
        }
        if self.compared.is_some() && !self.compares() {
            return Err("as: needs against or against_at".to_owned());
        }
        if self.busy.is_some() && (self.measure.is_some() || self.stage.is_some()) {
            return Err("busy: says measure and stage; leave those out".to_owned());
        }
        if self.does.is_some() && self.compares() {
            return Err("does: two points are compared".to_owned());
        }
        if is_run {
            self.checked_unit(self.taken(None))
        } else {
            Ok(())
        }
    }

    /// Whether what is taken can be told in the line's unit.
    pub(super) fn checked_unit(&self, taken: Taken<'_>) -> Result<(), String> {
        taken.check()?;
        if self.does.is_some() && !taken.measure.is_time() {
            return Err("does: it is divided by a time, and measure is none".to_owned());
        }
        self.factor(taken.measure).map(|_| ())
    }

    /// What is taken: what the line says, or else what its series does, or the time.
    pub(super) fn taken<'a>(&'a self, of_series: Option<Taken<'a>>) -> Taken<'a> {
        let plain = Taken {
            measure: Measure::Time,
            stage: None,
            repeats: 1.0,
        };
        let default = of_series.unwrap_or(plain);
        let repeats = self.repeats.unwrap_or(default.repeats);
        match (&self.busy, self.measure) {
            (Some(stage), _) => Taken {
                measure: Measure::Busy,
                stage: Some(stage),
                repeats,
            },
            (None, Some(measure)) => {
                let of_series = default.stage.filter(|_| measure.is_of_a_stage());
                Taken {
                    measure,
                    stage: self.stage.as_deref().or(of_series),
                    repeats,
                }
            }
            (None, None) => Taken {
                stage: self.stage.as_deref().or(default.stage),
                repeats,
                ..default
            },
        }
    }

    /// The line's figure, of what was taken.
    pub(super) fn figure(&self, measure: Measure, taken: f64) -> Result<f64, String> {
        match self.does {
            Some(units) => Ok(units / taken),
            None => Ok(taken * self.factor(measure)?),
        }
    }

    /// How much of the line's unit is in one of what is taken.
    fn factor(&self, measure: Measure) -> Result<f64, String> {
        if self.does.is_some() || self.compares() || !measure.is_time() {
            return Ok(1.0);
        }
        match self.unit.as_str() {
            "ns" => Ok(1e3),
            "us" => Ok(1.0),
            "ms" => Ok(1e-3),
            unit => Err(format!(
                "unit is {unit}: a time is in ns, us or ms; or say what it does"
            )),
        }
    }

    /// What its run is told, if it has one of its own.
    pub(super) fn recipe(&self, size: Size, of: &Experiment) -> Result<Option<Recipe>, String> {
        let Some(program) = &self.program else {
            return Ok(None);
        };
        let mut recipe = Recipe {
            program: program.clone(),
            machine: self.machine.as_ref().unwrap_or(&of.machine).clone(),
            with: self.with.clone(),
            changes: self.changes.over(&of.changes),
        };
        if size == Size::Smoke {
            recipe.shrink(&of.smoke)?;
        }
        Ok(Some(recipe))
    }
}
