//! A merge sort of a pipe that meets a line for which its plan has no room.
//!
//! ```text
//! pipe         |.. short lines ..|.. a longer line, and the rest ..|
//! first plan   runs, on disk     |                                     small chunks: few passes
//!              > merged into runs with chunks of the second plan
//! second plan                    | runs                            |   large chunks
//!              > all runs are merged
//! ```
//!
//! A file would be read again from its start; what came from a pipe is here already, as sorted runs. They are
//! written once more, which most pipes never need.

use pipeline::{Failure, StageReport};

use super::{Formed, Memory, MergeSort};
use crate::names::Phase;
use crate::passes::report::{Outcome, add_up};
use crate::passes::wiring::RunContext;
use crate::plan::READS_AHEAD;
use crate::runs::sorted_run::SortedRun;
use crate::stages::RestOfPipe;

impl MergeSort<'_> {
    /// Sorts the rest by the plan for longer lines, and merges all.
    pub(super) async fn go_on(
        &self,
        (runs, mut stages, memory): Formed,
        rest: RestOfPipe,
    ) -> Result<(Vec<StageReport>, Outcome), Failure> {
        // All runs are on disk. Its memory is for the other plan.
        drop(memory);
        let job = self.run.job;
        let plan = self.run.plan.longer.as_deref();
        let plan = plan.expect("a pipe is cut for another plan").clone();
        let merging = plan.merging.expect("it merges, too");
        let pack = plan.pack(job.pack);
        let spill = if pack == self.run.plan.pack(job.pack) {
            self.spill.clone()
        } else {
            self.spill.clone().packed(pack)
        };
        let run = RunContext {
            plan,
            ..self.run.clone()
        };
        let mut longer = MergeSort {
            run: &run,
            merging,
            spill,
            sifter: self.sifter.clone(),
            cut: None,
            before: None,
        };
        let mut all = self.rewrite(runs, &longer, &mut stages).await?;
        longer.before = Some(all.len());
        job.control.enter(Phase::Sort.name(), 0);
        let (runs, did, memory) = longer.form_runs(Some(rest)).await?;
        all.extend(runs);
        add_up(&mut stages, did);
        longer.merge((all, stages, memory)).await
    }

    /// Merges runs into longer ones with chunks of another plan.
    async fn rewrite(
        &self,
        runs: Vec<SortedRun>,
        longer: &MergeSort<'_>,
        stages: &mut Vec<StageReport>,
    ) -> Result<Vec<SortedRun>, Failure> {
        if runs.is_empty() {
            return Ok(runs);
        }
        let memory = self.memory_beside(longer)?;
        let most = (memory.loaded.idle() / READS_AHEAD)
            .min(self.fan_in())
            .max(1);
        let (mut left, mut rewritten) = (runs, Vec::new());
        while !left.is_empty() {
            let behind = left.split_off(most.min(left.len()));
            let group = std::mem::replace(&mut left, behind);
            let run = self.merge_group(group, &memory, longer, stages).await?;
            rewritten.push(run);
        }
        Ok(rewritten)
    }

    /// Memory of this plan, of which the only merger fills and writes chunks of the other.
    fn memory_beside(&self, longer: &MergeSort<'_>) -> Result<Memory, Failure> {
        let (run, plan, other) = (self.run, &self.run.plan, &longer.run.plan);
        let pipeline = run.pipeline();
        let written = (longer.merging.chain * other.depth, other.chunk_bytes);
        let rest = (plan.chunks * plan.chunk_bytes).saturating_sub(written.0 * written.1);
        let chunks = plan.chunks_loaded().min(rest / plan.chunk_bytes);
        let loaded = (chunks.max(READS_AHEAD), plan.chunk_bytes);
        Ok(Memory {
            loaded: run.pool(&pipeline, "memory for records", loaded)?,
            written: run.pool(&pipeline, "chunks of runs", written)?,
        })
    }
}
