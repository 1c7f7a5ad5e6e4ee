//! A simulated machine, in two forms.
//!
//! [`Cluster`] simulates the machine of the NanoSort paper (sections 2, 5.1): cores, four behind a
//! NIC, with leaf and spine switches, under a virtual clock in ticks of the profile.
//!
//! ```text
//!   program (async fn) --- Node --- TaskBackend: the cost of each verb
//!                                      |
//!          tasks, ranks, queues     cores/      a clock per task
//!                                      |
//!          transmit window, ACKs    nic/        a NIC simulates a window with its cores
//!                                      |
//!          ports, trimming          network/    a switch simulates a window, link by link
//!                                               (topology: trees, and graphs of a file)
//!                                      |
//!          events, wake-ups         schedule/   a clock per block, an event queue per NIC
//!
//!   cluster/: blocks (a leaf with its NICs, or a higher switch) simulate window after window,
//!             on any number of threads
//! ```
//!
//! The parts write notes of waits and messages (log.rs) if a run is asked for its [`CriticalPath`],
//! which path.rs finds in them.
//!
//! Results do not depend on the number of threads, and no memory is kept per pair of cores. A run
//! that cannot continue ends with [`Stuck`], which says which core waits for what.
//!
//! [`Driver`] is the deterministic driver of tests: one thread, with no latency unless requested.
//! One seed decides a run: it orders the tasks and events that are ready at the same tick, and lets
//! a task yield before it touches shared state, so a thousand seeds are a thousand schedules (the
//! method of FoundationDB's and TigerBeetle's simulators). Its nodes can be killed after any event,
//! and its links can be cut or slow.
//!
//! Both have [`MemoryDisks`]: files in memory, with a disk model, faults by number, and crashes.

mod cluster;
mod cores;
mod driver;
mod log;
pub mod mapper;
mod network;
mod nic;
mod path;
mod profile;
mod report;
mod schedule;
mod server;
mod setting;
pub mod text;
#[cfg(test)]
mod tiny;

pub use cluster::{Cluster, Outcome};
pub use disk::{Device, DiskModel, Durability, Fault, Limit, MemoryDisks, Rates, Traffic, Usage};
pub use driver::{
    Back, Cut, Driver, FirstTouch, FlowWindow, Losses, NodeLink, Passage, Strike, SwitchPort,
};
pub use profile::{
    CoreModel, Graph, LinkModel, LinkTimes, Nanoseconds, NetworkModel, NicModel, Profile,
    ProfileError, Raised, SwitchModel, Ways,
};
pub use report::{Counts, Report, RunError, Sent, Slice, StageTimes, Stuck, Watch, Windows};
pub use report::{CriticalPath, PathKind, Segment};
pub use schedule::Ticks;
pub use server::{
    DiskGroup, Holds, Most, Server, ServerError, ServerNetwork, ServerNode, SharedBus, StageCost,
};
pub use setting::{Multicast, Queues, Sample, Setting, SetupError, Transport, parts};
