//! The sorter on this computer, as a command runs it: signals, progress, ranks and launchers, the memory limit.
//!
//! ```text
//!   glance > failure > job > machine          each uses modules to its left
//!   memory, progress >                        busy stands alone
//! ```
//!
//! `gristmill` and `gristmill-bench` stand on it, so both fail, speak and clean up in the same way.

pub mod busy;
pub mod failure;
pub mod glance;
pub mod job;
pub mod machine;
pub mod memory;
mod progress;
