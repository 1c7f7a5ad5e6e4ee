//! A figure of a paper, line by line: what the paper claims, and what comes out here.
//!
//! An experiment is a TOML file. Each line of it either runs a program or is arithmetic:
//!
//! ```text
//!   [[line]]
//!   id, claim         what the paper says, in its words
//!   paper, unit       its figure
//!   at_least          the paper says at least so much: more is no failure
//!   note              what to know when the two figures are compared
//!   program, with     what is run, and what it is told     |  per_second   a rate that needs no run
//!   does              how many units a run does: ours is `does` by its time in microseconds;
//!                     without it ours is that time
//!   busy              a stage: then the time is what a core was busy in it
//!   tolerance         how far ours may be off, as a share; beyond it the check fails
//! ```
//!
//! The deviation is ours by the paper's, less one; positive is more than the paper's.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::changes::Changes;
use crate::error::LabError;
use crate::job::{Job, Seeds};
use crate::observer::Observer;
use crate::parameters::{Knob, Parameters, ReorderBy};
use crate::place::Place;
use crate::report::SimReport;

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
    /// The first seed.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// What is claimed.
    #[serde(rename = "line")]
    pub lines: Vec<Line>,
}

fn first_seed() -> u64 {
    Seeds::default().first
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
    /// How far ours may be off, as a share of the paper's.
    pub tolerance: Option<f64>,
    /// What is run.
    pub program: Option<String>,
    /// What it is told.
    #[serde(default)]
    pub with: BTreeMap<String, Setting>,
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

/// A claim beside what came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// A word for programs.
    pub id: String,
    /// The paper's words.
    pub claim: String,
    /// Of both figures.
    pub unit: String,
    /// The paper's figure.
    pub paper: f64,
    /// Whether the paper says "at least".
    pub at_least: bool,
    /// What to know when the two figures are compared.
    pub note: Option<String>,
    /// Ours.
    pub ours: f64,
    /// What is wrong with it.
    pub fault: Option<String>,
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
        toml::from_str(text).map_err(|error| {
            let begin = error.span().map_or(0, |span| span.start);
            let line = 1 + text[..begin].matches('\n').count();
            let why = format!("line {line}: {}", error.message().replace('\n', " "));
            LabError::File { path: Path::new(name).to_owned(), why }
        })
    }

    /// Comes to every claim.
    ///
    /// # Errors
    /// When a line cannot be run.
    pub fn run(&self, observer: &Observer) -> Result<Vec<Claim>, LabError> {
        self.lines.iter().map(|line| self.claim(line, observer)).collect()
    }

    fn claim(&self, line: &Line, observer: &Observer) -> Result<Claim, LabError> {
        let (ours, fault) = match (&line.program, line.per_second) {
            (Some(program), None) => {
                let report = self.job(line, program)?.run(observer)?;
                (line.figure(&report)?, fault_of(&report))
            }
            (None, Some(rate)) => (rate / US_PER_SECOND, None),
            _ => return Err(line.refused("it needs either a program or per_second")),
        };
        let mut claim = Claim {
            id: line.id.clone(),
            claim: line.claim.clone(),
            unit: line.unit.clone(),
            paper: line.paper,
            at_least: line.at_least,
            note: line.note.clone(),
            ours,
            fault,
        };
        if let Some(tolerance) = line.tolerance
            && claim.misses() > tolerance
        {
            let off = format!("more than {} % off", tolerance * 100.0);
            claim.fault.get_or_insert(off);
        }
        Ok(claim)
    }

    fn job(&self, line: &Line, program: &str) -> Result<Job, LabError> {
        let place = Place::named(&self.machine, &Changes::default())?;
        let seeds = Seeds { first: self.seed, ..Seeds::default() };
        Job::new(program, &line.parameters()?, place, seeds)
    }
}

impl Line {
    fn parameters(&self) -> Result<Parameters, LabError> {
        let mut asked = Parameters::default();
        for (name, setting) in &self.with {
            let word = |word: &String| ReorderBy::named(word);
            match (Knob::named(name), setting) {
                (Some(Knob::Reorder), Setting::Word(by)) if word(by).is_some() => {
                    asked.set_reorder(word(by).unwrap_or_default());
                }
                (Some(knob), Setting::Number(number)) if knob != Knob::Reorder => {
                    asked.set(knob, *number);
                }
                _ => return Err(self.refused(&format!("'{name}' cannot be set so"))),
            }
        }
        Ok(asked)
    }

    fn figure(&self, report: &SimReport) -> Result<f64, LabError> {
        let time_us = match &self.busy {
            None => report.time_us.mean,
            Some(name) => {
                let mut stages = report.runs.iter().flat_map(|run| &run.stages);
                let stage = stages.find(|stage| stage.name == name);
                stage.ok_or_else(|| self.refused(&format!("there is no stage '{name}'")))?.busy_us
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

impl Claim {
    /// Ours by the paper's, less one.
    pub fn deviation(&self) -> f64 {
        self.ours / self.paper - 1.0
    }

    /// Ours by the paper's.
    pub fn ratio(&self) -> f64 {
        self.ours / self.paper
    }

    /// How far ours is from what is claimed, as a share.
    fn misses(&self) -> f64 {
        if self.at_least { -self.deviation() } else { self.deviation().abs() }
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "claim": self.claim,
            "unit": self.unit,
            "paper": self.paper,
            "at_least": self.at_least,
            "ours": self.ours,
            "deviation": self.deviation(),
            "note": self.note,
            "check": { "passed": self.fault.is_none(), "fault": self.fault },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARITHMETIC: &str = r#"
        title = "light"
        source = "physics"
        machine = "threads"
        [[line]]
        id = "light"
        claim = "travel 300 m"
        paper = 300
        unit = "m in 1 us"
        per_second = 299_792_458
    "#;

    #[test]
    fn a_rate_needs_no_run() {
        let claims = Experiment::parse("light", ARITHMETIC).unwrap().run(&Observer::default());
        let [claim] = &claims.unwrap()[..] else { panic!("one claim") };
        assert_eq!((claim.ours, claim.fault.clone()), (299.792_458, None));
        assert!(claim.deviation().abs() < 0.001);
    }

    #[test]
    fn a_figure_beyond_its_tolerance_fails() {
        let far = ARITHMETIC.replace("paper = 300", "paper = 200\ntolerance = 0.05");
        let claims = Experiment::parse("light", &far).unwrap().run(&Observer::default()).unwrap();
        assert_eq!(claims[0].fault.as_deref(), Some("more than 5 % off"));
        assert!((claims[0].ratio() - 1.5).abs() < 0.01);
    }

    #[test]
    fn more_than_at_least_is_no_fault() {
        let fault = |paper: &str| {
            let limits = format!("paper = {paper}\ntolerance = 0.05\nat_least = true");
            let text = ARITHMETIC.replace("paper = 300", &limits);
            let claims = Experiment::parse("light", &text).unwrap().run(&Observer::default());
            claims.unwrap()[0].fault.clone()
        };
        assert_eq!((fault("30"), fault("300")), (None, None));
        assert!(fault("400").is_some());
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        let wrong = ARITHMETIC.replace("unit =", "unite =");
        let told = Experiment::parse("file.toml", &wrong).unwrap_err().to_string();
        assert!(told.starts_with("file.toml: line 9: unknown field `unite`"), "{told}");
        let told = Experiment::load("no-such").unwrap_err().to_string();
        assert!(told.contains("nanosort/figure-1"), "{told}");
    }

    #[test]
    fn built_in_experiments_can_begin() {
        for name in Experiment::names() {
            let experiment = Experiment::load(name).unwrap();
            for line in &experiment.lines {
                if let Some(program) = &line.program {
                    experiment.job(line, program).unwrap_or_else(|error| panic!("{name}: {error}"));
                }
            }
        }
    }
}
