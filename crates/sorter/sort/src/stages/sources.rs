//! The runs that are merged, as mergers and the slicer reach them.

use std::sync::Arc;

use pipeline::{Failure, Worker};

use crate::plan::READS_AHEAD;
use crate::records::contents::Contents;
use crate::records::size::Size;
use crate::runs::arrivals::Arrivals;
use crate::stages::{LongRecords, Wants};

#[derive(Clone)]
pub(crate) struct Sources {
    pub contents: Arc<dyn Contents>,
    pub runs: usize,
    /// Records that are wanted of all of them.
    pub most: u64,
    /// Size of all of them.
    pub size: Size,
    pub wants: Wants,
    pub arrivals: Arrivals,
    /// Merged chunks go back here.
    pub memory: LongRecords,
}

impl Sources {
    /// Asks for the first reads of each run.
    pub(super) async fn ask(&self, worker: &Worker) -> Result<(), Failure> {
        for _ in 0..READS_AHEAD {
            for run in 0..self.runs {
                self.wants.add(worker, run).await?;
            }
        }
        Ok(())
    }
}
