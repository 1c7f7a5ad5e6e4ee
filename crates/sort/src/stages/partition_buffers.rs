//! Partition buffers: chunks of each partition while the input is read, as many as memory holds
//! (TritonSort 3.3, "LogicalDisk buffers").
//!
//! ```text
//! partition 0   []-[]-[]
//! partition 1   []-[]-[]-[]-[]-[]-[]   the longest chain goes to disk first: few, large writes
//! partition 2   []
//! ```
//!
//! Nothing goes to disk before memory is full, and what is in memory at the end stays there: so between one
//! pass and two there is no step, only more and more that is written.

use node::{Posted, Queue, Work};
use pipeline::{Failure, Worker};

use crate::block::Chunk;
use crate::partition::Ledger;
use crate::splitters::Splitters;

/// Chunks of one partition on their way to a spill file.
#[derive(Debug)]
pub(crate) struct Chain {
    pub partition: usize,
    pub chunks: Vec<Chunk>,
}

/// What the partition buffers need.
#[derive(Clone)]
pub(crate) struct PartitionBuffers {
    pub splitters: Posted<Splitters>,
    pub chunks: Queue<Vec<Chunk>>,
    /// Chunks that may stay.
    pub held: usize,
    /// Chunks of one write at most.
    pub run: usize,
    /// Chunks of the pool: what stays must leave room to read any partition back.
    pub pool: usize,
    /// Chunks of a partition that can be sorted in memory: with a larger one nothing stays, since that one
    /// will need all memory to be partitioned again.
    pub most: usize,
    /// Whether anything may stay when the input has ended.
    pub keeps: bool,
    pub out: Queue<Chain>,
    pub ledger: Ledger,
    pub record_bytes: usize,
}

/// The work of the partition buffers: one worker, which alone knows all chains.
///
/// No deadlock: it waits only for distributors and for spillers. Spillers wait for disks alone. And
/// distributors always find a chunk in the end, since what is held here, what spillers have, and what all
/// distributors may have open is no more than the pool.
pub(crate) async fn hold(worker: &Worker, buffers: &PartitionBuffers) -> Result<(), Failure> {
    let splitters = worker.read(&buffers.splitters).await?;
    let mut chains = Chains::new(splitters.buckets);
    while let Some(chunks) = worker.pop(&buffers.chunks).await? {
        worker.node.work(Work::Account { units: chunks.len() as u64 });
        for chunk in chunks {
            worker.did(chunk.records as usize * buffers.record_bytes);
            chains.add(chunk);
        }
        while chains.held > buffers.held {
            spill_longest(worker, buffers, &mut chains).await?;
        }
    }
    // What is read back needs room beside what stays; twice that, so that one is read while another
    // is sorted.
    let keeps = buffers.keeps && chains.largest() <= buffers.most;
    let room = |chains: &Chains| {
        if keeps { buffers.pool.saturating_sub(2 * chains.most_spilled()) } else { 0 }
    };
    while chains.held > room(&chains) {
        spill_longest(worker, buffers, &mut chains).await?;
    }
    buffers.out.finish(&worker.node).await;
    buffers.ledger.keep(&worker.node, chains.each).await;
    Ok(worker.hold(buffers.ledger.settled(&worker.node)).await?)
}

async fn spill_longest(
    worker: &Worker,
    buffers: &PartitionBuffers,
    chains: &mut Chains,
) -> Result<(), Failure> {
    let chain = chains.longest(buffers.run);
    buffers.ledger.begin(&worker.node).await;
    Ok(worker.push(&buffers.out, chain).await?)
}

/// The chains of all partitions.
struct Chains {
    each: Vec<Vec<Chunk>>,
    /// Chunks of each that went to disk.
    spilled: Vec<usize>,
    held: usize,
}

impl Chains {
    fn new(partitions: usize) -> Chains {
        let each = (0..partitions).map(|_| Vec::new()).collect();
        Chains { each, spilled: vec![0; partitions], held: 0 }
    }

    fn add(&mut self, chunk: Chunk) {
        self.held += 1;
        self.each[chunk.bucket as usize].push(chunk);
    }

    /// Takes up to `most` chunks from the longest chain.
    fn longest(&mut self, most: usize) -> Chain {
        let longest = self.each.iter_mut().enumerate().max_by_key(|(_, chain)| chain.len());
        let (partition, chain) = longest.expect("there is a partition");
        let chunks: Vec<_> = chain.drain(..most.min(chain.len())).collect();
        self.held -= chunks.len();
        self.spilled[partition] += chunks.len();
        Chain { partition, chunks }
    }

    /// Chunks of the largest partition.
    fn largest(&self) -> usize {
        let sizes =
            self.each.iter().zip(&self.spilled).map(|(chain, spilled)| chain.len() + spilled);
        sizes.max().unwrap_or(0)
    }

    /// Chunks of the partition of which most are on disk.
    fn most_spilled(&self) -> usize {
        self.spilled.iter().copied().max().unwrap_or(0)
    }
}
