//! What becomes of a claim: met, missed, or failed.
//!
//! ```text
//!   met      ours is what the paper says, or more where it says "at least", within the tolerance
//!   missed   it is not, and the file says why: a known miss, which fails nothing
//!   failed   it is not and nobody knows why; or ours is no longer what it was; or the program's
//!            result is wrong; or there is no figure at all
//!   shown    the line says of no figure how far it may be off
//! ```
//!
//! The deviation is ours by the paper's, less one; positive is more than the paper's. A known miss that
//! is met fails too: then the file is wrong.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Line;

/// A claim beside what came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Ours is what is claimed.
    Met,
    /// It is not, and this is known to be why.
    Missed(String),
    /// Something is wrong: this.
    Failed(String),
    /// Nothing says how far ours may be off.
    Shown,
}

impl Outcome {
    /// A word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Met => "met",
            Outcome::Missed(_) => "missed",
            Outcome::Failed(_) => "failed",
            Outcome::Shown => "shown",
        }
    }
}

impl Claim {
    /// What a line claims beside ours, and what is wrong with the run it is from.
    pub(super) fn of(line: &Line, ours: f64, fault: Option<String>) -> Claim {
        Claim {
            id: line.id.clone(),
            claim: line.claim.clone(),
            unit: line.unit.clone(),
            paper: line.paper,
            at_least: line.at_least,
            note: line.note.clone(),
            ours,
            outcome: judged(line, ours, fault),
        }
    }

    /// What is wrong, if it failed.
    pub fn fault(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Failed(fault) => Some(fault),
            _ => None,
        }
    }

    /// Ours by the paper's, less one.
    pub fn deviation(&self) -> f64 {
        self.ours / self.paper - 1.0
    }

    /// Ours by the paper's.
    pub fn ratio(&self) -> f64 {
        self.ours / self.paper
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let known_miss = match &self.outcome {
            Outcome::Missed(reason) => Some(reason),
            _ => None,
        };
        json!({
            "id": self.id,
            "claim": self.claim,
            "unit": self.unit,
            "paper": self.paper,
            "at_least": self.at_least,
            "ours": self.ours,
            "deviation": self.deviation(),
            "note": self.note,
            "outcome": self.outcome.word(),
            "known_miss": known_miss,
            "check": { "passed": self.fault().is_none(), "fault": self.fault() },
        })
    }
}

fn judged(line: &Line, ours: f64, fault: Option<String>) -> Outcome {
    if let Some(fault) = fault {
        return Outcome::Failed(fault);
    }
    if !ours.is_finite() {
        return Outcome::Failed(format!("ours is {ours}: there is no figure"));
    }
    let tolerance = line.tolerance.unwrap_or(0.0);
    let off = |from: f64| ours / from - 1.0;
    if let Some(today) = line.today.filter(|today| off(*today).abs() > tolerance) {
        let percent = tolerance * 100.0;
        return Outcome::Failed(format!("{ours} is more than {percent} % off our {today}"));
    }
    let missed = if line.at_least { -off(line.paper) } else { off(line.paper).abs() } > tolerance;
    match (&line.known_miss, missed) {
        (_, true) if line.tolerance.is_none() && !line.at_least => Outcome::Shown,
        (Some(reason), true) => Outcome::Missed(reason.clone()),
        (None, true) => {
            let percent = tolerance * 100.0;
            Outcome::Failed(format!("{ours} is more than {percent} % off the {}", line.paper))
        }
        (Some(_), false) => {
            Outcome::Failed("it is met: the file says that it is a known miss".to_owned())
        }
        (None, false) if line.tolerance.is_none() && !line.at_least => Outcome::Shown,
        (None, false) => Outcome::Met,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of ours with a line of these keys.
    fn outcome(keys: &str, ours: f64) -> Outcome {
        let line = format!("id = 'x'\nclaim = 'x'\npaper = 100\nunit = 'm'\n{keys}");
        judged(&toml::from_str(&line).unwrap(), ours, None)
    }

    fn fails(keys: &str, ours: f64, why: &str) {
        let outcome = outcome(keys, ours);
        assert!(matches!(&outcome, Outcome::Failed(fault) if fault.contains(why)), "{outcome:?}");
    }

    #[test]
    fn a_figure_within_its_tolerance_is_met() {
        assert_eq!(outcome("tolerance = 0.05", 104.0), Outcome::Met);
        assert_eq!(outcome("tolerance = 0.05", 96.0), Outcome::Met);
        fails("tolerance = 0.05", 106.0, "more than 5 % off the 100");
        fails("tolerance = 0.05", 94.0, "more than 5 % off the 100");
        assert_eq!(outcome("", 1.0), Outcome::Shown);
    }

    #[test]
    fn more_than_at_least_is_met() {
        assert_eq!(outcome("at_least = true", 1e6), Outcome::Met);
        assert_eq!(outcome("at_least = true\ntolerance = 0.01", 99.5), Outcome::Met);
        fails("at_least = true", 99.5, "more than 0 % off the 100");
    }

    #[test]
    fn a_known_miss_fails_when_ours_changes_or_it_is_met() {
        let keys = "at_least = true\ntolerance = 0.01\ntoday = 78\nknown_miss = 'so'";
        assert_eq!(outcome(keys, 78.5), Outcome::Missed("so".to_owned()));
        fails(keys, 76.0, "1 % off our 78");
        fails(keys, 101.0, "1 % off our 78");
        fails("at_least = true\nknown_miss = 'so'", 101.0, "it is met");
    }

    #[test]
    fn what_is_no_figure_fails() {
        for ours in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            fails("", ours, "there is no figure");
            fails("at_least = true", ours, "there is no figure");
        }
    }
}
