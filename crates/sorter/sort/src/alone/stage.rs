//! Measures one stage alone, between a synthetic source and a sink: its rate if no other stage
//! holds it up.
//!
//! TritonSort (Figure 8) tunes its pipeline with this table: each stage's workers, the size of
//! their units, the time per unit, and so the rate that each stage could reach.
//!
//! ```text
//! source ---> queue ---> [ the stage, with the plan's workers and buffers ] ---> queue ---> sink
//!    ^                                                                                       |
//!    |______________________ buffers that are full of records all the time __________________|
//! ```
//!
//! Buffers are filled with generated records before the measurement, so the source only hands out
//! memory and the sink gives it back. Both cost next to nothing, and the cores belong to the stage.
//! The remaining waits count as starved or blocked, never as busy. Sampler and reader read a file
//! that is generated first; the writer writes one that never gets a name. Nothing is made durable:
//! that is the last step of the whole pipeline.
//!
//! It does not show how stages slow each other down; the report of a sort does.

mod input;
mod output;

use std::path::PathBuf;
use std::sync::Arc;

use node::{Buffer, Filled, Node, Pool, Queue};
use pipeline::{Control, Failure, Pipeline, StageReport, Worker};
use record::{Generator, Order, Ties};

use crate::error::SortError;
use crate::error::no_memory;
use crate::job::{Pack, Resources, Tuning};
use crate::names::StageName;
use crate::plan::{Plan, Shape};
use crate::records::block::{Block, Bucket, Chunk, Destination};
use crate::records::contents::{Bytes, Contents};
use crate::records::framing::GENSORT;
use crate::records::sample::Sample;
use crate::records::size::Size;
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
        let stage = match self {
            Stage::Sampler => StageName::Sampler,
            Stage::Reader => StageName::Reader,
            Stage::Distributor => StageName::Distributor,
            Stage::PartitionBuffers => StageName::PartitionBuffers,
            Stage::Sorter => StageName::Sorter,
            Stage::Writer => StageName::Writer,
        };
        stage.name()
    }
}

/// Options for one stage.
#[derive(Clone)]
pub struct Alone {
    /// The stage.
    pub stage: Stage,
    /// Number of gensort records that pass it.
    pub records: u64,
    /// Directory of the file that it reads or writes, which is removed at the end.
    pub directory: PathBuf,
    /// Resources that the run may use.
    pub resources: Resources,
    /// Numbers that the plan must keep to.
    pub tuning: Tuning,
    /// Observes the run and stops it.
    pub control: Control,
}

/// Runs one stage alone.
///
/// # Errors
/// As a sort: when memory is too little for the plan, or the file cannot be read or written.
pub async fn alone(node: &Node, job: &Alone) -> Result<StageReport, Failure> {
    let shape = Shape {
        inputs: 1,
        bytes: Some(GENSORT.of(job.records).bytes),
        framing: GENSORT,
        sequential_output: false,
        outputs: 1,
        stable: false,
        temporary: 1,
        sources: Default::default(),
        coding: Default::default(),
        pack: Pack::Never,
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
        let buffers = self
            .contents
            .buffers(self.node, count, bytes, Filled::Often);
        buffers.map_err(|cause| no_memory(count * bytes, &cause))
    }

    /// Buffers with generated records, different ones in each.
    fn filled(&self, count: usize, bytes: usize) -> Result<Vec<Buffer>, SortError> {
        let mut buffers = self.buffers(count, bytes)?;
        let whole = GENSORT.whole(bytes as u64) as usize;
        for (number, buffer) in buffers.iter_mut().enumerate() {
            let out = &mut buffer.bytes_mut()[..whole];
            Generator::default().fill(
                number as u128 * u128::from(GENSORT.size_of(whole as u64).records),
                out,
            );
        }
        Ok(buffers)
    }

    /// Splitters of generated records, for the plan's buckets.
    fn splitters(&self) -> Result<Splitters, SortError> {
        const EACH: usize = 16; // records sampled for a bucket: they come out about equal
        let size = GENSORT.of((self.plan.buckets * EACH) as u64);
        let mut buffers = self.filled(1, size.bytes as usize)?;
        let buffer = buffers.pop().expect("one was asked for");
        let mut sample = Sample::default();
        let block = Block {
            first: 0,
            size,
            start: 0,
            buffer,
            marks: Vec::new(),
        };
        self.contents
            .sample(&block, size.records as usize, &mut sample);
        Ok(self.contents.splitters(&sample, self.plan.buckets))
    }

    fn even(&self) -> Even {
        Even {
            all: GENSORT.of(self.job.records),
            buckets: self.plan.buckets as u64,
            room: GENSORT.whole(self.plan.chunk_bytes as u64),
        }
    }
}

/// Buckets of equal size.
#[derive(Clone, Copy)]
struct Even {
    all: Size,
    buckets: u64,
    /// Bytes of records of a chunk.
    room: u64,
}

impl Even {
    fn first(self, bucket: u64) -> Size {
        self.all.upto(bucket, self.buckets)
    }

    /// The chunks of a bucket, from buffers that hold records already.
    async fn chunks(
        self,
        worker: &Worker,
        pool: &Pool,
        bucket: u64,
    ) -> Result<Vec<Chunk>, Failure> {
        let all = self.first(bucket + 1) - self.first(bucket);
        let mut chunks = Vec::new();
        for first in (0..all.bytes).step_by(self.room as usize) {
            let mut buffer = worker.take(pool).await?;
            let size = GENSORT.size_of(self.room.min(all.bytes - first));
            buffer.set_len(size.bytes as usize);
            chunks.push(Chunk {
                bucket: bucket as u32,
                size,
                marks: Vec::new(),
                buffer,
            });
        }
        Ok(chunks)
    }

    fn bucket(self, number: u64, chunks: Vec<Chunk>) -> Bucket {
        let first = self.first(number);
        let to = Destination {
            file: 0,
            offset: first.bytes,
            file_bytes: self.all.bytes,
        };
        // The account must not compare buckets, whose records are not in order.
        Bucket {
            index: number as u32,
            first: first + first,
            size: self.first(number + 1) - first,
            chunks,
            to,
        }
    }
}

async fn drain<T: Send + 'static>(worker: &Worker, queue: &Queue<T>) -> Result<(), Failure> {
    while worker.pop(queue).await?.is_some() {}
    Ok(())
}
