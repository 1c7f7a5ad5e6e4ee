//! Runs of programs and experiments through the crate's public functions.

mod anchors;
mod snapshots;
mod workers;
