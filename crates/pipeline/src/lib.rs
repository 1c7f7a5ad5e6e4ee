//! Stages, workers and meters: TritonSort's staged pipeline over one node's verbs.
//!
//! A stage is some workers that run the same `async fn`; units flow through bounded queues, buffers
//! come from pools (TritonSort, section 3.1). A worker asks for them through its [`Worker`], which
//! knows what it waited for:
//!
//! ```text
//!            starved                busy               blocked
//!   queue ---- pop ---> [ worker: disks and work ] --- push ---> queue
//!                            take <--- pool (blocked)
//! ```
//!
//! So every run ends with TritonSort's Figure 8: who was busy, who starved, who was blocked, and
//! the bottleneck by name.
//!
//! Of a stage's workers some may be parked at its gate, and workers look at dials for how much to
//! do at a time: a [`Tuner`] moves both to the bottleneck while the pipeline runs (TritonSort 6.2).
//!
//! A failure or panic of one worker is recorded once and closes everything of the pipeline; the
//! others are sent home with `Closed`, and [`Pipeline::join`] awaits all ends. It refuses to know
//! what a unit is.

mod clock;
mod control;
mod dial;
mod failure;
mod gate;
mod meter;
mod stage;
mod tuner;
mod worker;

pub use control::{Control, Heard, Pipeline, Progress};
pub use dial::Dial;
pub use failure::Failure;
pub use meter::{StageReport, bottleneck};
pub use stage::Stage;
pub use tuner::{Move, Tuner};
pub use worker::Worker;
