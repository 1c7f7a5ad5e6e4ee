//! Sweeps: the ways to vary options.
//!
//! ```text
//!   dials, each an option with its values --.
//!     each value of one: a [[series]]       +--> readings: a value for each dial --> recipes --> jobs
//!     all combinations: the [[grid]]s       |        ^                                   |
//!     a search: `sim tune` -----------------'        '--- the best so far, with others --'
//! ```
//!
//! [`all`] is the first two: the readings of one dial are its values.

mod dial;
mod recipe;
mod report;
mod search;
mod tuning;

pub use dial::{Choice, Dial, Reading, Scalar};
pub(crate) use dial::{Values, all, at_size, check_values, instead, meant, unknown};
pub(crate) use recipe::{MACHINE, Recipe, check_option, check_program};
pub use report::{Confirmed, TuneReport};
pub use search::{Ended, Figures, Outcome, Tried};
pub use tuning::Tuning;
