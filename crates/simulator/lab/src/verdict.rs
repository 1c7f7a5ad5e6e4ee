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
/// reading, and those on the machine and on other programs.
///
/// # Errors
/// A mistake in a built-in experiment.
pub fn statements() -> Result<[String; 2], LabError> {
    let readings = readings();
    let mut on_nano_sort = head(&readings);
    let mut on_others = head(&["ours".to_owned()]);
    let of_paper = |name: &&str| name.starts_with(PAPER);
    for name in Experiment::names().filter(of_paper) {
        let experiment = Experiment::load(name)?;
        let is_published =
            |claim: &Claim| claim.set_by != SetBy::Aim && claim.reading.as_deref() != Some(UNNAMED);
        let mut claims = experiment.claims_of_today();
        claims.retain(|claim| is_published(claim) && !experiment.compares_readings());
        let mut seen = BTreeSet::new();
        for claim in &claims {
            if !seen.insert((&claim.statement, claim.reading.is_some())) {
                continue;
            }
            let of = |reading: Option<&str>| {
                let lines = claims.iter().filter(|other| {
                    other.statement == claim.statement && other.reading.as_deref() == reading
                });
                StatementOutcome::of(lines).map_or("not here", StatementOutcome::word)
            };
            let first = format!(
                "| {} | {} | {} |",
                claim.statement,
                bound(claim),
                place(name)
            );
            match claim.reading {
                Some(_) => {
                    let outcomes = readings.iter().map(|reading| of(Some(reading)));
                    on_nano_sort += &row(first, outcomes);
                }
                None => on_others += &row(first, [of(None)].into_iter()),
            }
        }
    }
    Ok([on_nano_sort, on_others])
}

fn head(columns: &[String]) -> String {
    let rule = "---|".repeat(columns.len() + 3);
    format!(
        "| statement | paper | experiment | {} |\n|{rule}\n",
        columns.join(" | ")
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
