//! Tests of the network between processes: within this process, and over MPI where there is one.
//!
//! Tests over MPI start this program again under `mpirun`, as several ranks of one test.

#[path = "../common/launch.rs"]
mod launch;

mod conformance;
mod failures;
mod in_process;
mod sessions;
