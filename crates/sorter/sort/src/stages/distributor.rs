//! Copies each record to the bucket it belongs to (NOW-Sort's distribution, TritonSort 3.3).
//!
//! Each distributor keeps its own open chunk of every bucket, so none waits for another. Full chunks
//! go to the partition buffers.

use std::sync::Arc;

use node::{Pool, Posted, Queue, Tokens, Work};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::records::block::{Block, Chunk, ChunkShape};
use crate::records::contents::{Assignment, Contents};
use crate::records::open_bucket::{ChunkKind, OpenBucket};
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

/// The chunks that one worker fills.
struct OpenChunks<'a> {
    worker: &'a Worker,
    distributor: &'a Distributor,
    /// By bucket.
    buckets: Vec<OpenBucket>,
    /// The buckets of the records in hand.
    found: Assignment,
    /// Full chunks, not handed on yet.
    full: Vec<Chunk>,
}

impl Distributor {
    /// Measures a block and drops its repeats. Returns all of its records, repeats included.
    #[inline]
    fn measure(&self, block: &mut Block, seen: &mut Repeats) -> Result<Sum, Failure> {
        let sum = |block: &mut Block| {
            let crc = u128::from(self.contents.measure(block)?);
            let size = block.size;
            Ok::<_, Failure>(Sum { size, crc })
        };
        let all = sum(block)?;
        if self.drops_repeats && self.contents.drop_repeats(block, seen) {
            self.tally.add_repeated(all - sum(block)?);
        }
        Ok(all)
    }

    /// The kind of a bucket's chunks.
    fn kind(&self) -> impl Fn(u32) -> ChunkKind + use<> {
        let (shape, framing) = (self.shape, self.contents.framing());
        move |bucket| ChunkKind {
            bucket,
            shape,
            framing,
        }
    }

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
    let mut open = OpenChunks {
        worker,
        distributor,
        buckets: Vec::new(),
        found: Assignment::default(),
        full: Vec::new(),
    };
    let mut read = Sum::default();
    let mut seen = Repeats::default();
    while let Some(mut block) = worker.pop(&distributor.blocks).await? {
        let all = distributor.measure(&mut block, &mut seen)?;
        read += all;
        charge(worker, all.size);
        worker.did_records(all.size.records, all.size.bytes);
        // The checksum of the first block needs no splitters, which may not be there yet.
        let splitters = worker.read(&distributor.splitters).await?;
        let parts = distributor.contents.parts(&block, distributor.part_bytes);
        for part in parts {
            block.focus(part);
            open.copy(&block, &splitters).await?;
        }
        distributor.pool.give(&worker.node, block.buffer).await;
        open.hand_on().await?;
    }
    open.close();
    open.hand_on().await?;
    distributor.tally.add_in(read);
    distributor.out.finish(&worker.node).await;
    Ok(())
}

impl OpenChunks<'_> {
    /// Copies the records in focus to the chunks of their buckets.
    #[inline]
    async fn copy(&mut self, block: &Block, splitters: &Splitters) -> Result<(), Failure> {
        let (contents, shape) = (&*self.distributor.contents, self.distributor.shape);
        self.buckets
            .resize_with(splitters.buckets, || OpenBucket::new(shape));
        contents.classify(block, splitters, &mut self.found);
        // Full chunks go on before this worker waits for room: spilling them makes the room.
        if !self.full.is_empty() {
            self.hand_on().await?;
        }
        contents.plan_room(&mut self.found, &self.buckets, shape);
        self.make_room(block.first).await?;
        contents.scatter(block, &self.found, &mut self.buckets);
        let position = contents.is_stable().then_some(block.first);
        let (kind, full) = (self.distributor.kind(), &mut self.full);
        let filled = self.buckets.iter_mut().zip(&self.found.sizes);
        // Where lengths differ, it is the buckets that know what was copied.
        let is_fixed = contents.framing().is_fixed();
        let has_some = |size: &Size| !is_fixed || size.records > 0;
        let filled = (0..).zip(filled).filter(|(_, (_, size))| has_some(size));
        for (bucket, (open, &size)) in filled {
            open.advance(size, position, &kind(bucket), full);
        }
        Ok(())
    }

    /// Opens as many chunks as the block's records need. A pool that was planned for the whole input
    /// is empty only when a pipe gave more than memory holds.
    async fn make_room(&mut self, first: u64) -> Result<(), Failure> {
        let (worker, distributor) = (self.worker, self.distributor);
        let fresh = self.buckets.iter_mut().zip(&self.found.fresh);
        let fresh = (0..).zip(fresh).filter(|(_, (_, fresh))| **fresh > 0);
        for (bucket, (open, &fresh)) in fresh {
            for _ in 0..fresh {
                if let Some(shares) = &distributor.shares {
                    let own = [bucket];
                    let share = shares.take_any(&worker.node, &own, None);
                    worker.hold(share).await?;
                }
                let idle = worker.try_take(&distributor.chunks).await;
                let buffer = match (idle, distributor.limit) {
                    (Some(buffer), _) => buffer?,
                    (None, None) => worker.take(&distributor.chunks).await?,
                    (None, Some(limit)) => {
                        let bytes = first;
                        return Err(SortError::PipeTooLong { bytes, limit }.into());
                    }
                };
                open.add(buffer);
            }
        }
        Ok(())
    }

    /// Counts all chunks as full, as no record will follow.
    fn close(&mut self) {
        let kind = self.distributor.kind();
        for (bucket, open) in (0..).zip(&mut self.buckets) {
            self.full.extend(open.close(&kind(bucket)));
        }
    }

    async fn hand_on(&mut self) -> Result<(), Failure> {
        let full = std::mem::take(&mut self.full);
        self.distributor.hand_on(self.worker, full).await
    }
}

fn charge(worker: &Worker, Size { records, bytes }: Size) {
    worker.node.work(Work::Checksum { bytes });
    worker.node.work(Work::Classify { records });
    worker.node.work(Work::Copy { bytes });
}
