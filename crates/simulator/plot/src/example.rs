//! A claim for tests, which change a part of it.

use crate::figure::{Check, Claim, Outcome, SetBy};

/// A claim of 10 us that is met, by a prediction.
pub(crate) fn claim() -> Claim {
    Claim {
        id: "x".to_owned(),
        claim: "x".to_owned(),
        statement: "x".to_owned(),
        reading: None,
        unit: "us".to_owned(),
        paper: 10.0,
        at_least: false,
        at_most: false,
        tolerance: None,
        ours: 10.0,
        deviation: 0.0,
        set_by: SetBy::Predicted,
        note: None,
        outcome: Outcome::Met,
        known_miss: None,
        check: Check {
            passed: true,
            fault: None,
        },
    }
}
