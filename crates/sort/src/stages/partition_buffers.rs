//! Partition buffers: chunks of each partition while the input is read, as many as memory holds
//! (TritonSort 3.3, "LogicalDisk buffers").
//!
//! ```text
//! partition 0   []-[]-[]
//! partition 1   []-[]-[]-[]-[]-[]-[]   the longest chain goes to disk first: few, large writes
//! partition 2   []
//! ```
//!
//! A chain needs a *write token* of a temporary directory. Each directory has a few, and its
//! spillers give them back when a write is done: so a fast disk gets more than a slow one, in
//! proportion to their rates (TritonSort 4.5, NOW-Sort 6.2), and no directory's queue grows beyond
//! its share.
//!
//! What memory will hold in the end is not written: so between one pass and two there is no step,
//! only more and more that is written. What must be written for sure is written early, when a disk
//! is idle and a chain is worth a write.

use crate::plan::Limits;
use std::ops::Range;

use node::{Posted, Queue, Tokens, Work};
use pipeline::{Failure, Move, Tuner, Worker};

use crate::files::spill::Slot;
use crate::records::block::Chunk;
use crate::records::splitters::Splitters;
use crate::runs::partition::Ledger;
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
    pub chunk_bytes: usize,
    pub tuner: Tuner,
}

/// The work of the partition buffers: one worker, which alone knows all chains.
///
/// No deadlock: it waits only for distributors and for write tokens. Tokens come back from
/// spillers, who wait for disks alone. And distributors always find a chunk in the end, since what
/// is held here, what spillers have, and what all distributors may have open is no more than the
/// pool.
pub(crate) async fn hold(worker: &Worker, buffers: &PartitionBuffers) -> Result<(), Failure> {
    let splitters = worker.read(&buffers.splitters).await?;
    let limits = &buffers.limits;
    let mut chains = Chains::new(splitters.buckets);
    let mut size = WriteSize::new(limits.least_run, limits.run);
    while let Some(chunks) = worker.pop(&buffers.chunks).await? {
        worker.node.work(Work::Account {
            units: chunks.len() as u64,
        });
        for chunk in chunks {
            worker.did(chunk.records as usize * buffers.record_bytes);
            chains.add(chunk);
        }
        while chains.is_worth_writing(limits, size.least()) {
            let token = buffers.token(worker, true).await?;
            buffers.follow(worker, &mut size, token.is_some());
            let Some(token) = token else { break };
            buffers.spill_longest(worker, &mut chains, token).await?;
        }
        buffers
            .spill_down_to(worker, &mut chains, limits.held)
            .await?;
    }
    buffers.spill_too_large(worker, &mut chains).await?;
    while chains.held > buffers.room_to_stay(&chains) {
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

    /// The least size of a write follows how often there is a token, if anything is to move.
    fn follow(&self, worker: &Worker, size: &mut WriteSize, granted: bool) {
        if !self.tuner.is_on() {
            return;
        }
        let Some((before, why)) = size.asked(granted) else {
            return;
        };
        let (from, to) = (before * self.chunk_bytes, size.least() * self.chunk_bytes);
        let (stage, what) = ("partition buffers", "least_write_bytes");
        self.tuner.tell(
            &worker.node,
            Move {
                seconds: 0.0,
                stage,
                what,
                from,
                to,
                why,
            },
        );
    }

    /// A write token of any directory, if there is one `now` or when one comes.
    async fn token(&self, worker: &Worker, now: bool) -> Result<Option<u32>, Failure> {
        let any: Vec<u32> = (0..self.out.len() as u32).collect();
        let deadline = now.then(|| worker.node.now());
        Ok(worker
            .hold(self.tokens.take_any(&worker.node, &any, deadline))
            .await?)
    }

    /// Of partitions that are to be partitioned again, all that is still here.
    async fn spill_too_large(&self, worker: &Worker, chains: &mut Chains) -> Result<(), Failure> {
        for partition in 0..chains.each.len() {
            while chains.size(partition) > self.limits.partition && chains.length(partition) > 0 {
                let token = self.token(worker, false).await?.expect("it waited for one");
                self.spill(worker, chains, partition, token).await?;
            }
        }
        Ok(())
    }

    /// How many chunks may stay when the input has ended. What is read back needs room beside them;
    /// twice that, so that one partition is read while another is sorted. And where one will be
    /// partitioned again, that one needs its part of what is held.
    fn room_to_stay(&self, chains: &Chains) -> usize {
        let limits = &self.limits;
        let fits = |partition: &usize| chains.size(*partition) <= limits.partition;
        let (fit, large): (Vec<usize>, Vec<usize>) = (0..chains.each.len()).partition(fits);
        let most = fit
            .into_iter()
            .map(|partition| chains.spilled[partition])
            .max()
            .unwrap_or(0);
        match (self.keeps, large.is_empty()) {
            (false, _) => 0,
            (true, true) => limits.pool.saturating_sub(2 * most),
            (true, false) => limits
                .stays_beside()
                .min(limits.pool.saturating_sub(2 * limits.partition)),
        }
    }

    async fn spill_longest(
        &self,
        worker: &Worker,
        chains: &mut Chains,
        token: u32,
    ) -> Result<(), Failure> {
        let longest = chains.longest();
        self.spill(worker, chains, longest, token).await
    }

    /// Spills chunks of a partition, as many as one write may have.
    async fn spill(
        &self,
        worker: &Worker,
        chains: &mut Chains,
        partition: usize,
        token: u32,
    ) -> Result<(), Failure> {
        let chunks = chains.take(partition, self.limits.run);
        let along = partition as f64 / chains.each.len() as f64;
        let Range { start, end } = self.positions;
        let directory = token as usize;
        let to = Slot {
            directory,
            position: start + (end - start) * along,
        };
        self.ledger.begin(&worker.node).await;
        Ok(worker
            .push(
                &self.out[directory],
                Chain {
                    partition,
                    to,
                    chunks,
                },
            )
            .await?)
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
        Chains {
            each,
            spilled: vec![0; partitions],
            spilled_in_all: 0,
            held: 0,
        }
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

    /// The partition whose chain is the longest.
    fn longest(&self) -> usize {
        let longest = self
            .each
            .iter()
            .enumerate()
            .max_by_key(|(_, chain)| chain.len());
        longest.expect("there is a partition").0
    }

    /// Takes up to `most` chunks from the chain of a partition.
    fn take(&mut self, partition: usize, most: usize) -> Vec<Chunk> {
        let chain = &mut self.each[partition];
        let chunks: Vec<_> = chain.drain(..most.min(chain.len())).collect();
        self.held -= chunks.len();
        self.spilled[partition] += chunks.len();
        self.spilled_in_all += chunks.len();
        chunks
    }

    /// Chunks of a partition that are here.
    fn length(&self, partition: usize) -> usize {
        self.each[partition].len()
    }

    /// All chunks of a partition.
    fn size(&self, partition: usize) -> usize {
        self.length(partition) + self.spilled[partition]
    }
}
