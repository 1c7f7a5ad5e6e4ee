//! Recipes: everything that decides a run, by name, so that a series can vary any of it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::mistake::{Tell, meant, unknown};
use super::{Experiment, Size};
use crate::LabError;
use crate::changes::Changes;
use crate::job::{Job, Seeds};
use crate::parameters::Parameters;
use crate::place::Place;
use crate::programs::{self, Listing};

/// A value in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or a word")]
pub(crate) enum Scalar {
    Number(f64),
    Word(String),
}

impl fmt::Display for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Number(number) => number.fmt(out),
            Scalar::Word(word) => word.fmt(out),
        }
    }
}

impl Scalar {
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Scalar::Number(number) => Some(*number),
            Scalar::Word(_) => None,
        }
    }

    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Scalar::Number(_) => None,
            Scalar::Word(word) => Some(word),
        }
    }
}

pub(super) type Values = BTreeMap<String, Scalar>;

/// The name under which machines vary.
pub(super) const MACHINE: &str = "machine";

/// The keys of a table that say what runs.
pub(super) struct Head<'a> {
    pub program: &'a str,
    pub machine: Option<&'a String>,
    pub with: &'a Values,
    pub changes: &'a Changes,
}

/// Checks a program and its options one by one; `None` if there is no such program.
pub(super) fn check_program(name: &str, with: &Values, tell: Tell<'_>) -> Option<&'static Listing> {
    let Ok(program) = programs::named(name) else {
        let known: Vec<&str> = programs::programs().iter().map(|it| it.name).collect();
        tell(match name {
            "" => format!("program: missing; expected one of {}", known.join(", ")),
            name => format!("program: {}", unknown("program", name, &known)),
        });
        return None;
    };
    for (option, value) in with {
        if let Err(why) = check_option(program, option, value) {
            tell(format!("with.{option}: {why}"));
        }
    }
    Some(program)
}

/// Checks an option of a program and its value, whatever the others are.
pub(super) fn check_option(program: &Listing, option: &str, value: &Scalar) -> Result<(), String> {
    if program.knows(option) {
        return Parameters::check_value(program, option, value).map_err(|error| error.to_string());
    }
    let known = program.options();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    Err(format!(
        "{}: {}",
        program.name,
        unknown("option", option, &known)
    ))
}

/// Checks that a value of that name can vary.
pub(super) fn check_varied(
    program: &'static Listing,
    name: &str,
    value: &Scalar,
) -> Result<(), String> {
    let mut empty = Recipe {
        program,
        machine: String::new(),
        with: Values::new(),
        changes: Changes::default(),
    };
    empty.set(name, value)
}

/// Everything but the seeds that decides a run.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    program: &'static Listing,
    machine: String,
    with: Values,
    changes: Changes,
}

impl Recipe {
    /// The recipe of a table of an experiment at that size.
    pub(super) fn new(head: &Head<'_>, of: &Experiment, size: Size) -> Result<Recipe, String> {
        let program = programs::named(head.program).map_err(|error| error.to_string())?;
        let mut with = head.with.clone();
        if size == Size::Smoke {
            let known = program.options();
            let smaller = of.smoke.iter().filter(|(name, _)| known.contains(name));
            with.extend(smaller.map(|(name, value)| (name.clone(), value.clone())));
        }
        Ok(Recipe {
            program,
            machine: head.machine.unwrap_or(&of.machine).clone(),
            with,
            changes: head.changes.over(&of.changes),
        })
    }

    /// Sets an option, a change, or the machine.
    pub(super) fn set(&mut self, name: &str, value: &Scalar) -> Result<(), String> {
        if name == MACHINE {
            let expected = || format!("{value}: expected the name of a machine");
            self.machine = value.word().ok_or_else(expected)?.to_owned();
            return Ok(());
        }
        let changed = self.changes.set(name, value);
        if changed.map_err(|why| format!("{name} {value}: {why}"))? {
            return Ok(());
        }
        if !self.program.knows(name) {
            let program = self.program.name;
            let options = self.program.options();
            let changes = Changes::names();
            let known = options.iter().chain(&changes).map(String::as_str);
            let meant = meant(name, known.chain([MACHINE]));
            let meant = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
            return Err(format!(
                "'{name}' is neither an option of {program}, nor a change of a machine, nor \
                 machine{meant}"
            ));
        }
        self.with.insert(name.to_owned(), value.clone());
        Ok(())
    }

    pub(super) fn job(&self, seeds: Seeds) -> Result<Job, String> {
        let place = Place::named(&self.machine, &self.changes)
            .map_err(|error| format!("machine '{}': {error}", self.machine))?;
        let parameters = Parameters::of(self.program.name, &self.with);
        let parameters = parameters.map_err(|why| format!("with: {why}"))?;
        Job::planned(parameters, place, seeds).map_err(|error: LabError| error.to_string())
    }
}
