//! The verdict on the NanoSort paper: one line, and a row for each of its published statements. All of it
//! follows from the figures in the files of experiments, so it needs no run.

use std::collections::BTreeSet;

use plot::{Claim, Outcome, SetBy, StatementOutcome};

use crate::error::LabError;
use crate::experiment::{Experiment, UNNAMED, readings};

/// The experiments whose lines are the headline and its breakdown by stages.
const HEADLINE: &str = "nanosort/headline";
const BREAKDOWN: &str = "nanosort/figure-16";

/// The statement on the headline's time.
const TIME: &str = "an average of 68 us";

/// The verdict in one line: the time of the default reading beside the paper's, and which readings meet
/// all claims of the headline and of its breakdown.
///
/// # Errors
/// A mistake in a built-in experiment.
pub fn verdict() -> Result<String, LabError> {
    let mut claims = Experiment::load(HEADLINE)?.claims_of_today();
    claims.extend(Experiment::load(BREAKDOWN)?.claims_of_today());
    let readings = readings();
    let of = |claim: &Claim, reading: &str| claim.reading.as_deref() == Some(reading);
    let mut of_default = claims.iter().filter(|claim| of(claim, &readings[0]));
    let time = of_default.find(|claim| claim.statement == TIME);
    let time = time.expect("the headline has a time");
    let outcome = match time.outcome {
        Outcome::Met => "met",
        _ => "missed",
    };
    let meets = |reading: &&String| {
        let mut its = claims.iter().filter(|claim| of(claim, reading));
        its.all(|claim| claim.outcome == Outcome::Met)
    };
    let readings: Vec<&str> = readings.iter().filter(meets).map(String::as_str).collect();
    let who = match readings[..] {
        [] => "no reading meets".to_owned(),
        [one] => format!("{one} meets"),
        _ => format!("{} meet", readings.join(", ")),
    };
    let (ours, paper) = (time.ours, time.paper);
    Ok(format!(
        "{ours:.1} us for {paper}: {outcome}; {who} the headline and its own breakdown."
    ))
}

/// The experiments of the NanoSort paper.
const PAPER: &str = "nanosort/";

/// The statements of the paper, as two tables in Markdown: those on NanoSort with the outcome for each
/// reading, and those on the machine and on other programs. A third has the claims that are not in the paper.
///
/// # Errors
/// A mistake in a built-in experiment.
pub fn statements() -> Result<[String; 3], LabError> {
    let readings = readings();
    let mut on_nano_sort = head("paper", &readings);
    let mut on_others = head("paper", &["ours".to_owned()]);
    let mut not_in_paper = head("figure", &["ours".to_owned()]);
    let of_paper = |name: &&str| name.starts_with(PAPER);
    for name in Experiment::names().filter(of_paper) {
        let experiment = Experiment::load(name)?;
        let is_judged =
            |claim: &Claim| claim.set_by != SetBy::Aim && claim.reading.as_deref() != Some(UNNAMED);
        let mut claims = experiment.claims_of_today();
        claims.retain(|claim| is_judged(claim) && !experiment.compares_readings());
        let is_in_paper = |claim: &Claim| experiment.is_in_paper(&claim.id);
        let (published, others): (Vec<_>, Vec<_>) = claims.into_iter().partition(is_in_paper);
        not_in_paper.extend(others.iter().map(|claim| row_of_other(claim, name)));
        let mut seen = BTreeSet::new();
        for claim in &published {
            if !seen.insert((&claim.statement, claim.reading.is_some())) {
                continue;
            }
            let of = |reading: Option<&str>| {
                let lines = published.iter().filter(|other| {
                    other.statement == claim.statement && other.reading.as_deref() == reading
                });
                StatementOutcome::of(lines).map_or("not here", StatementOutcome::word)
            };
            let first = first_cells(claim, name);
            match claim.reading {
                Some(_) => {
                    let outcomes = readings.iter().map(|reading| of(Some(reading)));
                    on_nano_sort += &row(first, outcomes);
                }
                None => on_others += &row(first, [of(None)].into_iter()),
            }
        }
    }
    Ok([on_nano_sort, on_others, not_in_paper])
}

/// The row of a claim that is not in the paper.
fn row_of_other(claim: &Claim, name: &str) -> String {
    let outcome = StatementOutcome::of([claim].into_iter()).map_or("", StatementOutcome::word);
    let reading = claim.reading.as_ref();
    let cell = reading.map_or(outcome.to_owned(), |reading| {
        format!("{outcome} ({reading})")
    });
    row(first_cells(claim, name), [&cell[..]].into_iter())
}

fn head(figure: &str, columns: &[String]) -> String {
    let rule = "---|".repeat(columns.len() + 3);
    format!(
        "| statement | {figure} | experiment | {} |\n|{rule}\n",
        columns.join(" | ")
    )
}

/// The cells of a row before the outcomes.
fn first_cells(claim: &Claim, name: &str) -> String {
    format!(
        "| {} | {} | {} |",
        claim.statement,
        bound(claim),
        place(name)
    )
}

fn row<'a>(first: String, cells: impl Iterator<Item = &'a str>) -> String {
    let cells: Vec<&str> = cells.collect();
    format!("{first} {} |\n", cells.join(" | "))
}

/// The last part of an experiment's name.
fn place(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The paper's figure, with the share that ours may be off.
fn bound(claim: &Claim) -> String {
    let words = match (claim.at_least, claim.at_most) {
        (true, _) => "at least ",
        (_, true) => "at most ",
        _ => "",
    };
    let within = claim.tolerance.filter(|&share| share > 0.0);
    let within = within.map_or(String::new(), |share| {
        format!(", within {} %", (share * 1000.0).round() / 10.0)
    });
    format!("{words}{} {}{within}", claim.paper, claim.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_is_not_in_the_paper_has_a_table_of_its_own() {
        let [on_nano_sort, on_others, not_in_paper] = statements().unwrap();
        let sent =
            "| 146 ns to send 64 messages of 16 bytes | 146 ns, within 5 % | figure-7 | fit |\n";
        assert!(not_in_paper.contains(sent), "{not_in_paper}");
        assert!(
            not_in_paper.contains(" | thesis | met (lock-step) |\n"),
            "{not_in_paper}"
        );
        for row in not_in_paper.lines().skip(2) {
            let statement = &row[..row[2..].find(" | ").unwrap() + 5];
            assert!(!on_nano_sort.contains(statement), "{row}");
            assert!(!on_others.contains(statement), "{row}");
        }
    }
}
