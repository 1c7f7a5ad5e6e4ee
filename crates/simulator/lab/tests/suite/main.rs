//! Runs of programs and experiments through the crate's public functions.

mod anchors;
mod readings;
mod snapshots;
mod workers;
