//! A simulated machine, in two forms.
//!
//! [`Cluster`] is the machine that NanoSort's programs ran on (sections 2, 5.1): cores, four behind a NIC,
//! leaf and spine switches, under one virtual clock in the profile's ticks.
//!
//! ```text
//!   program (async fn) --- Node --- TaskBackend   backend.rs: each verb, with its cost
//!                                      |
//!          tasks, cores, queues     rank.rs task.rs meter.rs
//!                                      |
//!          transmit window, ACKs    nic.rs nic/          events in a ring of ticks: ring.rs
//!                                      |
//!          ports, trimming, casts   switch.rs port.rs switch/     no events: once a window
//!                                      |
//!   block.rs (a leaf, or a switch above) in windows: engine.rs, exchange.rs between them
//! ```
//!
//! What it refuses: results that depend on threads, memory for each pair of cores, and programs that
//! wait for ever ([`Stuck`] says which core waits for what).
//!
//! [`Driver`] is the deterministic driver of tests: one thread, zero latency unless asked for. One
//! seed decides a run: it permutes the tasks and events that are ready at the same tick, and lets a
//! task yield before it touches something shared, so a thousand seeds are a thousand schedules (the
//! method of FoundationDB's and TigerBeetle's simulators).
//!
//! Both have [`MemoryDisks`]: files in memory, a disk model, faults by number.

mod backend;
mod block;
mod bulk;
mod cluster;
mod disk;
mod driver;
mod engine;
mod events;
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
pub use setting::{Queues, Sample, Setting, SetupError, parts};
