//! A figure's part of the page.

use std::fmt::Write;

use super::picture::{self, Cells};
use super::text::escaped;
use super::{chart, claims, stages};
use crate::figure::{Breakdown, Figure, Size};

/// The figure under the name that links lead to.
pub fn section(figure: &Figure, link: &str) -> String {
    let mut out = format!(
        "<section class=\"figure\" id=\"{link}\">\n<h2>{}</h2>\n",
        escaped(&figure.title)
    );
    let small = match figure.size {
        Size::Smoke => " <span class=\"outcome shown\">smoke size</span>",
        Size::Full => "",
    };
    let _ = writeln!(
        out,
        "<p class=\"soft\">{}{small}</p>",
        escaped(&figure.source)
    );
    if let Some(says) = &figure.says {
        let _ = writeln!(
            out,
            "<p class=\"says\"><b>The paper says:</b> {}</p>",
            escaped(says)
        );
    }
    let claims = claims::of_figure(&figure.claims);
    // A chart without a neighbour has the claims beside it.
    let is_beside = figure.charts.len() % 2 == 1 && !claims.is_empty();
    if !figure.charts.is_empty() {
        out.push_str("<div class=\"charts\">\n");
        figure
            .charts
            .iter()
            .for_each(|drawn| out.push_str(&chart::chart(drawn)));
        if is_beside {
            let _ = write!(out, "<div>\n{claims}</div>\n");
        }
        out.push_str("</div>\n");
    }
    if !is_beside {
        out.push_str(&claims);
    }
    if let Some(breakdown) = &figure.breakdown {
        out.push_str(&broken_down(breakdown));
    }
    if let Some(note) = &figure.note {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(note));
    }
    out.push_str(&how(figure));
    out + "</section>\n"
}

fn broken_down(breakdown: &Breakdown) -> String {
    let Breakdown { stages, picture } = breakdown;
    let mut out = String::from("<h3>Who did what when, of one run</h3>\n");
    out.push_str(&stages::legend(stages));
    out.push_str("<div class=\"charts\">\n");
    if let Some(cells) = Cells::of(picture, stages.len()) {
        let _ = write!(out, "<div>\n{}</div>\n", picture::both(picture, &cells));
    }
    out.push_str(&stages::boxes(stages));
    out + "</div>\n"
}

/// How the figure is come by.
fn how(figure: &Figure) -> String {
    let seeds = match figure.runs {
        0 | 1 => format!("seed {}", figure.seed),
        runs => format!(
            "seeds {} to {}",
            figure.seed,
            figure.seed.saturating_add(runs - 1)
        ),
    };
    let hash = figure
        .machine_hash
        .as_ref()
        .map_or_else(String::new, |hash| format!(" {hash}"));
    let changes = match figure.changes.as_slice() {
        [] => String::new(),
        changes => format!("; changed: {}", changes.join(", ")),
    };
    let told = format!("{seeds}; machine {}{hash}{changes}", figure.machine);
    format!(
        "<p class=\"how\"><code>{}</code><br/>{}</p>\n",
        escaped(&figure.command),
        escaped(&told)
    )
}
