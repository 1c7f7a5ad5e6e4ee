//! What a run is told in a file: a program, a machine, what is changed of it, values of options.
//!
//! Everything that can be said of a run has one name here, so that a series may vary any of it: an
//! option of the program, a change of the machine, or the machine itself.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::changes::Changes;
use crate::job::{Job, Seeds};
use crate::parameters::Parameters;
use crate::place::Place;
use crate::programs::{self, Listing};

/// A value in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        let changed = self.changes.set(name, value);
        if changed.map_err(|why| format!("{name} {value}: {why}"))? {
            return Ok(());
        }
        if !self.listing()?.knows(name) {
            return Err(format!(
                "'{name}' is neither an option of {}, nor a change of a machine, nor machine",
                self.program
            ));
        }
        self.with.insert(name.to_owned(), value.clone());
        Ok(())
    }

    fn listing(&self) -> Result<&'static Listing, String> {
        programs::named(&self.program).map_err(|error| error.to_string())
    }

    /// Takes over those of `values` that the program knows.
    pub fn shrink(&mut self, values: &Values) -> Result<(), String> {
        let known = self.listing()?.options();
        for (name, value) in values.iter().filter(|(name, _)| known.contains(name)) {
            self.with.insert(name.clone(), value.clone());
        }
        Ok(())
    }

    /// What is to run.
    pub fn job(&self, seeds: Seeds) -> Result<Job, String> {
        let told = |error: crate::LabError| error.to_string();
        let place = Place::named(&self.machine, &self.changes)
            .map_err(|error| format!("machine '{}': {error}", self.machine))?;
        let name = self.listing()?.name;
        let parameters = Parameters::of(name, &self.with).map_err(|why| format!("with: {why}"))?;
        Job::planned(parameters, place, seeds).map_err(told)
    }
}
