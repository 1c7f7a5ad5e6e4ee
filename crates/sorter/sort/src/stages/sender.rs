//! Sends chunks to the ranks that own their keys (TritonSort 4.1, "Sender").
//!
//! ```text
//! distributors > | sender | == chunk ==>  rank 0       a few in flight to each rank;
//!                |        | == chunk ==>  rank 1       chunks of a slow rank wait here, up to its
//!                |        | == chunk ==>  rank 2       share; in the end all ranks wait for it
//!                confirmer <-- the buffer, when the other side has the data
//! ```
//!
//! One sender serves all ranks, in the order of [`streams`] or of [`rounds`]. Chunks for its own rank
//! take the same way, without the network.
//!
//! Each rank has *credits*, tokens for chunks in flight to it (TritonSort bounds the receive window),
//! and a *share*, tokens for all chunks that distributors may fill for it (like the write tokens of
//! 4.5). So a slow rank never holds memory that others could use: a distributor with records for it
//! waits, and the others continue.
//!
//! [`streams`]: super::streams
//! [`rounds`]: super::rounds

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use node::{Address, Buffer, MessagePort, Pool, Port, Queue, Rank, Ticket, Tokens, Work};
use pipeline::{Failure, Worker};

use crate::job::ExchangeKind;
use crate::records::block::Chunk;
use crate::records::contents::Contents;
use crate::stages::interruptible::UnderWay;
use crate::stages::{rounds, streams};

/// A chunk in flight.
#[derive(Debug)]
pub(crate) struct Shipped {
    to: Rank,
    back: Ticket<Buffer>,
}

#[derive(Clone)]
pub(crate) struct Sender {
    pub kind: ExchangeKind,
    pub contents: Arc<dyn Contents>,
    /// The bucket of a chunk is its rank.
    pub chunks: Queue<Vec<Chunk>>,
    /// The chunks' pool, closed when the run ends early.
    pub pool: Pool,
    /// For each rank as many as chunks may be in flight to it.
    pub credits: Tokens,
    /// That number.
    pub window: usize,
    pub port: Port,
    /// Receives the messages of rounds.
    pub rounds: Arc<MessagePort>,
    pub out: Queue<Shipped>,
}

/// No deadlock in either order: the sender takes all chunks of the distributors before it waits. Then
/// it waits for credits, which receivers give back; these wait for distributors of their own node,
/// and those for disks. A distributor that waits for a rank's share holds less than the share, so
/// the rest is with the sender or in flight, and comes back.
pub(crate) async fn send(worker: &Worker, sender: &Sender) -> Result<(), Failure> {
    match sender.kind {
        ExchangeKind::Streams => streams::send_all(worker, sender).await?,
        ExchangeKind::Rounds => rounds::send_all(worker, sender).await?,
    }
    for rank in (0..worker.node.nodes()).map(Rank) {
        // An empty message ends what this node sends.
        drop(worker.node.ship(
            Address {
                rank,
                port: sender.port,
            },
            Buffer::heap(0),
        ));
    }
    sender.out.finish(&worker.node).await;
    Ok(())
}

/// Chunks that wait for their turn.
pub(super) struct Waiting {
    /// By rank.
    pub chunks: BTreeMap<u32, VecDeque<Chunk>>,
    pub more: bool,
}

impl Waiting {
    pub(super) fn new() -> Waiting {
        Waiting {
            chunks: BTreeMap::new(),
            more: true,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Takes the next chunks of the distributors; `None` at their end.
    pub(super) fn add(&mut self, more: Option<Vec<Chunk>>) {
        self.more = more.is_some();
        for chunk in more.into_iter().flatten() {
            self.chunks
                .entry(chunk.bucket)
                .or_default()
                .push_back(chunk);
        }
    }

    /// Takes all chunks of the distributors; their number is bounded by the shares.
    pub(super) async fn fill(&mut self, worker: &Worker, sender: &Sender) -> Result<(), Failure> {
        while self.more
            && let Some(more) = worker.try_pop(&sender.chunks).await
        {
            self.add(more?);
        }
        Ok(())
    }

    pub(super) fn of(&self, rank: u32) -> usize {
        self.chunks.get(&rank).map_or(0, VecDeque::len)
    }

    /// Waits for a credit of one of these ranks, and sends it the oldest chunk that waits for it.
    pub(super) async fn send_one(
        &mut self,
        worker: &Worker,
        sender: &Sender,
        wanted: &[u32],
    ) -> Result<(), Failure> {
        let credit = sender.credits.take_any(&worker.node, wanted, None);
        let rank = worker.hold(credit).await?.expect("it waited for one");
        let chunks = self.chunks.get_mut(&rank).expect("it was wanted");
        let chunk = chunks.pop_front().expect("no rank waits for nothing");
        if chunks.is_empty() {
            self.chunks.remove(&rank);
        }
        ship(worker, sender, chunk).await
    }
}

/// Sends a chunk, sealed as for a disk, so the receiver can check it.
async fn ship(worker: &Worker, sender: &Sender, mut chunk: Chunk) -> Result<(), Failure> {
    let to = Rank(chunk.bucket);
    let bytes = chunk.size.bytes as usize;
    sender.contents.seal(&mut chunk);
    worker.node.work(Work::Checksum {
        bytes: bytes as u64,
    });
    let mut buffer = chunk.buffer;
    // Counted records have no footer: their number follows from the length.
    let length = if buffer.is_counted() {
        bytes
    } else {
        buffer.capacity()
    };
    buffer.set_len(length);
    let back = worker.node.ship(
        Address {
            rank: to,
            port: sender.port,
        },
        buffer,
    );
    worker.did(bytes);
    Ok(worker.push(&sender.out, Shipped { to, back }).await?)
}

#[derive(Clone)]
pub(crate) struct Confirmer {
    pub shipped: Queue<Shipped>,
    pub credits: Tokens,
    pub shares: Option<Tokens>,
    /// Buffers go back here.
    pub pool: Pool,
}

/// Gives back the buffers, shares and credits of chunks that have arrived.
pub(crate) async fn confirm(worker: &Worker, confirmer: &Confirmer) -> Result<(), Failure> {
    let Confirmer { shipped, pool, .. } = confirmer.clone();
    let mut shipped = UnderWay::new(shipped, |shipped: &Shipped| &shipped.back, pool);
    while let Some(Shipped { to, back }) = shipped.next(worker).await? {
        let buffer = back.wait(&worker.node).await;
        worker.did(buffer.capacity());
        confirmer.pool.give(&worker.node, buffer).await;
        if let Some(shares) = &confirmer.shares {
            shares.give(&worker.node, to.0).await;
        }
        confirmer.credits.give(&worker.node, to.0).await;
    }
    Ok(())
}
