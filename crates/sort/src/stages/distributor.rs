//! Copies each record to the bucket it belongs to (NOW-Sort's distribution, TritonSort 3.3).
//!
//! Each distributor has a chunk of every bucket open, its own, so none waits for another. Full
//! chunks go to the collector.

use std::sync::Arc;

use kernel::Bin;
use node::{Buffer, Pool, Posted, Queue, Work};
use pipeline::{Failure, Worker};

use crate::block::{Block, Chunk, Mark};
use crate::contents::{Assignment, Contents};
use crate::error::SortError;
use crate::splitters::Splitters;
use crate::stages::Tally;

/// What distributors share.
#[derive(Clone)]
pub(crate) struct Distributor {
    pub contents: Arc<dyn Contents>,
    pub splitters: Posted<Splitters>,
    pub blocks: Queue<Block>,
    /// Where blocks' buffers go back to.
    pub pool: Pool,
    /// The memory for records.
    pub chunks: Pool,
    pub chunk_bytes: usize,
    /// The memory limit, for the error that names it.
    pub limit: u64,
    pub out: Queue<Vec<Chunk>>,
    pub tally: Tally,
}

/// The open end of a bucket: a chunk that is being filled, and fresh ones behind it.
#[derive(Debug, Default)]
pub struct OpenBucket {
    buffers: Vec<Buffer>,
    /// Records in the first of the buffers.
    records: u32,
    marks: Vec<Mark>,
}

impl OpenBucket {
    /// Where the bucket's next records go.
    pub fn room(&mut self, record_bytes: usize) -> Bin<'_> {
        let filled = self.records as usize * record_bytes;
        let mut buffers = self.buffers.iter_mut().map(Buffer::bytes_mut);
        let tail = buffers.next().map_or(&mut [][..], |first| &mut first[filled..]);
        Bin::new(tail, buffers)
    }

    /// Records that still fit.
    fn room_records(&self, chunk_records: u32) -> u32 {
        self.buffers.len() as u32 * chunk_records - self.records
    }

    /// Takes note of `count` records that were copied in, the first with rank `position`; full
    /// chunks go to `full`.
    fn advance(
        &mut self,
        count: u32,
        position: Option<u64>,
        chunk: &ChunkShape,
        full: &mut Vec<Chunk>,
    ) {
        let mut left = count;
        while left > 0 {
            let fits = left.min(chunk.records - self.records);
            if let Some(position) = position {
                let position = position + u64::from(count - left);
                self.marks.push(Mark { start: self.records, position });
            }
            self.records += fits;
            left -= fits;
            if self.records == chunk.records {
                full.extend(self.close(chunk));
            }
        }
    }

    /// The chunk that was being filled, if it holds anything.
    fn close(&mut self, chunk: &ChunkShape) -> Option<Chunk> {
        if self.records == 0 {
            return None;
        }
        let mut buffer = self.buffers.remove(0);
        let records = std::mem::take(&mut self.records);
        buffer.set_len(records as usize * chunk.record_bytes);
        Some(Chunk {
            bucket: chunk.bucket,
            records,
            marks: std::mem::take(&mut self.marks),
            buffer,
        })
    }
}

struct ChunkShape {
    bucket: u32,
    records: u32,
    record_bytes: usize,
}

/// A distributor's work.
pub(crate) async fn distribute(worker: &Worker, distributor: &Distributor) -> Result<(), Failure> {
    let contents = &*distributor.contents;
    let record_bytes = contents.record_bytes();
    let chunk_records = (distributor.chunk_bytes / record_bytes) as u32;
    let mut open: Vec<OpenBucket> = Vec::new();
    let mut found = Assignment::default();
    let (mut records, mut sum) = (0, 0_u128);
    while let Some(block) = worker.pop(&distributor.blocks).await? {
        let bytes = block.records * record_bytes;
        sum += u128::from(contents.checksum(&block));
        // The first block is summed up while the sample is still drawn.
        let splitters = worker.read(&distributor.splitters).await?;
        open.resize_with(splitters.buckets, OpenBucket::default);
        contents.classify(&block, &splitters, &mut found);
        make_room(worker, distributor, &found, &mut open, block.first).await?;
        contents.scatter(&block, &found, &mut open);
        charge(worker, &block, bytes);
        let mut full = Vec::new();
        for (bucket, (open, &count)) in open.iter_mut().zip(&found.counts).enumerate() {
            let shape = ChunkShape { bucket: bucket as u32, records: chunk_records, record_bytes };
            open.advance(count, contents.is_stable().then_some(block.first), &shape, &mut full);
        }
        records += block.records as u64;
        distributor.pool.give(&worker.node, block.buffer).await;
        worker.push(&distributor.out, full).await?;
        worker.did(bytes);
    }
    let mut rest = Vec::new();
    for (bucket, open) in open.iter_mut().enumerate() {
        let shape = ChunkShape { bucket: bucket as u32, records: chunk_records, record_bytes };
        rest.extend(open.close(&shape));
    }
    worker.push(&distributor.out, rest).await?;
    distributor.tally.came_in(records, sum);
    distributor.out.finish(&worker.node).await;
    Ok(())
}

/// Opens as many chunks as the block's records need. The pool holds enough for the whole input, so
/// nothing waits here: a pool that is empty means that a pipe gave too much.
async fn make_room(
    worker: &Worker,
    distributor: &Distributor,
    found: &Assignment,
    open: &mut [OpenBucket],
    first: u64,
) -> Result<(), Failure> {
    let record_bytes = distributor.contents.record_bytes();
    let chunk_records = (distributor.chunk_bytes / record_bytes) as u32;
    for (open, &count) in open.iter_mut().zip(&found.counts) {
        while open.room_records(chunk_records) < count {
            let Some(buffer) = worker.try_take(&distributor.chunks).await else {
                let bytes = first * record_bytes as u64;
                return Err(SortError::PipeTooLong { bytes, limit: distributor.limit }.into());
            };
            open.buffers.push(buffer?);
        }
    }
    Ok(())
}

fn charge(worker: &Worker, block: &Block, bytes: usize) {
    worker.node.work(Work::Checksum { bytes: bytes as u64 });
    worker.node.work(Work::Classify { records: block.records as u64 });
    worker.node.work(Work::Copy { bytes: bytes as u64 });
}
