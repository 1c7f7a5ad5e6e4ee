//! Groups of neighbouring runs, each merged into a longer run (Knuth 5.4.9).

use node::Posted;
use pipeline::{Failure, Pipeline, StageReport};

use super::reading::MergedInto;
use super::{Memory, MergeSort};
use crate::names::{Phase, StageName};
use crate::passes::report::add_up;
use crate::records::size::Size;
use crate::runs::sorted_run::{SortedRun, Stretch, groups};
use crate::stages::RunMerger;

impl MergeSort<'_> {
    /// Merges groups of neighbours, until one merge can read all runs.
    pub(super) async fn merge_groups(
        &self,
        runs: Vec<SortedRun>,
        memory: &Memory,
        stages: &mut Vec<StageReport>,
    ) -> Result<Vec<SortedRun>, Failure> {
        let mut left = runs.into_iter();
        let sizes = groups(left.len(), self.fan_in());
        let mut merged = Vec::new();
        for size in sizes {
            let mut group: Vec<SortedRun> = left.by_ref().take(size).collect();
            // A run on disk leaves no memory for long records of an input beside it, and a pipe has got
            // what came before them.
            let may_be_long = group[0].input().is_some() && !self.run.plan.framing.is_fixed();
            if size == 1 && !(may_be_long && self.run.is_sequential()) {
                merged.append(&mut group);
                continue;
            }
            merged.push(self.merge_group(group, memory, self, stages).await?);
        }
        Ok(merged)
    }

    /// run reader > merger, into one longer run with the chunks of `into`
    pub(super) async fn merge_group(
        &self,
        group: Vec<SortedRun>,
        memory: &Memory,
        into: &MergeSort<'_>,
        stages: &mut Vec<StageReport>,
    ) -> Result<SortedRun, Failure> {
        let (run, node) = (self.run, self.run.node);
        let size: Size = group.iter().map(SortedRun::size).sum();
        let writes = 1 + group.iter().map(|run| run.writes).max().unwrap_or(0);
        run.job.control.enter(Phase::MergeRuns.name(), size.bytes);
        let mut pipeline = Pipeline::new(&run.job.control);
        let merged = pipeline.owns(Posted::new(node, "the merged run"));
        let sources = self.start_reading(&mut pipeline, group, MergedInto::Run, memory);
        let chains = into.chains(&pipeline, pipeline.owns(memory.written.clone()));
        let merger = RunMerger {
            sources,
            chains,
            tally: run.tally.clone(),
            merged: merged.clone(),
        };
        pipeline.stage(node, StageName::RunMerger, 1, async move |worker| {
            crate::stages::merge_run(worker, &merger).await
        });
        add_up(stages, pipeline.join(node).await?);
        into.spill.end_stripes(node).await?;
        let merged = merged.read(node).await.map_err(|_| Failure::Closed)?;
        let stretches = merged.iter().copied().map(Stretch::Disk).collect();
        Ok(SortedRun { stretches, writes })
    }
}
