//! A page of figures: one HTML file with charts, for a browser or a printer.
//!
//! ```text
//!   what it is         about all times, and how the page is written
//!   claims             of all figures: the paper's, ours, how far off, met or not
//!   contents           links
//!   a figure           what the paper says, `chart`s, `claims`, notes
//!     its breakdown    `stages` as boxes; the `picture` of all cores over time, and shares of cores
//!     how              command, seeds, machine
//! ```
//!
//! The page needs nothing beside itself: no script, no font, no file, no network; its own security
//! policy forbids them. Light or dark is the reader's choice. The same figures give the same bytes:
//! there is no date in it and nothing is drawn at random. All text from figures is escaped.
//!
//! Drawings hold signs and ticks alone. Titles, names of axes and legends are text of the page
//! around them: that wraps, so it never covers anything, however long it is.

mod axis;
mod chart;
mod claims;
mod data;
mod labels;
mod picture;
mod plane;
mod section;
mod sign;
mod stages;
mod text;

use std::fmt::Write;

use crate::figure::{Figure, Size};
pub(crate) use text::plain;
use text::{Anchors, escaped};

const STYLE: &str = include_str!("page/style.css");

const TITLE: &str = "NanoSort, simulated by Gristmill";

/// What the page says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The version of the program.
    pub version: String,
    /// The command that writes the page.
    pub command: String,
}

/// The page of these figures, in their order.
pub fn page(figures: &[Figure], about: &About) -> String {
    let mut anchors = Anchors::default();
    let _ = anchors.name(CLAIMS);
    let links: Vec<_> = figures
        .iter()
        .map(|figure| anchors.name(&figure.name))
        .collect();
    let mut out = head(about);
    let smoke = figures
        .iter()
        .filter(|figure| figure.size == Size::Smoke)
        .count();
    if smoke > 0 {
        let all = figures.len();
        let _ = writeln!(
            out,
            "<p class=\"lead\"><strong>{smoke} of {all} figures are at smoke size</strong>: much smaller \
             than the paper\u{2019}s, so nothing is judged of them here.</p>"
        );
    }
    let _ = write!(
        out,
        "<section id=\"{CLAIMS}\">\n<h2>What is claimed, and what comes out</h2>\n{}</section>\n",
        claims::summary(figures, &links)
    );
    out.push_str(&contents(figures, &links));
    out.push_str("</header>\n<main>\n");
    for (figure, link) in figures.iter().zip(&links) {
        out.push_str(&section::section(figure, link));
    }
    out.push_str("</main>\n");
    let _ = writeln!(
        out,
        "<footer><p>Gristmill {}. This page is written by <code>{}</code>.</p></footer>",
        escaped(&about.version),
        escaped(&about.command)
    );
    out + "</body>\n</html>\n"
}

/// The link to the table of claims.
const CLAIMS: &str = "claims";

fn head(about: &About) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; img-src data:\"/>\n\
         <title>{TITLE}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{TITLE}</h1>\n\
         <p class=\"lead\">Figures of the NanoSort paper, run again by Gristmill {}: its programs of tiny \
         tasks, on simulated nanoPU cores, NICs and switches. All times are simulated: they follow from \
         the machine\u{2019}s description and the seeds alone, are the same on every computer, and \
         nothing is fitted to the figures they are compared with.</p>\n",
        escaped(&about.version)
    )
}

fn contents(figures: &[Figure], links: &[String]) -> String {
    if figures.is_empty() {
        return "<p>There is no figure.</p>\n".to_owned();
    }
    let mut out = String::from("<nav aria-label=\"Figures\">\n<h2>Figures</h2>\n<ol>\n");
    for (figure, link) in figures.iter().zip(links) {
        let (title, source) = (escaped(&figure.title), escaped(&figure.source));
        let _ = writeln!(
            out,
            "<li><a href=\"#{link}\">{title}</a> <span class=\"soft\">{source}</span></li>"
        );
    }
    out + "</ol>\n</nav>\n"
}
