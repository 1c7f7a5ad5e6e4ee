//! The end of the command: exit codes, one line for each failure, and nothing left behind.
//!
//! ```text
//!   codes > failure > say > scratch > signals          each uses those to its left
//!                        > usage
//! ```

pub mod codes;
pub mod failure;
pub mod say;
pub mod scratch;
pub mod signals;
pub mod usage;
