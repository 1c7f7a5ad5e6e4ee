//! Tables of claims: all of the page at its head, and a figure's own with reasons and notes.

use std::fmt::Write;

use super::text::{escaped, number};
use crate::experiment::{Claim, Outcome};
use crate::figure::Figure;

/// The words of outcomes, the worst last.
const WORDS: [&str; 4] = ["met", "shown", "missed", "failed"];

const HEAD: [&str; 5] = ["claim", "paper", "ours", "deviation", "outcome"];

/// How many claims came out how, and each in a row. `links` are the names of the figures' sections.
pub fn summary(figures: &[Figure], links: &[String]) -> String {
    let all = || figures.iter().flat_map(|figure| &figure.claims);
    if all().next().is_none() {
        return "<p>No claim was looked at: claims are of the full size.</p>\n".to_owned();
    }
    let mut out = String::from("<p class=\"counts\">");
    for word in WORDS {
        let count = all().filter(|claim| claim.outcome.word() == word).count();
        let _ = write!(out, "<span class=\"outcome {word}\">{count} {word}</span> ");
    }
    out.push_str("</p>\n<table class=\"claims\">\n<thead><tr><th scope=\"col\">figure</th>");
    out.push_str(&head());
    for (figure, link) in figures.iter().zip(links) {
        for claim in &figure.claims {
            let _ = writeln!(
                out,
                "<tr><td class=\"of\"><a href=\"#{link}\">{}</a></td>{}</tr>",
                escaped(&figure.name),
                row(claim)
            );
        }
    }
    out + "</tbody></table>\n"
}

/// The claims of a figure, and why those are missed that are.
pub fn of_figure(claims: &[Claim]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let mut out = String::from("<table class=\"claims\">\n<thead><tr>");
    out.push_str(&head());
    for claim in claims {
        let _ = writeln!(out, "<tr>{}</tr>", row(claim));
        let reason = match &claim.outcome {
            Outcome::Missed(reason) => Some(("Missed", reason)),
            Outcome::Failed(fault) => Some(("Failed", fault)),
            Outcome::Met | Outcome::Shown => None,
        };
        let note = claim.note.as_ref().map(|note| ("Note", note));
        for (what, words) in reason.into_iter().chain(note) {
            let words = escaped(words);
            let _ = writeln!(
                out,
                "<tr class=\"why\"><td colspan=\"5\"><b>{what}:</b> {words}</td></tr>"
            );
        }
    }
    out + "</tbody></table>\n"
}

fn head() -> String {
    let cells = HEAD
        .map(|cell| format!("<th scope=\"col\">{cell}</th>"))
        .concat();
    format!("{cells}</tr></thead>\n<tbody>\n")
}

fn row(claim: &Claim) -> String {
    let unit = escaped(&claim.unit);
    let [paper, ours] = [claim.paper, claim.ours].map(|value| format!("{} {unit}", number(value)));
    let paper = match (claim.at_least, claim.at_most) {
        (true, _) => format!("at least {paper}"),
        (_, true) => format!("at most {paper}"),
        _ => paper,
    };
    let word = claim.outcome.word();
    format!(
        "<td class=\"what\">{}</td><td data-head=\"paper\">{paper}</td><td data-head=\"ours\">{ours}</td>\
         <td data-head=\"deviation\">{}</td><td class=\"end\"><span class=\"outcome {word}\">{word}</span></td>",
        escaped(&claim.claim),
        off(claim)
    )
}

/// How far ours is off: in per cent, or how many times what the paper says "at least" of.
fn off(claim: &Claim) -> String {
    /// Beyond this many times the paper's figure per cents are hard to read.
    const MANY: f64 = 10.0;
    let ratio = claim.ratio();
    if !ratio.is_finite() {
        "none".to_owned()
    } else if claim.at_least || ratio.abs() >= MANY {
        format!("{} times", number(ratio))
    } else {
        let percent = claim.deviation() * 100.0;
        let sign = if percent < 0.0 { '\u{2212}' } else { '+' };
        format!("{sign}{:.1} %", percent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(paper: f64, ours: f64, at_least: bool) -> Claim {
        let text = |text: &str| text.to_owned();
        Claim {
            id: text("x"),
            claim: text("x"),
            unit: text("us"),
            paper,
            at_least,
            at_most: false,
            note: None,
            ours,
            outcome: Outcome::Shown,
        }
    }

    #[test]
    fn a_deviation_is_in_per_cent_or_times() {
        let told = |paper, ours, at_least| off(&claim(paper, ours, at_least));
        assert_eq!(told(100.0, 104.04, false), "+4.0 %");
        assert_eq!(told(100.0, 99.0, false), "\u{2212}1.0 %");
        assert_eq!(told(100.0, 1200.0, false), "12 times");
        assert_eq!(told(100.0, 129.6, true), "1.30 times");
        assert_eq!(told(100.0, f64::NAN, false), "none");
    }
}
