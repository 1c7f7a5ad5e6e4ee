//! The two-pass sort: what memory does not hold waits on disk, in partitions (TritonSort 3).
//!
//! ```text
//! phase one   sampler
//!                | splitters
//!             reader > distributor > partition buffers > spiller
//! phase two   loader > sorter > writer
//! ```
//!
//! A partition that came out too large for memory goes through phase one by itself, as an input of its own.

use std::sync::Arc;

use node::{Posted, Queue};
use pipeline::{Failure, Pipeline, StageReport};

use crate::block::Chunk;
use crate::partition::{Ledger, Partition};
use crate::phase::{Outcome, Pools, Run};
use crate::plan::Spilling;
use crate::report::Report;
use crate::spill::Spill;
use crate::splitters::Splitters;
use crate::stages::{
    Loader, PartitionBuffers, Reloader, Spiller, Tally, hold, load, reload, spill,
};

/// Sorts with spill files in the job's temporary directories.
pub(crate) async fn two_pass(run: &Run<'_>, spilling: Spilling) -> Result<Report, Failure> {
    let spill = Spill::new(run.node, run.temporary(), run.job.resources.io);
    let sorted = TwoPass { run, spilling, spill: spill.clone() }.sort().await;
    spill.remove(run.node).await;
    sorted
}

/// What distributors give to the partition buffers.
struct Came {
    splitters: Posted<Splitters>,
    chunks: Queue<Vec<Chunk>>,
    /// Whether memory may keep some of it.
    keeps: bool,
}

/// Adds what stages did in a later phase to what those of the same names did before.
fn add_up(stages: &mut Vec<StageReport>, later: Vec<StageReport>) {
    for stage in later {
        match stages.iter_mut().find(|known| known.name == stage.name) {
            Some(known) => known.add(&stage),
            None => stages.push(stage),
        }
    }
}

struct TwoPass<'a> {
    run: &'a Run<'a>,
    spilling: Spilling,
    spill: Spill,
}

impl TwoPass<'_> {
    async fn sort(&self) -> Result<Report, Failure> {
        let run = self.run;
        let mut pipeline = Pipeline::new(&run.job.control);
        let memory = run.pools(&pipeline)?;
        let splitters = pipeline.owns(Posted::new(run.node, "splitters"));
        let chunks = run.start_input(&mut pipeline, &splitters, &memory);
        let came = Came { splitters, chunks, keeps: true };
        let (mut partitions, mut stages) = self.divide(pipeline, came, &memory).await?;
        let spilled: usize = partitions.iter().map(Partition::spilled_chunks).sum();
        let mut passes = 1 + u32::from(spilled > 0);
        while partitions.iter().any(|partition| self.is_too_large(partition)) {
            passes += 1;
            partitions = self.again(partitions, &memory, &mut stages).await?;
        }
        add_up(&mut stages, self.phase_two(partitions, &memory).await?);
        let limit = run.job.resources.memory_bytes;
        let reason = match (spilled, run.plan.input_bytes) {
            (0, _) => format!("the input fitted in {limit} bytes of memory"),
            (_, Some(bytes)) => format!("{bytes} bytes do not fit in {limit} bytes of memory"),
            (_, None) => {
                format!("the input, of unknown length, did not fit in {limit} bytes of memory")
            }
        };
        let temp_peak_bytes = self.spill.peak_bytes();
        run.report(stages, Outcome { plan: "two-pass", reason, passes, temp_peak_bytes })
    }

    /// Whether memory does not hold a partition, and it can be divided: one record cannot.
    fn is_too_large(&self, partition: &Partition) -> bool {
        partition.spilled_chunks() > self.spilling.partition_chunks && partition.records() > 1
    }

    /// Divides each partition that is too large.
    async fn again(
        &self,
        partitions: Vec<Partition>,
        memory: &Pools,
        stages: &mut Vec<StageReport>,
    ) -> Result<Vec<Partition>, Failure> {
        let mut all = Vec::new();
        for partition in partitions {
            if !self.is_too_large(&partition) {
                all.push(partition);
                continue;
            }
            let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
            run.job
                .control
                .enter("partition again", partition.records() * plan.record_bytes as u64);
            let mut pipeline = Pipeline::new(&run.job.control);
            let memory = &memory.of(&pipeline);
            let splitters = pipeline.owns(Posted::new(node, "splitters"));
            let blocks = pipeline.owns(Queue::new(node, "blocks", plan.read_queue(), 1));
            let fits = self.spilling.partition_chunks;
            // Twice as many as would do if they came out even.
            let buckets =
                (2 * partition.spilled_chunks()).div_ceil(fits).clamp(2, plan.buckets.max(2));
            let reloader = Reloader {
                contents: run.job.contents.clone(),
                runs: Arc::new(partition.runs),
                buckets,
                splitters: splitters.clone(),
                spill: self.spill.clone(),
                depth: plan.depth,
                pool: memory.chunks.clone(),
                chunk_bytes: plan.chunk_bytes,
                out: blocks.clone(),
            };
            pipeline
                .stage(node, "reloader", 1, async move |worker| reload(worker, &reloader).await);
            let chunks = run.start_distributors(
                &mut pipeline,
                (&splitters, &Tally::default()),
                blocks,
                (&memory.chunks, &memory.chunks),
            );
            let came = Came { splitters, chunks, keeps: false };
            let (parts, did) = self.divide(pipeline, came, memory).await?;
            add_up(stages, did);
            all.extend(parts);
        }
        Ok(all)
    }

    /// Divides what comes into partitions.
    async fn divide(
        &self,
        mut pipeline: Pipeline,
        came: Came,
        memory: &Pools,
    ) -> Result<(Vec<Partition>, Vec<StageReport>), Failure> {
        let (node, plan, spilling) = (self.run.node, &self.run.plan, self.spilling);
        let Came { splitters, chunks, keeps } = came;
        let ledger = pipeline.owns(Ledger::new(node));
        let chains = pipeline.owns(Queue::new(node, "chains", spilling.queue(), 1));
        let buffers = PartitionBuffers {
            splitters,
            chunks,
            held: spilling.held,
            run: spilling.run,
            pool: plan.chunks,
            most: spilling.partition_chunks,
            keeps,
            out: chains.clone(),
            ledger: ledger.clone(),
            record_bytes: plan.record_bytes,
        };
        pipeline
            .stage(node, "partition buffers", 1, async move |worker| hold(worker, &buffers).await);
        let spiller = Spiller {
            contents: self.run.job.contents.clone(),
            chains,
            spill: self.spill.clone(),
            depth: plan.depth,
            pool: memory.chunks.clone(),
            ledger: ledger.clone(),
        };
        pipeline.stage(node, "spiller", spilling.spillers, async move |worker| {
            spill(worker, &spiller).await
        });
        let stages = pipeline.join(node).await?;
        Ok((ledger.take(node).await, stages))
    }

    /// Sorts the partitions one after the other, several at once, into the output.
    async fn phase_two(
        &self,
        partitions: Vec<Partition>,
        memory: &Pools,
    ) -> Result<Vec<StageReport>, Failure> {
        let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
        let records: u64 = partitions.iter().map(Partition::records).sum();
        let output_bytes = records * plan.record_bytes as u64;
        if plan.input_bytes.is_none() {
            run.output.reserve(node, output_bytes).await?;
        }
        run.job.control.enter("sort partitions", output_bytes);
        let mut pipeline = Pipeline::new(&run.job.control);
        let memory = &memory.of(&pipeline);
        let all = pipeline.owns(Queue::new(node, "partitions", partitions.len().max(1), 1));
        for partition in partitions {
            all.push(node, partition).await?;
        }
        all.finish(node).await;
        let buckets = pipeline.owns(Queue::new(node, "buckets", plan.sorters, 1));
        let loader = Loader {
            contents: run.job.contents.clone(),
            partitions: all,
            spill: self.spill.clone(),
            depth: plan.readers * plan.depth,
            pool: memory.chunks.clone(),
            chunk_bytes: plan.chunk_bytes,
            out: buckets.clone(),
            output_bytes,
        };
        pipeline.stage(node, "loader", 1, async move |worker| load(worker, &loader).await);
        run.start_output(&mut pipeline, &buckets, memory)?;
        pipeline.join(node).await
    }
}
