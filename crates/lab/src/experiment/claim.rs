//! What becomes of a claim: met, missed, or failed.
//!
//! ```text
//!   met      ours is what the paper says, or more where it says "at least", within the tolerance
//!   missed   it is not, and the file says why: a known miss, which fails nothing
//!   failed   it is not and nobody knows why; or ours is no longer what it was; or the program's
//!            result is wrong; or there is no figure at all
//!   shown    the line does not say how far ours may be off the paper's
//! ```
//!
//! The deviation is ours by the paper's, less one; positive is more than the paper's. A known miss
//! that is met fails too: then the file is wrong.

use serde::{Deserialize, Serialize};

/// What a claim says of a figure, whoever makes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms<'a> {
    /// The paper's figure.
    pub paper: f64,
    /// Whether the paper says "at least".
    pub at_least: bool,
    /// Whether the paper says "at most".
    pub at_most: bool,
    /// How far ours may be off, as a share: of the paper's, and of today's.
    pub tolerance: Option<f64>,
    /// Ours when the claim was written.
    pub today: Option<f64>,
    /// Why the paper's figure is not met.
    pub known_miss: Option<&'a str>,
}

/// A claim beside what came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
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
    /// Whether the paper says "at most".
    pub at_most: bool,
    /// What to know when the two figures are compared.
    pub note: Option<String>,
    /// Ours.
    pub ours: f64,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// A claim in JSON: the names of its fields are a contract with scripts.
#[derive(Serialize, Deserialize)]
struct Written {
    id: String,
    claim: String,
    unit: String,
    paper: f64,
    at_least: bool,
    #[serde(default)]
    at_most: bool,
    /// None if there is no figure: JSON has no word for that.
    ours: Option<f64>,
    /// It follows from the two before; whoever reads a claim does not need it.
    #[serde(skip_deserializing)]
    deviation: Option<f64>,
    note: Option<String>,
    outcome: String,
    known_miss: Option<String>,
    check: Check,
}

#[derive(Serialize, Deserialize)]
struct Check {
    passed: bool,
    fault: Option<String>,
}

impl From<Claim> for Written {
    fn from(claim: Claim) -> Written {
        let fault = claim.fault().map(str::to_owned);
        let (deviation, outcome) = (Some(claim.deviation()), claim.outcome.word().to_owned());
        let Claim {
            id,
            claim,
            unit,
            paper,
            at_least,
            at_most,
            note,
            ours,
            outcome: became,
        } = claim;
        let known_miss = if let Outcome::Missed(reason) = became {
            Some(reason)
        } else {
            None
        };
        let check = Check {
            passed: fault.is_none(),
            fault,
        };
        Written {
            id,
            claim,
            unit,
            paper,
            at_least,
            at_most,
            ours: Some(ours).filter(|ours| ours.is_finite()),
            deviation,
            note,
            outcome,
            known_miss,
            check,
        }
    }
}

impl TryFrom<Written> for Claim {
    type Error = String;

    fn try_from(written: Written) -> Result<Claim, String> {
        let Written {
            id,
            claim,
            unit,
            paper,
            at_least,
            at_most,
            ours,
            note,
            ..
        } = written;
        let outcome = match (
            written.outcome.as_str(),
            written.known_miss,
            written.check.fault,
        ) {
            ("met", None, None) => Outcome::Met,
            ("shown", None, None) => Outcome::Shown,
            ("missed", Some(reason), None) => Outcome::Missed(reason),
            ("failed", None, Some(fault)) => Outcome::Failed(fault),
            (word, ..) => {
                return Err(format!(
                    "claim '{id}': outcome is {word}: expected met, shown, missed with known_miss, \
                     or failed with a fault"
                ));
            }
        };
        let ours = ours.unwrap_or(f64::NAN);
        Ok(Claim {
            id,
            claim,
            unit,
            paper,
            at_least,
            at_most,
            note,
            ours,
            outcome,
        })
    }
}

impl Terms<'_> {
    /// What is compared must be a figure: with nothing or nonsense no comparison fails.
    pub fn check(&self) -> Result<(), String> {
        for (name, number) in [("paper", Some(self.paper)), ("today", self.today)] {
            above_0(name, number)?;
        }
        match self.tolerance {
            Some(share) if !(0.0..1.0).contains(&share) => Err(format!(
                "tolerance is {share}: expected a share from 0 to below 1"
            )),
            _ if self.at_least && self.at_most => {
                Err("at_least and at_most: that is the figure itself; leave both out".to_owned())
            }
            None if self.known_miss.is_some() && !self.at_least && !self.at_most => {
                Err("known_miss needs at_least or a tolerance: else nothing is missed".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// What becomes of ours, or of a run that had this fault.
    pub fn judged(&self, ours: f64, fault: Option<String>) -> Outcome {
        if let Some(fault) = fault {
            return Outcome::Failed(fault);
        }
        if !ours.is_finite() {
            return Outcome::Failed(format!("ours is {ours}: there is no figure"));
        }
        let tolerance = self.tolerance.unwrap_or(0.0);
        let percent = tolerance * 100.0;
        let off = |from: f64| ours / from - 1.0;
        let steady = self.tolerance.unwrap_or(STEADY);
        if let Some(today) = self.today.filter(|today| off(*today).abs() > steady) {
            let percent = steady * 100.0;
            return Outcome::Failed(format!("{ours} is more than {percent} % off our {today}"));
        }
        let by = match (self.at_least, self.at_most) {
            (true, _) => -off(self.paper),
            (false, true) => off(self.paper),
            (false, false) => off(self.paper).abs(),
        };
        let says_how_far = self.tolerance.is_some() || self.at_least || self.at_most;
        match (self.known_miss, by > tolerance) {
            _ if !says_how_far => Outcome::Shown,
            (Some(reason), true) => Outcome::Missed(reason.to_owned()),
            (None, true) => Outcome::Failed(format!(
                "{ours} is more than {percent} % off the {}",
                self.paper
            )),
            (Some(_), false) => {
                Outcome::Failed("it is met: the file says that it is a known miss".to_owned())
            }
            (None, false) => Outcome::Met,
        }
    }
}

/// How far a figure may be off what it was, as a share, where the file does not say: runs are the
/// same by seed, so more than digits that were left out is a change of the machine or the program.
const STEADY: f64 = 0.01;

/// Refuses what is no figure above 0.
pub(super) fn above_0(name: &str, number: Option<f64>) -> Result<(), String> {
    match number.filter(|number| !(number.is_finite() && *number > 0.0)) {
        Some(number) => Err(format!("{name} is {number}: expected a number above 0")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of ours with a line of these keys.
    fn outcome(keys: &str, ours: f64) -> Outcome {
        let line = format!("id = 'x'\nclaim = 'x'\npaper = 100\nunit = 'm'\n{keys}");
        toml::from_str::<super::super::line::Line>(&line)
            .unwrap()
            .terms()
            .judged(ours, None)
    }

    fn fails(keys: &str, ours: f64, why: &str) {
        let outcome = outcome(keys, ours);
        assert!(
            matches!(&outcome, Outcome::Failed(fault) if fault.contains(why)),
            "{outcome:?}"
        );
    }

    #[test]
    fn a_figure_within_its_tolerance_is_met() {
        assert_eq!(outcome("tolerance = 0.05", 104.0), Outcome::Met);
        assert_eq!(outcome("tolerance = 0.05", 96.0), Outcome::Met);
        fails("tolerance = 0.05", 106.0, "more than 5 % off the 100");
        fails("tolerance = 0.05", 94.0, "more than 5 % off the 100");
        assert_eq!(outcome("", 1.0), Outcome::Shown);
        assert_eq!(outcome("today = 1", 1.009), Outcome::Shown);
        fails("today = 1", 1.011, "more than 1 % off our 1");
    }

    #[test]
    fn more_than_at_least_is_met() {
        assert_eq!(outcome("at_least = true", 1e6), Outcome::Met);
        assert_eq!(
            outcome("at_least = true\ntolerance = 0.01", 99.5),
            Outcome::Met
        );
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

    #[test]
    fn a_claim_can_be_written_and_read_again() {
        let why = || "so".to_owned();
        let all = [
            Outcome::Met,
            Outcome::Shown,
            Outcome::Missed(why()),
            Outcome::Failed(why()),
        ];
        for outcome in all {
            let text = |word: &str| word.to_owned();
            let claim = Claim {
                id: text("x"),
                claim: text("it is fast"),
                unit: text("us"),
                paper: 2.0,
                at_least: false,
                at_most: false,
                note: None,
                ours: 3.0,
                outcome,
            };
            let written = serde_json::to_value(&claim).unwrap();
            assert_eq!(
                (&written["paper"], &written["deviation"]),
                (&2.0.into(), &0.5.into())
            );
            assert_eq!(written["check"]["passed"], claim.fault().is_none());
            assert_eq!(
                serde_json::from_value::<Claim>(written.clone()).unwrap(),
                claim
            );
            let mut odd = written;
            odd["outcome"] = "odd".into();
            let told = serde_json::from_value::<Claim>(odd)
                .unwrap_err()
                .to_string();
            assert!(told.contains("claim 'x': outcome is odd"), "{told}");
        }
    }
}
