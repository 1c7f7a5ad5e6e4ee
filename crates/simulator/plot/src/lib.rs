//! Charts of experiments as one HTML file: figures in, page out.
//!
//! ```text
//!   Figure: charts, claims, breakdown (plain data, also JSON)
//!      |
//!      +-- chart      axis, plane, labels, sign; data (its table)
//!      +-- tree       merge trees
//!      +-- claims     the paper's figures beside ours; standing, grid (of every reading)
//!      +-- picture    all cores over time, path (the critical one); stages (box plots, colours)
//!      |
//!   page: one file without scripts, fonts or links to the network
//! ```
//!
//! The crate knows no simulator. A [`Figure`] is plain data, so results can be kept as JSON and
//! drawn later.

mod axis;
mod chart;
mod claims;
mod data;
#[cfg(test)]
mod example;
mod figure;
mod grid;
mod labels;
mod page;
mod path;
mod picture;
mod plane;
mod section;
mod sign;
mod stages;
mod standing;
mod text;
mod tree;

pub use figure::{
    Axis, Breakdown, Chart, Check, Claim, Figure, Grid, Link, Mark, Outcome, Path, PathStage,
    Picture, Point, Reading, Scale, Series, SetBy, Size, Spread, StageSpread, Tree,
};
pub use page::{About, page};
pub use standing::{Standing, tallies};
pub use text::plain;
