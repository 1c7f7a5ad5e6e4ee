//! Experiments: programs on machines, with options and seeds, and their results.
//!
//! ```text
//!   name, options -----> Listing --> Parameters: a program of any type -----.
//!   machine, Changes --> Place: a simulated machine, threads, ranks, driver -+--> Job --> SimReport
//!   first seed, runs --> Seeds ---------------------------------------------'             |  |
//!                                                                                 JSON ---'  trace
//!   experiments/<paper>/<figure>.toml --> a plan: every Job once --> runs in parallel
//!                                                                      |
//!                           curves beside the paper's points, claims --'--> plot::Figure
//!   a Job and Dials of its program --> Tuning: readings, the best, again on fresh seeds
//!
//!   load of a program --> Estimate, before a run; progress, while it lasts
//! ```
//!
//! The time of a program is the one that the paper's figure shows: the end of the last core, the
//! busy time of a core in a stage, or the time between two points of a NIC. Sums and quantiles are
//! of whole ticks and become microseconds at the end, so the threads of this computer leave no
//! trace in a report.
//!
//! Runs of different machines are never compared under one name: a report has the hash of the
//! machine's file.

mod changes;
mod error;
mod estimate;
pub mod experiment;
mod job;
mod memory;
mod observer;
mod on_driver;
mod parameters;
mod path_report;
mod place;
mod program;
mod ranks;
mod report;
pub mod results;
mod run;
mod run_queue;
mod sim_report;
pub mod spread;
mod sweep;
pub mod trace;
mod verdict;

pub use changes::{AckAggregate, Changes, Multicast, Transport};
pub use error::{LabError, Mistake};
pub use estimate::Estimate;
pub use experiment::add_experiments;
pub use job::{Job, Seeds};
pub use machine::PathKind;
pub use memory::bytes as room_bytes;
pub use observer::{Observer, Searched, Seen, Tally};
pub use on_driver::{Course, OnDriver};
pub use parameters::Parameters;
pub use path_report::{PathReport, PathSegment, PathStage};
pub use place::{DRIVER, Place, RANKS, THREADS, is_built_in, machines};
pub use program::{Listing, add, programs};
pub use ranks::{Ranks, join, joined};
pub use report::{QUANTILES, RequestReport, RunReport, Simulated, StageReport};
pub use sim_report::{SimReport, versioned};
pub use spread::{Spread, quantile};
pub use sweep::{
    Choice, Confirmed, Dial, Ended, Figures, Outcome, Reading, Scalar, Tried, TuneReport, Tuning,
};
pub use verdict::{statements, verdict};
