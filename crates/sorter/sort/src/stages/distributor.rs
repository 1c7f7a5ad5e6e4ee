//! Copies each record to the bucket it belongs to (NOW-Sort's distribution, TritonSort 3.3).
//!
//! Each distributor keeps its own open chunk of every bucket, so none waits for another. Full chunks
//! go to the partition buffers.

use crate::records::block::ChunkShape;
use crate::records::open_bucket::ChunkKind;
use crate::records::open_bucket::OpenBucket;
use std::sync::Arc;

use node::{Pool, Posted, Queue, Tokens, Work};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::records::block::{Block, Chunk};
use crate::records::contents::{Assignment, Contents};
use crate::records::repeats::Repeats;
use crate::records::size::{Size, Sum};
use crate::records::splitters::Splitters;
use crate::stages::Tally;

#[derive(Clone)]
pub(crate) struct Distributor {
    pub contents: Arc<dyn Contents>,
    pub splitters: Posted<Splitters>,
    pub blocks: Queue<Block>,
    /// Buffers of blocks go back here.
    pub pool: Pool,
    /// Memory for records.
    pub chunks: Pool,
    /// Bytes of chunks that the records of one step may take.
    pub part_bytes: usize,
    pub shape: ChunkShape,
    /// The memory limit, where the pool must hold all records: an empty pool is an error that names
    /// the limit. Without it, a distributor waits for chunks that spillers give back.
    pub limit: Option<u64>,
    /// Where buckets are ranks: one token for each chunk that a rank may have.
    pub shares: Option<Tokens>,
    pub out: Queue<Vec<Chunk>>,
    pub tally: Tally,
    /// Whether records whose keys came before are dropped here already, with `-u`. Otherwise all that came in
    /// must go out: of saved progress, to another rank, or from a partition that is divided again.
    pub drops_repeats: bool,
    /// The rank of each bucket; a bucket without one is dropped. Without the list, a bucket's number
    /// is its rank.
    pub owners: Option<Arc<Vec<Option<u32>>>>,
}

impl Distributor {
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

pub(crate) async fn distribute(worker: &Worker, distributor: &Distributor) -> Result<(), Failure> {
    let contents = &*distributor.contents;
    let framing = contents.framing();
    let place = |bucket| ChunkKind {
        bucket: bucket as u32,
        shape: distributor.shape,
        framing,
    };
    let mut open: Vec<OpenBucket> = Vec::new();
    let mut found = Assignment::default();
    let mut read = Sum::default();
    let mut seen = Repeats::default();
    while let Some(mut block) = worker.pop(&distributor.blocks).await? {
        let crc = u128::from(contents.measure(&mut block)?);
        let size = block.size;
        let all = Sum { size, crc };
        read += all;
        if distributor.drops_repeats && contents.drop_repeats(&mut block, &mut seen) {
            let crc = u128::from(contents.measure(&mut block)?);
            let kept = Sum {
                size: block.size,
                crc,
            };
            distributor.tally.add_repeated(all - kept);
        }
        charge(worker, size);
        // The checksum of the first block needs no splitters, which may not be there yet.
        let splitters = worker.read(&distributor.splitters).await?;
        open.resize_with(splitters.buckets, || OpenBucket::new(distributor.shape));
        let mut full = Vec::new();
        for part in contents.parts(&block, distributor.part_bytes) {
            block.focus(part);
            contents.classify(&block, &splitters, &mut found);
            // Full chunks go on before this worker waits for room: spilling them makes the room.
            if !full.is_empty() {
                distributor
                    .hand_on(worker, std::mem::take(&mut full))
                    .await?;
            }
            contents.plan_room(&mut found, &open, distributor.shape);
            make_room(worker, distributor, &found, &mut open, block.first).await?;
            contents.scatter(&block, &found, &mut open);
            for (bucket, (open, &size)) in open.iter_mut().zip(&found.sizes).enumerate() {
                let position = contents.is_stable().then_some(block.first);
                open.advance(size, position, &place(bucket), &mut full);
            }
        }
        distributor.pool.give(&worker.node, block.buffer).await;
        distributor.hand_on(worker, full).await?;
        worker.did(size.bytes as usize);
    }
    let mut rest = Vec::new();
    for (bucket, open) in open.iter_mut().enumerate() {
        rest.extend(open.close(&place(bucket)));
    }
    distributor.hand_on(worker, rest).await?;
    distributor.tally.add_in(read);
    distributor.out.finish(&worker.node).await;
    Ok(())
}

/// Opens as many chunks as the block's records need. A pool that was planned for the whole input is
/// empty only when a pipe gave more than memory holds.
async fn make_room(
    worker: &Worker,
    distributor: &Distributor,
    found: &Assignment,
    open: &mut [OpenBucket],
    first: u64,
) -> Result<(), Failure> {
    for (bucket, (open, &fresh)) in (0..).zip(open.iter_mut().zip(&found.fresh)) {
        for _ in 0..fresh {
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
                    return Err(SortError::PipeTooLong {
                        bytes: first,
                        limit,
                    }
                    .into());
                }
            };
            open.add(buffer);
        }
    }
    Ok(())
}

fn charge(worker: &Worker, Size { records, bytes }: Size) {
    worker.node.work(Work::Checksum { bytes });
    worker.node.work(Work::Classify { records });
    worker.node.work(Work::Copy { bytes });
}
