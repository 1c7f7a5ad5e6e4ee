//! MPI: the only `unsafe` code of the crate.
//!
//! ```text
//!   MpiWire (requests.rs)    owns the buffers of requests, so MPI's memory stays valid
//!      |
//!   Table (library.rs)       the shim's functions, one to one (shim/mpi_shim.c)
//! ```

mod exit;
mod library;
mod requests;

pub use exit::exit_now;
pub use library::{Shim, shim};
pub(crate) use requests::MpiWire;
