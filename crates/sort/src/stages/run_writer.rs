//! Writes sorted loads to spill files, as chunks in few large requests.

use std::collections::VecDeque;
use std::sync::Arc;

use node::{Buffer, Pool, Work};
use pipeline::{Failure, Worker};

use crate::files::spill::{Slot, Spill};
use crate::records::block::Chunk;
use crate::records::contents::{Contents, Place};
use crate::runs::partition::Spilled;
use crate::runs::shelf::Shelf;
use crate::runs::sorted_run::SortedLoad;
use crate::stages::spill_write::SpillWrite;

/// How sorted records get into spill files.
#[derive(Clone)]
pub(crate) struct Chains {
    pub contents: Arc<dyn Contents>,
    pub spill: Spill,
    /// Buffers that are filled and written.
    pub pool: Pool,
    /// Records of a chunk; all but the last one of what is written are full.
    pub chunk_records: usize,
    /// Chunks of a request.
    pub chain: usize,
    /// Requests in flight of a worker, the one that is filled among them.
    pub depth: usize,
}

/// What writers of runs share.
#[derive(Clone)]
pub(crate) struct RunWriter {
    pub shelf: Shelf,
    pub chains: Chains,
    /// Where the buffers of a load go when it is on disk.
    pub home: Pool,
}

/// A writer's work.
pub(crate) async fn write_runs(worker: &Worker, writer: &RunWriter) -> Result<(), Failure> {
    let contents = &*writer.chains.contents;
    while let Some((number, load)) = worker.starve(writer.shelf.next(&worker.node)).await? {
        let SortedLoad { bucket, order } = load;
        let mut chaining = Chaining::new(worker, &writer.chains);
        let all = bucket.records as usize;
        for row in (0..all).step_by(writer.chains.chunk_records) {
            let rows = row..all.min(row + writer.chains.chunk_records);
            let mut buffer = chaining.take().await?;
            contents.gather(
                &bucket,
                &order,
                rows.clone(),
                Place {
                    buffer: &mut buffer,
                    at: 0,
                },
            );
            let bytes = (rows.len() * contents.record_bytes()) as u64;
            worker.node.work(Work::Copy { bytes });
            chaining.add(buffer, rows.len()).await?;
        }
        let runs = chaining.end().await?;
        // Its order goes first: there is memory for as many as there are buffers for.
        drop(order);
        writer.shelf.written(&worker.node, number, runs).await;
        for chunk in bucket.chunks {
            writer.home.give(&worker.node, chunk.buffer).await;
        }
    }
    Ok(())
}

/// Sorted records on their way to the disk.
///
/// No deadlock: who waits for a buffer has nothing in flight and less than a chain, and the pool
/// has a chain for every worker.
pub(crate) struct Chaining<'a> {
    worker: &'a Worker,
    chains: &'a Chains,
    open: Vec<Chunk>,
    in_flight: VecDeque<SpillWrite>,
    written: Vec<Spilled>,
}

impl<'a> Chaining<'a> {
    pub(crate) fn new(worker: &'a Worker, chains: &'a Chains) -> Chaining<'a> {
        let (open, in_flight, written) = (Vec::new(), VecDeque::new(), Vec::new());
        Chaining {
            worker,
            chains,
            open,
            in_flight,
            written,
        }
    }

    /// A buffer to fill.
    pub(crate) async fn take(&mut self) -> Result<Buffer, Failure> {
        loop {
            if let Some(buffer) = self.worker.try_take(&self.chains.pool).await {
                return Ok(buffer?);
            }
            if self.in_flight.is_empty() {
                return Ok(self.worker.take(&self.chains.pool).await?);
            }
            self.end_oldest().await?;
        }
    }

    /// Adds a buffer that holds so many records.
    pub(crate) async fn add(&mut self, mut buffer: Buffer, records: usize) -> Result<(), Failure> {
        buffer.set_len(records * self.chains.contents.record_bytes());
        let mut chunk = Chunk {
            bucket: 0,
            records: records as u32,
            marks: Vec::new(),
            buffer,
        };
        self.chains.contents.seal(&mut chunk);
        self.worker.node.work(Work::Checksum {
            bytes: chunk.buffer.capacity() as u64,
        });
        self.open.push(chunk);
        if self.open.len() == self.chains.chain {
            self.begin().await
        } else {
            Ok(())
        }
    }

    /// Writes what is left; where everything is.
    pub(crate) async fn end(mut self) -> Result<Vec<Spilled>, Failure> {
        if !self.open.is_empty() {
            self.begin().await?;
        }
        while !self.in_flight.is_empty() {
            self.end_oldest().await?;
        }
        Ok(self.written)
    }

    async fn begin(&mut self) -> Result<(), Failure> {
        let (chunks, to) = (std::mem::take(&mut self.open), self.slot());
        let Chains {
            contents, spill, ..
        } = self.chains;
        let sealed = (&**contents, chunks);
        let write = SpillWrite::begin(&self.worker.node, spill, to, sealed).await?;
        self.in_flight.push_back(write);
        if self.in_flight.len() == self.chains.depth {
            self.end_oldest().await
        } else {
            Ok(())
        }
    }

    /// Where the next chain goes. Each worker has a directory, so a fast disk's worker writes more
    /// loads than a slow one's; where workers are fewer, they take directories in turn. A merge
    /// reads all runs at once, so where in the order a run lies is all the same.
    fn slot(&self) -> Slot {
        let (directories, workers) = (self.chains.spill.directories(), self.worker.siblings());
        let turns = self.written.len() + self.in_flight.len();
        let turn = if workers < directories { turns } else { 0 };
        Slot {
            directory: (self.worker.index + turn) % directories,
            position: 0.0,
        }
    }

    async fn end_oldest(&mut self) -> Result<(), Failure> {
        let write = self.in_flight.pop_front().expect("a write is in flight");
        let (node, bytes) = (&self.worker.node, write.bytes());
        let Chains {
            contents, spill, ..
        } = self.chains;
        let (spilled, buffers) = write.end(node, spill, &**contents).await?;
        self.worker.did(bytes);
        self.written.push(spilled);
        for buffer in buffers {
            self.chains.pool.give(node, buffer).await;
        }
        Ok(())
    }
}
