//! A simulated machine; in this first form the deterministic driver of tests.
//!
//! One thread, virtual time in nanoseconds, zero latency unless asked for. One seed decides a run:
//! it permutes the tasks and events that are ready at the same tick, and lets a task yield before
//! it touches something shared, so a thousand seeds are a thousand schedules (the method of
//! FoundationDB's and TigerBeetle's simulators).
//!
//! ```text
//!   Driver::run --- tasks (futures) --- TaskBackend: the clock of one task
//!        |                                   |
//!      World: now, ready tasks, timed events, random stream
//!        |
//!   MemoryDisks: files in memory, a disk model, faults by number
//! ```
//!
//! A run in which every task waits and nothing is to come is [`Stuck`], not a hang: it says which
//! task waits for what.

mod backend;
mod block;
mod bulk;
mod cluster;
mod disk;
mod driver;
mod engine;
mod exchange;
mod fault;
mod inner;
mod medium;
mod meter;
mod nic;
mod packet;
mod port;
mod profile;
mod rank;
mod report;
mod ring;
mod setting;
mod slab;
mod switch;
mod task;
mod timeline;
#[cfg(test)]
mod tiny;
mod topology;

pub use cluster::{Cluster, Outcome, Watch};
pub use disk::{DiskModel, MemoryDisks};
pub use driver::Driver;
pub use fault::Fault;
pub use profile::{CoreModel, NetworkModel, NicModel, Profile, ProfileError};
pub use report::{Counts, Report, RunError, Slice, StageTimes, Stuck, Windows};
pub use setting::{Queues, Setting, SetupError, parts};
