//! gensort on a node: records made on all cores, written at the disk's speed.

use std::sync::Arc;

use kernel::RecordCrc;
use node::{Node, Pool, Queue};
use pipeline::{Control, Dial, Failure, Pipeline, Worker};
use record::{Checksum, Generator, RECORD_BYTES};

use crate::error::SortError;
use crate::error::no_memory;
use crate::files::output::Output;
use crate::job::{IoChoice, Target};
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Piece;
use crate::stages::{Tally, Turn, Writer, write};

/// Records to be made.
#[derive(Clone)]
pub struct Generate {
    /// Their style.
    pub generator: Generator,
    /// Number of the first.
    pub first: u128,
    /// How many.
    pub records: u64,
    /// Where they go.
    pub target: Target,
    /// Whether their checksum is wanted.
    pub checksum: bool,
    /// Cores to use.
    pub cores: usize,
    /// Whether to bypass the page cache.
    pub io: IoChoice,
    /// To watch and stop it.
    pub control: Control,
}

/// Records of a unit: as many as fit 4 MiB of whole disk blocks.
const UNIT_RECORDS: u64 = 40 * BLOCK_BYTES / 4;
const _: () = assert!((UNIT_RECORDS * RECORD_BYTES as u64).is_multiple_of(BLOCK_BYTES));

const WRITERS: usize = 2;
const DEPTH: usize = 2;

/// Makes records; their checksum if it was asked for.
///
/// # Errors
/// Nothing is left of an output that failed, and the target keeps its old content.
pub async fn generate(node: &Node, job: &Generate) -> Result<Checksum, Failure> {
    if let Target::Directories(all) = &job.target {
        // A set of files is in order, which generated records are not.
        let file = all.first().cloned().unwrap_or_default();
        return Err(SortError::Directory { file }.into());
    }
    let mut output = Output::open(node, &job.target, job.io).await?;
    let bytes = job.records * RECORD_BYTES as u64;
    let made = make(node, job, &output, bytes).await;
    let committed = match made {
        Ok(checksum) => output.commit(node, bytes).await.map(|_| checksum),
        Err(failure) => Err(failure),
    };
    if committed.is_err() {
        output.discard(node).await;
    }
    committed
}

async fn make(
    node: &Node,
    job: &Generate,
    output: &Output,
    bytes: u64,
) -> Result<Checksum, Failure> {
    output.reserve(node, bytes).await?;
    job.control.enter("generating", bytes);
    let mut pipeline = Pipeline::new(&job.control);
    let unit_bytes = UNIT_RECORDS as usize * RECORD_BYTES;
    let writers = if output.is_sequential() { 1 } else { WRITERS };
    // A buffer that each generator fills, one that waits, and each writer's in flight.
    let count = 2 * job.cores + writers * DEPTH;
    let buffers = node
        .buffers(count, unit_bytes)
        .map_err(|cause| no_memory(count * unit_bytes, &cause))?;
    let pool = pipeline.owns(Pool::new(node, "write buffers", buffers));
    let pieces = pipeline.owns(Queue::new(node, "pieces", job.cores, job.cores));
    let tally = Tally::default();
    let source = Source {
        job: job.clone(),
        pool,
        out: pieces.clone(),
        turn: output
            .is_sequential()
            .then(|| pipeline.owns(Turn::new(node))),
        tally: tally.clone(),
    };
    pipeline.stage(node, "generator", job.cores, async move |worker| {
        fill(worker, &source).await
    });
    let writer = Writer {
        output: Arc::new(output.clone()),
        pieces,
        depth: Dial::fixed(DEPTH),
    };
    pipeline.stage(node, "writer", writers, async move |worker| {
        write(worker, &writer).await
    });
    pipeline.join(node).await?;
    Ok(Checksum(tally.sum_in()))
}

/// What generators share.
#[derive(Clone)]
struct Source {
    job: Generate,
    pool: Pool,
    out: Queue<Piece>,
    turn: Option<Turn>,
    tally: Tally,
}

async fn fill(worker: &Worker, source: &Source) -> Result<(), Failure> {
    let crc = RecordCrc::new(RECORD_BYTES);
    let (mut records, mut sum) = (0, 0_u128);
    let begins = (0..source.job.records).step_by(UNIT_RECORDS as usize);
    for begin in begins.skip(worker.index).step_by(worker.siblings()) {
        let count = UNIT_RECORDS.min(source.job.records - begin);
        let bytes = count as usize * RECORD_BYTES;
        let mut buffer = worker.take(&source.pool).await?;
        let out = &mut buffer.bytes_mut()[..bytes];
        source
            .job
            .generator
            .fill(source.job.first.wrapping_add(u128::from(begin)), out);
        if source.job.checksum {
            sum += u128::from(crc.sum(out));
        }
        records += count;
        // A positioned output is written in whole disk blocks, and cut to its length at the end.
        let whole = if source.turn.is_some() {
            bytes
        } else {
            whole_blocks(bytes)
        };
        buffer.set_len(whole);
        let offset = begin * RECORD_BYTES as u64;
        let home = source.pool.clone();
        let piece = Piece {
            file: 0,
            offset,
            range: 0..whole,
            buffer,
            home,
        };
        if let Some(turn) = &source.turn {
            worker.hold(turn.wait(&worker.node, begin)).await?;
        }
        worker.push(&source.out, piece).await?;
        if let Some(turn) = &source.turn {
            turn.pass(&worker.node, begin + count).await;
        }
        worker.did(bytes);
    }
    source.tally.came_in(records, sum);
    source.out.finish(&worker.node).await;
    Ok(())
}

fn whole_blocks(bytes: usize) -> usize {
    bytes.next_multiple_of(BLOCK_BYTES as usize)
}
