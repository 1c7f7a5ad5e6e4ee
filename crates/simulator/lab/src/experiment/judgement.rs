//! Where a claim is judged: our figure is compared with the paper's.
//!
//! ```text
//!   met      ours is the paper's figure within the tolerance, or beyond it where the paper says
//!            "at least" or "at most"
//!   missed   ours is not, and the file gives the reason: a known miss, which fails nothing
//!   failed   ours is not and there is no reason; or ours is no longer what it was; or the
//!            program's result is wrong; or there is no figure
//!   shown    the line does not say how far ours may be off
//! ```
//!
//! A known miss that is met fails too: then the file is wrong.

use plot::Outcome;

use super::claim::ClaimTable;
use super::measure::above_0;

/// How far a figure may be off what it was, whatever the paper's tolerance is. Equal seeds give equal runs, so a
/// larger difference is a change of the machine or the program.
const STEADY: f64 = 0.01;

/// The outcome of a claim, and why it is missed or has failed.
#[derive(Debug, PartialEq)]
pub(super) struct Judgement {
    pub outcome: Outcome,
    pub reason: Option<String>,
}

impl Judgement {
    /// Met, unless the reason of a miss is known.
    pub(super) fn known(reason: Option<String>) -> Judgement {
        let outcome = reason.as_ref().map_or(Outcome::Met, |_| Outcome::Missed);
        Judgement { outcome, reason }
    }

    pub(super) fn failed(fault: String) -> Judgement {
        let (outcome, reason) = (Outcome::Failed, Some(fault));
        Judgement { outcome, reason }
    }
}

impl ClaimTable {
    /// Checks that something is compared: no comparison with NaN fails.
    pub(super) fn check_terms(&self) -> Result<(), String> {
        above_0("paper", self.paper)?;
        // A difference may be below zero.
        above_0("today", self.today.map(f64::abs))?;
        above_0("smoke", self.smoke)?;
        match self.tolerance {
            Some(share) if !(0.0..1.0).contains(&share) => Err(format!(
                "tolerance is {share}: expected a share from 0 to below 1"
            )),
            _ if self.at_least && self.at_most => {
                Err("at_least and at_most: that is the figure itself; leave both out".to_owned())
            }
            _ if self.known_miss.is_some() && !self.can_fail() => {
                Err("known_miss needs at_least or a tolerance: else nothing is missed".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn can_fail(&self) -> bool {
        self.is.is_some() || self.tolerance.is_some() || self.at_least || self.at_most
    }

    /// Judges the claim by our figure. `known` is what that was.
    pub(super) fn judge(&self, paper: f64, ours: f64, known: Option<f64>) -> Judgement {
        let fault = drift(ours, known).or_else(|| self.fault(paper, ours));
        match fault {
            Some(fault) => Judgement::failed(fault),
            None if self.can_fail() => Judgement::known(self.known_miss.clone()),
            None => Judgement {
                outcome: Outcome::Shown,
                reason: None,
            },
        }
    }

    fn fault(&self, paper: f64, ours: f64) -> Option<String> {
        let tolerance = self.tolerance.unwrap_or(0.0);
        match (&self.known_miss, self.off(paper, ours) > tolerance) {
            (Some(_), false) => Some("it is met, but the file calls it a known miss".to_owned()),
            (None, true) if self.can_fail() => {
                let percent = tolerance * 100.0;
                Some(format!("{ours} is more than {percent} % off the {paper}"))
            }
            _ => None,
        }
    }

    /// How far ours is off the claim, as a share; negative if it is on the good side.
    fn off(&self, paper: f64, ours: f64) -> f64 {
        let off = ours / paper - 1.0;
        match (self.is_at_least(), self.at_most) {
            (true, _) => -off,
            (false, true) => off,
            (false, false) => off.abs(),
        }
    }
}

/// Why our figure is none, or no longer what it was.
pub(super) fn drift(ours: f64, known: Option<f64>) -> Option<String> {
    if !ours.is_finite() {
        return Some(format!("ours is {ours}: there is no figure"));
    }
    let has_changed = |known: &f64| (ours / known - 1.0).abs() > STEADY;
    let percent = STEADY * 100.0;
    let known = known.filter(has_changed)?;
    Some(format!("{ours} is more than {percent} % off our {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The judgement of a line with these keys.
    fn judgement(keys: &str, ours: f64) -> Judgement {
        let line = format!("id = 'x'\nclaim = 'x'\npaper = 100\nunit = 'm'\n{keys}");
        let line: ClaimTable = toml::from_str(&line).unwrap();
        line.judge(100.0, ours, line.today)
    }

    fn outcome(keys: &str, ours: f64) -> Outcome {
        judgement(keys, ours).outcome
    }

    fn fails(keys: &str, ours: f64, why: &str) {
        let Judgement { outcome, reason } = judgement(keys, ours);
        assert_eq!(outcome, Outcome::Failed);
        let reason = reason.unwrap();
        assert!(reason.contains(why), "{reason}");
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
        assert_eq!(outcome("today = -2", -2.01), Outcome::Shown);
        fails("today = -2", -2.03, "more than 1 % off our -2");
    }

    #[test]
    fn more_than_at_least_is_met() {
        assert_eq!(outcome("at_least = true", 1e6), Outcome::Met);
        let keys = "at_least = true\ntolerance = 0.01";
        assert_eq!(outcome(keys, 99.5), Outcome::Met);
        fails("at_least = true", 99.5, "more than 0 % off the 100");
    }

    #[test]
    fn a_known_miss_fails_when_ours_changes_or_it_is_met() {
        let keys = "at_least = true\ntolerance = 0.01\ntoday = 78\nknown_miss = 'so'";
        let missed = Judgement::known(Some("so".to_owned()));
        assert_eq!(judgement(keys, 78.5), missed);
        fails(keys, 76.0, "1 % off our 78");
        fails(keys, 101.0, "1 % off our 78");
        fails("at_least = true\nknown_miss = 'so'", 101.0, "it is met");
    }

    #[test]
    fn a_claim_without_a_figure_fails() {
        for ours in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            fails("", ours, "there is no figure");
            fails("at_least = true", ours, "there is no figure");
        }
    }
}
