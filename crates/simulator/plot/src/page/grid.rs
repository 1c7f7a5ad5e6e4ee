//! The claims of a paper for every reading of it: a row per reading, the best first.
//!
//! A paper leaves choices open. Here each combination of them is judged by all claims, so that a
//! reading is chosen by what it meets and misses altogether.

use crate::figure::{Claim, Grid, Reading};
use crate::page::claims::terms;
use crate::page::text::{escaped, number};

/// The table, and what its columns claim.
pub(crate) fn grid(grid: &Grid) -> String {
    let claims = grid.readings.first().map_or(&[][..], |first| &first.claims);
    let head = |cell: &str| format!("<th scope=\"col\">{}</th>", escaped(cell));
    let of_claim = |claim: &Claim| {
        let (id, words) = (escaped(&claim.id), escaped(&claim.claim));
        format!("<th scope=\"col\" title=\"{words}\">{id}</th>")
    };
    let dials: String = grid.dials.iter().map(|dial| head(dial)).collect();
    let heads: String = claims.iter().map(of_claim).collect();
    let papers: String = claims
        .iter()
        .map(|claim| format!("<td>{}</td>", terms(claim)))
        .collect();
    let rows: String = grid.readings.iter().map(row).collect();
    let listed: String = claims
        .iter()
        .map(|claim| {
            let (id, words) = (escaped(&claim.id), escaped(&claim.claim));
            format!("<li><b>{id}</b>: {words}</li>\n")
        })
        .collect();
    format!(
        "<div class=\"wide readings\"><table class=\"data\">\n<thead><tr>{dials}<th \
         scope=\"col\">met</th><th scope=\"col\">off</th>{heads}</tr>\n<tr class=\"of-paper\"><td \
         colspan=\"{}\">the paper</td>{papers}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n\
         <details>\n<summary>The {} claims</summary>\n<ul>\n{listed}</ul>\n</details>\n",
        grid.dials.len() + 2,
        claims.len()
    )
}

fn row(reading: &Reading) -> String {
    let values = reading.values.iter();
    let values: String = values
        .map(|value| format!("<td>{}</td>", escaped(value)))
        .collect();
    let cell = |claim: &Claim| {
        let (word, ours) = (claim.outcome.word(), number(claim.ours));
        format!("<td class=\"{word}\">{ours}</td>")
    };
    let claims: String = reading.claims.iter().map(cell).collect();
    let (met, all, off) = (reading.met(), reading.claims.len(), reading.off * 100.0);
    format!("<tr>{values}<td>{met} of {all}</td><td>{off:.0} %</td>{claims}</tr>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::figure::Outcome;

    fn claim(ours: f64, is_met: bool) -> Claim {
        let outcome = if is_met {
            Outcome::Met
        } else {
            Outcome::Missed
        };
        Claim {
            claim: "x < y".to_owned(),
            ours,
            deviation: ours / 10.0 - 1.0,
            outcome,
            ..example::claim()
        }
    }

    fn reading(value: &str, ours: f64, is_met: bool) -> Reading {
        Reading {
            values: vec![value.to_owned()],
            claims: vec![claim(ours, is_met)],
            off: ours / 10.0 - 1.0,
        }
    }

    #[test]
    fn readings_are_ranked_by_what_they_meet_then_by_distance() {
        let mut all = Grid {
            dials: vec!["burst".to_owned()],
            readings: vec![
                reading("far", 30.0, false),
                reading("met", 11.0, true),
                reading("near", 12.0, false),
            ],
        };
        all.rank();
        let order: Vec<_> = all
            .readings
            .iter()
            .map(|reading| &reading.values[0])
            .collect();
        assert_eq!(order, ["met", "near", "far"]);
        let table = grid(&all);
        assert!(table.contains("<td class=\"met\">11</td>"), "{table}");
        assert!(
            table.contains("x &lt; y") && table.contains("1 of 1"),
            "{table}"
        );
    }
}
