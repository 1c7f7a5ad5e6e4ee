//! Tests of pipelines: ends and failures, reports, tuning, and a panic on a disk's thread.

mod disk_panic;
mod pipeline;
mod reports;
