//! Phase two: partitions are read back, sorted and written.

use node::{Queue, Tokens};
use pipeline::{Failure, StageReport, sharing};

use super::{DistributionSort, LEAST_RELEASED_BYTES};
use crate::files::output::Layout;
use crate::names::StageName;
use crate::passes::wiring::Pools;
use crate::runs::partition::Partition;
use crate::stages::{Kept, Loader, Partitions, Ready, Seams, Waiting, load};

impl DistributionSort<'_> {
    /// Workers that read so many partitions back. Several finish them in any order: not if partitions that
    /// were divided again are more than the plan has seams for.
    fn loaders(&self, partitions: usize) -> usize {
        let plan = &self.run.plan;
        let planned = plan.spilling.map_or(1, |spilling| spilling.loaders);
        if partitions > plan.buckets {
            1
        } else {
            planned
        }
    }

    /// Sorts the partitions into the output in the layout's order, several at once.
    pub(super) async fn write_partitions(
        &self,
        mut partitions: Vec<Partition>,
        layout: &Layout,
        memory: &Pools,
        seams: &Seams,
    ) -> Result<Vec<StageReport>, Failure> {
        let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
        let mut pipeline = run.pipeline();
        let memory = &memory.of(&pipeline);
        let loaders = self.loaders(partitions.len());
        let mut kept = |index: usize| {
            let Partition { chunks, runs, .. } = std::mem::take(&mut partitions[index]);
            (layout.bucket(index, chunks), runs)
        };
        let partitions = if loaders > 1 {
            // Files are in directories in turn, unless these cannot have holes.
            let loader = |(_, runs): &Kept, index: usize| {
                let file = runs.first().map(|run| run.extent(plan.chunk_bytes).file);
                file.unwrap_or(index) % loaders
            };
            let all = layout.order.iter().map(|&index| {
                let kept = kept(index);
                let loader = loader(&kept, index);
                (kept, loader, layout.directory(index))
            });
            let waiting = Waiting::new(node, loaders, all);
            let turn = pipeline.owns(Tokens::new(node, "memory of a partition", vec![0]));
            Partitions::ByDisk { waiting, turn }
        } else {
            let all = pipeline.owns(Queue::new(node, "partitions", layout.order.len().max(1), 1));
            for &index in &layout.order {
                all.push(node, kept(index)).await?;
            }
            all.finish(node).await;
            Partitions::InOrder(all)
        };
        let buckets = pipeline.owns(Queue::new(node, "buckets", plan.sorters, loaders));
        let loader = Loader {
            spilled: self.reader(&memory.chunks, plan.loads(), LEAST_RELEASED_BYTES),
            partitions,
            out: buckets.clone(),
        };
        pipeline.stage(node, StageName::Loader, loaders, sharing(loader, load));
        let ready = Ready::new(buckets, layout);
        run.start_output(&mut pipeline, ready, memory, seams)?;
        pipeline.join(node).await
    }
}
