//! Receives chunks from other nodes (TritonSort 4.1, "Receiver"), and opens them.

use std::sync::Arc;

use node::{Arrival, BulkPort, Pool, Queue, Rank, Work};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::records::block::{Block, Stamp};
use crate::records::contents::Contents;
use crate::stages::interruptible::{UnderWay, outlast};

#[derive(Clone)]
pub(crate) struct Receiver {
    pub port: Arc<BulkPort>,
    /// Its buffers are lent to senders; a chunk that finds none waits at its sender.
    pub pool: Pool,
    pub out: Queue<Arrival>,
}

/// Runs with one worker, which takes chunks in the order in which they arrive.
///
/// No deadlock: it waits for buffers, which the distributors of this node give back, and for ranks
/// that have not announced their end.
pub(crate) async fn receive(worker: &Worker, receiver: &Receiver) -> Result<(), Failure> {
    let mut sending = worker.node.nodes();
    while sending > 0 {
        let lend = receiver.port.lend(&worker.node, &receiver.pool);
        let arrival = worker.starve(lend).await?;
        if arrival.bytes == 0 {
            sending -= 1;
            let buffer = outlast(worker, arrival.filled, &receiver.pool).await?;
            receiver.pool.give(&worker.node, buffer).await;
            continue;
        }
        worker.did(arrival.bytes);
        worker.push(&receiver.out, arrival).await?;
    }
    receiver.out.finish(&worker.node).await;
    Ok(())
}

#[derive(Clone)]
pub(crate) struct Opener {
    pub contents: Arc<dyn Contents>,
    pub arrivals: Queue<Arrival>,
    pub pool: Pool,
    pub out: Queue<Block>,
}

pub(crate) async fn open(worker: &Worker, opener: &Opener) -> Result<(), Failure> {
    let contents = &*opener.contents;
    let mut first = 0;
    let Opener { arrivals, pool, .. } = opener.clone();
    let mut arrivals = UnderWay::new(arrivals, |arrival: &Arrival| &arrival.filled, pool);
    while let Some(Arrival {
        from,
        bytes,
        filled,
    }) = arrivals.next(worker).await?
    {
        let buffer = filled.wait(&worker.node).await;
        let is_full = buffer.is_counted() || buffer.len() == buffer.capacity();
        let is_whole = is_full && bytes == buffer.len();
        let framing = contents.framing();
        let share = framing.size_of(framing.whole(bytes as u64));
        let opened = is_whole
            .then(|| contents.unseal(&buffer, share, Stamp::default()))
            .flatten();
        let (size, marks) = opened.ok_or_else(|| spoilt(from))?;
        worker.node.work(Work::Checksum {
            bytes: bytes as u64,
        });
        let block = Block {
            first,
            size,
            start: 0,
            buffer,
            marks,
        };
        first += size.bytes;
        worker.did_records(size.records, size.bytes);
        worker.push(&opener.out, block).await?;
    }
    opener.out.finish(&worker.node).await;
    Ok(())
}

fn spoilt(Rank(rank): Rank) -> SortError {
    SortError::Garbled { rank }
}
