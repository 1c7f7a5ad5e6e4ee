//! Partition buffers: chunks of each partition while the input is read, as many as memory holds
//! (TritonSort 3.3, "LogicalDisk buffers").
//!
//! ```text
//! partition 0   []-[]-[]
//! partition 1   []-[]-[]-[]-[]-[]-[]   the longest chain goes to disk first: few, large writes
//! partition 2   []
//! ```
//!
//! A chain needs a *write token* of a temporary directory. Each directory has a few, and its spillers give
//! them back when a write is done: so a fast disk gets more than a slow one, in proportion to their rates
//! (TritonSort 4.5, NOW-Sort 6.2), and no directory's queue grows beyond its share.
//!
//! What memory will hold in the end is not written: so between one pass and two there is no step, only more
//! and more that is written. What must be written for sure is written early, when a disk is idle and a chain
//! is worth a write.

use std::ops::Range;

use node::{Posted, Queue, Tokens, Work};
use pipeline::{Failure, Worker};

use crate::block::Chunk;
use crate::partition::Ledger;
use crate::spill::Slot;
use crate::splitters::Splitters;
use crate::stages::write_size::WriteSize;

/// Chunks of one partition on their way to a spill file.
#[derive(Debug)]
pub(crate) struct Chain {
    pub partition: usize,
    /// Where it goes; the directory is that of its write token.
    pub to: Slot,
    pub chunks: Vec<Chunk>,
}

/// What the partition buffers need.
#[derive(Clone)]
pub(crate) struct PartitionBuffers {
    pub splitters: Posted<Splitters>,
    pub chunks: Queue<Vec<Chunk>>,
    pub limits: Limits,
    /// Whether anything may stay when the input has ended.
    pub keeps: bool,
    /// Which part of the output these partitions are.
    pub positions: Range<f64>,
    /// A token is a directory's number.
    pub tokens: Tokens,
    /// The chains of each directory.
    pub out: Vec<Queue<Chain>>,
    pub ledger: Ledger,
    pub record_bytes: usize,
}

/// How many chunks may be where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// That may stay while the input is read.
    pub held: usize,
    /// Of one write at most.
    pub run: usize,
    /// Of one write that is not forced, to begin with.
    pub least_run: usize,
    /// Of the pool: what stays must leave room to read any partition back.
    pub pool: usize,
    /// Of a partition that can be sorted in memory: with a larger one nothing stays, since that one will
    /// need all memory to be partitioned again.
    pub partition: usize,
    /// That memory cannot hold for sure, as far as that is known.
    pub excess: usize,
}

/// The work of the partition buffers: one worker, which alone knows all chains.
///
/// No deadlock: it waits only for distributors and for write tokens. Tokens come back from spillers, who
/// wait for disks alone. And distributors always find a chunk in the end, since what is held here, what
/// spillers have, and what all distributors may have open is no more than the pool.
pub(crate) async fn hold(worker: &Worker, buffers: &PartitionBuffers) -> Result<(), Failure> {
    let splitters = worker.read(&buffers.splitters).await?;
    let limits = &buffers.limits;
    let mut chains = Chains::new(splitters.buckets);
    let mut size = WriteSize::new(limits.least_run, limits.run);
    while let Some(chunks) = worker.pop(&buffers.chunks).await? {
        worker.node.work(Work::Account { units: chunks.len() as u64 });
        for chunk in chunks {
            worker.did(chunk.records as usize * buffers.record_bytes);
            chains.add(chunk);
        }
        while chains.is_worth_writing(limits, size.least()) {
            let token = buffers.token(worker, true).await?;
            size.asked(token.is_some());
            let Some(token) = token else { break };
            buffers.spill_longest(worker, &mut chains, token).await?;
        }
        buffers.spill_down_to(worker, &mut chains, limits.held).await?;
    }
    // What is read back needs room beside what stays; twice that, so that one is read while another
    // is sorted.
    let keeps = buffers.keeps && chains.largest() <= limits.partition;
    loop {
        let room = limits.pool.saturating_sub(2 * chains.most_spilled());
        if chains.held <= if keeps { room } else { 0 } {
            break;
        }
        let one_less = chains.held - 1;
        buffers.spill_down_to(worker, &mut chains, one_less).await?;
    }
    for queue in &buffers.out {
        queue.finish(&worker.node).await;
    }
    buffers.ledger.keep(&worker.node, chains.each).await;
    Ok(worker.hold(buffers.ledger.settled(&worker.node)).await?)
}

impl PartitionBuffers {
    async fn spill_down_to(
        &self,
        worker: &Worker,
        chains: &mut Chains,
        held: usize,
    ) -> Result<(), Failure> {
        while chains.held > held {
            let token = self.token(worker, false).await?.expect("it waited for one");
            self.spill_longest(worker, chains, token).await?;
        }
        Ok(())
    }

    /// A write token of any directory, if there is one `now` or when one comes.
    async fn token(&self, worker: &Worker, now: bool) -> Result<Option<u32>, Failure> {
        let any: Vec<u32> = (0..self.out.len() as u32).collect();
        let deadline = now.then(|| worker.node.now());
        Ok(worker.hold(self.tokens.take_any(&worker.node, &any, deadline)).await?)
    }

    async fn spill_longest(
        &self,
        worker: &Worker,
        chains: &mut Chains,
        token: u32,
    ) -> Result<(), Failure> {
        let (partition, chunks) = chains.longest(self.limits.run);
        let along = partition as f64 / chains.each.len() as f64;
        let Range { start, end } = self.positions;
        let directory = token as usize;
        let to = Slot { directory, position: start + (end - start) * along };
        self.ledger.begin(&worker.node).await;
        Ok(worker.push(&self.out[directory], Chain { partition, to, chunks }).await?)
    }
}

/// The chains of all partitions.
struct Chains {
    each: Vec<Vec<Chunk>>,
    /// Chunks of each that went to disk.
    spilled: Vec<usize>,
    spilled_in_all: usize,
    held: usize,
}

impl Chains {
    fn new(partitions: usize) -> Chains {
        let each = (0..partitions).map(|_| Vec::new()).collect();
        Chains { each, spilled: vec![0; partitions], spilled_in_all: 0, held: 0 }
    }

    fn add(&mut self, chunk: Chunk) {
        self.held += 1;
        self.each[chunk.bucket as usize].push(chunk);
    }

    /// Whether the longest chain is long enough for a write, and must be written sooner or later.
    fn is_worth_writing(&self, limits: &Limits, least: usize) -> bool {
        let longest = self.each.iter().map(Vec::len).max().unwrap_or(0);
        longest >= least && self.spilled_in_all + longest.min(limits.run) <= limits.excess
    }

    /// Takes up to `most` chunks from the longest chain.
    fn longest(&mut self, most: usize) -> (usize, Vec<Chunk>) {
        let longest = self.each.iter_mut().enumerate().max_by_key(|(_, chain)| chain.len());
        let (partition, chain) = longest.expect("there is a partition");
        let chunks: Vec<_> = chain.drain(..most.min(chain.len())).collect();
        self.held -= chunks.len();
        self.spilled[partition] += chunks.len();
        self.spilled_in_all += chunks.len();
        (partition, chunks)
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
