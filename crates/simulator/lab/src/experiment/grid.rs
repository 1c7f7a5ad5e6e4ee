//! Readings: all combinations of the choices that a paper leaves open.
//!
//! ```text
//!   [[grid]]
//!   dial    an option of programs, a change of the machine, or a name for several
//!   over    its values: numbers or words, or tables of options; "default" sets nothing
//!   smoke   some of them at smoke size (else all)
//!   of      ids of the series that it turns; if left out, all series and lines whose program has
//!           the option. What a series varies or sets itself is not turned
//! ```
//!
//! Each reading is the experiment with one value of each dial, so every claim is judged for every
//! reading in the same way, and none is chosen for its result. Jobs that several readings need run
//! once. A file without dials has one reading.
//!
//! `today` and `smoke` of a line are the figures of the first reading, which has the first value of
//! every dial.

use std::fmt;

use plot::Size;
use serde::Deserialize;

use super::Experiment;
use super::mistake::{Mistakes, Table, Tell, unknown};
use super::plan::Plan;
use super::recipe::{Scalar, Values, check_option};
use crate::changes::Changes;
use crate::job::Job;
use crate::programs;

/// The table of a dial.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dial {
    pub dial: String,
    over: Vec<Choice>,
    smoke: Option<Vec<Choice>>,
    of: Option<Vec<String>>,
}

/// A value of a dial.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, a word, or a table of options"
)]
enum Choice {
    One(Scalar),
    Several(Values),
}

/// The word that sets nothing.
const DEFAULT: &str = "default";

impl fmt::Display for Choice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::One(value) => value.fmt(out),
            Choice::Several(values) => {
                let words = values.iter().map(|(name, value)| format!("{name} {value}"));
                out.write_str(&words.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Dial {
    /// Its values at that size.
    fn choices(&self, size: Size) -> &[Choice] {
        match &self.smoke {
            Some(smoke) if size == Size::Smoke => smoke,
            _ => &self.over,
        }
    }

    pub(super) fn has_smoke(&self) -> bool {
        self.smoke.is_some()
    }

    /// The options that a value sets.
    fn options(&self, choice: &Choice) -> Values {
        match choice {
            Choice::One(Scalar::Word(word)) if word == DEFAULT => Values::new(),
            Choice::One(value) => [(self.dial.clone(), value.clone())].into(),
            Choice::Several(values) => values.clone(),
        }
    }

    fn turns(&self, series: &str) -> bool {
        let of = self.of.as_ref();
        of.is_none_or(|of| of.iter().any(|id| id == series))
    }

    /// Sets a value in an experiment.
    fn turn(&self, choice: &Choice, experiment: &mut Experiment) {
        let options = self.options(choice);
        let set = |program: &str, varied: &str, with: &mut Values, changes: &mut Changes| {
            let Ok(program) = programs::named(program) else {
                return;
            };
            for (name, value) in options.iter().filter(|(name, _)| *name != varied) {
                if program.knows(name) {
                    with.entry(name.clone()).or_insert_with(|| value.clone());
                } else if !changes.sets(name) {
                    // The check has refused values that are none of this change.
                    let _ = changes.set(name, value);
                }
            }
        };
        for series in &mut experiment.series {
            if self.turns(&series.id) {
                let vary = &series.vary;
                set(&series.program, vary, &mut series.with, &mut series.changes);
            }
        }
        for line in &mut experiment.lines {
            if let Some(program) = line.program.as_ref().filter(|_| self.of.is_none()) {
                set(program, "", &mut line.with, &mut line.changes);
            }
        }
    }

    /// Checks the table by itself, in an experiment with these series.
    pub(super) fn check(&self, of: &Experiment, tell: Tell<'_>) {
        for (name, choices) in [("over", Some(&self.over)), ("smoke", self.smoke.as_ref())] {
            if choices.is_some_and(Vec::is_empty) {
                tell(format!("{name}: there is no value, so no reading"));
            }
        }
        let smoke = self.smoke.iter().flatten();
        for odd in smoke.filter(|choice| !self.over.contains(choice)) {
            tell(format!("smoke: {odd} is not in over"));
        }
        let ids: Vec<&str> = of.series.iter().map(|series| series.id.as_str()).collect();
        let named = self.of.iter().flatten();
        for id in named.filter(|id| !ids.contains(&id.as_str())) {
            tell(format!("of: {}", unknown("series", id, &ids)));
        }
        let turned = of.series.iter().filter(|series| self.turns(&series.id));
        let turned = turned.map(|series| series.program.as_str());
        let of_lines = of.lines.iter().filter(|_| self.of.is_none());
        let turned = turned.chain(of_lines.filter_map(|line| line.program.as_deref()));
        let programs: Vec<_> = turned
            .filter_map(|name| programs::named(name).ok())
            .collect();
        let options = self.over.iter().flat_map(|choice| self.options(choice));
        for (option, value) in options {
            let key = if option == self.dial { "dial" } else { "over" };
            match Changes::default().set(&option, &value) {
                Ok(true) => continue,
                Ok(false) => {}
                Err(why) => return tell(format!("{key}: {option} {value}: {why}")),
            }
            let known = programs.iter().find(|program| program.knows(&option));
            let Some(program) = known.or(programs.first()) else {
                return;
            };
            if let Err(why) = check_option(program, &option, &value) {
                return tell(format!("{key}: {why}"));
            }
        }
    }
}

/// An experiment with one value of each dial.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// The values, in the order of the dials.
    pub values: Vec<String>,
    pub experiment: Experiment,
}

impl Reading {
    /// All readings of an experiment at that size; the last dial turns fastest.
    pub(super) fn all(of: &Experiment, size: Size) -> Vec<Reading> {
        let mut plain = of.clone();
        let dials = std::mem::take(&mut plain.grid);
        let mut readings = vec![Reading {
            values: Vec::new(),
            experiment: plain,
        }];
        for dial in &dials {
            let turned = readings.iter().flat_map(|reading| {
                dial.choices(size).iter().map(|choice| {
                    let mut reading = reading.clone();
                    reading.values.push(choice.to_string());
                    dial.turn(choice, &mut reading.experiment);
                    reading
                })
            });
            readings = turned.collect();
        }
        // The figures of the file are of the first.
        for reading in readings.iter_mut().skip(1) {
            for line in &mut reading.experiment.lines {
                (line.today, line.smoke) = (None, None);
            }
        }
        readings
    }

    /// Its values with the names of the dials, for people.
    pub(super) fn told(&self, dials: &[Dial]) -> String {
        let words = dials.iter().zip(&self.values);
        let words = words.map(|(dial, value)| format!("{} {value}", dial.dial));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// The plans of all readings, and their jobs, each once.
pub(super) struct Plans<'a> {
    pub plans: Vec<Plan<'a>>,
    pub jobs: Vec<Job>,
    /// The number among all jobs of each job of each plan.
    pub places: Vec<Vec<usize>>,
}

impl<'a> Plans<'a> {
    /// The plans of these readings of an experiment. What cannot run is added to the mistakes, for
    /// the first reading that cannot.
    pub(super) fn new(
        readings: &'a [Reading],
        of: &Experiment,
        size: Size,
        mistakes: &mut Mistakes,
    ) -> Plans<'a> {
        let mut all = Plans {
            plans: Vec::new(),
            jobs: Vec::new(),
            places: Vec::new(),
        };
        let before = mistakes.count();
        for reading in readings {
            let plan = Plan::new(&reading.experiment, size, mistakes);
            if mistakes.count() > before {
                if !of.grid.is_empty() {
                    let why = format!("with {}", reading.told(&of.grid));
                    of.tell(mistakes, &Table::Grid(0), why);
                }
                break;
            }
            let places = plan.jobs.iter().map(|job| all.place(job)).collect();
            all.places.push(places);
            all.plans.push(plan);
        }
        all
    }

    /// The number of a job: of an equal one, or of a new one.
    fn place(&mut self, job: &Job) -> usize {
        let known = self.jobs.iter().position(|known| known.is_same(job));
        known.unwrap_or_else(|| {
            self.jobs.push(job.clone());
            self.jobs.len() - 1
        })
    }

    /// Number of runs of all jobs.
    pub(super) fn count(&self) -> u64 {
        self.jobs.iter().map(|job| job.seeds().runs).sum()
    }
}
