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

mod input;
mod output;

use std::path::PathBuf;
use std::sync::Arc;

use node::{Buffer, Node, Pool, Queue};
use pipeline::{Control, Failure, Pipeline, StageReport, Worker};
use record::{Generator, Order, RECORD_BYTES, Ties};

use crate::error::SortError;
use crate::error::no_memory;
use crate::job::{Resources, Tuning};
use crate::plan::{Plan, Shape};
use crate::records::block::{Block, Bucket, Chunk, Destination};
use crate::records::contents::{Bytes, Contents, Sample};
use crate::records::splitters::Splitters;

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
    PartitionBuffers,
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
        Stage::PartitionBuffers,
        Stage::Sorter,
        Stage::Writer,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Sampler => "sampler",
            Stage::Reader => "reader",
            Stage::Distributor => "distributor",
            Stage::PartitionBuffers => "partition buffers",
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
    let shape = Shape {
        inputs: 1,
        records: Some(job.records),
        record_bytes: RECORD_BYTES,
        sequential_output: false,
        outputs: 1,
        stable: false,
        temporary: 1,
    };
    let plan = Plan::new(&shape, &job.resources, &job.tuning)?;
    let contents = Arc::new(Bytes::new(Order::gensort(Ties::Record)));
    let bench = Bench {
        node,
        job,
        plan,
        contents,
    };
    match job.stage {
        Stage::Sampler | Stage::Reader => bench.on_input().await,
        Stage::Distributor => bench.distributor().await,
        Stage::PartitionBuffers => bench.partition_buffers().await,
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
    fn pipeline(&self) -> Pipeline {
        self.job
            .control
            .enter(self.job.stage.name(), self.plan.input_bytes.unwrap_or(0));
        Pipeline::new(&self.job.control)
    }

    async fn report(&self, pipeline: Pipeline) -> Result<StageReport, Failure> {
        let stages = pipeline.join(self.node).await?;
        let measured = stages
            .into_iter()
            .find(|stage| stage.name == self.job.stage.name());
        Ok(measured.expect("the stage was started"))
    }

    fn buffers(&self, count: usize, bytes: usize) -> Result<Vec<Buffer>, SortError> {
        let buffers = self.contents.buffers(self.node, count, bytes);
        buffers.map_err(|cause| no_memory(count * bytes, &cause))
    }

    /// Buffers that hold generated records, each its own.
    fn filled(&self, count: usize, bytes: usize) -> Result<Vec<Buffer>, SortError> {
        let mut buffers = self.buffers(count, bytes)?;
        let records = bytes / RECORD_BYTES;
        for (number, buffer) in buffers.iter_mut().enumerate() {
            let out = &mut buffer.bytes_mut()[..records * RECORD_BYTES];
            Generator::default().fill((number * records) as u128, out);
        }
        Ok(buffers)
    }

    /// Splitters of generated records, for as many buckets as the plan has.
    fn splitters(&self) -> Result<Splitters, SortError> {
        const EACH: usize = 16; // records sampled for a bucket: they come out about equal
        let records = self.plan.buckets * EACH;
        let buffer = self
            .filled(1, records * RECORD_BYTES)?
            .pop()
            .expect("one was asked for");
        let mut sample = Sample::default();
        let block = Block {
            first: 0,
            records,
            start: 0,
            buffer,
            marks: Vec::new(),
        };
        self.contents.sample(&block, records, &mut sample);
        Ok(self.contents.splitters(&sample, self.plan.buckets))
    }

    fn even(&self) -> Even {
        Even {
            records: self.job.records,
            buckets: self.plan.buckets as u64,
            chunk_records: (self.plan.chunk_bytes / RECORD_BYTES) as u64,
        }
    }
}

/// Buckets that are as equal as can be.
#[derive(Clone, Copy)]
struct Even {
    records: u64,
    buckets: u64,
    chunk_records: u64,
}

impl Even {
    /// Records before a bucket.
    fn first(self, bucket: u64) -> u64 {
        bucket * self.records / self.buckets
    }

    /// The chunks of a bucket, of buffers that hold records already.
    async fn chunks(
        self,
        worker: &Worker,
        pool: &Pool,
        bucket: u64,
    ) -> Result<Vec<Chunk>, Failure> {
        let records = self.first(bucket + 1) - self.first(bucket);
        let mut chunks = Vec::new();
        for first in (0..records).step_by(self.chunk_records as usize) {
            let mut buffer = worker.take(pool).await?;
            let records = self.chunk_records.min(records - first) as u32;
            buffer.set_len(records as usize * RECORD_BYTES);
            chunks.push(Chunk {
                bucket: bucket as u32,
                records,
                marks: Vec::new(),
                buffer,
            });
        }
        Ok(chunks)
    }

    fn bucket(self, number: u64, chunks: Vec<Chunk>) -> Bucket {
        let first = self.first(number);
        let records = self.first(number + 1) - first;
        let to = Destination {
            file: 0,
            first,
            file_bytes: self.records * RECORD_BYTES as u64,
        };
        // No bucket follows another one: their records are not in order.
        Bucket {
            index: number as u32,
            first: 2 * first,
            records,
            chunks,
            to,
        }
    }
}

/// A sink that only takes.
async fn drain<T: Send + 'static>(worker: &Worker, queue: &Queue<T>) -> Result<(), Failure> {
    while worker.pop(queue).await?.is_some() {}
    Ok(())
}
