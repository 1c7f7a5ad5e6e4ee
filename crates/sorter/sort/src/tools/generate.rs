//! gensort on a node: records made on all cores, written at the disk's speed.

use std::sync::Arc;

use kernel::RecordCrc;
use node::{Filled, Node, Pool, Queue};
use pipeline::{Control, Failure, Pipeline, Worker, sharing};
use record::{Checksum, Generator, RECORD_BYTES};

use crate::error::SortError;
use crate::error::no_memory;
use crate::files::output::Output;
use crate::job::{IoChoice, Target};
use crate::names::{Phase, StageName};
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Piece;
use crate::records::framing::GENSORT;
use crate::records::size::Sum;
use crate::stages::{Tally, Turn, Writer, write};

/// Options of gensort.
#[derive(Clone)]
pub struct Generate {
    /// Style of the records.
    pub generator: Generator,
    /// Number of the first record.
    pub first: u128,
    /// Number of records.
    pub records: u64,
    /// The output.
    pub target: Target,
    /// Whether to compute their checksum.
    pub checksum: bool,
    /// Cores to use.
    pub cores: usize,
    /// Whether to bypass the page cache.
    pub io: IoChoice,
    /// To watch and stop it.
    pub control: Control,
}

/// Bytes of a unit: about 4 MiB, whole records and whole disk blocks.
const UNIT_BYTES: u64 = 40 * GENSORT.period();
const _: () = assert!(UNIT_BYTES.is_multiple_of(BLOCK_BYTES));

const WRITERS: usize = 2;
const DEPTH: usize = 2;

/// Generates records. Returns their checksum, if it was requested.
///
/// # Errors
/// When the output cannot be written. Its draft is removed then, and the target keeps its old
/// content.
pub async fn generate(node: &Node, job: &Generate) -> Result<Checksum, Failure> {
    if let Target::Directories(all) = &job.target {
        // A set of files is in order; generated records are not.
        let file = all.first().cloned().unwrap_or_default();
        return Err(SortError::Directory { file }.into());
    }
    let output = Output::open(node, &job.target, job.io, &[]).await?;
    let bytes = GENSORT.of(job.records).bytes;
    let made = async {
        let checksum = make(node, job, &output, bytes).await?;
        output.finish(node, bytes).await?;
        output.name(node).await?;
        Ok(checksum)
    };
    let made = made.await;
    if made.is_err() {
        output.discard(node).await;
    }
    made
}

async fn make(
    node: &Node,
    job: &Generate,
    output: &Output,
    bytes: u64,
) -> Result<Checksum, Failure> {
    output.reserve(node, bytes).await?;
    job.control.enter(Phase::Generate.name(), bytes);
    let mut pipeline = Pipeline::new(&job.control);
    let unit_bytes = UNIT_BYTES as usize;
    let writers = if output.is_sequential() { 1 } else { WRITERS };
    // Buffers that each generator fills, one that waits for it, and those in flight at each writer.
    let count = 2 * job.cores + writers * DEPTH;
    let buffers = node
        .buffers(count, unit_bytes, Filled::Often)
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
    pipeline.stage(node, StageName::Generator, job.cores, sharing(source, fill));
    let writer = Writer {
        output: Arc::new(output.clone()),
        pieces,
        depth: DEPTH,
    };
    pipeline.stage(node, StageName::Writer, writers, sharing(writer, write));
    pipeline.join(node).await?;
    Ok(Checksum(tally.records_in().crc))
}

/// The source that generators share.
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
    let mut made = Sum::default();
    let all = GENSORT.of(source.job.records).bytes;
    let offsets = (0..all).step_by(UNIT_BYTES as usize);
    for offset in offsets.skip(worker.index).step_by(worker.siblings()) {
        let size = GENSORT.size_of(UNIT_BYTES.min(all - offset));
        let bytes = size.bytes as usize;
        let mut buffer = worker.take(&source.pool).await?;
        let out = &mut buffer.bytes_mut()[..bytes];
        let before = u128::from(GENSORT.size_of(offset).records);
        let first = source.job.first.wrapping_add(before);
        source.job.generator.fill(first, out);
        if source.job.checksum {
            made.crc += u128::from(crc.sum(out));
        }
        made.size += size;
        // A file is written in whole disk blocks, and cut to its length at the end.
        let whole = if source.turn.is_some() {
            bytes
        } else {
            whole_blocks(bytes)
        };
        buffer.set_len(whole);
        let home = source.pool.clone();
        let piece = Piece {
            file: 0,
            offset,
            range: 0..whole,
            buffer,
            home,
        };
        if let Some(turn) = &source.turn {
            worker.hold(turn.wait(&worker.node, offset)).await?;
        }
        worker.push(&source.out, piece).await?;
        if let Some(turn) = &source.turn {
            turn.pass(&worker.node, offset + size.bytes).await;
        }
        worker.did(bytes);
    }
    source.tally.add_in(made);
    source.out.finish(&worker.node).await;
    Ok(())
}

fn whole_blocks(bytes: usize) -> usize {
    bytes.next_multiple_of(BLOCK_BYTES as usize)
}
