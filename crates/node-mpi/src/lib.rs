//! Messages between machines over MPI: a [`node::backend::Network`] below the nodes of
//! `node-real`. A run on one machine needs none of it.
//!
//! ```text
//!   tasks of this process --- Session (post, fetch) --- Outbox
//!                                                         |  one communication thread
//!                                                       Engine: batches, credits, rendezvous
//!                                                         |
//!                                                       Wire
//!                                                      /          \
//!                                        ffi: MPI, through     local: within a process,
//!                                        a shim in C           for tests of the protocol
//! ```
//!
//! MPI is not linked: a shim that `make mpi` compiles is opened when a launcher has started this
//! process ([`TRANSPORT`]), so one binary runs with any MPI library and without one. See
//! `docs/decisions/0015-mpi.md`.
//!
//! A run does not continue without a peer: the first failure ends every process, and the next run
//! continues from the last phase that was made durable.

mod engine;
mod ffi;
mod frame;
mod hearing;
mod outbox;
mod session;
mod wire;

pub use ffi::{Shim, shim};
pub use session::{Session, TRANSPORT};
pub use wire::AllToAll;
