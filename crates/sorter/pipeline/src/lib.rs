//! Stages, workers and meters: TritonSort's staged pipeline over the verbs of a node.
//!
//! A stage has one or more workers that run the same `async fn`; units flow through bounded queues,
//! and buffers come from pools (TritonSort, section 3.1). A worker gets both through its
//! [`Worker`], which measures the waits:
//!
//! ```text
//!            starved                busy               blocked
//!   queue ---- pop ---> [ worker: disks and work ] --- push ---> queue
//!                            take <--- pool (blocked)
//! ```
//!
//! So every run ends with TritonSort's Figure 8: how long each stage was busy, starved and blocked,
//! and the name of the bottleneck.
//!
//! The first failure or panic of a worker is recorded and closes every queue and pool of the
//! pipeline, which ends the other workers with `Closed`; [`Pipeline::join`] waits for all of them.
//! The crate does not know what a unit is.

mod clock;
mod control;
mod failure;
mod meter;
mod window;
mod worker;

pub use control::{Control, Heard, Pipeline, Progress, sharing};
pub use failure::Failure;
pub use meter::{Most, StageReport, bottleneck, most_uneven};
pub use window::{Step, Window};
pub use worker::Worker;
