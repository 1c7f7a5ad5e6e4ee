//! Writes chains to spill files: all chunks of a chain in one request, several requests in flight
//! (TritonSort's coalescer and writer, 3.3).
//!
//! Chunks go to the disk as they are, so nothing is copied. Each says at its end what it holds,
//! with a checksum: what comes back must be what was written.

use std::collections::VecDeque;
use std::sync::Arc;

use node::{Pool, Queue, Tokens, Work};
use pipeline::{Dial, Failure, Worker};

use crate::files::spill::Spill;
use crate::records::contents::Contents;
use crate::runs::partition::Ledger;
use crate::stages::Chain;
use crate::stages::spill_write::SpillWrite;

/// What the spillers of one directory share.
#[derive(Clone)]
pub(crate) struct Spiller {
    pub contents: Arc<dyn Contents>,
    pub chains: Queue<Chain>,
    /// Where a write's token goes when it is done.
    pub tokens: Tokens,
    pub spill: Spill,
    /// Requests in flight of each.
    pub depth: Dial,
    /// Where chunks go when they are on disk.
    pub pool: Pool,
    pub ledger: Ledger,
}

/// A chain on its way to the disk.
struct Writing {
    write: SpillWrite,
    partition: usize,
}

/// A spiller's work. It never waits for a chain while a write is in flight: chunks that are on disk
/// are what distributors wait for.
pub(crate) async fn spill(worker: &Worker, spiller: &Spiller) -> Result<(), Failure> {
    let mut in_flight = VecDeque::new();
    loop {
        while in_flight.len() >= spiller.depth.get() {
            end_oldest(worker, spiller, &mut in_flight).await?;
        }
        let next = match worker.try_pop(&spiller.chains).await {
            Some(next) => next?,
            None if in_flight.is_empty() => worker.pop(&spiller.chains).await?,
            None => {
                end_oldest(worker, spiller, &mut in_flight).await?;
                continue;
            }
        };
        let Some(chain) = next else { break };
        in_flight.push_back(begin(worker, spiller, chain).await?);
    }
    while !in_flight.is_empty() {
        end_oldest(worker, spiller, &mut in_flight).await?;
    }
    Ok(())
}

async fn begin(worker: &Worker, spiller: &Spiller, chain: Chain) -> Result<Writing, Failure> {
    let Chain {
        partition,
        to,
        mut chunks,
    } = chain;
    chunks
        .iter_mut()
        .for_each(|chunk| spiller.contents.seal(chunk));
    let sealed = (&*spiller.contents, chunks);
    let write = SpillWrite::begin(&worker.node, &spiller.spill, to, sealed).await?;
    worker.node.work(Work::Checksum {
        bytes: write.bytes() as u64,
    });
    Ok(Writing { write, partition })
}

async fn end_oldest(
    worker: &Worker,
    spiller: &Spiller,
    in_flight: &mut VecDeque<Writing>,
) -> Result<(), Failure> {
    let Writing { write, partition } = in_flight.pop_front().expect("a write is in flight");
    let (bytes, directory) = (write.bytes(), write.to.directory as u32);
    let (spilled, buffers) = write
        .end(&worker.node, &spiller.spill, &*spiller.contents)
        .await?;
    worker.did(bytes);
    for buffer in buffers {
        spiller.pool.give(&worker.node, buffer).await;
    }
    spiller.tokens.give(&worker.node, directory).await;
    spiller.ledger.add(&worker.node, partition, spilled).await;
    Ok(())
}
