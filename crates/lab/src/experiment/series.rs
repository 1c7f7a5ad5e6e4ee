//! A series: one program, one thing that is varied, a point for each of its values.
//!
//! ```text
//!   [[series]]
//!   label             words for people, beside the line in the chart; the program if left out
//!   id                a word for programs; the label if left out
//!   chart             the chart it is drawn in; one of what is varied if left out
//!   program, with     what is run, and what it is told
//!   machine, changes  where, over the experiment's
//!   vary              an option of the program, a change of the machine, "machine", or "stage":
//!                     then all points are of the same runs
//!   over, smoke       its values: at full size; some of them, at smoke size (else all)
//!   x_of              where the points lie, when not at the values themselves: a list of places,
//!                     or a factor. Words lie at 0, 1, 2 ... in the order of `over`
//!   measure, stage    what is taken of a run, and of which stage
//!   repeats           how often a run does what is measured: the figure is of one
//! ```

use serde::Deserialize;

use super::measure::{Measure, Taken};
use super::recipe::{Recipe, Told, Values};
use super::{Experiment, Size};
use crate::changes::Changes;

/// A series, as its table says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// A word for programs.
    #[serde(default)]
    pub id: String,
    /// The chart it is drawn in.
    #[serde(default)]
    pub chart: String,
    /// Words for people.
    #[serde(default)]
    pub label: String,
    /// What is run.
    pub program: String,
    /// Where, if not on the experiment's machine.
    pub machine: Option<String>,
    /// What the program is told.
    #[serde(default)]
    pub with: Values,
    /// What is changed of the machine for this series.
    #[serde(default)]
    pub changes: Changes,
    /// What is varied.
    pub vary: String,
    /// Its values at full size.
    pub over: Vec<Told>,
    /// Those of them that are run at smoke size.
    pub smoke: Option<Vec<Told>>,
    /// Where the points lie.
    pub x_of: Option<XOf>,
    /// What is taken of a run.
    #[serde(default)]
    pub measure: Measure,
    /// Of which stage.
    pub stage: Option<String>,
    /// How often a run does it.
    #[serde(default = "once")]
    pub repeats: f64,
}

/// Once.
pub(super) fn once() -> f64 {
    1.0
}

/// Where points lie that are not at the values themselves.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of numbers, one for each of `over`, or a factor"
)]
pub enum XOf {
    /// Each at its own place.
    Each(Vec<f64>),
    /// At so many times the value.
    Factor(f64),
}

impl Series {
    /// What is wrong with it, whatever the experiment around it.
    pub(super) fn check(&self) -> Result<(), String> {
        let among = |list: &[Told], value: &Told| list.iter().any(|known| is_same(known, value));
        if self.over.is_empty() {
            return Err("over: there is no value, so no point".to_owned());
        }
        for (place, value) in self.over.iter().enumerate() {
            if among(&self.over[..place], value) {
                return Err(format!("over: {value} is there twice"));
            }
        }
        if let Some(smoke) = &self.smoke {
            if smoke.is_empty() {
                return Err("smoke: there is no value, so no point".to_owned());
            }
            if let Some(odd) = smoke.iter().find(|value| !among(&self.over, value)) {
                return Err(format!("smoke: {odd} is none of over"));
            }
        }
        match &self.x_of {
            Some(XOf::Each(places)) if places.len() != self.over.len() => {
                let (places, values) = (places.len(), self.over.len());
                return Err(format!("x_of: {places} places for {values} values of over"));
            }
            Some(XOf::Factor(_)) if self.over.iter().any(|value| value.number().is_none()) => {
                return Err("x_of: a factor of words; expected a list of places".to_owned());
            }
            _ => {}
        }
        let places = (0..self.over.len()).map(|place| self.x(place));
        if let Some(x) = places.into_iter().find(|x| !x.is_finite()) {
            return Err(format!("x_of: a point at {x}"));
        }
        if self.varies_stage() && self.stage.is_some() {
            return Err("stage: it is varied".to_owned());
        }
        (0..self.over.len()).try_for_each(|place| self.taken(place).check())
    }

    fn varies_stage(&self) -> bool {
        self.vary == STAGE
    }

    /// The places in `over` of the values that are run.
    pub(super) fn places(&self, size: Size) -> Vec<usize> {
        let run = match (&self.smoke, size) {
            (Some(smoke), Size::Smoke) => smoke,
            _ => &self.over,
        };
        let is_run = |value: &Told| run.iter().any(|known| is_same(known, value));
        (0..self.over.len())
            .filter(|place| is_run(&self.over[*place]))
            .collect()
    }

    /// Which place in `over` has this value.
    pub(super) fn find(&self, value: &Told) -> Option<usize> {
        self.over.iter().position(|known| is_same(known, value))
    }

    /// Whether its values are words and lie nowhere by themselves.
    pub(super) fn has_words(&self) -> bool {
        self.x_of.is_none() && self.over.iter().any(|value| value.number().is_none())
    }

    /// Where the point of that place in `over` lies.
    pub(super) fn x(&self, place: usize) -> f64 {
        let number = self.over[place].number();
        match &self.x_of {
            Some(XOf::Each(places)) => places[place],
            Some(XOf::Factor(factor)) => number.unwrap_or_default() * factor,
            None => number.unwrap_or(place as f64),
        }
    }

    /// What the runs of that place in `over` are told.
    pub(super) fn recipe(
        &self,
        place: usize,
        size: Size,
        experiment: &Experiment,
    ) -> Result<Recipe, String> {
        let mut recipe = Recipe {
            program: self.program.clone(),
            machine: self.machine.as_ref().unwrap_or(&experiment.machine).clone(),
            with: self.with.clone(),
            changes: self.changes.over(&experiment.changes),
        };
        if size == Size::Smoke {
            recipe.shrink(&experiment.smoke)?;
        }
        if !self.varies_stage() {
            recipe
                .set(&self.vary, &self.over[place])
                .map_err(|why| format!("vary: {why}"))?;
        }
        Ok(recipe)
    }

    /// What is taken of the runs of that place in `over`.
    pub(super) fn taken(&self, place: usize) -> Taken<'_> {
        let stage = match &self.over[place] {
            Told::Word(stage) if self.varies_stage() => Some(stage.as_str()),
            _ => self.stage.as_deref(),
        };
        Taken {
            measure: self.measure,
            stage,
            repeats: self.repeats,
        }
    }
}

/// What varies when one run is looked at stage by stage.
const STAGE: &str = "stage";

/// 1 and 1.0 are the same.
fn is_same(one: &Told, other: &Told) -> bool {
    match (one.number(), other.number()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}
