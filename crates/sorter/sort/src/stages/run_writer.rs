//! Writes sorted loads to spill files, as chunks, in few large requests.

use std::sync::Arc;

use node::{Buffer, Pool, Work};
use pipeline::{Failure, Step, Window, Worker};

use crate::files::spill::{Slot, Spill};
use crate::records::block::Chunk;
use crate::records::contents::{Contents, RecordsAt, Room, Sorted};
use crate::records::size::Size;
use crate::runs::partition::Spilled;
use crate::runs::shelf::Shelf;
use crate::runs::sorted_run::SortedLoad;
use crate::stages::spill_write::SpillWrite;

/// Where sorted records go, and in what units.
#[derive(Clone)]
pub(crate) struct Chains {
    pub contents: Arc<dyn Contents>,
    pub spill: Spill,
    /// Buffers to fill and to write.
    pub pool: Pool,
    /// Bytes of records that a chunk takes, whole records.
    pub room: usize,
    /// Chunks of a request.
    pub chain: usize,
    /// Requests in flight of a worker, including the one that is filled.
    pub depth: usize,
}

#[derive(Clone)]
pub(crate) struct RunWriter {
    pub shelf: Shelf,
    pub chains: Chains,
    /// The buffers of a written load go back here.
    pub home: Pool,
}

pub(crate) async fn write_runs(worker: &Worker, writer: &RunWriter) -> Result<(), Failure> {
    let contents = &*writer.chains.contents;
    while let Some((number, load)) = worker.starve(writer.shelf.next(&worker.node)).await? {
        let SortedLoad { bucket, order } = load;
        let mut chaining = Chaining::new(worker, &writer.chains);
        let mut row = 0;
        while row < bucket.size.records as usize {
            let mut buffer = chaining.take().await?;
            let room = Room::Within(writer.chains.room);
            let place = RecordsAt {
                buffer: &mut buffer,
                at: 0,
            };
            let sorted = Sorted {
                bucket: &bucket,
                workspace: &order,
            };
            let size = contents.gather(sorted, row, room, place);
            row += size.records as usize;
            worker.node.work(Work::Copy { bytes: size.bytes });
            chaining.add(buffer, size).await?;
        }
        let runs = chaining.end().await?;
        // The order goes first: there is memory for as many orders as for loads.
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
/// No deadlock: a worker that waits for a buffer has no write in flight and less than a chain, and
/// the pool has a chain for every worker.
pub(crate) struct Chaining<'a> {
    worker: &'a Worker,
    chains: &'a Chains,
    open: Vec<Chunk>,
    writes: Window<SpillWrite>,
    written: Vec<Spilled>,
}

impl<'a> Chaining<'a> {
    pub(crate) fn new(worker: &'a Worker, chains: &'a Chains) -> Chaining<'a> {
        Chaining {
            worker,
            chains,
            open: Vec::new(),
            writes: Window::new(chains.depth),
            written: Vec::new(),
        }
    }

    pub(crate) async fn take(&mut self) -> Result<Buffer, Failure> {
        loop {
            match self.writes.take(self.worker, &self.chains.pool).await? {
                Step::Begin(buffer) => return Ok(buffer),
                Step::Finish(write) => self.finish(write).await?,
            }
        }
    }

    pub(crate) async fn add(&mut self, mut buffer: Buffer, size: Size) -> Result<(), Failure> {
        buffer.set_len(size.bytes as usize);
        let mut chunk = Chunk {
            bucket: 0,
            size,
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

    /// Writes the rest, and returns where all of it lies.
    pub(crate) async fn end(mut self) -> Result<Vec<Spilled>, Failure> {
        if !self.open.is_empty() {
            self.begin().await?;
        }
        while let Some(write) = self.writes.pop_oldest() {
            self.finish(write).await?;
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
        self.writes.push(write);
        // The next chain counts as a request: the pool has memory for `depth` chains.
        if self.writes.is_full() {
            let write = self.writes.pop_oldest().expect("one was begun");
            self.finish(write).await
        } else {
            Ok(())
        }
    }

    /// Where the next chain goes. Each worker has a directory, so the worker of a fast disk writes
    /// more loads; if there are fewer workers, they take directories in turn. A merge reads all runs
    /// at once, so the position in the order does not matter.
    fn slot(&self) -> Slot {
        let (directories, workers) = (self.chains.spill.directories(), self.worker.siblings());
        let turns = self.written.len() + self.writes.len();
        let turn = if workers < directories { turns } else { 0 };
        Slot {
            directory: (self.worker.index + turn) % directories,
            position: 0.0,
            partition: None,
        }
    }

    async fn finish(&mut self, write: SpillWrite) -> Result<(), Failure> {
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
