//! Partition buffers: the chunks of each partition that memory holds while the input is read
//! (TritonSort 3.3, "LogicalDisk buffers"; a partition is a logical disk there).
//!
//! ```text
//! partition 0   []-[]-[]
//! partition 1   []-[]-[]-[]-[]-[]-[]   the longest chain goes to disk first: few, large writes
//! partition 2   []
//! ```
//!
//! A chain needs a *write token* of a temporary directory. Each directory has a few, and its
//! spillers give them back when a write is done. So disks get chains in proportion to their rates
//! (TritonSort 4.5, NOW-Sort 6.2), and no directory's queue grows beyond its share.
//!
//! Records that memory can hold to the end are not written, so the cost grows gradually from one
//! pass to two. Chains that are certain to be written go early, when a disk is idle and the chain is
//! long enough.
//!
//! With [`SpillLayout::Preallocated`](crate::SpillLayout) each partition has a *home*, the directory of its
//! area. Partitions have theirs in turn, and a chain goes on only with a token of its home (TritonSort 4.5).

use crate::plan::Limits;
use std::ops::Range;

use node::{Posted, Queue, Tokens, Work};
use pipeline::{Failure, Worker};

use crate::files::spill::Slot;
use crate::records::block::Chunk;
use crate::records::splitters::Splitters;
use crate::runs::partition::Ledger;
use crate::stages::write_size::WriteSize;

/// Chunks of one partition for one write to a spill file.
#[derive(Debug)]
pub(crate) struct Chain {
    pub partition: usize,
    /// The directory is that of the chain's write token.
    pub to: Slot,
    pub chunks: Vec<Chunk>,
}

#[derive(Clone)]
pub(crate) struct PartitionBuffers {
    pub splitters: Posted<Splitters>,
    pub chunks: Queue<Vec<Chunk>>,
    pub limits: Limits,
    /// Whether chunks may stay in memory when the input has ended.
    pub keeps: bool,
    /// Whether partitions have homes.
    pub has_homes: bool,
    /// Partitions that are read back at once.
    pub read_at_once: usize,
    /// The part of the output that these partitions are, between 0 and 1.
    pub positions: Range<f64>,
    /// Write tokens; a token is a directory's number.
    pub tokens: Tokens,
    /// By directory.
    pub out: Vec<Queue<Chain>>,
    pub ledger: Ledger,
}

/// Runs with one worker, which alone knows all chains.
///
/// No deadlock: it waits only for distributors and for write tokens, which spillers give back; these
/// wait for disks alone. Distributors find a chunk in the end, because the pool is larger than the
/// chunks held here, those of spillers and those that distributors may have open.
pub(crate) async fn hold(worker: &Worker, buffers: &PartitionBuffers) -> Result<(), Failure> {
    let splitters = worker.read(&buffers.splitters).await?;
    let limits = &buffers.limits;
    let homes = if buffers.has_homes {
        buffers.out.len()
    } else {
        1
    };
    let mut chains = Chains::new(splitters.buckets, homes.max(1));
    let [least, most] = limits.least_run;
    let mut size = WriteSize::new(least, most);
    while let Some(chunks) = worker.pop(&buffers.chunks).await? {
        worker.node.work(Work::Account {
            units: chunks.len() as u64,
        });
        for chunk in chunks {
            worker.did_records(chunk.size.records, chunk.size.bytes);
            chains.add(chunk);
        }
        while chains.is_worth_writing(limits, size.least()) {
            let token = buffers.token(worker, &chains, size.least(), true).await?;
            size.asked(token.is_some());
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
            // A slow disk fills memory with its chains; the others' would become crumbs.
            let least = (chains.longest_of_all() / 2).max(1);
            let token = self.token(worker, chains, least, false).await?;
            let token = token.expect("it waited for one");
            self.spill_longest(worker, chains, token).await?;
        }
        Ok(())
    }

    /// A write token of any directory for which there is a chain of `least` chunks: one that is there
    /// `now`, or the next one to come.
    async fn token(
        &self,
        worker: &Worker,
        chains: &Chains,
        least: usize,
        now: bool,
    ) -> Result<Option<u32>, Failure> {
        let all = 0..self.out.len() as u32;
        let any: Vec<u32> = all
            .filter(|directory| chains.longest_at(*directory as usize) >= least)
            .collect();
        self.token_of(worker, &any, now).await
    }

    async fn token_of(
        &self,
        worker: &Worker,
        directories: &[u32],
        now: bool,
    ) -> Result<Option<u32>, Failure> {
        let deadline = now.then(|| worker.node.now());
        let token = self.tokens.take_any(&worker.node, directories, deadline);
        Ok(worker.hold(token).await?)
    }

    /// Spills the rest of the partitions that will be partitioned again.
    async fn spill_too_large(&self, worker: &Worker, chains: &mut Chains) -> Result<(), Failure> {
        for partition in 0..chains.each.len() {
            while chains.size(partition) > self.limits.partition && chains.length(partition) > 0 {
                let own = |directory: &u32| {
                    *directory as usize % chains.homes.len() == chains.home(partition)
                };
                let own: Vec<u32> = (0..self.out.len() as u32).filter(own).collect();
                let token = self.token_of(worker, &own, false).await?;
                let token = token.expect("it waited for one");
                self.spill(worker, chains, partition, token).await?;
            }
        }
        Ok(())
    }

    /// Chunks that may stay when the input has ended. Partitions that are read back need the rest of
    /// the pool: room for two of the largest, so that one is read while another is sorted, or for more. A
    /// partition that will be partitioned again needs its part of the held chunks, too.
    fn room_to_stay(&self, chains: &Chains) -> usize {
        if !self.keeps {
            return 0;
        }
        let limits = &self.limits;
        let fits = |partition: &usize| chains.size(*partition) <= limits.partition;
        let (fit, large): (Vec<usize>, Vec<usize>) = (0..chains.each.len()).partition(fits);
        let most = fit
            .into_iter()
            .map(|partition| chains.spilled[partition])
            .max()
            .unwrap_or(0);
        if large.is_empty() {
            return limits.pool.saturating_sub(self.read_at_once * most);
        }
        limits
            .stays_beside()
            .min(limits.pool.saturating_sub(2 * limits.partition))
    }

    async fn spill_longest(
        &self,
        worker: &Worker,
        chains: &mut Chains,
        token: u32,
    ) -> Result<(), Failure> {
        let longest = chains.longest(token as usize);
        self.spill(worker, chains, longest, token).await
    }

    /// Spills one write of a partition's chunks.
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
            partition: self.has_homes.then_some(partition),
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

struct Chains {
    each: Vec<Vec<Chunk>>,
    /// By home: how many of its chains have that length, and the greatest length.
    homes: Vec<Lengths>,
    /// Chunks of each partition that went to disk.
    spilled: Vec<usize>,
    spilled_in_all: usize,
    held: usize,
}

impl Chains {
    /// No chunks yet. Partitions have their homes in turn.
    fn new(partitions: usize, homes: usize) -> Chains {
        let each = (0..partitions).map(|_| Vec::new()).collect();
        Chains {
            each,
            homes: vec![Lengths::default(); homes],
            spilled: vec![0; partitions],
            spilled_in_all: 0,
            held: 0,
        }
    }

    fn home(&self, partition: usize) -> usize {
        partition % self.homes.len()
    }

    fn add(&mut self, chunk: Chunk) {
        self.held += 1;
        let partition = chunk.bucket as usize;
        let home = self.home(partition);
        self.each[partition].push(chunk);
        self.homes[home].add(self.each[partition].len());
    }

    /// Whether the longest chain is long enough for a write, and certain to be written in the end.
    fn is_worth_writing(&self, limits: &Limits, least: usize) -> bool {
        let longest = self.longest_of_all();
        longest >= least && self.spilled_in_all + longest.min(limits.run) <= limits.excess
    }

    fn longest_of_all(&self) -> usize {
        let lengths = self.homes.iter().map(|home| home.longest);
        lengths.max().unwrap_or(0)
    }

    /// The length of the longest chain that may go to a directory.
    fn longest_at(&self, directory: usize) -> usize {
        self.homes[directory % self.homes.len()].longest
    }

    /// The partition with that chain.
    fn longest(&self, directory: usize) -> usize {
        let homes = self.homes.len();
        let chains = self.each.iter().enumerate();
        let chains = chains.skip(directory % homes).step_by(homes);
        let longest = chains.max_by_key(|(_, chain)| chain.len());
        longest.expect("there is a partition").0
    }

    fn take(&mut self, partition: usize, most: usize) -> Vec<Chunk> {
        let chain = &mut self.each[partition];
        let before = chain.len();
        let chunks: Vec<_> = chain.drain(..most.min(before)).collect();
        let home = self.home(partition);
        self.homes[home].shorten(before, self.each[partition].len());
        self.held -= chunks.len();
        self.spilled[partition] += chunks.len();
        self.spilled_in_all += chunks.len();
        chunks
    }

    /// Chunks of a partition that are in memory.
    fn length(&self, partition: usize) -> usize {
        self.each[partition].len()
    }

    /// Chunks of a partition, in memory and on disk.
    fn size(&self, partition: usize) -> usize {
        self.length(partition) + self.spilled[partition]
    }
}

/// The lengths of chains: how many have each, so that the greatest is known without looking through all.
#[derive(Clone, Default)]
struct Lengths {
    count: Vec<u32>,
    longest: usize,
}

impl Lengths {
    /// Notes that a chain has become so long, by one chunk.
    fn add(&mut self, length: usize) {
        self.longest = self.longest.max(length);
        if self.count.len() <= length {
            self.count.resize(length + 1, 0);
        }
        self.count[length] += 1;
        self.forget(length - 1);
    }

    /// Notes that a chain has become shorter.
    fn shorten(&mut self, before: usize, now: usize) {
        self.forget(before);
        if now > 0 {
            self.count[now] += 1;
        }
        while self.longest > 0 && self.count[self.longest] == 0 {
            self.longest -= 1;
        }
    }

    fn forget(&mut self, length: usize) {
        if length > 0 {
            self.count[length] -= 1;
        }
    }
}
