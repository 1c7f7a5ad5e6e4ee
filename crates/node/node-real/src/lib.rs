//! A node on this machine: tasks are threads, disks are files, messages pass in memory.
//!
//! ```text
//!   Cluster::run --- one thread per task --- TaskBackend: the wall clock
//!        |                                   |
//!   inboxes of all nodes                 RealDisks --- IoThreads: several requests in flight
//!                                            |
//!                                        sys::arena: aligned memory in huge pages
//! ```
//!
//! A poll may block here: a waiting task sleeps on a condition variable. The only `unsafe` code of
//! the crate is in `sys`.

mod access;
mod cluster;
mod coded;
mod descriptor;
mod disks;
mod encoded;
mod facts;
mod file;
mod io_threads;
mod names;
mod retry;
mod seen;
mod signal;
mod streams;
mod sys;
mod task;
mod unfinished;

pub use cluster::Cluster;
pub use coded::{Contents, Whole};
pub use descriptor::{allow_inherited_descriptors_only, is_descriptor, open_descriptor};
pub use disks::RealDisks;
pub use facts::{Memory, facts_of_memory, host_name, open_file_limit, peak_rss_bytes};
pub use names::obstacle;
pub use streams::{Feed, Gone, Take};
pub use sys::heap::return_large_blocks;
