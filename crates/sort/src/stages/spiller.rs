//! Writes chains to spill files: all chunks of a chain in one request, several requests in flight
//! (TritonSort's coalescer and writer, 3.3).
//!
//! Chunks go to the disk as they are, so nothing is copied. Each says at its end what it holds,
//! with a checksum: what comes back must be what was written.

use std::collections::VecDeque;
use std::sync::Arc;

use node::{Buffer, ChainTicket, Pool, Queue, Work};
use pipeline::{Failure, Worker};

use crate::contents::Contents;
use crate::partition::{Ledger, Run};
use crate::spill::{Extent, Spill};
use crate::stages::Chain;

/// What spillers share.
#[derive(Clone)]
pub(crate) struct Spiller {
    pub contents: Arc<dyn Contents>,
    pub chains: Queue<Chain>,
    pub spill: Spill,
    pub depth: usize,
    /// Where chunks go when they are on disk.
    pub pool: Pool,
    pub ledger: Ledger,
}

/// A chain on its way to the disk.
struct Writing {
    ticket: ChainTicket,
    partition: usize,
    extent: Extent,
    records: u64,
}

/// A spiller's work. It never waits for a chain while a write is in flight: chunks that are on disk are
/// what distributors wait for.
pub(crate) async fn spill(worker: &Worker, spiller: &Spiller) -> Result<(), Failure> {
    let mut in_flight = VecDeque::new();
    loop {
        if in_flight.len() == spiller.depth {
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

async fn begin(worker: &Worker, spiller: &Spiller, mut chain: Chain) -> Result<Writing, Failure> {
    chain.chunks.iter_mut().for_each(|chunk| spiller.contents.seal(chunk));
    let records = chain.chunks.iter().map(|chunk| u64::from(chunk.records)).sum();
    let buffers: Vec<Buffer> = chain.chunks.into_iter().map(|chunk| chunk.buffer).collect();
    let bytes = buffers.iter().map(|buffer| buffer.capacity() as u64).sum();
    worker.node.work(Work::Checksum { bytes });
    let extent = spiller.spill.extent(&worker.node, bytes).await?;
    let ticket = write(worker, spiller, extent, buffers);
    Ok(Writing { ticket, partition: chain.partition, extent, records })
}

fn write(worker: &Worker, spiller: &Spiller, extent: Extent, buffers: Vec<Buffer>) -> ChainTicket {
    spiller.spill.file(extent).write_chain(&worker.node, extent.offset, buffers)
}

async fn end_oldest(
    worker: &Worker,
    spiller: &Spiller,
    in_flight: &mut VecDeque<Writing>,
) -> Result<(), Failure> {
    let Writing { mut ticket, partition, mut extent, records } =
        in_flight.pop_front().expect("a write is in flight");
    let buffers = loop {
        let (buffers, result) = ticket.wait(&worker.node).await;
        let Err(error) = result else { break buffers };
        // That directory is full; another may have room.
        spiller.spill.is_full(&worker.node, extent, error).await?;
        extent = spiller.spill.extent(&worker.node, extent.bytes).await?;
        ticket = write(worker, spiller, extent, buffers);
    };
    worker.did(extent.bytes as usize);
    let run = Run::new(extent, buffers.len(), records);
    for buffer in buffers {
        spiller.pool.give(&worker.node, buffer).await;
    }
    spiller.ledger.add(&worker.node, partition, run).await;
    Ok(())
}
