//! A figure of a paper, line by line: what the paper claims, and what comes out here.
//!
//! An experiment is a TOML file. It names a machine, what is changed of it, and the seeds of the runs;
//! each line of it either runs a program or is arithmetic:
//!
//! ```text
//!   machine, changes  where it runs, and what of that is changed, by the names of `sim`'s options
//!   seed, runs        of the first run, and how many: ours is their mean
//!
//!   [[line]]
//!   id, claim         what the paper says, in its words
//!   paper, unit       its figure
//!   at_least          the paper says at least so much: more is no failure
//!   note              what to know when the two figures are compared
//!   program, with     what is run, and what it is told     |  per_second   a rate that needs no run
//!   changes           what is changed of the machine for this line, over the experiment's
//!   does              how many units a run does: ours is `does` by its time in microseconds;
//!                     without it ours is that time
//!   busy              a stage: then the time is what a core was busy in it
//!   tolerance         how far ours may be off, as a share
//!   today             ours when the line was written: beyond the tolerance around it the line fails
//!   known_miss        why the paper's figure is not met: such a line is missed and does not fail
//! ```
//!
//! What becomes of a line is [`claim`]'s.

mod claim;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

pub use claim::{Claim, Outcome};

use crate::changes::Changes;
use crate::error::LabError;
use crate::job::{Job, Seeds};
use crate::observer::Observer;
use crate::parameters::{Knob, Parameters};
use crate::place::Place;
use crate::report::{RunReport, SimReport};

/// The experiments that come with the program, each with the text of its file.
const BUILT_IN: [(&str, &str); 1] =
    [("nanosort/figure-1", include_str!("../../../experiments/nanosort/figure-1.toml"))];

/// An experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it shows.
    pub title: String,
    /// Paper and figure.
    pub source: String,
    /// What to know when looking at it.
    pub note: Option<String>,
    /// On which machine it runs.
    pub machine: String,
    /// What is changed of the machine.
    #[serde(default)]
    pub changes: Changes,
    /// The first seed.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// How many runs, each of the next seed.
    #[serde(default = "one_run")]
    pub runs: u64,
    /// What is claimed.
    #[serde(rename = "line")]
    pub lines: Vec<Line>,
}

fn first_seed() -> u64 {
    Seeds::default().first
}

fn one_run() -> u64 {
    Seeds::default().runs
}

/// A claim and how to come to it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// A word for programs.
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
    /// What it is told.
    #[serde(default)]
    pub with: BTreeMap<String, Setting>,
    /// What is changed of the machine for this line.
    #[serde(default)]
    pub changes: Changes,
    /// How many units a run does.
    pub does: Option<f64>,
    /// A stage whose busy time counts instead of the program's time.
    pub busy: Option<String>,
    /// Units in a second, for a line that needs no run.
    pub per_second: Option<f64>,
}

/// What a program is told in a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// A number.
    Number(u64),
    /// A word: where messages of later steps wait.
    Word(String),
}

const US_PER_SECOND: f64 = 1e6;

impl Experiment {
    /// Names of the experiments that come with the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.into_iter().map(|(name, _)| name)
    }

    /// The experiment of that name, of the last part of it, or in that file.
    ///
    /// # Errors
    /// When there is none, or its file cannot be understood.
    pub fn load(name: &str) -> Result<Experiment, LabError> {
        let is_named = |known: &str| known == name || known.rsplit('/').next() == Some(name);
        if let Some((known, text)) = BUILT_IN.iter().find(|(known, _)| is_named(known)) {
            return Experiment::parse(known, text);
        }
        let text = std::fs::read_to_string(name).map_err(|cause| {
            let names = Experiment::names().collect::<Vec<_>>().join(", ");
            let why = match cause.kind() {
                ErrorKind::NotFound => {
                    format!("no such experiment and no such file; there is {names}")
                }
                _ => format!("cannot be read: {cause}"),
            };
            LabError::File { path: name.into(), why }
        })?;
        Experiment::parse(name, &text)
    }

    fn parse(name: &str, text: &str) -> Result<Experiment, LabError> {
        let file = |why| LabError::File { path: Path::new(name).to_owned(), why };
        let experiment: Experiment = toml::from_str(text).map_err(|error| {
            let begin = error.span().map_or(0, |span| span.start);
            let line = 1 + text[..begin].matches('\n').count();
            file(format!("line {line}: {}", error.message().replace('\n', " ")))
        })?;
        if experiment.lines.is_empty() {
            return Err(file("there is no line: nothing is claimed".to_owned()));
        }
        for line in &experiment.lines {
            line.check().map_err(|why| file(format!("line '{}': {why}", line.id)))?;
        }
        Ok(experiment)
    }

    /// Where it runs.
    ///
    /// # Errors
    /// When there is no such machine, or it cannot be changed so.
    pub fn place(&self) -> Result<Place, LabError> {
        Place::named(&self.machine, &self.changes)
    }

    /// The seeds of its runs.
    pub fn seeds(&self) -> Seeds {
        Seeds { first: self.seed, runs: self.runs }
    }

    /// Comes to every claim.
    ///
    /// # Errors
    /// When a line cannot be run.
    pub fn run(&self, observer: &Observer) -> Result<Vec<Claim>, LabError> {
        self.lines.iter().map(|line| self.claim(line, observer)).collect()
    }

    fn claim(&self, line: &Line, observer: &Observer) -> Result<Claim, LabError> {
        match (&line.program, line.per_second) {
            (Some(program), None) => {
                let report = self.job(line, program)?.run(observer)?;
                Ok(Claim::of(line, line.figure(&report)?, fault_of(&report)))
            }
            (None, Some(rate)) => Ok(Claim::of(line, rate / US_PER_SECOND, None)),
            _ => Err(line.refused("it needs either a program or per_second")),
        }
    }

    fn job(&self, line: &Line, program: &str) -> Result<Job, LabError> {
        let place = Place::named(&self.machine, &line.changes.over(&self.changes))?;
        Job::new(program, &line.parameters()?, place, self.seeds())
    }

    /// It and what came out as JSON.
    ///
    /// # Errors
    /// When there is no such machine.
    pub fn to_json(&self, claims: &[Claim]) -> Result<Value, LabError> {
        let place = self.place()?;
        let changes = self.changes.named().map(|(name, value)| (name.replace('-', "_"), value));
        Ok(json!({
            "title": self.title,
            "source": self.source,
            "machine": place.name(),
            "machine_hash": place.hash().map(|hash| format!("{hash:016x}")),
            "changes": changes.collect::<Value>(),
            "seed": self.seed,
            "runs": self.runs,
            "note": self.note,
            "claims": claims.iter().map(Claim::to_json).collect::<Vec<_>>(),
        }))
    }
}

impl Line {
    fn parameters(&self) -> Result<Parameters, LabError> {
        let mut asked = Parameters::default();
        for (name, setting) in &self.with {
            let is_set = match (Knob::named(name), setting) {
                (Some(knob), Setting::Word(word)) => asked.set_word(knob, word),
                (Some(knob), Setting::Number(number)) if knob.words().is_empty() => {
                    asked.set(knob, *number);
                    true
                }
                _ => false,
            };
            if !is_set {
                return Err(self.refused(&format!("'{name}' cannot be set so")));
            }
        }
        Ok(asked)
    }

    /// What is compared must be a figure: with nothing or nonsense no comparison fails.
    fn check(&self) -> Result<(), String> {
        let counts = [
            ("paper", Some(self.paper)),
            ("today", self.today),
            ("does", self.does),
            ("per_second", self.per_second),
        ];
        for (name, number) in counts {
            if let Some(number) = number.filter(|number| !(number.is_finite() && *number > 0.0)) {
                return Err(format!("{name} is {number}: expected a number above 0"));
            }
        }
        match self.tolerance {
            Some(share) if !(0.0..1.0).contains(&share) => {
                Err(format!("tolerance is {share}: expected a share from 0 to below 1"))
            }
            None if self.today.is_some() => Err("today needs a tolerance".to_owned()),
            None if self.known_miss.is_some() && !self.at_least => {
                Err("known_miss needs at_least or a tolerance: else nothing is missed".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn figure(&self, report: &SimReport) -> Result<f64, LabError> {
        let time_us = match &self.busy {
            None => report.time_us.mean,
            Some(name) => {
                let stage = |run: &RunReport| {
                    let stage = run.stages.iter().find(|stage| stage.name == name);
                    stage.map(|stage| stage.busy_us)
                };
                let busy: Option<f64> = report.runs.iter().map(stage).sum();
                let busy = busy.ok_or_else(|| self.refused(&format!("there is no stage '{name}'")));
                busy? / report.runs.len() as f64
            }
        };
        Ok(self.does.map_or(time_us, |units| units / time_us))
    }

    fn refused(&self, why: &str) -> LabError {
        LabError::usage(format!("line '{}' of the experiment: {why}", self.id))
    }
}

fn fault_of(report: &SimReport) -> Option<String> {
    report.runs.iter().find_map(|run| run.verdict.fault.clone())
}
