//! Sends chunks to the nodes whose keys they hold (TritonSort 4.1, "Sender").
//!
//! ```text
//! distributors > | sender | == chunk ==>  rank 0       a few on their way to each rank, no more;
//!                |        | == chunk ==>  rank 1       those of a slow one wait here, up to its share, and in
//!                |        | == chunk ==>  rank 2       the end everybody waits for it
//!                confirmer <-- the buffer, when the other side has the data
//! ```
//!
//! One sender visits all ranks. In which order is its kind: [`streams`] or [`rounds`]. What a
//! sender sends to its own rank takes the same way, but for the network.
//!
//! A rank has *credits* here, tokens for what may be on its way to it (TritonSort bounds the
//! receive window), and a *share*, tokens for the chunks that distributors may take for it at all
//! (as write tokens do, 4.5). So a slow rank never holds the memory that others could use: a
//! distributor that has records for it waits, while another one, which has none, goes on.
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
use crate::stages::patience::UnderWay;
use crate::stages::{rounds, streams};

/// A chunk on its way.
#[derive(Debug)]
pub(crate) struct Shipped {
    to: Rank,
    back: Ticket<Buffer>,
}

/// What the sender needs.
#[derive(Clone)]
pub(crate) struct Sender {
    pub kind: ExchangeKind,
    pub contents: Arc<dyn Contents>,
    /// Chunks whose bucket is the rank that they go to.
    pub chunks: Queue<Vec<Chunk>>,
    /// Where they come from; closed when the run ends early.
    pub pool: Pool,
    /// As many of each rank as may be on their way to it.
    pub credits: Tokens,
    /// How many that is.
    pub window: usize,
    pub port: Port,
    /// Where ranks hear of rounds.
    pub rounds: Arc<MessagePort>,
    pub out: Queue<Shipped>,
}

/// The sender's work: one worker.
///
/// No deadlock, whatever the kind: the sender takes all that distributors have before it waits, and
/// then waits for credits, which come back from receivers; these wait for distributors of their
/// node alone, and these for disks. A distributor that waits for a rank's share holds less than all
/// of it, so the rest is with the sender or on its way, and comes back.
pub(crate) async fn send(worker: &Worker, sender: &Sender) -> Result<(), Failure> {
    match sender.kind {
        ExchangeKind::Streams => streams::send_all(worker, sender).await?,
        ExchangeKind::Rounds => rounds::send_all(worker, sender).await?,
    }
    for rank in (0..worker.node.nodes()).map(Rank) {
        // Nothing at all: the end of what this node sends.
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
    /// Whether more will come.
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

    /// What was taken from distributors; none at their end.
    pub(super) fn add(&mut self, more: Option<Vec<Chunk>>) {
        self.more = more.is_some();
        for chunk in more.into_iter().flatten() {
            self.chunks
                .entry(chunk.bucket)
                .or_default()
                .push_back(chunk);
        }
    }

    /// Takes all that distributors have: shares bound it.
    pub(super) async fn fill(&mut self, worker: &Worker, sender: &Sender) -> Result<(), Failure> {
        while self.more
            && let Some(more) = worker.try_pop(&sender.chunks).await
        {
            self.add(more?);
        }
        Ok(())
    }

    /// How many wait for a rank.
    pub(super) fn of(&self, rank: u32) -> usize {
        self.chunks.get(&rank).map_or(0, VecDeque::len)
    }

    /// Sends the oldest that waits for any of these ranks, when one of them has a credit.
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

/// Sends a chunk, closed as if it went to a disk: the other side sees whether it came as it was.
async fn ship(worker: &Worker, sender: &Sender, mut chunk: Chunk) -> Result<(), Failure> {
    let to = Rank(chunk.bucket);
    let bytes = chunk.records as usize * sender.contents.record_bytes();
    sender.contents.seal(&mut chunk);
    worker.node.work(Work::Checksum {
        bytes: bytes as u64,
    });
    let mut buffer = chunk.buffer;
    buffer.set_len(buffer.capacity());
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

/// What the confirmer needs.
#[derive(Clone)]
pub(crate) struct Confirmer {
    pub shipped: Queue<Shipped>,
    pub credits: Tokens,
    pub shares: Option<Tokens>,
    /// Where buffers go back to.
    pub pool: Pool,
}

/// The confirmer's work: gives back what has arrived.
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
