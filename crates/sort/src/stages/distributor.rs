//! Copies each record to the bucket it belongs to (NOW-Sort's distribution, TritonSort 3.3).
//!
//! Each distributor has a chunk of every bucket open, its own, so none waits for another. Full
//! chunks go to the collector.

use std::sync::Arc;

use kernel::Bin;
use node::{Buffer, Pool, Posted, Queue, Tokens, Work};
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
    pub shape: ChunkShape,
    /// Where the pool holds all records or none fit: the memory limit, for the error that names it.
    /// Else it waits for chunks, which spillers give back.
    pub limit: Option<u64>,
    /// Where buckets are ranks: a token for each chunk that one of them may have.
    pub shares: Option<Tokens>,
    pub out: Queue<Vec<Chunk>>,
    pub tally: Tally,
    /// Where buckets go; what nobody wants is dropped. Without it, each goes by its own number.
    pub owners: Option<Arc<Vec<Option<u32>>>>,
}

impl Distributor {
    /// Gives full chunks to those who own their buckets.
    async fn hand_on(&self, worker: &Worker, mut full: Vec<Chunk>) -> Result<(), Failure> {
        if let Some(owners) = &self.owners {
            let mut wanted = Vec::with_capacity(full.len());
            for chunk in full {
                match owners[chunk.bucket as usize] {
                    Some(bucket) => wanted.push(Chunk { bucket, ..chunk }),
                    None => self.chunks.give(&worker.node, chunk.buffer).await,
                }
            }
            full = wanted;
        }
        Ok(worker.push(&self.out, full).await?)
    }
}

/// The open end of a bucket: a chunk that is being filled, and fresh ones behind it.
#[derive(Debug, Default)]
pub struct OpenBucket {
    buffers: Vec<Buffer>,
    /// Records in the first of the buffers.
    records: u32,
    marks: Vec<Mark>,
    /// Records that a buffer may hold.
    most: u32,
}

impl OpenBucket {
    fn new(shape: ChunkShape) -> OpenBucket {
        OpenBucket {
            most: shape.records,
            ..OpenBucket::default()
        }
    }

    /// Where the bucket's next records go.
    pub fn room(&mut self, record_bytes: usize) -> Bin<'_> {
        let [filled, until] = [self.records, self.most].map(|count| count as usize * record_bytes);
        let mut buffers = self
            .buffers
            .iter_mut()
            .map(|buffer| &mut buffer.bytes_mut()[..until]);
        let tail = buffers
            .next()
            .map_or(&mut [][..], |first| &mut first[filled..]);
        Bin::new(tail, buffers)
    }

    /// Records that still fit.
    fn room_records(&self) -> u32 {
        self.buffers.len() as u32 * self.most - self.records
    }

    /// Takes note of `count` records that were copied in, the first with rank `position`; full
    /// chunks go to `full`.
    fn advance(&mut self, count: u32, position: Option<u64>, chunk: &Place, full: &mut Vec<Chunk>) {
        let mut left = count;
        while left > 0 {
            let fits = left.min(chunk.shape.records - self.records);
            if let Some(position) = position {
                let position = position + u64::from(count - left);
                self.marks.push(Mark {
                    start: self.records,
                    position,
                });
            }
            self.records += fits;
            left -= fits;
            if self.records == chunk.shape.records {
                full.extend(self.close(chunk));
            }
        }
        if self.marks.len() >= chunk.shape.marks as usize {
            full.extend(self.close(chunk));
        }
    }

    /// The chunk that was being filled, if it holds anything.
    fn close(&mut self, chunk: &Place) -> Option<Chunk> {
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

/// How much goes into a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkShape {
    /// Records at most.
    pub records: u32,
    /// Marks at most; there is room for them behind the records, if the chunk may be spilled.
    pub marks: u32,
}

/// Whose chunk it is.
struct Place {
    bucket: u32,
    shape: ChunkShape,
    record_bytes: usize,
}

/// A distributor's work.
pub(crate) async fn distribute(worker: &Worker, distributor: &Distributor) -> Result<(), Failure> {
    let contents = &*distributor.contents;
    let record_bytes = contents.record_bytes();
    let place = |bucket| Place {
        bucket: bucket as u32,
        shape: distributor.shape,
        record_bytes,
    };
    let mut open: Vec<OpenBucket> = Vec::new();
    let mut found = Assignment::default();
    let (mut records, mut sum) = (0, 0_u128);
    while let Some(mut block) = worker.pop(&distributor.blocks).await? {
        let bytes = block.records * record_bytes;
        sum += u128::from(contents.checksum(&block));
        records += block.records as u64;
        charge(worker, &block, bytes);
        // The first block is summed up while the sample is still drawn.
        let splitters = worker.read(&distributor.splitters).await?;
        open.resize_with(splitters.buckets, || OpenBucket::new(distributor.shape));
        let mut full = Vec::new();
        for part in block.parts(record_bytes) {
            block.focus(part);
            contents.classify(&block, &splitters, &mut found);
            // What is full must not wait for room with us: others make it of that.
            if !full.is_empty() {
                distributor
                    .hand_on(worker, std::mem::take(&mut full))
                    .await?;
            }
            make_room(worker, distributor, &found, &mut open, block.first).await?;
            contents.scatter(&block, &found, &mut open);
            for (bucket, (open, &count)) in open.iter_mut().zip(&found.counts).enumerate() {
                let position = contents.is_stable().then_some(block.first);
                open.advance(count, position, &place(bucket), &mut full);
            }
        }
        distributor.pool.give(&worker.node, block.buffer).await;
        distributor.hand_on(worker, full).await?;
        worker.did(bytes);
    }
    let mut rest = Vec::new();
    for (bucket, open) in open.iter_mut().enumerate() {
        rest.extend(open.close(&place(bucket)));
    }
    distributor.hand_on(worker, rest).await?;
    distributor.tally.came_in(records, sum);
    distributor.out.finish(&worker.node).await;
    Ok(())
}

/// Opens as many chunks as the block's records need. A pool that holds enough for the whole input
/// is empty only when a pipe gave too much.
async fn make_room(
    worker: &Worker,
    distributor: &Distributor,
    found: &Assignment,
    open: &mut [OpenBucket],
    first: u64,
) -> Result<(), Failure> {
    for (bucket, (open, &count)) in (0..).zip(open.iter_mut().zip(&found.counts)) {
        while open.room_records() < count {
            if let Some(shares) = &distributor.shares {
                worker
                    .hold(shares.take_any(&worker.node, &[bucket], None))
                    .await?;
            }
            let buffer = match (
                worker.try_take(&distributor.chunks).await,
                distributor.limit,
            ) {
                (Some(buffer), _) => buffer?,
                (None, None) => worker.take(&distributor.chunks).await?,
                (None, Some(limit)) => {
                    let bytes = first * distributor.contents.record_bytes() as u64;
                    return Err(SortError::PipeTooLong { bytes, limit }.into());
                }
            };
            open.buffers.push(buffer);
        }
    }
    Ok(())
}

fn charge(worker: &Worker, block: &Block, bytes: usize) {
    worker.node.work(Work::Checksum {
        bytes: bytes as u64,
    });
    worker.node.work(Work::Classify {
        records: block.records as u64,
    });
    worker.node.work(Work::Copy {
        bytes: bytes as u64,
    });
}
