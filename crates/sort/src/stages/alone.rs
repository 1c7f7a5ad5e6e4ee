//! One stage alone, between a synthetic source and a sink: what it could do if nobody held it up.
//!
//! TritonSort (Figure 8) tunes its pipeline with this table: each stage's workers, the size of
//! their units, the time a unit takes them, and so the rate that each stage could reach.
//!
//! ```text
//! source ---> queue ---> [ the stage, with the plan's workers and buffers ] ---> queue ---> sink
//!    ^                                                                                       |
//!    |______________________ buffers that are full of records all the time __________________|
//! ```
//!
//! Buffers are filled with generated records before anything is measured, so the source hands out
//! memory and the sink gives it back: both cost next to nothing, and the cores belong to the stage.
//! What waiting is left counts as starved or blocked, never as busy. Sampler and reader read a file
//! that is generated first; the writer writes one that never gets a name. Nothing is made durable:
//! that is the pipeline's last step, and no stage's.
//!
//! It refuses to say how stages hinder each other; the report of a sort does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::{Buffer, Node, Pool, Posted, Queue};
use pipeline::{Control, Failure, Pipeline, StageReport, Worker};
use record::{Generator, Order, RECORD_BYTES, Ties};

use super::{
    Collector, Distributor, Reader, Sampler, Seams, Sorter, Tally, Writer, collect, distribute,
    read, sample, sort, write,
};
use crate::block::{Block, Bucket, Chunk, Piece};
use crate::contents::{Bytes, Contents, Sample, Splitters};
use crate::error::SortError;
use crate::generate::{Generate, generate};
use crate::input::{BLOCK_BYTES, Inputs, Source};
use crate::job::{IoChoice, Resources, Target, Tuning};
use crate::one_pass::no_memory;
use crate::output::Output;
use crate::plan::{Plan, Shape};

/// A stage of the one-pass sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Draws splitters from a file.
    Sampler,
    /// Reads a file.
    Reader,
    /// Copies records to buckets.
    Distributor,
    /// Lists the chunks of each bucket.
    Collector,
    /// Sorts and gathers buckets.
    Sorter,
    /// Writes a file.
    Writer,
}

impl Stage {
    /// Every stage, in the order in which records pass.
    pub const ALL: [Stage; 6] = [
        Stage::Sampler,
        Stage::Reader,
        Stage::Distributor,
        Stage::Collector,
        Stage::Sorter,
        Stage::Writer,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Sampler => "sampler",
            Stage::Reader => "reader",
            Stage::Distributor => "distributor",
            Stage::Collector => "collector",
            Stage::Sorter => "sorter",
            Stage::Writer => "writer",
        }
    }
}

/// A stage that is to run alone.
#[derive(Clone)]
pub struct Alone {
    /// Which.
    pub stage: Stage,
    /// How many gensort records pass.
    pub records: u64,
    /// Where the file lies that it reads or writes; it is removed at the end.
    pub directory: PathBuf,
    /// What the run may use.
    pub resources: Resources,
    /// What the plan must keep to.
    pub tuning: Tuning,
    /// To watch and stop it.
    pub control: Control,
}

/// Runs one stage alone.
///
/// # Errors
/// As a sort: too little memory for the plan, a file that cannot be read or written.
pub async fn alone(node: &Node, job: &Alone) -> Result<StageReport, Failure> {
    let shape =
        Shape { records: Some(job.records), record_bytes: RECORD_BYTES, sequential_output: false };
    let plan = Plan::new(&shape, &job.resources, &job.tuning)?;
    let contents = Arc::new(Bytes::new(Order::gensort(Ties::Record)));
    let bench = Bench { node, job, plan, contents };
    match job.stage {
        Stage::Sampler | Stage::Reader => bench.on_input().await,
        Stage::Distributor => bench.distributor().await,
        Stage::Collector => bench.collector().await,
        Stage::Sorter => bench.sorter().await,
        Stage::Writer => bench.on_output().await,
    }
}

/// What every stage's surroundings are built from.
struct Bench<'a> {
    node: &'a Node,
    job: &'a Alone,
    plan: Plan,
    contents: Arc<dyn Contents>,
}

impl Bench<'_> {
    /// A generated file > sampler or reader > sink.
    async fn on_input(&self) -> Result<StageReport, Failure> {
        let path = self.job.directory.join("gristmill-stage-input");
        self.generate(&path).await?;
        let sources = [Source::Path(path.clone())];
        let report =
            match Inputs::open(self.node, &sources, RECORD_BYTES, self.job.resources.io).await {
                Ok(inputs) if self.job.stage == Stage::Sampler => self.sampler(inputs).await,
                Ok(inputs) => self.reader(inputs).await,
                Err(failure) => Err(failure),
            };
        self.node.remove(&path).await?;
        report
    }

    async fn generate(&self, path: &Path) -> Result<(), Failure> {
        let made = Generate {
            generator: Generator::default(),
            first: 0,
            records: self.job.records,
            target: Target::Path(path.to_owned()),
            checksum: false,
            cores: self.job.resources.cores,
            // What is written past the page cache is not in it when it is read.
            io: IoChoice::Direct,
            control: self.job.control.clone(),
        };
        generate(self.node, &made).await.map(drop)
    }

    async fn sampler(&self, inputs: Inputs) -> Result<StageReport, Failure> {
        let mut pipeline = self.pipeline();
        let splitters = pipeline.owns(Posted::new(self.node, "splitters"));
        let sampler = Sampler {
            inputs: Arc::new(inputs),
            contents: Arc::clone(&self.contents),
            samples: self.plan.samples,
            buckets: self.plan.buckets,
            splitters: splitters.clone(),
        };
        let work = async move |worker: &Worker| sample(worker, &sampler).await;
        pipeline.stage(self.node, "sampler", 1, work);
        let sink = async move |worker: &Worker| Ok(worker.read(&splitters).await.map(drop)?);
        pipeline.stage(self.node, "sink", 1, sink);
        self.report(pipeline).await
    }

    async fn reader(&self, inputs: Inputs) -> Result<StageReport, Failure> {
        let (node, plan) = (self.node, &self.plan);
        let mut pipeline = self.pipeline();
        let pool = self.buffers(plan.read_buffers(), plan.read_buffer_bytes())?;
        let pool = pipeline.owns(Pool::new(node, "read buffers", pool));
        let blocks = pipeline.owns(Queue::new(node, "blocks", plan.read_queue(), plan.readers));
        let reader = Reader {
            inputs: Arc::new(inputs),
            record_bytes: plan.record_bytes,
            unit_records: plan.unit_records,
            depth: plan.depth,
            pool: pool.clone(),
            out: blocks.clone(),
            divide: None,
        };
        let work = async move |worker: &Worker| read(worker, &reader).await;
        pipeline.stage(node, "reader", plan.readers, work);
        let sink = async move |worker: &Worker| {
            while let Some(block) = worker.pop(&blocks).await? {
                pool.give(&worker.node, block.buffer).await;
            }
            Ok(())
        };
        pipeline.stage(node, "sink", 1, sink);
        self.report(pipeline).await
    }

    /// Blocks > distributor > sink. The chunks are not given back: while the input is read, nobody
    /// in a sort gives them back either.
    async fn distributor(&self) -> Result<StageReport, Failure> {
        let (node, plan) = (self.node, &self.plan);
        let mut pipeline = self.pipeline();
        let splitters = pipeline.owns(Posted::new(node, "splitters"));
        splitters.post(node, self.splitters()?).await;
        let pool = self.filled(plan.read_buffers(), plan.unit_bytes)?;
        let pool = pipeline.owns(Pool::new(node, "read buffers", pool));
        let chunks = self.buffers(plan.chunks, plan.chunk_bytes)?;
        let chunks = pipeline.owns(Pool::new(node, "memory for records", chunks));
        let blocks = pipeline.owns(Queue::new(node, "blocks", plan.read_queue(), 1));
        let full =
            pipeline.owns(Queue::new(node, "chunks", plan.distributors, plan.distributors));
        let distributor = Distributor {
            contents: Arc::clone(&self.contents),
            splitters,
            blocks: blocks.clone(),
            pool: pool.clone(),
            chunks,
            chunk_bytes: plan.chunk_bytes,
            limit: self.job.resources.memory_bytes,
            out: full.clone(),
            tally: Tally::default(),
        };
        let (total, unit) = (self.job.records, plan.unit_records);
        let source = async move |worker: &Worker| {
            for first in (0..total).step_by(unit) {
                let buffer = worker.take(&pool).await?;
                let records = unit.min((total - first) as usize);
                worker.push(&blocks, Block { first, records, start: 0, buffer }).await?;
            }
            blocks.finish(&worker.node).await;
            Ok(())
        };
        pipeline.stage(node, "source", 1, source);
        let work = async move |worker: &Worker| distribute(worker, &distributor).await;
        pipeline.stage(node, "distributor", plan.distributors, work);
        pipeline.stage(node, "sink", 1, async move |worker: &Worker| drain(worker, &full).await);
        self.report(pipeline).await
    }

    /// Lists of chunks > collector > sink.
    async fn collector(&self) -> Result<StageReport, Failure> {
        let (node, plan) = (self.node, &self.plan);
        let mut pipeline = self.pipeline();
        let splitters = pipeline.owns(Posted::new(node, "splitters"));
        splitters.post(node, self.splitters()?).await;
        let lists = pipeline.owns(Queue::new(node, "chunks", plan.distributors, 1));
        let buckets = pipeline.owns(Queue::new(node, "buckets", plan.sorters, 1));
        let source = self.chunk_source(&mut pipeline, async |worker, lists, chunk| {
            // One list for each block that a distributor has done.
            lists.push_to(worker, chunk).await
        });
        let _ = source;
        let collector = Collector {
            splitters,
            chunks: lists,
            out: buckets.clone(),
            record_bytes: plan.record_bytes,
            output: None,
        };
        let work = async move |worker: &Worker| collect(worker, &collector).await;
        pipeline.stage(node, "collector", 1, work);
        pipeline.stage(node, "sink", 1, async move |worker: &Worker| drain(worker, &buckets).await);
        self.report(pipeline).await
    }
}
