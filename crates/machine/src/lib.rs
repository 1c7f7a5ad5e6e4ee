//! A simulated machine, in two forms.
//!
//! [`Cluster`] is the machine that NanoSort's programs ran on (sections 2, 5.1): cores, four behind
//! a NIC, leaf and spine switches, under one virtual clock in the profile's ticks.
//!
//! ```text
//!   program (async fn) --- Node --- TaskBackend: each verb, with its cost
//!                                      |
//!          tasks, ranks, queues     cores/      a clock for each task
//!                                      |
//!          transmit window, ACKs    nic/        runs a window through with its cores
//!                                      |
//!          ports, trimming, casts   network/    a switch runs a window through link by link
//!                                      |
//!          events, wake-ups         schedule/   a clock for each block, an event queue for each NIC
//!
//!   cluster/: blocks (a leaf, or a switch above) run window after window, on any number of threads
//! ```
//!
//! A run never depends on the number of threads, never keeps memory for each pair of cores, and
//! never waits for ever ([`Stuck`] says which core waits for what).
//!
//! [`Driver`] is the deterministic driver of tests: one thread, zero latency unless asked for. One
//! seed decides a run: it permutes the tasks and events that are ready at the same tick, and lets a
//! task yield before it touches something shared, so a thousand seeds are a thousand schedules (the
//! method of FoundationDB's and TigerBeetle's simulators).
//!
//! Both have [`MemoryDisks`]: files in memory, a disk model, faults by number, and what a crash
//! leaves. A node of the driver can be killed after any event, and its links can be cut, or be
//! late.

mod cluster;
mod cores;
mod disk;
mod driver;
mod network;
mod nic;
mod profile;
mod report;
mod schedule;
mod setting;
pub mod text;
#[cfg(test)]
mod tiny;

pub use cluster::{Cluster, Outcome};
pub use disk::{DiskModel, Durability, Fault, MemoryDisks};
pub use driver::{Back, Cut, Driver, Passage, Strike};
pub use profile::{CoreModel, Nanoseconds, NetworkModel, NicModel, Profile, ProfileError};
pub use report::{Counts, Report, RunError, Sent, Slice, StageTimes, Stuck, Watch, Windows};
pub use schedule::Ticks;
pub use setting::{Queues, Sample, Setting, SetupError, parts};
