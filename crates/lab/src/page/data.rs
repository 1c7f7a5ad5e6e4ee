//! Tables of what is drawn: closed at first, so that the page stays short.

use std::fmt::Write;

use super::chart::at;
use super::text::{escaped, number};
use crate::figure::{Chart, StageSpread};

/// What the parts of a stage's spread are called.
pub const SPREAD: [&str; 6] = ["min", "p25", "p50", "p75", "p99", "max"];

/// The figures of a chart: ours, then the paper's.
pub fn of_chart(chart: &Chart) -> String {
    let mut rows = Vec::new();
    for series in &chart.series {
        for point in &series.points {
            let y = point.y;
            let figures = [y.mean, y.sd, y.min, y.max].map(number);
            let row = [series.label.clone(), at(point.x, &chart.x)];
            rows.push(row.into_iter().chain(figures).collect());
        }
    }
    for mark in &chart.paper {
        let sd = mark.sd.map_or_else(String::new, number);
        let row = [
            format!("paper: {}", mark.label),
            at(mark.x, &chart.x),
            number(mark.y),
            sd,
        ];
        rows.push(
            row.into_iter()
                .chain([String::new(), String::new()])
                .collect(),
        );
    }
    let head = ["series", &chart.x.label, "mean", "sd", "min", "max"];
    table(&format!("The figures: {}", chart.y.label), &head, &rows)
}

/// How long cores were in each stage, and how long they waited there.
pub fn of_stages(stages: &[StageSpread]) -> String {
    let mut rows = Vec::new();
    for stage in stages {
        for (what, spread) in [("time", stage.time_us), ("idle", stage.idle_us)] {
            let row = [
                stage.name.clone(),
                what.to_owned(),
                number(stage.cores as f64),
            ];
            rows.push(row.into_iter().chain(spread.map(number)).collect());
        }
    }
    let head: Vec<_> = ["stage", "", "cores"].into_iter().chain(SPREAD).collect();
    table("The figures: microseconds", &head, &rows)
}

/// A table that opens when it is asked for. Rows are as long as the head.
fn table(title: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = format!("<details>\n<summary>{}</summary>\n", escaped(title));
    out.push_str("<div class=\"wide\"><table class=\"data\">\n<thead><tr>");
    for cell in head {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(cell));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}</td>", escaped(cell));
        }
        out.push_str("</tr>\n");
    }
    out + "</tbody></table></div>\n</details>\n"
}
