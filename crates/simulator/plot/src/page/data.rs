//! Tables of the drawn values, closed at first to keep the page short.

use crate::figure::{Chart, StageSpread};
use crate::page::chart::at;
use crate::page::text::{escaped, number};

/// Names of a stage's quantiles.
pub(crate) const SPREAD: [&str; 6] = ["min", "p25", "p50", "p75", "p99", "max"];

/// The table of a chart: our points, then the paper's.
pub(crate) fn of_chart(chart: &Chart) -> String {
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
        rows.push(vec![
            format!("paper: {}", mark.label),
            at(mark.x, &chart.x),
            number(mark.y),
            mark.sd.map_or_else(String::new, number),
            String::new(),
            String::new(),
        ]);
    }
    let head = ["series", &chart.x.label, "mean", "sd", "min", "max"];
    table(&format!("Values: {}", chart.y.label), &head, &rows)
}

/// The table of a breakdown: times in each stage, and waiting times.
pub(crate) fn of_stages(stages: &[StageSpread]) -> String {
    let mut rows = Vec::new();
    for stage in stages {
        for (what, spread) in [("time", stage.time_us), ("idle", stage.idle_us)] {
            let mut row = vec![stage.name.clone(), what.to_owned()];
            row.push(number(stage.cores as f64));
            row.extend(spread.map(number));
            rows.push(row);
        }
    }
    let head: Vec<_> = ["stage", "", "cores"].into_iter().chain(SPREAD).collect();
    table("Values in microseconds", &head, &rows)
}

/// A table that the reader opens. Rows are as long as the head.
fn table(title: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let title = escaped(title);
    let head = head
        .iter()
        .map(|cell| format!("<th scope=\"col\">{}</th>", escaped(cell)));
    let head: String = head.collect();
    let cells = |row: &Vec<String>| -> String {
        let cells = row.iter().map(|cell| format!("<td>{}</td>", escaped(cell)));
        cells.collect()
    };
    let rows = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row)));
    let rows: String = rows.collect();
    format!(
        "<details>\n<summary>{title}</summary>\n<div class=\"wide\"><table class=\"data\">\n\
         <thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n</details>\n"
    )
}
