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
