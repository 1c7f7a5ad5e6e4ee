//! A page of figures: one HTML file with charts, for a browser or a printer.
//!
//! ```text
//!   introduction       what the times are, and who writes the page
//!   claims             of all figures: the paper's, ours, deviation, outcome
//!   contents           links
//!   a figure           the paper's words, charts, claims, notes
//!     breakdown        box plots of stages; all cores over time; shares of cores
//!     how              command, seeds, machine
//! ```
//!
//! The page is complete: it has no scripts and loads no fonts or files, and its own security policy
//! forbids them. It follows the reader's choice of light or dark. Equal figures give equal bytes:
//! nothing depends on the date or on chance. All text from figures is escaped.
//!
//! Drawings have signs and ticks only. Titles, names of axes and legends are text of the page,
//! which wraps and so covers nothing, however long it is.

mod axis;
mod chart;
mod claims;
mod data;
mod grid;
mod labels;
mod path;
mod picture;
mod plane;
mod section;
mod sign;
mod stages;
mod text;
mod tree;

use crate::figure::{Figure, Size};
use crate::page::text::{Anchors, escaped, paragraph};

const STYLE: &str = include_str!("page/style.css");

const TITLE: &str = "NanoSort, simulated by Gristmill";

/// Origin of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Version of Gristmill, as in `0.1.0`.
    pub version: String,
    /// Command that writes the page.
    pub command: String,
    /// Heading of a page of one's own experiments; `None` for the paper's.
    pub title: Option<String>,
    /// The result of all in a sentence, which opens the page.
    pub verdict: Option<String>,
}

/// The HTML page of these figures, in their order.
pub fn page(figures: &[Figure], about: &About) -> String {
    let mut anchors = Anchors::default();
    let _ = anchors.name(CLAIMS);
    let links = figures.iter().map(|figure| anchors.name(&figure.name));
    let links: Vec<_> = links.collect();
    // A page of one figure needs no overview.
    let is_overview = about.title.is_none() || figures.len() > 1;
    let sections = figures.iter().zip(&links);
    let sections: String = sections
        .map(|(figure, link)| section::section(figure, link, !is_overview))
        .collect();
    let (version, command) = (escaped(&about.version), escaped(&about.command));
    let overview = || {
        format!(
            "<section id=\"{CLAIMS}\">\n<h2>Claims and results</h2>\n{}</section>\n{}",
            claims::summary(figures, &links),
            contents(figures, &links)
        )
    };
    [
        head(about, figures),
        smaller(figures),
        is_overview.then(overview).unwrap_or_default(),
        format!("</header>\n<main>\n{sections}</main>\n"),
        format!(
            "<footer><p>Gristmill {version}. This page is written by <code>{command}</code>.</p>\
             </footer>\n</body>\n</html>\n"
        ),
    ]
    .concat()
}

/// Anchor of the table of claims.
const CLAIMS: &str = "claims";

/// A remark about figures at smoke size.
fn smaller(figures: &[Figure]) -> String {
    let is_smoke = |figure: &&Figure| figure.size == Size::Smoke;
    match (figures.iter().filter(is_smoke).count(), figures.len()) {
        (0, _) => String::new(),
        (1, 1) => paragraph(
            "lead",
            "<strong>This figure is at smoke size</strong>: smaller than titles and labels say, so \
             its claims are not compared with the paper.",
        ),
        (smoke, all) => format!(
            "<p class=\"lead\"><strong>{smoke} of {all} figures are at smoke size</strong>: much \
             smaller than titles and labels say, so their claims are not compared with the paper.</p>\n"
        ),
    }
}

/// The paper, its authors and its address.
const PAPER: &str = "Figures of Theo Jepsen, Stephen Ibanez, Gregory Valiant and Nick McKeown, \
    \u{201c}From Sand to Flour: The Next Leap in Granular Computing with NanoSort\u{201d} (<a \
    href=\"https://arxiv.org/abs/2204.12615\">arXiv 2204.12615</a>, 2022)";

/// The introduction of the paper's page.
const OF_PAPER: &str = "its programs of tiny tasks, on simulated nanoPU cores, NICs and switches. \
    All times are simulated: they follow from the machine\u{2019}s description and the seeds alone, \
    and are the same on every computer. A claim is a fit if a cost of the machine, or a reading, was \
    chosen with its figure in sight: it shows only that the simulator adds up. Nothing was adjusted to \
    the others, which are predicted. The paper leaves some choices open. Four readings of it are run, \
    named by their source, though no source has all choices: \u{201c}program-june\u{201d} and \
    \u{201c}program-july\u{201d}, two states of the program that its authors published; \
    \u{201c}text\u{201d}, the paper\u{2019}s words; and \u{201c}lock-step\u{201d}, both together, \
    fixed before the figures were run but for one choice.";

fn titles(about: &About, figures: &[Figure]) -> (String, String) {
    let version = escaped(&about.version);
    let Some(title) = &about.title else {
        let lead = format!("{PAPER}, run again by Gristmill {version}: ");
        return (TITLE.to_owned(), lead + OF_PAPER);
    };
    let is_real = |figure: &Figure| figure.machine == "threads";
    let times = if figures.iter().any(is_real) {
        "Times on the machine \u{201c}threads\u{201d} were measured on one computer; all others are \
         simulated."
    } else {
        "All times are simulated: they follow from the machine\u{2019}s description and the seeds \
         alone, and are the same on every computer."
    };
    (
        escaped(title),
        format!("Run by Gristmill {version}. {times}"),
    )
}

fn head(about: &About, figures: &[Figure]) -> String {
    let (title, lead) = titles(about, figures);
    let verdict = about
        .verdict
        .iter()
        .map(|verdict| paragraph("verdict", &escaped(verdict)));
    let verdict: String = verdict.collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; img-src data:\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         {verdict}<p class=\"lead\">{lead}</p>\n"
    )
}

fn contents(figures: &[Figure], links: &[String]) -> String {
    if figures.is_empty() {
        return "<p>There are no figures.</p>\n".to_owned();
    }
    let item = |(figure, link): (&Figure, &String)| {
        let (title, source) = (escaped(&figure.title), escaped(&figure.source));
        format!("<li><a href=\"#{link}\">{title}</a> <span class=\"soft\">{source}</span></li>\n")
    };
    let items: String = figures.iter().zip(links).map(item).collect();
    format!("<nav aria-label=\"Figures\">\n<h2>Figures</h2>\n<ol>\n{items}</ol>\n</nav>\n")
}
