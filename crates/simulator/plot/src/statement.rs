//! The outcomes of a paper's statements: several claims may be about one, and it counts once.

use std::collections::BTreeMap;

use crate::figure::{Claim, Grid, Outcome, Reading, SetBy};

/// The outcome of a statement, for one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatementOutcome {
    /// All of its claims are met, and nothing was chosen for them.
    Met,
    /// A claim that took part in a choice is met: that shows nothing.
    Fit,
    /// Shown alone: no tolerance is known.
    Shown,
    /// A claim is missed.
    Missed,
    /// A claim has failed.
    Failed,
}

impl StatementOutcome {
    const ALL: [StatementOutcome; 5] = [
        StatementOutcome::Met,
        StatementOutcome::Fit,
        StatementOutcome::Shown,
        StatementOutcome::Missed,
        StatementOutcome::Failed,
    ];

    /// The outcome of the statement that these claims are about; `None` without one. A choice was made for
    /// one of several claims, which stands then: the others tell of values that were not chosen.
    pub fn of<'c>(claims: impl Iterator<Item = &'c Claim>) -> Option<StatementOutcome> {
        let one = |claim: &Claim| match (claim.outcome, claim.set_by) {
            (Outcome::Met, SetBy::Fit) => StatementOutcome::Fit,
            (Outcome::Met, _) => StatementOutcome::Met,
            (Outcome::Shown, _) => StatementOutcome::Shown,
            (Outcome::Missed, _) => StatementOutcome::Missed,
            (Outcome::Failed, _) => StatementOutcome::Failed,
        };
        let all: Vec<StatementOutcome> = claims.map(one).collect();
        let is_fit =
            all.contains(&StatementOutcome::Fit) && !all.contains(&StatementOutcome::Failed);
        if is_fit {
            Some(StatementOutcome::Fit)
        } else {
            all.into_iter().max()
        }
    }

    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            StatementOutcome::Met => "met",
            StatementOutcome::Fit => "fit",
            StatementOutcome::Shown => "shown",
            StatementOutcome::Missed => "missed",
            StatementOutcome::Failed => "failed",
        }
    }
}

/// The number of statements by their outcome: a line for each reading, one for claims without a reading,
/// and one for our own aims.
pub fn tallies<'c>(claims: impl Iterator<Item = &'c Claim>) -> Vec<String> {
    let mut whose: Vec<(String, BTreeMap<&str, Vec<&Claim>>)> = Vec::new();
    for claim in claims {
        let who = match (claim.set_by, &claim.reading) {
            (SetBy::Aim, _) => "our own aims",
            (_, Some(reading)) => reading,
            (_, None) => "claims",
        };
        let place = whose.iter().position(|(known, _)| known == who);
        let place = place.unwrap_or_else(|| {
            whose.push((who.to_owned(), BTreeMap::new()));
            whose.len() - 1
        });
        let statement = whose[place].1.entry(&claim.statement).or_default();
        statement.push(claim);
    }
    let told = |(who, statements): (String, BTreeMap<&str, Vec<&Claim>>)| {
        let outcomes = statements.into_values();
        let outcomes: Vec<_> = outcomes
            .filter_map(|of| StatementOutcome::of(of.into_iter()))
            .collect();
        let counted = |outcome: StatementOutcome| {
            let count = outcomes.iter().filter(|&&its| its == outcome).count();
            (count > 0).then(|| format!("{count} {}", outcome.word()))
        };
        let counts: Vec<_> = StatementOutcome::ALL
            .into_iter()
            .filter_map(counted)
            .collect();
        format!("{who}: {}", counts.join(", "))
    };
    whose.into_iter().map(told).collect()
}

impl Reading {
    /// Number of claims that it meets.
    pub fn met(&self) -> usize {
        let met = |claim: &&Claim| claim.outcome == Outcome::Met;
        self.claims.iter().filter(met).count()
    }
}

impl Grid {
    /// Orders the readings: most claims met, then least distance.
    pub fn rank(&mut self) {
        self.readings.sort_by(|one, other| {
            let met = other.met().cmp(&one.met());
            met.then(one.off.total_cmp(&other.off))
        });
    }
}

#[cfg(all(test, feature = "page"))]
mod tests {
    use super::*;
    use crate::example;

    fn claim(statement: &str, reading: Option<&str>, outcome: Outcome, set_by: SetBy) -> Claim {
        Claim {
            statement: statement.to_owned(),
            reading: reading.map(str::to_owned),
            set_by,
            outcome,
            ..example::claim()
        }
    }

    #[test]
    fn a_statement_counts_once_for_each_reading() {
        use Outcome::{Met, Missed};
        use SetBy::{Aim, Fit, Predicted};
        let claims = [
            claim("26 us", Some("text"), Met, Predicted),
            claim("26 us", Some("text"), Missed, Predicted),
            claim("26 us", Some("june"), Missed, Predicted),
            claim("26 us", Some("june"), Met, Fit),
            claim("40 keys", None, Met, Predicted),
            claim("40 keys", None, Met, Predicted),
            claim("half the time", None, Met, Aim),
        ];
        let expected = [
            "text: 1 missed",
            "june: 1 fit",
            "claims: 1 met",
            "our own aims: 1 met",
        ];
        assert_eq!(tallies(claims.iter()), expected);
        assert_eq!(StatementOutcome::of([].iter()), None);
    }
}
