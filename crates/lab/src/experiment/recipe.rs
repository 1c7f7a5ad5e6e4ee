//! What a run is told in a file: a program, a machine, what is changed of it, values of options.
//!
//! Everything that can be said of a run has one name here, so that a series may vary any of it: an
//! option of the program, a change of the machine, or the machine itself.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::changes::Changes;
use crate::job::{Job, Seeds};
use crate::parameters::{Knob, Parameters};
use crate::place::Place;
use crate::programs;

/// A value in a file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a number or a word")]
pub enum Told {
    /// A number from 0.
    Whole(u64),
    /// Another number: a latency or a share.
    Number(f64),
    /// A word.
    Word(String),
}

impl fmt::Display for Told {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Told::Whole(number) => number.fmt(out),
            Told::Number(number) => number.fmt(out),
            Told::Word(word) => word.fmt(out),
        }
    }
}

impl Told {
    /// The number that it is.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Told::Whole(number) => Some(*number as f64),
            Told::Number(number) => Some(*number),
            Told::Word(_) => None,
        }
    }
}

/// Options of a program with their values.
pub(super) type Values = BTreeMap<String, Told>;

/// What varies when machines do.
const MACHINE: &str = "machine";

/// What a run is told.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub program: String,
    pub machine: String,
    pub with: Values,
    pub changes: Changes,
}

impl Recipe {
    /// Sets what is of this name: an option, a change, or the machine.
    pub fn set(&mut self, name: &str, value: &Told) -> Result<(), String> {
        if name == MACHINE {
            let word = if let Told::Word(word) = value {
                Some(word)
            } else {
                None
            };
            let word = word.ok_or_else(|| format!("{value}: expected the name of a machine"))?;
            word.clone_into(&mut self.machine);
            return Ok(());
        }
        if Knob::named(name).is_some() {
            self.with.insert(name.to_owned(), value.clone());
            return Ok(());
        }
        match (name, value) {
            ("multicast", Told::Word(word)) if ["on", "off"].contains(&word.as_str()) => {
                self.changes.multicast = Some(word == "on");
                Ok(())
            }
            ("multicast", _) => Err(format!("multicast {value}: expected on or off")),
            _ => self.change(name, value),
        }
    }

    fn change(&mut self, name: &str, value: &Told) -> Result<(), String> {
        let number = value.number();
        match self.changes.set(name, number.unwrap_or_default()) {
            None => Err(format!(
                "'{name}' is neither an option of a program, nor a change of a machine, nor machine"
            )),
            Some(_) if number.is_none() => Err(format!("{name} {value}: expected a number")),
            Some(done) => done.map_err(|why| format!("{name} {value}: {why}")),
        }
    }

    /// Takes over those of `values` that the program knows.
    pub fn shrink(&mut self, values: &Values) -> Result<(), String> {
        let program = programs::named(&self.program).map_err(|error| error.to_string())?;
        let knows = |name: &str| Knob::named(name).is_some_and(|knob| program.knows(knob));
        for (name, value) in values.iter().filter(|(name, _)| knows(name)) {
            self.with.insert(name.clone(), value.clone());
        }
        Ok(())
    }

    /// What is to run.
    pub fn job(&self, seeds: Seeds) -> Result<Job, String> {
        let told = |error: crate::LabError| error.to_string();
        let place = Place::named(&self.machine, &self.changes)
            .map_err(|error| format!("machine '{}': {error}", self.machine))?;
        let parameters = self.parameters()?;
        Job::planned(&self.program, &parameters, place, seeds).map_err(told)
    }

    fn parameters(&self) -> Result<Parameters, String> {
        let mut asked = Parameters::default();
        for (name, value) in &self.with {
            let knob = Knob::named(name).ok_or_else(|| {
                let known: Vec<_> = Knob::all().map(Knob::name).collect();
                format!("with: there is no '{name}'; there are {}", known.join(", "))
            })?;
            match (knob, value) {
                (knob, value) if !knob.words().is_empty() => {
                    let words = knob.words().join(", ");
                    let wrong = || format!("with: {name} {value}: expected one of {words}");
                    asked
                        .set_word(knob, &value.to_string())
                        .then_some(())
                        .ok_or_else(wrong)?;
                }
                (knob, Told::Whole(number)) => asked.set(knob, *number),
                _ => {
                    return Err(format!(
                        "with: {name} {value}: expected a whole number from 0"
                    ));
                }
            }
        }
        Ok(asked)
    }
}
