//! Reads runs of spill files back in a given order, several requests in flight, and gives their
//! space back (TritonSort's phase two reader, 3.3).

use std::collections::VecDeque;
use std::iter::Peekable;
use std::sync::Arc;

use node::{Buffer, ChainTicket, Pool, Work};
use pipeline::{Dial, Failure, Worker};

use crate::error::SortError;
use crate::files::spill::{Extent, Spill, Stamps};
use crate::records::block::Chunk;
use crate::records::contents::Contents;
use crate::runs::partition::{Run, Spilled};

/// Times that space is given back while all that is spilled is read: so much of it is taken in vain
/// at most.
const RELEASES: u64 = 64;

/// What runs are read with.
#[derive(Clone)]
pub(crate) struct SpillReader {
    pub contents: Arc<dyn Contents>,
    pub spill: Spill,
    /// Requests in flight of each worker.
    pub depth: Dial,
    /// For what is read.
    pub pool: Pool,
    pub chunk_bytes: usize,
    /// Shorter runs keep their space until the files are removed.
    pub least_released: u64,
}

/// Runs on their way back. Each comes with a note of whoever asked for it; a note may come without
/// a run.
pub(crate) struct Runs<'a, Note, Wanted: Iterator<Item = (Option<Spilled>, Note)>> {
    reader: &'a SpillReader,
    wanted: Peekable<Wanted>,
    in_flight: VecDeque<Asked<Note>>,
    /// Chunks for the next run, while there are not enough.
    gathered: Vec<Buffer>,
    /// What was read and takes space still.
    done: Vec<Extent>,
    done_bytes: u64,
    /// When so much was read, its space is given back.
    release_bytes: u64,
}

/// What was asked for.
struct Asked<Note> {
    read: Option<(ChainTicket, Spilled)>,
    note: Note,
}

/// Each run of these, with its share of the records.
pub(crate) fn wishes(runs: Vec<Run>, records: u64) -> impl Iterator<Item = Spilled> {
    let all: u64 = runs.iter().map(|run| run.chunks() as u64).sum();
    let mut before = 0;
    runs.into_iter().map(move |run| {
        let upto = before + run.chunks() as u64;
        let share =
            |chunks: u64| (u128::from(chunks) * u128::from(records) / u128::from(all)) as u64;
        let records = share(upto) - share(before);
        before = upto;
        Spilled { run, records }
    })
}

impl SpillReader {
    /// Reads these.
    pub(crate) fn read<Note, Wanted>(&self, wanted: Wanted) -> Runs<'_, Note, Wanted>
    where
        Wanted: Iterator<Item = (Option<Spilled>, Note)>,
    {
        let in_flight = VecDeque::with_capacity(self.depth.most());
        Runs {
            reader: self,
            wanted: wanted.peekable(),
            in_flight,
            gathered: Vec::new(),
            done: Vec::new(),
            done_bytes: 0,
            release_bytes: self.spill.live_bytes() / RELEASES,
        }
    }

    /// Asks for chunks that lie behind each other.
    pub(crate) fn ask(&self, worker: &Worker, extent: Extent, buffers: Vec<Buffer>) -> ChainTicket {
        self.spill
            .file(extent)
            .read_chain(&worker.node, extent.offset, buffers)
    }

    /// The chunks of a run that was read.
    ///
    /// # Errors
    /// When it is not what was written, with the place.
    pub(crate) fn open(
        &self,
        worker: &Worker,
        Spilled { run, records }: Spilled,
        buffers: Vec<Buffer>,
    ) -> Result<Vec<Chunk>, SortError> {
        let mut extent = run.extent(self.chunk_bytes);
        worker.node.work(Work::Checksum {
            bytes: extent.bytes,
        });
        worker.did(extent.bytes as usize);
        let (all, stamps) = (buffers.len() as u64, self.spill.stamps(extent));
        let mut chunks = Vec::with_capacity(buffers.len());
        for (number, buffer) in (0..).zip(buffers) {
            let share = (number + 1) * records / all - number * records / all;
            chunks.push(self.open_stamped((buffer, stamps), share as u32, extent)?);
            extent.offset += self.chunk_bytes as u64;
        }
        Ok(chunks)
    }

    /// A chunk that was read from there; `share` are its records, if it does not say how many.
    pub(crate) fn open_chunk(
        &self,
        buffer: Buffer,
        share: u32,
        from: Extent,
    ) -> Result<Chunk, SortError> {
        self.open_stamped((buffer, self.spill.stamps(from)), share, from)
    }

    fn open_stamped(
        &self,
        (mut buffer, stamps): (Buffer, Stamps),
        share: u32,
        from: Extent,
    ) -> Result<Chunk, SortError> {
        let (is_whole, place) = (buffer.len() == buffer.capacity(), stamps.at(from.offset));
        let opened = is_whole
            .then(|| self.contents.unseal(&buffer, share, place))
            .flatten();
        let (records, marks) = opened.ok_or_else(|| self.spoilt(from))?;
        buffer.set_len(records as usize * self.contents.record_bytes());
        Ok(Chunk {
            bucket: 0,
            records,
            marks,
            buffer,
        })
    }

    /// What lies there is not what was written.
    pub(crate) fn spoilt(&self, at: Extent) -> SortError {
        SortError::Spoilt {
            file: self.spill.file(at).path().to_owned(),
            offset: at.offset,
        }
    }
}

impl<Note, Wanted: Iterator<Item = (Option<Spilled>, Note)>> Runs<'_, Note, Wanted> {
    /// The chunks of the next run, with its note; nothing at the end.
    ///
    /// No deadlock: it waits for a chunk only when no read is in flight, and then holds no more
    /// than those of one run beside what it has given out.
    pub(crate) async fn next(
        &mut self,
        worker: &Worker,
    ) -> Result<Option<(Vec<Chunk>, Note)>, Failure> {
        if self.done_bytes >= self.release_bytes {
            self.release(worker).await;
        }
        self.ask_ahead(worker).await?;
        let Some(Asked { read, note }) = self.in_flight.pop_front() else {
            self.release(worker).await;
            return Ok(None);
        };
        let Some((ticket, wish)) = read else {
            return Ok(Some((Vec::new(), note)));
        };
        let (buffers, result) = ticket.wait(&worker.node).await;
        result?;
        let chunks = self.reader.open(worker, wish, buffers)?;
        let extent = wish.run.extent(self.reader.chunk_bytes);
        if extent.bytes >= self.reader.least_released {
            self.done.push(extent);
            self.done_bytes += extent.bytes;
        }
        Ok(Some((chunks, note)))
    }

    /// Gives back the space of what was read. A hole waits until no request for its file is in
    /// flight, so many are made together.
    async fn release(&mut self, worker: &Worker) {
        for extent in self.done.drain(..) {
            self.reader.spill.release(&worker.node, extent).await;
        }
        self.done_bytes = 0;
    }

    /// Asks for what comes next, as far as there are chunks to read it to.
    async fn ask_ahead(&mut self, worker: &Worker) -> Result<(), Failure> {
        let reader = self.reader;
        while self.in_flight.len() < reader.depth.get() {
            let Some(&(wish, _)) = self.wanted.peek() else {
                break;
            };
            while self.gathered.len() < wish.map_or(0, |wish| wish.run.chunks()) {
                match worker.try_take(&reader.pool).await {
                    Some(buffer) => self.gathered.push(buffer?),
                    None if self.in_flight.is_empty() => {
                        self.gathered.push(worker.take(&reader.pool).await?);
                    }
                    None => return Ok(()),
                }
            }
            let buffers = std::mem::take(&mut self.gathered);
            let extent = |wish: Spilled| wish.run.extent(reader.chunk_bytes);
            let read = wish.map(|wish| (reader.ask(worker, extent(wish), buffers), wish));
            let (_, note) = self.wanted.next().expect("it was seen");
            self.in_flight.push_back(Asked { read, note });
        }
        Ok(())
    }
}
