//! Experiments: a program, on a machine, with parameters and seeds, and what came of it.
//!
//! ```text
//!   name, options -----> Listing --> Parameters: a program, type forgotten --.
//!   machine, Changes --> Place: a simulated machine, or threads -------------+--> Job --> SimReport
//!   first seed, runs --> Seeds ----------------------------------------------'             |  |
//!                                                                                  JSON ---'  trace
//!   a trial (the sort of users, on nodes of a seed's schedule) is a Listing, too, on the driver
//!   experiments/<paper>/<figure>.toml --> a plan: every Job once --> runs, side by side
//!                                                                      |
//!                           curves beside the paper's points, claims --'--> Figure --> JSON
//! ```
//!
//! The program's time is what its paper's figure shows: the end of the last core, what one core was
//! busy in a stage, or the time between two points of a NIC. Everything is a sum or a quantile of
//! whole ticks until it becomes microseconds for people, so that the threads of this computer leave
//! no trace in a report.
//!
//! It refuses to compare runs of different machines under one name: a report holds the hash of the
//! machine's file.

mod changes;
mod error;
pub mod experiment;
pub mod figure;
mod job;
mod json;
mod many;
mod observer;
pub mod page;
mod parameters;
mod place;
mod programs;
mod report;
pub mod results;
mod room;
mod run;
mod spread;
pub mod trace;
pub mod trial;

pub use changes::{Changes, Switch};
pub use error::LabError;
pub use grain::units;
pub use job::{Job, Seeds};
pub use observer::{Observer, Seen, Tally};
pub use parameters::Parameters;
pub use place::{DRIVER, Place, THREADS, is_built_in, machines};
pub use programs::{Listing, programs};
pub use report::{QUANTILES, RunReport, SimReport, Simulated, StageReport};
pub use spread::{Spread, quantile};
