//! Tests of the real node: files and their permissions, panics, and
//! system calls.
//!
//! Some tests run this program again, as another user or under a tracer, with one test alone.

#[path = "../common/strace.rs"]
mod strace;

mod compressed;
mod fallback;
mod nobody;
mod panics;
mod paths;
mod seen;
mod syscalls;
mod trust;
