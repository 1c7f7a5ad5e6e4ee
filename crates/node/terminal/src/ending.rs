//! How the command ends: exit codes, one line for each failure, no files left behind.
//!
//! ```text
//!   codes > failure > say > scratch > signals          each uses modules to its left
//!                        > usage
//! ```

pub mod codes;
pub mod failure;
pub mod say;
pub mod scratch;
pub mod signals;
pub mod usage;

use std::process::ExitCode;

use failure::{CliFailure, Exit};

/// Ends a command: reports its failure, and returns its exit code.
pub fn end(ended: Result<Exit, CliFailure>) -> ExitCode {
    scratch::give_way_to_signal();
    match ended {
        Ok(exit) => exit.code(),
        Err(failure) => failure.tell(),
    }
}
