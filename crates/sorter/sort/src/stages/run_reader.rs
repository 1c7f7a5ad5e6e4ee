//! Reads sorted runs ahead of the merge: when a run wants a read, its next chunks in one request.
//!
//! The records of a load that stayed in memory are gathered into chunks, and those of an input that is
//! sorted are read from there (`input_run`), so the merge sees chunks only.

use std::sync::Arc;

use node::{Buffer, ChainTicket, Mutex, Node, Queue, Work};
use pipeline::{Failure, Step, Window, Worker};

use crate::records::block::Chunk;
use crate::records::contents::{RecordsAt, Room, Sorted};
use crate::records::size::Size;
use crate::runs::arrivals::Arrivals;
use crate::runs::partition::Spilled;
use crate::runs::sorted_run::{SortedLoad, SortedRun, Stretch};
use crate::stages::SortedInputs;
use crate::stages::input_run::{InputRead, InputReads, RecordsRead};
use crate::stages::spill_reader::SpillReader;

/// Worker r modulo the number of workers reads run r, so the reads of a run come in order.
#[derive(Clone)]
pub(crate) struct RunReader {
    /// Its pool has memory for `READS_AHEAD` reads of each run.
    pub spilled: SpillReader,
    pub runs: Runs,
    /// Of a merge of inputs.
    pub inputs: Option<SortedInputs>,
    pub wants: Wants,
    pub arrivals: Arrivals,
    /// Bytes of records that a chunk takes.
    pub room: usize,
    /// Chunks of a read.
    pub read: usize,
}

/// The runs, each of which one worker takes.
#[derive(Clone)]
pub(crate) struct Runs(Arc<Mutex<Vec<SortedRun>>>);

impl Runs {
    pub(crate) fn new(runs: Vec<SortedRun>) -> Runs {
        Runs(Arc::new(Mutex::new(runs)))
    }

    /// The runs of one worker; empty in the places of the others.
    fn take(&self, worker: &Worker) -> Vec<SortedRun> {
        let mut all = self.0.lock();
        let mine = |(number, run): (usize, &mut SortedRun)| {
            if number % worker.siblings() == worker.index {
                std::mem::take(run)
            } else {
                SortedRun::default()
            }
        };
        all.iter_mut().enumerate().map(mine).collect()
    }
}

/// Runs that want one more read, one queue per reader.
#[derive(Clone)]
pub(crate) struct Wants(Vec<Queue<usize>>);

impl Wants {
    /// `most` runs of a reader want a read at the same time, of which `wanting` workers tell.
    pub(crate) fn new(node: &Node, readers: usize, (most, wanting): (usize, usize)) -> Wants {
        Wants(
            (0..readers)
                .map(|_| Queue::new(node, "wanted reads", most.max(1), wanting))
                .collect(),
        )
    }

    /// All queues, for the pipeline that closes them.
    pub(crate) fn queues(&self) -> impl Iterator<Item = &Queue<usize>> {
        self.0.iter()
    }

    pub(crate) async fn add(&self, worker: &Worker, run: usize) -> Result<(), Failure> {
        Ok(worker.push(&self.0[run % self.0.len()], run).await?)
    }

    pub(crate) async fn finish(&self, node: &Node) {
        for queue in &self.0 {
            queue.finish(node).await;
        }
    }
}

/// How far a run has been read.
#[derive(Clone, Copy, Default)]
struct Cursor {
    stretch: usize,
    /// Chunks of a stretch on disk, records of one in memory.
    done: usize,
}

/// The next read of a run.
enum Next<'a> {
    /// Some chunks; with the last chunks of a stretch, the whole stretch.
    Read(Spilled, Option<Spilled>),
    /// Some records of a load, from a row on.
    Gather(&'a SortedLoad, usize),
}

struct ReadInFlight {
    run: usize,
    what: What,
}

enum What {
    OnItsWay(ChainTicket, Spilled, Option<Spilled>),
    Here(Chunk),
    OfInput(InputRead),
}

/// No deadlock: a run wants a read only when it has given back all buffers of an earlier read, so
/// there are always buffers for it. A wanted read is done whatever the merge waits for.
pub(crate) async fn read_runs(worker: &Worker, reader: &RunReader) -> Result<(), Failure> {
    let mut reads = Reads::new(worker, reader);
    let wants = &reader.wants.0[worker.index];
    while let Some(step) = reads.window.pop(worker, wants).await? {
        match step {
            Step::Begin(run) => reads.want(run).await?,
            Step::Finish(reading) => reads.finish(reading).await?,
        }
    }
    Ok(())
}

/// The runs of one worker, and their reads in flight.
struct Reads<'a> {
    worker: &'a Worker,
    reader: &'a RunReader,
    runs: Vec<SortedRun>,
    cursors: Vec<Cursor>,
    /// By run: the records of its current stretch that were read.
    came: Vec<Size>,
    inputs: Option<InputReads<'a>>,
    window: Window<ReadInFlight>,
}

impl<'a> Reads<'a> {
    fn new(worker: &'a Worker, reader: &'a RunReader) -> Reads<'a> {
        let runs = reader.runs.take(worker);
        let inputs = reader.inputs.as_ref();
        let depth = reader.spilled.depth;
        let most = inputs.map_or(usize::MAX, |shared| shared.inputs.reads_of(worker).max(1));
        let depth = depth.min(most);
        Reads {
            worker,
            reader,
            cursors: vec![Cursor::default(); runs.len()],
            came: vec![Size::default(); runs.len()],
            inputs: inputs.map(|shared| InputReads::new(shared, &runs)),
            window: Window::new(depth),
            runs,
        }
    }

    fn inputs_of(&mut self, run: usize) -> Option<&mut InputReads<'a>> {
        let is_input = self.runs[run].input().is_some();
        self.inputs.as_mut().filter(|_| is_input)
    }

    /// Begins a wanted read, or ends the run. Reads of a pipe wait for each other.
    async fn want(&mut self, run: usize) -> Result<(), Failure> {
        if (self.inputs_of(run)).is_some_and(|inputs| inputs.is_sequential(run)) {
            self.finish_all_of(run).await?;
        }
        let (worker, reader) = (self.worker, self.reader);
        if let Some(inputs) = self.inputs_of(run) {
            if inputs.has_more(run) {
                let buffer = worker.take(&reader.spilled.pool).await?;
                let what = What::OfInput(inputs.ask(&worker.node, run, buffer).await?);
                self.window.push(ReadInFlight { run, what });
                return Ok(());
            }
        } else if let Some(next) = self.cursors[run].next(&self.runs[run], reader) {
            let reading = begin(worker, reader, run, next).await?;
            if let What::Here(chunk) = &reading.what {
                self.cursors[run].gathered(&self.runs[run], chunk.size.records as usize);
            }
            self.window.push(reading);
            return Ok(());
        }
        // The run's last reads may still be in flight.
        self.finish_all_of(run).await?;
        self.reader.arrivals.end(&worker.node, run).await;
        Ok(())
    }

    /// Finishes reads, until none is in flight for the run.
    async fn finish_all_of(&mut self, run: usize) -> Result<(), Failure> {
        while self.window.iter().any(|reading| reading.run == run) {
            let oldest = self.window.pop_oldest().expect("one is this run's");
            self.finish(oldest).await?;
        }
        Ok(())
    }

    /// Hands on the chunks of a read.
    async fn finish(&mut self, ReadInFlight { run, what }: ReadInFlight) -> Result<(), Failure> {
        let (worker, reader) = (self.worker, self.reader);
        let chunks = match what {
            What::Here(chunk) => vec![chunk],
            What::OfInput(read) => return self.finish_input(run, read).await,
            What::OnItsWay(ticket, part, ends) => {
                let chunks = reader.spilled.open(worker, part, ticket).await?;
                let came = &mut self.came[run];
                *came += chunks.iter().map(|chunk| chunk.size).sum();
                if let Some(all) = ends {
                    let extent = all.run.extent(reader.spilled.chunk_bytes);
                    if std::mem::take(came) != all.size {
                        return Err(reader.spilled.spoilt(extent).into());
                    }
                    // The whole stretch was read: its space is given back.
                    reader.spilled.spill.release(&worker.node, extent).await;
                }
                chunks
            }
        };
        reader.arrivals.add(&worker.node, run, chunks).await;
        Ok(())
    }

    /// Hands on the records of an input. If a read had none, the next one takes its place.
    async fn finish_input(&mut self, run: usize, read: InputRead) -> Result<(), Failure> {
        let (worker, reader) = (self.worker, self.reader);
        let (node, inputs) = (&worker.node, self.inputs_of(run).expect("an input"));
        match inputs.take(worker, run, read).await? {
            RecordsRead::Records(chunk) => reader.arrivals.add(node, run, vec![chunk]).await,
            RecordsRead::Nothing(buffer) if inputs.has_more(run) => {
                let what = What::OfInput(inputs.ask(node, run, buffer).await?);
                self.window.push(ReadInFlight { run, what });
                return Ok(());
            }
            RecordsRead::Nothing(buffer) => reader.spilled.pool.give(node, buffer).await,
        }
        if inputs.has_ended(run) {
            reader.arrivals.end(node, run).await;
        }
        Ok(())
    }
}

impl Cursor {
    fn next<'a>(&mut self, run: &'a SortedRun, reader: &RunReader) -> Option<Next<'a>> {
        let stretch = run.stretches.get(self.stretch)?;
        let all = match stretch {
            Stretch::Disk(all) => *all,
            Stretch::Memory(load) => return Some(Next::Gather(load, self.done)),
            Stretch::Input(..) => return None,
        };
        let part = self.part(all, reader);
        let ends = self.advance(part.run.chunks(), all.run.chunks());
        Some(Next::Read(part, ends.then_some(all)))
    }

    /// Notes records that were gathered from a load.
    fn gathered(&mut self, run: &SortedRun, records: usize) {
        if let Stretch::Memory(load) = &run.stretches[self.stretch] {
            self.advance(records, load.bucket.size.records as usize);
        }
    }

    /// Whether the stretch ends with these chunks or records, of `all`.
    fn advance(&mut self, more: usize, all: usize) -> bool {
        self.done += more;
        let ends = self.done == all;
        if ends {
            *self = Cursor {
                stretch: self.stretch + 1,
                done: 0,
            };
        }
        ends
    }

    /// The next chunks of a stretch.
    fn part(&self, all: Spilled, reader: &RunReader) -> Spilled {
        let of = all.run.chunks();
        let end = of.min(self.done + reader.read);
        let upto = |chunks: usize| all.size.upto(chunks as u64, of as u64);
        Spilled {
            run: (all.run).part(self.done..end, reader.spilled.chunk_bytes),
            size: upto(end) - upto(self.done),
        }
    }
}

async fn begin(
    worker: &Worker,
    reader: &RunReader,
    run: usize,
    next: Next<'_>,
) -> Result<ReadInFlight, Failure> {
    let what = match next {
        Next::Read(part, ends) => {
            let mut buffers: Vec<Buffer> = Vec::with_capacity(part.run.chunks());
            while buffers.len() < part.run.chunks() {
                buffers.push(worker.take(&reader.spilled.pool).await?);
            }
            What::OnItsWay(reader.spilled.ask(worker, part.run, buffers), part, ends)
        }
        Next::Gather(load, first) => {
            let mut buffer = worker.take(&reader.spilled.pool).await?;
            let (contents, room) = (&reader.spilled.contents, Room::Within(reader.room));
            let place = RecordsAt {
                buffer: &mut buffer,
                at: 0,
            };
            let sorted = Sorted {
                bucket: &load.bucket,
                workspace: &load.order,
            };
            let size = contents.gather(sorted, first, room, place);
            worker.node.work(Work::Copy { bytes: size.bytes });
            buffer.set_len(size.bytes as usize);
            let marks = Vec::new();
            What::Here(Chunk {
                bucket: 0,
                size,
                marks,
                buffer,
            })
        }
    };
    Ok(ReadInFlight { run, what })
}
