//! The section of a figure.

use crate::figure::{Breakdown, Chart, Figure, Size};
use crate::page::picture::{self, Cells};
use crate::page::text::{escaped, paragraph};
use crate::page::{chart, claims, grid, path, stages, tree};

/// The section; `link` is its anchor. The title of a figure that `is_alone` is that of the page.
pub(crate) fn section(figure: &Figure, link: &str, is_alone: bool) -> String {
    let title = escaped(&figure.title);
    let heading = if is_alone {
        String::new()
    } else {
        format!("<h2>{title}</h2>\n")
    };
    let says = |says| format!("<b>Claimed:</b> {}", escaped(says));
    let says = figure.says.as_deref().map(says);
    let shows = figure.shows.as_deref().map(escaped);
    let note = figure.note.as_deref().map(escaped);
    let breakdown = figure.breakdown.as_ref().map(broken_down);
    [
        format!("<section class=\"figure\" id=\"{link}\">\n{heading}"),
        source(figure),
        says.map_or_else(String::new, |says| paragraph("says", &says)),
        shows.map_or_else(|| drawn(figure), |shows| paragraph("shows", &shows)),
        charts(figure),
        tree::trees(&figure.trees),
        figure.grid.as_ref().map_or_else(String::new, grid::grid),
        breakdown.unwrap_or_default(),
        note.map_or_else(String::new, |note| paragraph("note", &note)),
        how(figure),
        "</section>\n".to_owned(),
    ]
    .concat()
}

fn source(figure: &Figure) -> String {
    if figure.source.is_empty() && figure.size == Size::Full {
        return String::new();
    }
    let small = match figure.size {
        Size::Smoke => " <span class=\"outcome shown\">smoke size</span>",
        Size::Full => "",
    };
    paragraph("soft", &(escaped(&figure.source) + small))
}

/// The contents of the charts, in words.
fn drawn(figure: &Figure) -> String {
    let [first, ..] = &figure.charts[..] else {
        return String::new();
    };
    let each = |chart: &Chart| {
        let curves = match chart.series.len() {
            1 => "one curve".to_owned(),
            curves => format!("{curves} curves"),
        };
        format!("{} by {} ({curves})", chart.y.label, chart.x.label)
    };
    let mut all: Vec<String> = Vec::new();
    for chart in figure.charts.iter().map(each) {
        if !all.contains(&chart) {
            all.push(chart);
        }
    }
    let charts = escaped(&all.join("; "));
    let lower = "A point is the mean of its runs, or the statistic that its axis names; a bar is their \
         standard deviation.";
    let paper = if figure.charts.iter().any(|chart| !chart.paper.is_empty()) {
        " Hollow signs are the paper\u{2019}s: look how far ours are from them."
    } else {
        ""
    };
    let stage = if first.x.names.is_empty() {
        ""
    } else {
        " The places on the lower axis are words, in no scale."
    };
    paragraph(
        "drawn",
        &format!("<b>Drawn:</b> {charts}. {lower}{paper}{stage}"),
    )
}

/// Charts and claims. With an odd number of charts the claims fill the last place.
fn charts(figure: &Figure) -> String {
    let claims = claims::of_figure(&figure.claims);
    let charts = figure.charts.iter();
    let charts: String = charts
        .map(|chart| chart::chart(chart, &figure.title))
        .collect();
    let is_odd = figure.charts.len() % 2 == 1;
    match (charts.is_empty(), claims.is_empty()) {
        (true, _) => claims,
        (false, false) if is_odd => {
            format!("<div class=\"charts\">\n{charts}<div>\n{claims}</div>\n</div>\n")
        }
        _ => format!("<div class=\"charts\">\n{charts}</div>\n{claims}"),
    }
}

fn broken_down(breakdown: &Breakdown) -> String {
    let Breakdown {
        stages,
        picture,
        path,
    } = breakdown;
    let cells = Cells::of(picture, stages.len());
    let both = cells.map(|cells| {
        format!(
            "<div>\n{}</div>\n",
            picture::both(picture, &cells, path.as_ref())
        )
    });
    format!(
        "<h3>Stages of one run</h3>\n{}<div class=\"charts\">\n{}{}</div>\n{}",
        stages::legend(stages),
        both.unwrap_or_default(),
        stages::boxes(stages),
        path.as_ref().map_or_else(String::new, path::table)
    )
}

/// How to repeat the experiment: command, seeds, machine.
fn how(figure: &Figure) -> String {
    let seeds = match (figure.runs, figure.seed) {
        (0 | 1, seed) => format!("seed {seed}"),
        (runs, seed) => format!("seeds {seed} to {}", seed.saturating_add(runs - 1)),
    };
    let mut machine = figure.machine.clone();
    if let Some(hash) = &figure.machine_hash {
        machine += &format!(" {hash}");
    }
    if !figure.changes.is_empty() {
        machine += &format!("; changed: {}", figure.changes.join(", "));
    }
    let (command, machine) = (escaped(&figure.command), escaped(&machine));
    let words = format!("<code>{command}</code><br/>{seeds}; machine {machine}");
    paragraph("how", &words)
}
