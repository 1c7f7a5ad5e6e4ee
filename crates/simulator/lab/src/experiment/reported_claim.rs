//! A claim as a report has it: with our figure, its outcome, and the reading of NanoSort that has it.

use clap::ValueEnum;
use grain::Named;
use plot::{Check, Claim, Outcome};

use super::claim::ClaimTable;
use super::file::Experiment;
use super::grid::Reading;
use super::judgement::Judgement;
use super::series::Series;

/// The program that has readings, and the option that names one.
const NANO_SORT: &str = "nano-sort";
const READING: &str = "reading";

/// Options that change a choice of a reading. A run with one of them has no reading's name.
const CHOICES: [&str; 7] = [
    "incast",
    "burst",
    "rows",
    "pivot-keys",
    "exchange",
    "phase-end",
    "groups",
];

/// The word in place of a reading's name for choices of several sources.
pub const UNNAMED: &str = "other choices";

/// The readings of NanoSort by their names, the default one first.
pub fn readings() -> Vec<String> {
    Named::value_variants()
        .iter()
        .copied()
        .map(name_of)
        .collect()
}

fn name_of(reading: Named) -> String {
    let value = reading.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Experiment {
    /// Its claims, judged by the figures that it had when the lines were written: nothing runs. A shape
    /// without one is met unless the file gives the reason of a miss: else a run at full size fails.
    pub fn claims_of_today(&self) -> Vec<Claim> {
        let reported = |line: &ClaimTable| {
            let judgement = match line.today {
                Some(today) => line.judge(line.paper(line.curve(self)), today, None),
                None => Judgement::known(line.known_miss.clone()),
            };
            line.reported(self, None, line.today.unwrap_or(f64::NAN), judgement)
        };
        self.lines.iter().map(reported).collect()
    }

    /// Whether the paper has the figure or the statement of the claim with that id.
    pub fn is_in_paper(&self, id: &str) -> bool {
        self.lines
            .iter()
            .any(|line| line.id == id && line.in_paper != Some(false))
    }
}

impl ClaimTable {
    /// The claim with our figure and its outcome.
    pub(super) fn reported(
        &self,
        of: &Experiment,
        reading: Option<&Reading<'_>>,
        ours: f64,
        Judgement { outcome, reason }: Judgement,
    ) -> Claim {
        let table = self.curve(of);
        let paper = self.paper(table);
        let fault = reason.clone().filter(|_| outcome == Outcome::Failed);
        Claim {
            id: self.id.clone(),
            claim: self.claim.clone(),
            statement: self.statement.as_ref().unwrap_or(&self.claim).clone(),
            reading: self.reading(of, reading),
            unit: self.unit(table.map_or("", |series| &series.vary)),
            paper,
            at_least: self.is_at_least(),
            at_most: self.at_most,
            tolerance: self.tolerance,
            ours,
            deviation: ours / paper - 1.0,
            set_by: self.set_by,
            note: self.note.clone(),
            outcome,
            known_miss: reason.filter(|_| outcome == Outcome::Missed),
            check: Check {
                passed: fault.is_none(),
                fault,
            },
        }
    }

    fn series<'a>(&self, of: &'a Experiment) -> Option<&'a Series> {
        Some(&of.series[of.position(self.series.as_ref()?)?])
    }

    /// The series whose shape is claimed.
    fn curve<'a>(&self, of: &'a Experiment) -> Option<&'a Series> {
        self.series(of).filter(|_| self.is.is_some())
    }

    /// The name of NanoSort's reading whose figure it is, in a reading of the file's dials; `None`
    /// for other programs.
    fn reading(&self, of: &Experiment, turned: Option<&Reading<'_>>) -> Option<String> {
        let series = self.series(of);
        let (program, own) = match series {
            Some(series) => (&series.program, &series.with),
            None => (self.program.as_ref()?, &self.with),
        };
        if program != NANO_SORT {
            return None;
        }
        let turned = turned.map(|turned| turned.options(series.map(|series| &series.id[..])));
        let mut with = turned.unwrap_or_default();
        with.extend(own.clone());
        let varied = series.map_or("", |series| &series.vary);
        let is_set = |choice: &str| choice == varied || with.contains_key(choice);
        if CHOICES.into_iter().any(is_set) {
            return Some(UNNAMED.to_owned());
        }
        let varied = self.at.as_ref().filter(|_| varied == READING);
        let named = varied.or(with.get(READING)).map(ToString::to_string);
        Some(named.unwrap_or_else(|| name_of(Named::default())))
    }
}
