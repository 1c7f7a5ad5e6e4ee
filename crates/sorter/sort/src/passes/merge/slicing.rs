//! Several mergers, and the slicer before them.

use std::sync::Arc;

use node::{Pool, Queue};
use pipeline::{Failure, Pipeline, sharing};

use super::MergeSort;
use crate::names::StageName;
use crate::records::block::{BLOCK_BYTES, Piece};
use crate::stages::{Outlet, Outs, Seams, SliceMerger, Slicer, Sources, Turn, merge_slices, slice};

impl MergeSort<'_> {
    /// Mergers into the output. Records that are dropped on the way have no places before others are
    /// merged, so one merger drops them.
    pub(super) fn mergers(&self) -> usize {
        let job = self.run.job;
        let are_all_kept = job.top.is_none() && !job.contents.is_unique();
        if are_all_kept && job.contents.comparison().is_some() {
            self.merging.mergers
        } else {
            1
        }
    }

    /// Starts slicer > mergers. Returns the pieces that they hand on.
    pub(super) fn start_slices(
        &self,
        pipeline: &mut Pipeline,
        sources: Sources,
        (file, mergers): (usize, usize),
        pool: Pool,
    ) -> Result<Queue<Piece>, Failure> {
        let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
        let order = run.job.contents.comparison().expect("real records");
        let slices = pipeline.owns(Queue::new(node, "slices", 1, 1));
        let pieces = pipeline.owns(Queue::new(node, "pieces", mergers, mergers + 1));
        let seams = (plan.merge_seams(), BLOCK_BYTES as usize);
        let is_sequential = run.is_sequential();
        let seams = if is_sequential {
            None
        } else {
            Some(Seams::new(node, run.pool(pipeline, "seam buffers", seams)?))
        };
        let outlet = Outlet {
            pool,
            seams,
            out: Outs::new(vec![pieces.clone()], Vec::new()),
        };
        let slicer = Slicer {
            sources: sources.clone(),
            order,
            most: self.slice_bytes(mergers),
            output: Arc::clone(run.output()),
            file,
            slices: slices.clone(),
            outlet: outlet.clone(),
        };
        pipeline.stage(node, StageName::Slicer, 1, sharing(slicer, slice));
        let merger = SliceMerger {
            sources,
            slices,
            unit_bytes: plan.unit_bytes,
            file,
            outlet,
            turn: is_sequential.then(|| pipeline.owns(Turn::new(node))),
            tally: run.tally.clone(),
        };
        pipeline.stage(
            node,
            StageName::Merger,
            mergers,
            sharing(merger, merge_slices),
        );
        Ok(pieces)
    }

    /// Bytes of a slice: one unit with the disk block around it, unless so little of all runs is in memory
    /// that few mergers would find a slice.
    fn slice_bytes(&self, mergers: usize) -> u64 {
        /// Slices that the records in memory are divided into, for each merger.
        const SLICES_OF_MERGER: u64 = 4;
        let plan = &self.run.plan;
        let unit = plan.unit_bytes as u64 - BLOCK_BYTES;
        let in_memory = (plan.chunks_loaded() * plan.chunk_bytes) as u64;
        let share = in_memory / (SLICES_OF_MERGER * mergers as u64);
        share.clamp(unit.min(LEAST_SLICE_BYTES), unit)
    }
}

/// The search for the ends of slices of 1.5 MB took a tenth of the time of their merge, of 33 runs.
const LEAST_SLICE_BYTES: u64 = 256 << 10;
