//! A line: a claim of the paper, and how to get our figure for it.
//!
//! ```text
//!   [[line]]
//!   claim             the paper's words
//!   id                name for programs; the claim if left out
//!   statement         name of the paper's statement, where several lines judge it; else the claim
//!   note              caveats about the comparison
//!   in_paper          false if the paper has neither the figure nor the statement: a public measurement, or
//!                     a what-if of ours
//!   paper, unit       the paper's figure
//!   at_least, at_most the paper says so: more, or less, is no failure
//!   tolerance         how far ours may be off the paper's, as a share
//!   today             our figure when the line was written. With the file's own seeds the line
//!                     fails if ours is off it by more than 1 %
//!   smoke             the same at smoke size
//!   set_by            "fit" if a number of the machine, or a reading of the paper, was chosen to
//!                     give the paper's figure; "aim" if the figure is our own and no paper's
//!   known_miss        why the paper's figure is not met: the line is then missed and does not fail
//!
//!   and one of
//!   program, with     what runs, and its options; machine, changes: over the experiment's
//!   series, at        a point of a series, by its value in `over`
//!   series, is        the shape of a series instead of a figure (`shape`); no paper or unit
//!   does              alone: a rate that needs no run, in units per microsecond
//!
//!   measure, stage    what is read from a run, if not the time or what the series reads
//!   take              of several runs the "mean" (default), the "most", or "sd", their deviation, if not
//!                     what the series takes
//!   does              units that a run does: ours is `does` by its time in microseconds
//!   against           compares the point with that of another series at the same value, or with
//!                     another value of its own series
//!   as                "ratio" (default): the first by the second; "fewer": 1 less that; "difference":
//!                     the first less the second, in the unit of the line
//! ```
//!
//! Without `does` a time is in the unit of the line, which is ns, us, ms or s. "18 % fewer" is
//! paper = 0.18.

use plot::{SetBy, Size};
use serde::Deserialize;

use super::measure::{Measure, Quantity, Take, above_0};
use super::series::Series;
use super::shape::Shape;
use crate::changes::Changes;
use crate::sweep::{Scalar, Values, check_program};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimTable {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub claim: String,
    pub statement: Option<String>,
    pub note: Option<String>,
    pub in_paper: Option<bool>,
    pub paper: Option<f64>,
    unit: Option<String>,
    #[serde(default)]
    pub at_least: bool,
    #[serde(default)]
    pub at_most: bool,
    pub tolerance: Option<f64>,
    pub today: Option<f64>,
    pub smoke: Option<f64>,
    #[serde(default)]
    pub set_by: SetBy,
    pub known_miss: Option<String>,
    pub program: Option<String>,
    pub machine: Option<String>,
    #[serde(default)]
    pub with: Values,
    #[serde(default)]
    pub changes: Changes,
    pub series: Option<String>,
    pub at: Option<Scalar>,
    pub is: Option<Shape>,
    pub against: Option<Scalar>,
    #[serde(rename = "as")]
    compared: Option<Compared>,
    take: Option<Take>,
    measure: Option<Measure>,
    stage: Option<String>,
    pub does: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Compared {
    #[default]
    Ratio,
    Fewer,
    Difference,
}

impl ClaimTable {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.claim.is_empty() {
            return Err("claim: missing; expected the claim in words".to_owned());
        }
        above_0("does", self.does)?;
        self.check_keys()?;
        match &self.program {
            Some(program) => {
                check_program(program, &self.with)?;
                self.check_quantity(self.quantity(None))
            }
            None => Ok(()),
        }
    }

    /// Checks which keys are there together.
    fn check_keys(&self) -> Result<(), String> {
        let (runs, reads) = (self.program.is_some(), self.series.is_some());
        let (at, does) = (self.at.is_some(), self.does.is_some());
        let (is, compares) = (self.is.is_some(), self.against.is_some());
        let of_series = at || is || compares || self.compared.is_some();
        let of_run =
            !self.with.is_empty() || self.machine.is_some() || self.changes != Changes::default();
        let has_figure = self.paper.is_some() && self.unit.is_some();
        let has_part = self.paper.is_some() || self.unit.is_some() || self.at_least || self.at_most;
        let kinds = usize::from(runs) + usize::from(reads) + usize::from(does && !runs && !reads);
        let why = match () {
            () if kinds != 1 => "it needs either a program, or a series, or does alone",
            () if of_series && !reads => "at, is, against and as need a series",
            () if of_run && !runs => "with, machine and changes need a program",
            () if is && (has_part || does || compares) => {
                "is: leave out paper, unit, does and against"
            }
            () if !is && !has_figure => "paper and unit: one of them is missing",
            () if reads && !is && !at => "at: missing, and there is a series",
            () if self.compared.is_some() && !compares => "as: needs against",
            () if does && compares => "does: two points are compared",
            () => return Ok(()),
        };
        Err(why.to_owned())
    }

    /// Checks that the line's unit can tell what is read.
    pub(super) fn check_quantity(&self, quantity: Quantity<'_>) -> Result<(), String> {
        quantity.check()?;
        if self.does.is_some() && !quantity.is_time() {
            return Err("does: it is divided by a time, and measure is none".to_owned());
        }
        self.factor(quantity).map(|_| ())
    }

    /// Our figure at that size when the line was written.
    pub(super) fn known(&self, size: Size) -> Option<f64> {
        match size {
            Size::Full => self.today,
            Size::Smoke => self.smoke,
        }
    }

    /// The paper's figure; of a shape, the one for that series.
    pub(super) fn paper(&self, series: Option<&Series>) -> f64 {
        let at = self.at.as_ref().zip(series);
        let x = at.and_then(|(at, series)| Some(series.x(series.place_of(at).ok()?)));
        self.paper.or(x).unwrap_or(1.0)
    }

    pub(super) fn is_at_least(&self) -> bool {
        self.is.map_or(self.at_least, Shape::is_at_least)
    }

    /// The unit of the claim; of a shape, one for a series that varies this.
    pub(super) fn unit(&self, vary: &str) -> String {
        let of_shape = self.is.map(|shape| shape.unit(vary));
        of_shape
            .or(self.unit.as_deref())
            .unwrap_or_default()
            .to_owned()
    }

    /// The value that is read from a run: the line's, or else its series', or the time.
    pub(super) fn quantity<'a>(&'a self, of_series: Option<Quantity<'a>>) -> Quantity<'a> {
        let default = of_series.unwrap_or_default();
        let measure = self.measure.unwrap_or(default.measure);
        let is_of_stage = self.measure.is_none() || measure.is_of_a_stage();
        Quantity {
            measure,
            stage: self
                .stage
                .as_deref()
                .or(default.stage.filter(|_| is_of_stage)),
            repeats: default.repeats,
            take: self.take.unwrap_or(default.take),
            is_relative: default.is_relative,
        }
    }

    /// Our figure, from a value read from runs.
    pub(super) fn figure(&self, quantity: Quantity<'_>, value: f64) -> Result<f64, String> {
        match self.does {
            Some(units) => Ok(units / value),
            None => Ok(value * self.factor(quantity)?),
        }
    }

    /// Our figure, from two values read from runs.
    pub(super) fn compare(
        &self,
        quantity: Quantity<'_>,
        [first, second]: [f64; 2],
    ) -> Result<f64, String> {
        Ok(match self.compared.unwrap_or_default() {
            Compared::Ratio => first / second,
            Compared::Fewer => 1.0 - first / second,
            Compared::Difference => (first - second) * self.factor(quantity)?,
        })
    }

    /// Units of the line per unit of what is read.
    fn factor(&self, quantity: Quantity<'_>) -> Result<f64, String> {
        let is_ratio = self.against.is_some() && self.compared != Some(Compared::Difference);
        if self.does.is_some() || is_ratio || !quantity.is_time() {
            return Ok(1.0);
        }
        match self.unit.as_deref().unwrap_or_default() {
            "ns" => Ok(1e3),
            "us" => Ok(1.0),
            "ms" => Ok(1e-3),
            "s" => Ok(1e-6),
            unit => Err(format!(
                "unit is {unit}: a time is in ns, us, ms or s; or say what it does"
            )),
        }
    }
}
