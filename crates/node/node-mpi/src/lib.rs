//! Messages between processes over MPI: a [`node::backend::Network`] below the nodes of
//! `node-real`. A run in one process does not use it.
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
//! MPI is not linked. `make mpi` compiles a shim, which is opened when a launcher has started this
//! process ([`Session::start`]), so one binary runs with any MPI library and without one. See
//! `docs/decisions/0015-mpi.md`.
//!
//! A run does not continue without a peer: the first failure ends every process.

mod engine;
mod ffi;
mod frame;
mod last_heard;
mod outbox;
mod session;
mod wire;

pub use ffi::{Shim, shim};
pub use session::Session;
pub use wire::AllToAll;
