//! The readers of a merge, and the memory that they share.

use std::sync::Arc;

use pipeline::{Pipeline, sharing};

use super::{Memory, MergeSort};
use crate::names::StageName;
use crate::passes::merge_inputs::sorted_inputs;
use crate::plan::READS_AHEAD;
use crate::runs::arrivals::Arrivals;
use crate::runs::sorted_run::SortedRun;
use crate::stages::{LongRecords, RunReader, Runs, Sources, SpillReader, Wants, read_runs};

/// Requests for runs in flight: as many as a node's disk threads serve at once.
const MOST_IN_FLIGHT: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MergedInto {
    /// One on disk, which later merges read.
    Run,
    Output {
        mergers: usize,
    },
}

struct ReadMemory {
    /// Chunks of a read of a run on disk.
    read: usize,
    /// Idle bytes, for records that are longer than a chunk.
    idle: u64,
}

impl MergeSort<'_> {
    /// Each run on disk gets an equal share of the idle chunks for its reads.
    fn divide(&self, idle: usize, runs: &[SortedRun], into: MergedInto) -> ReadMemory {
        let on_disk = runs.iter().filter(|run| run.is_on_disk()).count();
        let inputs = runs.iter().filter(|run| run.input().is_some()).count();
        let beside =
            READS_AHEAD * (runs.len() - on_disk) + inputs * self.run.plan.chunks_beside_input();
        let free = idle.saturating_sub(beside);
        let read = (free / (READS_AHEAD * on_disk.max(1))).clamp(1, self.merging.chain);
        let needed = READS_AHEAD * (on_disk * read + runs.len() - on_disk);
        assert!(
            needed <= idle,
            "every run has its share: {needed} of {idle}"
        );
        // Longer runs have chunks like all others. Memory that was used before is not idle.
        let idle = match into {
            MergedInto::Output { .. } if on_disk == 0 => self.run.idle_beside(runs.len(), beside),
            _ => 0,
        };
        ReadMemory { read, idle }
    }

    /// Starts the readers of runs.
    pub(super) fn start_reading(
        &self,
        pipeline: &mut Pipeline,
        mut runs: Vec<SortedRun>,
        into: MergedInto,
        memory: &Memory,
    ) -> Sources {
        // Of equal records that of the first source is the first.
        if self.run.job.contents.keeps_last() {
            runs.reverse();
        }
        let wanting = match into {
            // The slicer asks, too.
            MergedInto::Output { mergers } if mergers > 1 => mergers + 1,
            _ => 1,
        };
        let (node, merging) = (self.run.node, self.merging);
        let pool = pipeline.owns(memory.loaded.clone());
        let ReadMemory { read, idle } = self.divide(pool.idle(), &runs, into);
        let chunk_bytes = self.run.plan.chunk_bytes;
        let readers = merging.run_workers;
        let wanted = READS_AHEAD * runs.len().div_ceil(readers);
        let wants = Wants::new(node, readers, (wanted, wanting));
        for queue in wants.queues() {
            pipeline.owns(queue.clone());
        }
        let sources = Sources {
            contents: Arc::clone(&self.run.job.contents),
            runs: runs.len(),
            most: match into {
                // It returns all of its buffers, which a merge that ends early does not.
                MergedInto::Run => u64::MAX,
                MergedInto::Output { .. } => self.run.job.top.unwrap_or(u64::MAX),
            },
            size: runs.iter().map(SortedRun::size).sum(),
            wants,
            arrivals: pipeline.owns(Arrivals::new(node, runs.len())),
            memory: LongRecords::new(pool.clone(), chunk_bytes, idle),
        };
        let reader = RunReader {
            spilled: SpillReader {
                contents: Arc::clone(&sources.contents),
                spill: self.spill.clone(),
                depth: MOST_IN_FLIGHT.div_ceil(readers),
                pool,
                chunk_bytes,
                least_released: 0,
            },
            runs: Runs::new(runs),
            inputs: self
                .merges_inputs()
                .then(|| sorted_inputs(self.run, &sources.memory))
                .flatten(),
            wants: sources.wants.clone(),
            arrivals: sources.arrivals.clone(),
            room: merging.chunk_room,
            read,
        };
        pipeline.stage(
            node,
            StageName::RunReader,
            readers,
            sharing(reader, read_runs),
        );
        sources
    }
}
