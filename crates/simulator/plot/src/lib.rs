//! Charts of experiments as one HTML file: figures in, page out.
//!
//! ```text
//!   Figure: charts, claims, breakdown (plain data, also JSON)
//!      |
//!      +-- chart      axis, plane, labels, sign; data (its table)
//!      +-- tree       merge trees
//!      +-- claims     the paper's figures beside ours; statement, grid (of every reading)
//!      +-- picture    all cores over time, path (the critical one); stages (box plots, colours)
//!      |
//!   page: one file without scripts, fonts or links to the network
//! ```
//!
//! The crate knows no simulator. A [`Figure`] is plain data, so results can be kept as JSON and
//! drawn later.

#[cfg(all(test, feature = "page"))]
mod example;
mod figure;
#[cfg(feature = "page")]
mod page;
mod plain;
mod statement;

pub use figure::{
    Axis, Breakdown, Chart, Check, Claim, Figure, Grid, Link, Mark, Outcome, Path, PathStage,
    Picture, Point, Reading, Scale, Series, SetBy, Size, Spread, StageSpread, Tree,
};
#[cfg(feature = "page")]
pub use page::{About, page};
pub use plain::plain;
pub use statement::{StatementOutcome, tallies};
