//! Sends chunks to the nodes whose keys they hold (TritonSort 4.1, "Sender").
//!
//! ```text
//! distributors > | sender | == chunk ==>  rank 0       a few on their way to each rank, no more;
//!                |        | == chunk ==>  rank 1       those of a slow one wait here, and in the end
//!                |        | == chunk ==>  rank 2       everybody waits for it
//!                confirmer <-- the buffer, when the other side has the data
//! ```
//!
//! One sender visits all ranks: each chunk goes as soon as its rank has a *credit*, a token that comes back
//! when the data have left. What a sender sends to its own rank takes the same way.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use node::{Address, Buffer, Pool, Port, Queue, Rank, Ticket, Tokens, Work};
use pipeline::{Failure, Worker};

use crate::block::Chunk;
use crate::contents::Contents;
use crate::stages::patience::outlast;

/// A chunk on its way.
#[derive(Debug)]
pub(crate) struct Shipped {
    to: Rank,
    back: Ticket<Buffer>,
}

/// What the sender needs.
#[derive(Clone)]
pub(crate) struct Sender {
    pub contents: Arc<dyn Contents>,
    /// Chunks whose bucket is the rank that they go to.
    pub chunks: Queue<Vec<Chunk>>,
    /// As many of each rank as may be on their way to it.
    pub credits: Tokens,
    pub port: Port,
    pub out: Queue<Shipped>,
}

/// The sender's work: one worker.
///
/// No deadlock: it waits for chunks only when it has none, and else for credits. They come back from
/// receivers, who wait for distributors of their node alone, and these for disks.
pub(crate) async fn send(worker: &Worker, sender: &Sender) -> Result<(), Failure> {
    let mut waiting = Waiting { chunks: BTreeMap::new(), more: true };
    while waiting.more || !waiting.chunks.is_empty() {
        // What waits is bounded by the pool of chunks: all there is comes first, it may go elsewhere.
        while waiting.more
            && let Some(more) = worker.try_pop(&sender.chunks).await
        {
            waiting.add(more?);
        }
        match waiting.next(worker, sender).await? {
            Some(chunk) => ship(worker, sender, chunk).await?,
            None if waiting.more => waiting.add(worker.pop(&sender.chunks).await?),
            None => {}
        }
    }
    for rank in (0..worker.node.nodes()).map(Rank) {
        // Nothing at all: the end of what this node sends.
        drop(worker.node.ship(Address { rank, port: sender.port }, Buffer::heap(0)));
    }
    sender.out.finish(&worker.node).await;
    Ok(())
}

/// Chunks that wait for credits.
struct Waiting {
    /// By rank.
    chunks: BTreeMap<u32, VecDeque<Chunk>>,
    /// Whether more will come.
    more: bool,
}

impl Waiting {
    fn add(&mut self, more: Option<Vec<Chunk>>) {
        self.more = more.is_some();
        for chunk in more.into_iter().flatten() {
            self.chunks.entry(chunk.bucket).or_default().push_back(chunk);
        }
    }

    /// The next one whose rank has a credit, when there is one; nothing if none waits.
    async fn next(&mut self, worker: &Worker, sender: &Sender) -> Result<Option<Chunk>, Failure> {
        let wanted: Vec<u32> = self.chunks.keys().copied().collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        let credit = sender.credits.take_any(&worker.node, &wanted, None);
        let rank = worker.hold(credit).await?.expect("it waited for one");
        let chunks = self.chunks.get_mut(&rank).expect("it was wanted");
        let chunk = chunks.pop_front();
        if chunks.is_empty() {
            self.chunks.remove(&rank);
        }
        Ok(chunk)
    }
}

/// Sends a chunk, closed as if it went to a disk: the other side sees whether it came as it was.
async fn ship(worker: &Worker, sender: &Sender, mut chunk: Chunk) -> Result<(), Failure> {
    let to = Rank(chunk.bucket);
    let bytes = chunk.records as usize * sender.contents.record_bytes();
    sender.contents.seal(&mut chunk);
    worker.node.work(Work::Checksum { bytes: bytes as u64 });
    let mut buffer = chunk.buffer;
    buffer.set_len(buffer.capacity());
    let back = worker.node.ship(Address { rank: to, port: sender.port }, buffer);
    worker.did(bytes);
    Ok(worker.push(&sender.out, Shipped { to, back }).await?)
}

/// What the confirmer needs.
#[derive(Clone)]
pub(crate) struct Confirmer {
    pub shipped: Queue<Shipped>,
    pub credits: Tokens,
    /// Where buffers go back to.
    pub pool: Pool,
}

/// The confirmer's work: gives back what has arrived.
pub(crate) async fn confirm(worker: &Worker, confirmer: &Confirmer) -> Result<(), Failure> {
    while let Some(Shipped { to, back }) = worker.pop(&confirmer.shipped).await? {
        let buffer = outlast(worker, back, &confirmer.pool).await?;
        worker.did(buffer.capacity());
        confirmer.pool.give(&worker.node, buffer).await;
        confirmer.credits.give(&worker.node, to.0).await;
    }
    Ok(())
}
