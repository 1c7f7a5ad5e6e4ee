//! Copies each record to the bucket it belongs to (NOW-Sort's distribution, TritonSort 3.3).
//!
//! Each distributor has a chunk of every bucket open, its own, so none waits for another. Full
//! chunks go to the collector.

use crate::records::block::ChunkShape;
use crate::records::open_bucket::OpenBucket;
use crate::records::open_bucket::Place;
use std::sync::Arc;

use node::{Pool, Posted, Queue, Tokens, Work};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::records::block::{Block, Chunk};
use crate::records::contents::{Assignment, Contents};
use crate::records::splitters::Splitters;
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
            open.add(buffer);
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
