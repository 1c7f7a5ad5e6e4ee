//! `libgristmill`: sorts the records of programs in C (docs/c.md).
//!
//! ```text
//! C program > border: pointers become references, panics become statuses > Sorter > gristmill
//! ```
//!
//! The header is written by hand, and a test compares it with `border`. A sorter is locked
//! while a call uses it: a second thread gets a status and does not wait.

mod border;
mod fault;
mod key;
mod options;
mod sorter;
