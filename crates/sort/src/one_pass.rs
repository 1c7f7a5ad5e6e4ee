//! The one-pass sort: everything fits in memory (NOW-Sort 6.1 on one node).
//!
//! Reading and bucketing overlap; when the last record has come, the places of buckets are known,
//! and sorting and writing overlap.

use std::io;
use std::sync::Arc;

use node::{Buffer, Node, Pool, Posted, Queue};
use pipeline::{Failure, Pipeline, StageReport, bottleneck};

use crate::block::Bucket;
use crate::error::SortError;
use crate::input::{BLOCK_BYTES, Inputs};
use crate::job::{IoChoice, Job};
use crate::output::Output;
use crate::plan::{Plan, Shape};
use crate::report::{DirectIo, Report};
use crate::splitters::Splitters;
use crate::stages::{
    Collector, Distributor, Divide, Reader, Sampler, Seams, Sorter, Tally, Turn, Writer, collect,
    distribute, read, sample, sort, write,
};

/// Sorts the job's inputs in memory.
///
/// # Errors
/// Nothing is left of an output that failed, and the target keeps its old content.
pub async fn one_pass(node: &Node, job: &Job) -> Result<Report, Failure> {
    let begin = node.now();
    let record_bytes = job.contents.record_bytes();
    let inputs = Inputs::open(node, &job.sources, record_bytes, job.resources.io).await?;
    let mut output = Output::open(node, &job.target, job.resources.io).await?;
    let sorted = run(node, job, &Arc::new(inputs), &Arc::new(output.clone())).await;
    let mut report = match sorted {
        Ok(report) => report,
        Err(failure) => {
            output.discard(node).await;
            return Err(failure);
        }
    };
    if let Err(failure) = output.commit(node, report.bytes).await {
        output.discard(node).await;
        return Err(failure);
    }
    report.seconds = node.seconds(node.now().since(begin));
    Ok(report)
}

async fn run(
    node: &Node,
    job: &Job,
    inputs: &Arc<Inputs>,
    output: &Arc<Output>,
) -> Result<Report, Failure> {
    let record_bytes = job.contents.record_bytes();
    let shape = Shape {
        records: inputs.records,
        record_bytes,
        sequential_output: output.is_sequential(),
        stable: job.contents.is_stable(),
    };
    let plan = Plan::new(&shape, &job.resources, &job.tuning)?;
    if let Some(bytes) = plan.input_bytes {
        output.reserve(node, bytes).await?;
    }
    job.control.enter("sort", plan.input_bytes.unwrap_or(0));
    let run = OnePass { node, job, plan, inputs, output, tally: Tally::default() };
    let stages = run.start()?.join(node).await?;
    let (records, checksum) = run.tally.settle(&*job.contents)?;
    Ok(run.report(stages, records, checksum))
}

/// The memory of a run.
struct Pools {
    /// For records between reading and writing.
    chunks: Pool,
    /// For units that are read or written.
    units: Pool,
}

/// A run, while its stages are started.
struct OnePass<'a> {
    node: &'a Node,
    job: &'a Job,
    plan: Plan,
    inputs: &'a Arc<Inputs>,
    output: &'a Arc<Output>,
    tally: Tally,
}

impl OnePass<'_> {
    fn start(&self) -> Result<Pipeline, Failure> {
        let (node, plan) = (self.node, &self.plan);
        let mut pipeline = Pipeline::new(&self.job.control);
        let splitters = pipeline.owns(Posted::new(node, "splitters"));
        let buckets = pipeline.owns(Queue::new(node, "buckets", plan.sorters, 1));
        let chunks = self.pool(&pipeline, "memory for records", (plan.chunks, plan.chunk_bytes))?;
        let units = self.pool(&pipeline, "unit buffers", (plan.buffers(), plan.buffer_bytes()))?;
        let memory = Pools { chunks, units };
        self.start_input(&mut pipeline, &splitters, &buckets, &memory);
        self.start_output(&mut pipeline, &buckets, &memory)?;
        Ok(pipeline)
    }

    /// sampler, reader > distributor > collector
    fn start_input(
        &self,
        pipeline: &mut Pipeline,
        splitters: &Posted<Splitters>,
        buckets: &Queue<Bucket>,
        memory: &Pools,
    ) {
        let (node, plan, contents) = (self.node, &self.plan, &self.job.contents);
        let seekable = self.inputs.is_seekable();
        let blocks = pipeline.owns(Queue::new(node, "blocks", plan.read_queue(), plan.readers));
        let full = pipeline.owns(Queue::new(node, "chunks", plan.distributors, plan.distributors));
        if seekable {
            let sampler = Sampler {
                inputs: Arc::clone(self.inputs),
                contents: Arc::clone(contents),
                samples: plan.samples,
                buckets: plan.buckets,
                splitters: splitters.clone(),
            };
            pipeline.stage(node, "sampler", 1, async move |worker| sample(worker, &sampler).await);
        }
        let divide = (!seekable).then(|| Divide {
            contents: Arc::clone(contents),
            buckets: plan.buckets,
            splitters: splitters.clone(),
            blocks: plan.buffers() - 1,
        });
        let reader = Reader {
            inputs: Arc::clone(self.inputs),
            record_bytes: plan.record_bytes,
            unit_records: plan.unit_records,
            depth: plan.depth,
            pool: memory.units.clone(),
            out: blocks.clone(),
            divide,
        };
        let readers = plan.readers;
        pipeline.stage(node, "reader", readers, async move |worker| read(worker, &reader).await);
        let distributor = Distributor {
            contents: Arc::clone(contents),
            splitters: splitters.clone(),
            blocks,
            pool: memory.units.clone(),
            chunks: memory.chunks.clone(),
            chunk_bytes: plan.chunk_bytes,
            limit: self.job.resources.memory_bytes,
            out: full.clone(),
            tally: self.tally.clone(),
        };
        pipeline.stage(node, "distributor", plan.distributors, async move |worker| {
            distribute(worker, &distributor).await
        });
        let collector = Collector {
            splitters: splitters.clone(),
            chunks: full,
            out: buckets.clone(),
            record_bytes: plan.record_bytes,
            output: (!seekable).then(|| Arc::clone(self.output)),
        };
        pipeline.stage(node, "collector", 1, async move |worker| collect(worker, &collector).await);
    }

    /// sorter > writer
    fn start_output(
        &self,
        pipeline: &mut Pipeline,
        buckets: &Queue<Bucket>,
        memory: &Pools,
    ) -> Result<(), Failure> {
        let (node, plan) = (self.node, &self.plan);
        let pieces = pipeline.owns(Queue::new(node, "pieces", plan.write_queue(), plan.sorters));
        let seam = (plan.seam_buffers(), BLOCK_BYTES as usize);
        let seams = Seams::new(node, self.pool(pipeline, "seam buffers", seam)?);
        let sorter = Sorter {
            contents: Arc::clone(&self.job.contents),
            buckets: buckets.clone(),
            chunks: memory.chunks.clone(),
            unit_bytes: plan.unit_bytes,
            pool: memory.units.clone(),
            seams,
            turn: self.output.is_sequential().then(|| pipeline.owns(Turn::new(node))),
            out: pieces.clone(),
            tally: self.tally.clone(),
        };
        let sorters = plan.sorters;
        pipeline.stage(node, "sorter", sorters, async move |worker| sort(worker, &sorter).await);
        let writer = Writer { output: Arc::clone(self.output), pieces, depth: plan.depth };
        let writers = plan.writers;
        pipeline.stage(node, "writer", writers, async move |worker| write(worker, &writer).await);
        Ok(())
    }

    fn pool(
        &self,
        pipeline: &Pipeline,
        label: &'static str,
        (count, bytes): (usize, usize),
    ) -> Result<Pool, Failure> {
        let buffers: io::Result<Vec<Buffer>> = self.job.contents.buffers(self.node, count, bytes);
        let buffers = buffers.map_err(|cause| no_memory(count * bytes, &cause))?;
        Ok(pipeline.owns(Pool::new(self.node, label, buffers)))
    }

    fn report(&self, stages: Vec<StageReport>, records: u64, checksum: u128) -> Report {
        let stage = |name| stages.iter().find(|stage: &&StageReport| stage.name == name);
        let bytes_of = |name| stage(name).map_or(0, |stage| stage.bytes);
        Report {
            records,
            bytes: records * self.plan.record_bytes as u64,
            passes: 1,
            plan: "one-pass",
            reason: self.reason(),
            partitions: stage("sorter").map_or(0, |stage| stage.units),
            seconds: 0.0,
            read_bytes: bytes_of("reader") + bytes_of("sampler"),
            written_bytes: bytes_of("writer"),
            temp_peak_bytes: 0,
            direct_io: self.direct_io(),
            checksum,
            bottleneck: bottleneck(&stages),
            stages,
        }
    }

    fn reason(&self) -> String {
        let (needed, limit) = (self.plan.needed(), self.job.resources.memory_bytes);
        match self.plan.input_bytes {
            Some(bytes) => format!("{bytes} bytes fit in memory: {needed} of {limit} bytes needed"),
            None => format!("the input, of unknown length, fitted in {limit} bytes of memory"),
        }
    }

    fn direct_io(&self) -> DirectIo {
        let (read, write) = (self.inputs.is_direct(), self.output.file.is_direct());
        let reason = match (self.job.resources.io, read) {
            (IoChoice::Auto, true) => "the input is not in the page cache",
            (IoChoice::Auto, false) => "the input is in the page cache, or cannot bypass it",
            _ => "as asked for",
        };
        DirectIo { read, write, reason: reason.to_owned() }
    }
}

/// The system refused memory.
pub(crate) fn no_memory(bytes: usize, cause: &io::Error) -> SortError {
    SortError::NoMemory { bytes: bytes as u64, cause: cause.to_string() }
}
