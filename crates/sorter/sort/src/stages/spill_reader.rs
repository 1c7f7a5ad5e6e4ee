//! Reads runs of spill files in a given order, several requests in flight, and gives their disk space
//! back (TritonSort's phase two reader, 3.3).

use std::iter::Peekable;
use std::sync::Arc;

use node::{Buffer, ChainTicket, Pool, Work};
use pipeline::{Failure, Window, Worker};

use crate::error::SortError;
use crate::files::spill::{Extent, Spill};
use crate::records::block::{Chunk, Mark, Stamp};
use crate::records::contents::Contents;
use crate::records::size::Size;
use crate::runs::partition::{Spilled, SpilledRun};

/// Number of steps in which disk space is given back while the spill files are read: at most the
/// share of one step is held longer than needed.
const RELEASES: u64 = 64;

#[derive(Clone)]
pub(crate) struct SpillReader {
    pub contents: Arc<dyn Contents>,
    pub spill: Spill,
    /// Requests in flight of each worker.
    pub depth: usize,
    /// Memory for chunks.
    pub pool: Pool,
    pub chunk_bytes: usize,
    /// Shorter runs keep their space until the files are removed.
    pub least_released: u64,
}

/// Reads of runs, in order. Each returns the note it was asked for with; a note may come without a
/// run.
pub(crate) struct Runs<'a, Note, Wanted: Iterator<Item = (Option<Spilled>, Note)>> {
    reader: &'a SpillReader,
    wanted: Peekable<Wanted>,
    reads: Window<Asked<Note>>,
    /// Memory taken for the next runs, while it is not enough.
    gathered: Vec<Buffer>,
    /// Read, but not yet given back.
    done: Vec<Extent>,
    done_bytes: u64,
    /// Space is given back in steps of this size.
    release_bytes: u64,
}

struct Asked<Note> {
    read: Option<(ChainTicket, Spilled)>,
    note: Note,
}

/// The runs, each with its share of the records, as an estimate.
pub(crate) fn wishes(runs: Vec<SpilledRun>, size: Size) -> impl Iterator<Item = Spilled> {
    let all: u64 = runs.iter().map(|run| run.chunks() as u64).sum();
    let mut before = 0;
    runs.into_iter().map(move |run| {
        let upto = before + run.chunks() as u64;
        let share = size.upto(upto, all) - size.upto(before, all);
        before = upto;
        Spilled { run, size: share }
    })
}

impl SpillReader {
    pub(crate) fn read<Note, Wanted>(&self, wanted: Wanted) -> Runs<'_, Note, Wanted>
    where
        Wanted: Iterator<Item = (Option<Spilled>, Note)>,
    {
        Runs {
            reader: self,
            wanted: wanted.peekable(),
            reads: Window::new(self.depth),
            gathered: Vec::new(),
            done: Vec::new(),
            done_bytes: 0,
            release_bytes: self.spill.live_bytes() / RELEASES,
        }
    }

    /// Asks for the chunks of a run.
    pub(crate) fn ask(
        &self,
        worker: &Worker,
        run: SpilledRun,
        mut buffers: Vec<Buffer>,
    ) -> ChainTicket {
        for buffer in &mut buffers {
            buffer.set_capacity(run.stored_bytes(self.chunk_bytes));
        }
        let extent = run.extent(self.chunk_bytes);
        self.spill
            .file(extent)
            .read_chain(&worker.node, extent.offset, buffers)
    }

    /// Waits for the chunks of a run, and opens them. Those that fail come from the stripes, if there are
    /// some.
    ///
    /// # Errors
    /// When they cannot be read, or a chunk differs from what was written, with its place.
    pub(crate) async fn open(
        &self,
        worker: &Worker,
        Spilled { run, size }: Spilled,
        ticket: ChainTicket,
    ) -> Result<Vec<Chunk>, Failure> {
        let (buffers, result) = ticket.wait(&worker.node).await;
        let failure = result.err();
        let mut extent = run.extent(self.chunk_bytes);
        worker.node.work(Work::Checksum {
            bytes: extent.bytes,
        });
        worker.did(extent.bytes as usize);
        let (all, stamps) = (buffers.len() as u64, self.spill.stamps(extent));
        let stored = run.stored_bytes(self.chunk_bytes) as u64;
        let mut chunks = Vec::with_capacity(buffers.len());
        for (number, mut buffer) in (0..).zip(buffers) {
            let share = size.upto(number + 1, all) - size.upto(number, all);
            let is_whole = failure.is_none() && buffer.len() == buffer.capacity();
            buffer.set_capacity(self.chunk_bytes);
            let place = stamps.at(extent.offset);
            let opened = is_whole.then(|| self.open_chunk(&mut buffer, (share, run), place));
            let (size, marks) = match opened.flatten() {
                Some(opened) => opened,
                None => {
                    let (node, at) = (
                        &worker.node,
                        Extent {
                            bytes: stored,
                            ..extent
                        },
                    );
                    let rebuilt = self.spill.rebuild(node, at, &mut buffer).await;
                    let opened =
                        rebuilt.and_then(|()| self.open_chunk(&mut buffer, (share, run), place));
                    let Some(opened) = opened else {
                        return Err(
                            failure.map_or_else(|| self.spoilt(extent).into(), Failure::from)
                        );
                    };
                    self.spill.was_rebuilt(node, at, failure.as_ref()).await;
                    opened
                }
            };
            chunks.push(Chunk {
                bucket: 0,
                size,
                marks,
                buffer,
            });
            extent.offset += stored;
        }
        Ok(chunks)
    }

    /// Opens one chunk of a run; `share` is its size where records are only counted.
    fn open_chunk(
        &self,
        buffer: &mut Buffer,
        (share, run): (Size, SpilledRun),
        mut place: Stamp,
    ) -> Option<(Size, Vec<Mark>)> {
        if run.packed() > 0 {
            self.spill.unpack(buffer, place)?;
            // The chunk was packed before it had a place.
            place = Stamp::default();
        }
        let (size, marks) = self.contents.unseal(buffer, share, place)?;
        buffer.set_len(size.bytes as usize);
        Some((size, marks))
    }

    /// The error that a chunk differs from what was written.
    pub(crate) fn spoilt(&self, at: Extent) -> SortError {
        SortError::Spoilt {
            file: self.spill.file(at).path().to_owned(),
            offset: at.offset,
        }
    }
}

impl<Note, Wanted: Iterator<Item = (Option<Spilled>, Note)>> Runs<'_, Note, Wanted> {
    /// The same reads, the first of them to these buffers.
    pub(crate) fn with_memory(self, buffers: Vec<Buffer>) -> Self {
        Runs {
            gathered: buffers,
            ..self
        }
    }

    /// The chunks of the next run, with its note; `None` at the end.
    ///
    /// No deadlock: it waits for memory only when no read is in flight, and then holds the memory
    /// of at most one run.
    pub(crate) async fn next(
        &mut self,
        worker: &Worker,
    ) -> Result<Option<(Vec<Chunk>, Note)>, Failure> {
        if self.done_bytes >= self.release_bytes {
            self.release(worker).await;
        }
        self.ask_ahead(worker).await?;
        let Some(Asked { read, note }) = self.reads.pop_oldest() else {
            self.release(worker).await;
            return Ok(None);
        };
        let Some((ticket, wish)) = read else {
            return Ok(Some((Vec::new(), note)));
        };
        let chunks = self.reader.open(worker, wish, ticket).await?;
        let extent = wish.run.extent(self.reader.chunk_bytes);
        if extent.bytes >= self.reader.least_released {
            self.done.push(extent);
            self.done_bytes += extent.bytes;
        }
        Ok(Some((chunks, note)))
    }

    /// Gives back the space of what was read. The file system makes a hole only when no request for
    /// the file is in flight, so many holes are made together.
    async fn release(&mut self, worker: &Worker) {
        for extent in self.done.drain(..) {
            self.reader.spill.release(&worker.node, extent).await;
        }
        self.done_bytes = 0;
    }

    /// Begins reads as long as the window and the memory allow.
    async fn ask_ahead(&mut self, worker: &Worker) -> Result<(), Failure> {
        let reader = self.reader;
        while !self.reads.is_full() {
            let Some(&(wish, _)) = self.wanted.peek() else {
                break;
            };
            let wanted = wish.map_or(0, |wish| wish.run.chunks());
            while self.gathered.len() < wanted {
                match worker.try_take(&reader.pool).await {
                    Some(buffer) => self.gathered.push(buffer?),
                    None if self.reads.is_empty() => {
                        self.gathered.push(worker.take(&reader.pool).await?);
                    }
                    None => return Ok(()),
                }
            }
            let rest = self.gathered.len() - wanted;
            let buffers = self.gathered.split_off(rest);
            let read = wish.map(|wish| (reader.ask(worker, wish.run, buffers), wish));
            let (_, note) = self.wanted.next().expect("it was seen");
            self.reads.push(Asked { read, note });
        }
        Ok(())
    }
}
