//! LU and BT of the NAS Parallel Benchmarks, as programs for any node: threads, ranks of MPI, simulated machines; and an
//! echo of messages, the measure of what carries theirs.
//!
//! ```text
//!   lu, bt/schedule    the order of messages and work of a rank, written once
//!        |        \
//!     solver    skeleton    what it works on: numbers, or sizes alone
//!        |
//!   equations, part, field, block    what both benchmarks compute at a point
//!   mail                             messages of any length, in pieces; sums over all ranks
//! ```
//!
//! A skeleton sends the same messages in the same order and computes nothing; either may be charged for its work by a
//! rate. The numerics follow the NPB report (RNR-94-007) and are checked by its published values.

pub mod block;
pub mod bt;
pub mod class;
pub mod echo;
pub mod equations;
pub mod field;
pub mod lu;
pub mod mail;
pub mod options;
pub mod outcome;
pub mod part;

pub use bt::Bt;
pub use echo::Echo;
pub use lu::Lu;
