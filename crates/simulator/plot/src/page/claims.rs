//! Tables of claims: one of all figures, and one per figure with reasons and notes.

use crate::figure::{Claim, Figure};
use crate::page::text::{escaped, number, paragraph};
use crate::statement::tallies;

const HEAD: [&str; 6] = ["claim", "paper", "ours", "deviation", "set by", "outcome"];

/// The number of claims by outcome, and a row per claim. `links` are the names of the figures'
/// sections.
pub(crate) fn summary(figures: &[Figure], links: &[String]) -> String {
    let all = || figures.iter().flat_map(|figure| &figure.claims);
    if all().next().is_none() {
        return paragraph("soft", "No claims.");
    }
    let counts: String = tallies(all())
        .iter()
        .map(|tally| paragraph("counts", &escaped(tally)))
        .collect();
    let mut rows = String::new();
    for (figure, link) in figures.iter().zip(links) {
        let name = escaped(&figure.name);
        for claim in &figure.claims {
            let row = row(claim);
            rows +=
                &format!("<tr><td class=\"of\"><a href=\"#{link}\">{name}</a></td>{row}</tr>\n");
        }
    }
    let table = table("<th scope=\"col\">figure</th>", &rows);
    format!("{counts}{table}")
}

/// The claims of a figure, with reasons and notes.
pub(crate) fn of_figure(claims: &[Claim]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    for claim in claims {
        rows += &format!("<tr>{}</tr>\n", row(claim));
        let note = claim.note.as_deref().map(|note| ("Note", note));
        for (what, words) in claim.reason().into_iter().chain(note) {
            let words = escaped(words);
            rows += "<tr class=\"why\"><td colspan=\"6\">";
            rows += &format!("<b>{what}:</b> {words}</td></tr>\n");
        }
    }
    table("", &rows)
}

/// A table of claims, with cells in its head before the common ones.
fn table(before: &str, rows: &str) -> String {
    let head = HEAD.map(|cell| format!("<th scope=\"col\">{cell}</th>"));
    let head = head.concat();
    format!(
        "<table class=\"claims\">\n<thead><tr>{before}{head}</tr></thead>\n<tbody>\n{rows}\
         </tbody></table>\n"
    )
}

fn row(claim: &Claim) -> String {
    let (paper, ours) = (terms(claim), number(claim.ours));
    let unit = escaped(&claim.unit);
    let ours = format!("{ours} {unit}");
    let word = claim.outcome.word();
    format!(
        "<td class=\"what\">{}</td><td data-head=\"paper\">{paper}</td><td data-head=\"ours\">{ours}</td>\
         <td data-head=\"deviation\">{}</td><td data-head=\"set by\">{}</td><td class=\"end\"><span class=\"outcome {word}\">{word}</span></td>",
        escaped(&claim.claim),
        off(claim),
        claim.set_by.word()
    )
}

/// The paper's figure, with its unit and whether it is a bound.
pub(crate) fn terms(claim: &Claim) -> String {
    let paper = format!("{} {}", number(claim.paper), escaped(&claim.unit));
    match (claim.at_least, claim.at_most) {
        (true, _) => format!("at least {paper}"),
        (_, true) => format!("at most {paper}"),
        _ => paper,
    }
}

/// The deviation in per cent, or the ratio if the paper says "at least".
fn off(claim: &Claim) -> String {
    /// From this ratio on a percentage is hard to read.
    const MANY: f64 = 10.0;
    let ratio = claim.ratio();
    if !ratio.is_finite() {
        "none".to_owned()
    } else if claim.at_least || ratio.abs() >= MANY {
        format!("{} times", number(ratio))
    } else {
        let percent = claim.deviation * 100.0;
        let sign = if percent < 0.0 { '\u{2212}' } else { '+' };
        format!("{sign}{:.1} %", percent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn claim(paper: f64, ours: f64, at_least: bool) -> Claim {
        Claim {
            paper,
            at_least,
            ours,
            deviation: ours / paper - 1.0,
            ..example::claim()
        }
    }

    #[test]
    fn a_deviation_is_a_percentage_or_a_ratio() {
        let told = |paper, ours, at_least| off(&claim(paper, ours, at_least));
        assert_eq!(told(100.0, 104.04, false), "+4.0 %");
        assert_eq!(told(100.0, 99.0, false), "\u{2212}1.0 %");
        assert_eq!(told(100.0, 1200.0, false), "12 times");
        assert_eq!(told(100.0, 129.6, true), "1.30 times");
        assert_eq!(told(100.0, f64::NAN, false), "none");
    }
}
