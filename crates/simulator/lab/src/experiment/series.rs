//! A series: one program, one thing that varies, a point per value.
//!
//! ```text
//!   [[series]]
//!   label             name of the curve for people; if left out, the program, with its options
//!                     where several series have it, and what varies where that differs
//!   id                name for other tables; the label if left out
//!   chart             chart of the curve; one for what varies if left out
//!   program, with     what runs, and its options
//!   machine, changes  where, over the experiment's
//!   vary              an option of the program, a change of the machine, "machine", or "stage":
//!                     then all points are of the same runs
//!   over, smoke       the values at full size; some of them at smoke size (else all)
//!   x_of              places of the points if not at their values: a list, or a factor. Words are
//!                     at 0, 1, 2 ... in the order of `over`
//!   relative_to       a value of `over`: all values are divided by the mean there
//!   measure, stage    what is read from a run, and of which stage
//!   runs              runs of each point at full size, over the experiment's
//!   take              of several runs the "mean" (default), the "most", or "sd", their deviation
//!   repeats           how often a run does what is measured: the result is of one
//! ```

use plot::Size;
use serde::Deserialize;

use super::measure::{Measure, Quantity, Take};
use crate::changes::Changes;
use crate::sweep::{
    Choice, Dial, Recipe, Scalar, Values, at_size, check_option, check_program, check_values,
};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Series {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub chart: String,
    #[serde(default)]
    pub label: String,
    #[serde(default)]
    pub program: String,
    pub machine: Option<String>,
    #[serde(default)]
    pub with: Values,
    #[serde(default)]
    pub changes: Changes,
    #[serde(default)]
    pub vary: String,
    #[serde(default)]
    pub over: Vec<Scalar>,
    pub smoke: Option<Vec<Scalar>>,
    x_of: Option<XOf>,
    pub relative_to: Option<Scalar>,
    #[serde(default)]
    pub measure: Measure,
    stage: Option<String>,
    repeats: Option<f64>,
    #[serde(default)]
    pub take: Take,
    /// Runs of each point, in place of the file's.
    pub runs: Option<u64>,
}

/// Places of points that are not at their values.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of numbers, one for each of `over`, or a factor"
)]
enum XOf {
    Each(Vec<f64>),
    Factor(f64),
}

/// The value of `vary` for the stages of one run.
pub(super) const STAGE: &str = "stage";

impl Series {
    /// Checks the table by itself.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_varied()?;
        check_values(&self.over, self.smoke.as_ref(), "point")?;
        let mut values = self.over.iter().enumerate();
        if let Some((_, twice)) = values.find(|(at, value)| self.over[..*at].contains(value)) {
            return Err(format!("over: {twice} appears twice"));
        }
        self.check_places()?;
        self.check_relative()?;
        if self.runs == Some(0) {
            return Err("runs 0: expected a number from 1".to_owned());
        }
        if self.vary == STAGE && self.stage.is_some() {
            return Err("stage: it is varied".to_owned());
        }
        (0..self.over.len()).try_for_each(|place| self.quantity(place).check())
    }

    /// Checks the program, its options, and the values of the varied one.
    fn check_varied(&self) -> Result<(), String> {
        let program = check_program(&self.program, &self.with)?;
        if self.vary.is_empty() {
            let expected = "an option, a change of the machine, machine or stage";
            return Err(format!("vary: missing; expected {expected}"));
        }
        if self.vary == STAGE {
            return Ok(());
        }
        let mut empty = Recipe::new(program, "", Changes::default());
        for value in &self.over {
            let set = empty.set(&self.vary, value);
            set.map_err(|why| format!("vary: {why}"))?;
            if program.knows(&self.vary) {
                let checked = check_option(program, &self.vary, value);
                checked.map_err(|why| format!("over: {why}"))?;
            }
        }
        Ok(())
    }

    fn check_places(&self) -> Result<(), String> {
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
        let mut places = (0..self.over.len()).map(|place| self.x(place));
        match places.find(|x| !x.is_finite()) {
            Some(x) => Err(format!("x_of: a point at {x}")),
            None => Ok(()),
        }
    }

    fn check_relative(&self) -> Result<(), String> {
        let Some(value) = &self.relative_to else {
            return Ok(());
        };
        if self.vary == STAGE {
            let why = "relative_to: stages vary, which are parts of one run; leave it out";
            return Err(why.to_owned());
        }
        let place = self.place_of(value);
        let place = place.map_err(|why| format!("relative_to: {why}"))?;
        let why = || format!("relative_to: {value} does not run at smoke size; add it to smoke");
        let mut small = self.places(Size::Smoke);
        small.find(|it| *it == place).map(|_| ()).ok_or_else(why)
    }

    /// The place in `over` by whose mean all values are divided.
    pub(super) fn base(&self) -> Option<usize> {
        self.place_of(self.relative_to.as_ref()?).ok()
    }

    /// The option that varies, with its values at that size.
    pub(super) fn dial(&self, size: Size) -> Dial {
        let values = self.places(size).map(|place| self.over[place].clone());
        // The word `default` is a value like others here.
        let only = |value| Choice::Several([(self.vary.clone(), value)].into());
        Dial {
            name: self.vary.clone(),
            values: values.map(only).collect(),
        }
    }

    /// The places in `over` that run at that size.
    pub(super) fn places(&self, size: Size) -> impl Iterator<Item = usize> {
        let run = at_size(&self.over, self.smoke.as_ref(), size);
        (0..self.over.len()).filter(|place| run.contains(&self.over[*place]))
    }

    pub(super) fn place_of(&self, value: &Scalar) -> Result<usize, String> {
        let place = self.over.iter().position(|known| known == value);
        place.ok_or_else(|| {
            let known: Vec<_> = self.over.iter().map(ToString::to_string).collect();
            let (id, known) = (&self.id, known.join(", "));
            format!("series '{id}' has no point at {value}; there are {known}")
        })
    }

    /// Whether its values are words without places of their own.
    pub(super) fn has_words(&self) -> bool {
        self.x_of.is_none() && self.over.iter().any(|value| value.number().is_none())
    }

    pub(super) fn x(&self, place: usize) -> f64 {
        let number = self.over[place].number();
        match &self.x_of {
            Some(XOf::Each(places)) => places[place],
            Some(XOf::Factor(factor)) => number.unwrap_or_default() * factor,
            None => number.unwrap_or(place as f64),
        }
    }

    /// The value that is read from the runs of a place in `over`.
    pub(super) fn quantity(&self, place: usize) -> Quantity<'_> {
        let varied = self.over[place].word().filter(|_| self.vary == STAGE);
        Quantity {
            measure: self.measure,
            stage: varied.or(self.stage.as_deref()),
            repeats: self.repeats,
            take: self.take,
            is_relative: self.relative_to.is_some(),
        }
    }
}
