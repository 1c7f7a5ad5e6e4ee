//! The distribution sort: partitions of the input, sorted one after the other (TritonSort 3,
//! NOW-Sort 6.1).
//!
//! ```text
//! phase one   sampler
//!                | splitters
//!             reader > distributor > partition buffers > spiller
//! phase two   loader > sorter > writer
//! ```
//!
//! What memory does not hold waits in spill files between the phases. The sort in one pass is the
//! case without spillers: its plan has memory for all records. A partition that came out too large
//! for memory goes through phase one by itself, as an input of its own.

use std::ops::Range;
use std::sync::Arc;

use node::{Pool, Posted, Queue, Tokens};
use pipeline::{Dial, Failure, Pipeline, StageReport};

use crate::files::output::Layout;
use crate::files::spill::Spill;
use crate::passes::wiring::{Outcome, Pools, Run, add_up};
use crate::records::block::Chunk;
use crate::records::splitters::Splitters;
use crate::report::Report;
use crate::runs::partition::{Ledger, Partition};
use crate::stages::{
    Chain, Loader, PartitionBuffers, Reloader, Seams, SpillReader, Spiller, Tally, hold, load,
    reload, spill,
};

/// When partitions are sorted, holes for less than that would take as long as reading does; and
/// nothing of the sort waits for space any more, since the output has its own.
const LEAST_RELEASED_BYTES: u64 = 256 << 10;

/// Sorts with spill files in the job's temporary directories, if the plan has any.
pub(crate) async fn distribution_sort(run: &Run<'_>) -> Result<Report, Failure> {
    let spill = run.spill();
    let sorting = DistributionSort {
        run,
        spill: spill.clone(),
    };
    let sorted = sorting.sort().await;
    spill.remove(run.node).await;
    sorted
}

/// What distributors give to the partition buffers.
pub(crate) struct Came {
    pub splitters: Posted<Splitters>,
    pub chunks: Queue<Vec<Chunk>>,
    /// Of what is partitioned again memory keeps nothing; so many chunks of other partitions stay
    /// beside it.
    pub again_beside: Option<usize>,
    /// Which part of the output it is.
    pub positions: Range<f64>,
}

/// The two phases of a run.
pub(crate) struct DistributionSort<'a> {
    pub run: &'a Run<'a>,
    pub spill: Spill,
}

impl DistributionSort<'_> {
    async fn sort(&self) -> Result<Report, Failure> {
        let run = self.run;
        let mut pipeline = run.pipeline();
        let memory = run.pools(&pipeline)?;
        let (splitters, chunks) = match &run.exchange {
            Some(exchange) => exchange.start(run, &mut pipeline, &memory)?,
            None => {
                let splitters = pipeline.owns(Posted::new(run.node, "splitters"));
                let chunks = run.start_input(&mut pipeline, &splitters, &memory);
                (splitters, chunks)
            }
        };
        let came = Came {
            splitters,
            chunks,
            again_beside: None,
            positions: 0.0..1.0,
        };
        let (mut partitions, mut stages) = self.divide(pipeline, came, &memory).await?;
        let spilled: usize = partitions.iter().map(Partition::spilled_chunks).sum();
        let mut passes = 1 + u32::from(spilled > 0);
        self.spill.trim(run.node).await;
        while partitions
            .iter()
            .any(|partition| self.is_too_large(partition))
        {
            passes += 1;
            partitions = self.again(partitions, &memory, &mut stages).await?;
        }
        let layout = self.lay_out(&partitions).await?;
        let records: u64 = partitions.iter().map(Partition::records).sum();
        run.job
            .control
            .enter("sort partitions", records * run.plan.record_bytes as u64);
        let seams = Seams::new(run.node, memory.seams.clone());
        add_up(
            &mut stages,
            self.phase_two(partitions, &layout, &memory, &seams).await?,
        );
        run.output()
            .complete(run.node, &*run.job.contents, seams.left())
            .await?;
        let (limit, needed) = (run.job.resources.memory_bytes, run.plan.needed());
        let reason = match (run.plan.spilling, run.plan.input_bytes, spilled) {
            (None, Some(bytes), _) => {
                format!("{bytes} bytes fit in memory: {needed} of {limit} bytes needed")
            }
            (None, None, _) => {
                format!("the input, of unknown length, fitted in {limit} bytes of memory")
            }
            (Some(_), _, 0) => format!("the input fitted in {limit} bytes of memory"),
            (Some(_), ..) => run.does_not_fit(),
        };
        let plan = match run.plan.spilling {
            None => "one-pass",
            Some(_) => "two-pass",
        };
        let temp_peak_bytes = self.spill.peak_bytes();
        run.report(
            stages,
            Outcome {
                plan,
                reason,
                passes,
                temp_peak_bytes,
            },
        )
    }

    /// A reader of what was spilled, to buffers of that pool.
    fn reader(&self, pool: &Pool, depth: &Dial, least_released: u64) -> SpillReader {
        SpillReader {
            contents: self.run.job.contents.clone(),
            spill: self.spill.clone(),
            depth: depth.clone(),
            pool: pool.clone(),
            chunk_bytes: self.run.plan.chunk_bytes,
            least_released,
        }
    }

    /// Whether memory does not hold a partition. It can be divided: one record is one chunk, which
    /// fits.
    pub(crate) fn is_too_large(&self, partition: &Partition) -> bool {
        let spilling = self.run.plan.spilling;
        spilling.is_some_and(|spilling| partition.spilled_chunks() > spilling.partition_chunks)
    }

    /// Divides each partition that is too large.
    pub(crate) async fn again(
        &self,
        partitions: Vec<Partition>,
        memory: &Pools,
        stages: &mut Vec<StageReport>,
    ) -> Result<Vec<Partition>, Failure> {
        self.spill.next_generation(self.run.node).await?;
        let mut all = Vec::new();
        let count = partitions.len() as f64;
        let staying = partitions
            .iter()
            .map(|partition| partition.chunks.len())
            .sum();
        for (number, partition) in partitions.into_iter().enumerate() {
            if !self.is_too_large(&partition) {
                all.push(partition);
                continue;
            }
            debug_assert!(partition.chunks.is_empty(), "all of it was spilled");
            let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
            run.job.control.enter(
                "partition again",
                partition.records() * plan.record_bytes as u64,
            );
            let mut pipeline = run.pipeline();
            let memory = &memory.of(&pipeline);
            let splitters = pipeline.owns(Posted::new(node, "splitters"));
            let blocks = pipeline.owns(Queue::new(node, "blocks", plan.read_queue(), 1));
            let fits = plan
                .spilling
                .map_or(1, |spilling| spilling.partition_chunks);
            // Twice as many as would do if they came out even.
            let buckets = (2 * partition.spilled_chunks())
                .div_ceil(fits)
                .clamp(2, plan.buckets.max(2));
            let reloader = Reloader {
                // What is read is written again: it must not take space twice.
                spilled: self.reader(&memory.chunks, &run.dials.readers, 0),
                runs: Arc::new(partition.runs),
                records: partition.spilled_records,
                buckets,
                sample: plan.most_resampled(),
                splitters: splitters.clone(),
                out: blocks.clone(),
            };
            pipeline.stage(node, "reloader", 1, async move |worker| {
                reload(worker, &reloader).await
            });
            let chunks = run.start_distributors(
                &mut pipeline,
                (&splitters, &Tally::default()),
                blocks,
                (&memory.chunks, &memory.chunks),
            );
            let positions = number as f64 / count..(number + 1) as f64 / count;
            let came = Came {
                splitters,
                chunks,
                again_beside: Some(staying),
                positions,
            };
            let (parts, did) = self.divide(pipeline, came, memory).await?;
            add_up(stages, did);
            all.extend(parts);
            self.spill.trim(node).await;
        }
        Ok(all)
    }

    /// Divides what comes into partitions.
    pub(crate) async fn divide(
        &self,
        mut pipeline: Pipeline,
        came: Came,
        memory: &Pools,
    ) -> Result<(Vec<Partition>, Vec<StageReport>), Failure> {
        let (node, plan) = (self.run.node, &self.run.plan);
        let dials = &self.run.dials;
        let Came {
            splitters,
            chunks,
            again_beside,
            positions,
        } = came;
        let limits = plan.limits();
        let ledger = pipeline.owns(Ledger::new(node));
        let files = pipeline.owns(self.spill.clone());
        let (each, spillers) = plan
            .spilling
            .map_or((0, 0), |spilling| (spilling.tokens(), spilling.spillers));
        let directories = 0..plan.spilling.map_or(0, |spilling| spilling.directories) as u32;
        let all_tokens = directories
            .clone()
            .flat_map(|directory| vec![directory; each])
            .collect();
        let tokens = pipeline.owns(Tokens::new(node, "write tokens", all_tokens));
        let chains = directories.map(|_| pipeline.owns(Queue::new(node, "chains", each, 1)));
        let chains: Vec<Queue<Chain>> = chains.collect();
        let buffers = PartitionBuffers {
            splitters,
            chunks,
            limits: again_beside.map_or(limits, |staying| limits.beside(staying)),
            keeps: again_beside.is_none(),
            positions,
            tokens: tokens.clone(),
            out: chains.clone(),
            ledger: ledger.clone(),
            record_bytes: plan.record_bytes,
            chunk_bytes: plan.chunk_bytes,
            tuner: self.run.tuner.clone(),
        };
        pipeline.stage(node, "partition buffers", 1, async move |worker| {
            hold(worker, &buffers).await
        });
        for chains in chains {
            let spiller = Spiller {
                contents: self.run.job.contents.clone(),
                chains,
                tokens: tokens.clone(),
                spill: files.clone(),
                depth: dials.spillers.clone(),
                pool: memory.chunks.clone(),
                ledger: ledger.clone(),
            };
            let stage = dials.stage("spiller", spillers, 0);
            let stage = stage.dial("depth", &dials.spillers);
            pipeline.start(node, stage, async move |worker| {
                spill(worker, &spiller).await
            });
        }
        let mut stages = Vec::new();
        add_up(&mut stages, pipeline.join(node).await?);
        Ok((ledger.take(node).await, stages))
    }

    /// Where the partitions go, whose sizes are known.
    async fn lay_out(&self, partitions: &[Partition]) -> Result<Layout, Failure> {
        let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
        let sizes: Vec<u64> = partitions.iter().map(Partition::records).collect();
        if plan.input_bytes.is_none() {
            let output_bytes = sizes.iter().sum::<u64>() * plan.record_bytes as u64;
            run.output().reserve(node, output_bytes).await?;
        }
        run.output().learn(node, &self.spill.rates()).await;
        run.output().lay_out(node, &sizes, plan.record_bytes).await
    }

    /// Sorts the partitions one after the other, several at once, into the output.
    pub(crate) async fn phase_two(
        &self,
        mut partitions: Vec<Partition>,
        layout: &Layout,
        memory: &Pools,
        seams: &Seams,
    ) -> Result<Vec<StageReport>, Failure> {
        let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
        let mut pipeline = run.pipeline();
        let memory = &memory.of(&pipeline);
        let all = pipeline.owns(Queue::new(node, "partitions", partitions.len().max(1), 1));
        for &index in &layout.order {
            let Partition { chunks, runs, .. } = std::mem::take(&mut partitions[index]);
            all.push(node, (layout.bucket(index, chunks), runs)).await?;
        }
        all.finish(node).await;
        let buckets = pipeline.owns(Queue::new(node, "buckets", plan.sorters, 1));
        let loader = Loader {
            spilled: self.reader(&memory.chunks, &run.dials.loader, LEAST_RELEASED_BYTES),
            partitions: all,
            out: buckets.clone(),
        };
        let stage = run
            .dials
            .stage("loader", 1, 0)
            .dial("depth", &run.dials.loader);
        pipeline.start(node, stage, async move |worker| load(worker, &loader).await);
        run.start_output(&mut pipeline, &buckets, memory, seams);
        pipeline.join(node).await
    }
}
