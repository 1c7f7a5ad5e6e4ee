//! The distribution sort: partitions of the input, sorted one after the other (NOW-Sort 6.1,
//! TritonSort 3).
//!
//! ```text
//! phase one   sampler
//!                | splitters
//!             reader > distributor > partition buffers > spiller
//! phase two   loader > sorter > writer
//! ```
//!
//! One pass, if memory holds all records (NOW-Sort 6.1):
//!
//! 1. Sample the input and choose splitters (sampler). NOW-Sort assumes uniform keys instead, as
//!    `--splitters even` does.
//! 2. Read the input in large units (reader), and copy each record to its bucket (distributor).
//!    With several ranks, the exchange comes between the two.
//! 3. At the end of the input, derive the place of each bucket in the output (partition buffers).
//! 4. For each bucket: sort it, gather and check its records (sorter), and write them (writer).
//!
//! Two passes, where buckets are partitions and some of their records are spilled (TritonSort 3.3):
//!
//! 1. Sample the input (sampler).
//! 2. Read and distribute as above. When memory is full, hand the longest partition to a directory
//!    that has a write token (partition buffers; TritonSort 4.5), where it is appended to a spill
//!    file with one request (spiller; 4.3).
//! 3. Divide partitions larger than memory again (reloader, step 2); TritonSort 6.1: future work.
//! 4. Place each partition, read it back (loader), and continue as above (sorter, writer).

mod read_back;

use std::ops::Range;
use std::sync::Arc;

use node::{Pool, Posted, Queue, Tokens};
use pipeline::{Failure, Pipeline, StageReport, sharing};

use crate::files::output::Layout;
use crate::files::spill::Spill;
use crate::job::SpillLayout;
use crate::names::{Phase, StageName};
use crate::passes::report::{Outcome, add_up};
use crate::passes::wiring::{Dividing, Pools, RunContext};
use crate::records::block::Chunk;
use crate::records::size::Size;
use crate::records::splitters::Splitters;
use crate::runs::partition::{Ledger, Partition};
use crate::stages::{
    PartitionBuffers, Reloader, Seams, SpillReader, Spiller, Tally, hold, reload, spill,
};
use units::amount;

/// In phase two, holes smaller than this would take as long as reading does.
const LEAST_RELEASED_BYTES: u64 = 256 << 10;

/// Each division makes a partition less than half as large, so this is never reached.
const MOST_DIVISIONS: u32 = 64;

pub(crate) struct Distributed {
    pub splitters: Posted<Splitters>,
    pub chunks: Queue<Vec<Chunk>>,
    /// `None` if records may stay in memory. Otherwise all are spilled, while this many chunks of
    /// other partitions stay.
    pub spilled_beside: Option<usize>,
    /// The part of the output where the records belong, of 0 to 1.
    pub positions: Range<f64>,
}

pub(crate) struct Group {
    pub partitions: Vec<Partition>,
    /// Their place in the output; `None` if they are all partitions, and the output lays them out.
    pub place: Option<GroupPosition>,
}

pub(crate) struct GroupPosition {
    /// Records before it.
    pub before: Size,
    pub all: Size,
}

pub(crate) struct DistributionSort<'a> {
    pub run: &'a RunContext<'a>,
    pub spill: Spill,
}

impl DistributionSort<'_> {
    /// Phase one: divides the input into partitions. Records may stay in memory only if `keeps`.
    pub(crate) async fn divide_input(
        &self,
        memory: &Pools,
        keeps: bool,
        stages: &mut Vec<StageReport>,
    ) -> Result<Vec<Partition>, Failure> {
        let run = self.run;
        let mut pipeline = run.pipeline();
        let memory = &memory.of(&pipeline);
        let (splitters, chunks) = match &run.exchange {
            Some(exchange) => exchange.start(run, &mut pipeline, memory)?,
            None => {
                let splitters = pipeline.owns(Posted::new(run.node, "splitters"));
                let chunks = run.start_input(&mut pipeline, &splitters, memory);
                (splitters, chunks)
            }
        };
        let distributed = Distributed {
            splitters,
            chunks,
            spilled_beside: (!keeps).then_some(0),
            positions: 0.0..1.0,
        };
        let (partitions, did) = self
            .collect_partitions(pipeline, distributed, memory)
            .await?;
        add_up(stages, did);
        Ok(partitions)
    }

    /// Phase two: sorts partitions into the output. Returns how often records were divided again.
    pub(crate) async fn sort_group(
        &self,
        group: Group,
        memory: &Pools,
        seams: &Seams,
        stages: &mut Vec<StageReport>,
    ) -> Result<u32, Failure> {
        let Group {
            mut partitions,
            place,
        } = group;
        let mut again = 0;
        while partitions
            .iter()
            .any(|partition| self.is_too_large(partition))
        {
            again += 1;
            assert!(again <= MOST_DIVISIONS, "a partition that does not divide");
            partitions = self.divide_again(partitions, memory, stages).await?;
        }
        let sizes: Vec<Size> = partitions.iter().map(Partition::size).collect();
        let layout = match place {
            None => self.lay_out(&sizes).await?,
            Some(GroupPosition { before, all }) => {
                let behind = Layout::of_one_file(&sizes).behind(before, all.bytes);
                behind.under(self.run.job.contents.header().len() as u64)
            }
        };
        if place.is_none() {
            let all: Size = sizes.iter().sum();
            self.run
                .job
                .control
                .enter(Phase::SortPartitions.name(), all.bytes);
        }
        add_up(
            stages,
            self.write_partitions(partitions, &layout, memory, seams)
                .await?,
        );
        Ok(again)
    }

    /// The outcome of a sort that spilled `spilled` chunks and divided partitions `again` times
    /// more.
    pub(crate) fn outcome(&self, spilled: usize, again: u32) -> Outcome {
        let run = self.run;
        let limit = amount(run.job.resources.memory_bytes);
        let needed = amount(run.plan.needed());
        let reason = match (run.plan.spilling, run.plan.input_bytes, spilled) {
            (None, Some(bytes), _) => {
                format!(
                    "{} fit in memory: {needed} of {limit} needed",
                    amount(bytes)
                )
            }
            (None, None, _) => {
                format!("the input, of unknown length, fitted in {limit} of memory")
            }
            (Some(_), _, 0) => format!("the input fitted in {limit} of memory"),
            (Some(_), ..) => run.does_not_fit(),
        };
        Outcome {
            plan: match run.plan.spilling {
                None => "one-pass",
                Some(_) => "two-pass",
            },
            reason,
            passes: 1 + u32::from(spilled > 0) + again,
            temp_peak_bytes: self.spill.peak_bytes(),
            runs: None,
            stripes: self.spill.stripe_report(),
        }
    }

    /// Whether each partition is on one disk.
    fn has_homes(&self) -> bool {
        let spilling = self.run.plan.spilling;
        spilling.is_some_and(|spilling| spilling.layout == SpillLayout::Preallocated)
    }

    /// A reader of spill files, to buffers of `pool`.
    fn reader(&self, pool: &Pool, depth: usize, least_released: u64) -> SpillReader {
        SpillReader {
            contents: self.run.job.contents.clone(),
            spill: self.spill.clone(),
            depth,
            pool: pool.clone(),
            chunk_bytes: self.run.plan.chunk_bytes,
            least_released,
        }
    }

    /// Whether a partition is larger than memory. Then it has two records or more and can be
    /// divided, since one record is one chunk.
    fn is_too_large(&self, partition: &Partition) -> bool {
        let spilling = self.run.plan.spilling;
        spilling.is_some_and(|spilling| partition.spilled_chunks() > spilling.partition_chunks)
    }

    /// Divides each partition that is too large, and leaves the others.
    async fn divide_again(
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
            let positions = number as f64 / count..(number + 1) as f64 / count;
            let place = (staying, positions);
            let (parts, did) = self.divide_partition(partition, place, memory).await?;
            add_up(stages, did);
            all.extend(parts);
            self.spill.end_stripes(self.run.node).await?;
            self.spill.trim(self.run.node).await;
        }
        Ok(all)
    }

    /// Divides a partition while `staying` chunks of others stay in memory.
    async fn divide_partition(
        &self,
        partition: Partition,
        (staying, positions): (usize, Range<f64>),
        memory: &Pools,
    ) -> Result<(Vec<Partition>, Vec<StageReport>), Failure> {
        debug_assert!(partition.chunks.is_empty(), "all of it was spilled");
        let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
        let bytes = partition.size().bytes;
        run.job.control.enter(Phase::PartitionAgain.name(), bytes);
        let mut pipeline = run.pipeline();
        let memory = &memory.of(&pipeline);
        let splitters = pipeline.owns(Posted::new(node, "splitters"));
        let blocks = pipeline.owns(Queue::new(node, "blocks", plan.read_queue(), 1));
        let fits = plan
            .spilling
            .map_or(1, |spilling| spilling.partition_chunks);
        // Twice as many as would be enough for even ones.
        let buckets = (2 * partition.spilled_chunks())
            .div_ceil(fits)
            .clamp(2, plan.buckets.max(2));
        let reloader = Reloader {
            // Records that were read are written again: they must not take space twice.
            spilled: self.reader(&memory.chunks, plan.depth, 0),
            runs: Arc::new(partition.runs),
            size: partition.spilled,
            buckets,
            sample: plan.most_resampled(),
            sample_bytes: plan.resample_bytes() as usize,
            splitters: splitters.clone(),
            out: blocks.clone(),
        };
        pipeline.stage(node, StageName::Reloader, 1, sharing(reloader, reload));
        let dividing = Dividing {
            blocks,
            splitters: &splitters,
            from: &memory.chunks,
            to: &memory.chunks,
            tally: &Tally::default(),
            drops_repeats: false,
        };
        let chunks = run.start_distributors(&mut pipeline, dividing);
        let distributed = Distributed {
            splitters,
            chunks,
            spilled_beside: Some(staying),
            positions,
        };
        self.collect_partitions(pipeline, distributed, memory).await
    }

    async fn collect_partitions(
        &self,
        mut pipeline: Pipeline,
        distributed: Distributed,
        memory: &Pools,
    ) -> Result<(Vec<Partition>, Vec<StageReport>), Failure> {
        let (node, plan) = (self.run.node, &self.run.plan);
        let Distributed {
            splitters,
            chunks,
            spilled_beside,
            positions,
        } = distributed;
        let limits = plan.limits();
        let ledger = pipeline.owns(Ledger::new(node));
        let each = plan.spilling.map_or(0, |spilling| spilling.tokens);
        let directories = 0..plan.spilling.map_or(0, |spilling| spilling.directories) as u32;
        let all_tokens = directories
            .clone()
            .flat_map(|directory| vec![directory; each])
            .collect();
        let tokens = pipeline.owns(Tokens::new(node, "write tokens", all_tokens));
        let chains = directories.map(|_| pipeline.owns(Queue::new(node, "chains", each, 1)));
        let buffers = PartitionBuffers {
            splitters,
            chunks,
            limits: spilled_beside.map_or(limits, |staying| limits.beside(staying)),
            keeps: spilled_beside.is_none(),
            has_homes: self.has_homes(),
            read_at_once: plan.spilling.map_or(1, |spilling| spilling.loaders) + 1,
            positions,
            tokens,
            out: chains.collect(),
            ledger: ledger.clone(),
        };
        pipeline.stage(
            node,
            StageName::PartitionBuffers,
            1,
            sharing(buffers.clone(), hold),
        );
        self.start_spillers(&mut pipeline, &buffers, memory);
        let mut stages = Vec::new();
        add_up(&mut stages, pipeline.join(node).await?);
        Ok((ledger.take(node).await, stages))
    }

    /// Starts the spillers of each temporary directory, which write what `buffers` hand out.
    fn start_spillers(&self, pipeline: &mut Pipeline, buffers: &PartitionBuffers, memory: &Pools) {
        let node = self.run.node;
        let spilling = self.run.plan.spilling;
        let (spillers, depth) = spilling.map_or((0, 0), |it| (it.spillers, it.depth));
        for chains in &buffers.out {
            let spiller = Spiller {
                contents: self.run.job.contents.clone(),
                chains: chains.clone(),
                tokens: buffers.tokens.clone(),
                spill: pipeline.owns(self.spill.clone()),
                depth,
                pool: memory.chunks.clone(),
                ledger: buffers.ledger.clone(),
            };
            pipeline.stage(node, StageName::Spiller, spillers, sharing(spiller, spill));
        }
    }

    /// The layout of an output whose partitions have these sizes.
    async fn lay_out(&self, sizes: &[Size]) -> Result<Layout, Failure> {
        let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
        if plan.input_bytes.is_none() {
            let all: Size = sizes.iter().sum();
            run.output().reserve(node, all.bytes).await?;
        }
        let header = run.job.contents.header().len() as u64;
        let mut rates = self.spill.rates();
        // Areas are as many in each directory, and tell no rates.
        let has_spilled = rates.iter().any(|(_, bytes)| *bytes > 0);
        if !self.has_homes() && !has_spilled {
            rates = run.read_rates.measured();
        }
        let layout = run.output().lay_out(node, (sizes, header), &rates).await?;
        let drops = run.job.contents.is_unique();
        Ok(if drops { layout.in_key_order() } else { layout })
    }
}
