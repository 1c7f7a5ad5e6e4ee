//! Recipes: everything but the seeds that decides a run, by name, so that any of it can vary.

use super::dial::{Dial, Reading, Scalar, Values, meant, unknown};
use crate::LabError;
use crate::changes::Changes;
use crate::job::{Job, Seeds};
use crate::parameters::Parameters;
use crate::place::Place;
use crate::program::{self, Listing};

/// The name under which machines vary.
pub(crate) const MACHINE: &str = "machine";

pub(crate) fn check_program(name: &str, with: &Values) -> Result<&'static Listing, String> {
    let known = program::programs().iter().map(|it| it.name);
    let program = program::named(name).map_err(|_| match name {
        "" => {
            let known = known.collect::<Vec<_>>().join(", ");
            format!("program: missing; expected one of {known}")
        }
        name => {
            let known: Vec<_> = known.collect();
            format!("program: {}", unknown("program", name, &known))
        }
    })?;
    for (option, value) in with {
        check_option(program, option, value).map_err(|why| format!("with.{option}: {why}"))?;
    }
    Ok(program)
}

/// Checks an option of a program and its value, whatever the others are.
pub(crate) fn check_option(program: &Listing, option: &str, value: &Scalar) -> Result<(), String> {
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

/// A program with its options and its machine.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub program: &'static Listing,
    pub machine: String,
    pub with: Values,
    pub changes: Changes,
}

impl Recipe {
    /// A program without options on a machine.
    pub fn new(program: &'static Listing, machine: &str, changes: Changes) -> Recipe {
        Recipe {
            program,
            machine: machine.to_owned(),
            with: Values::new(),
            changes,
        }
    }

    /// Turns the dials to the values of a reading.
    pub fn turn(&mut self, dials: &[Dial], reading: &Reading) -> Result<(), String> {
        let options = dials.iter().zip(reading);
        let options = options.flat_map(|(dial, choice)| choice.options(&dial.name));
        for (name, value) in options {
            self.set(&name, &value)?;
        }
        Ok(())
    }

    /// Sets an option, a change, or the machine.
    pub fn set(&mut self, name: &str, value: &Scalar) -> Result<(), String> {
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

    /// The job with these seeds.
    pub fn job(&self, seeds: Seeds) -> Result<Job, String> {
        let place = Place::named(&self.machine, &self.changes)
            .map_err(|error| format!("machine '{}': {error}", self.machine))?;
        let parameters = Parameters::of(self.program.name, &self.with);
        let parameters = parameters.map_err(|why| format!("with: {why}"))?;
        Job::planned(parameters, place, seeds).map_err(|error: LabError| error.to_string())
    }
}
