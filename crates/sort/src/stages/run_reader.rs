//! Reads sorted runs ahead of the merge: whenever a run wants it, its next chunks in one request.
//!
//! Of a load that stayed in memory, the next records are gathered into a chunk instead, so that the
//! merge sees nothing but chunks.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use node::{Buffer, ChainTicket, Node, Queue, Work};
use pipeline::{Failure, Worker};

use crate::files::spill::Extent;
use crate::records::block::Chunk;
use crate::records::contents::Place;
use crate::runs::arrivals::Arrivals;
use crate::runs::partition::{Run, Spilled};
use crate::runs::sorted_run::{SortedLoad, SortedRun, Stretch};
use crate::stages::spill_reader::SpillReader;

/// What readers of runs share. Run r is read by worker r modulo their number, so that its reads
/// come in their order.
#[derive(Clone)]
pub(crate) struct RunReader {
    /// Its pool is for `READS_AHEAD` reads of each run.
    pub spilled: SpillReader,
    pub runs: Runs,
    pub wants: Wants,
    pub arrivals: Arrivals,
    /// Records of a chunk.
    pub chunk_records: usize,
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

    /// Those of a worker; in the places of the others nothing.
    fn take(&self, worker: &Worker) -> Vec<SortedRun> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Runs that want one more read, a queue for each reader.
#[derive(Clone)]
pub(crate) struct Wants(Vec<Queue<usize>>);

impl Wants {
    /// Queues for so many readers; `most` runs want at the same time.
    pub(crate) fn new(node: &Node, readers: usize, most: usize) -> Wants {
        Wants(
            (0..readers)
                .map(|_| Queue::new(node, "wanted reads", most.max(1), 1))
                .collect(),
        )
    }

    /// All of them, to be made part of a pipeline.
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
    /// Chunks of the stretch on disk, or records of that in memory.
    done: usize,
}

/// The next read of a run.
enum Step<'a> {
    /// Some chunks; when the last ones of a stretch have come, its space is given back.
    Read(Spilled, Option<Extent>),
    /// Some records of a load.
    Gather(&'a SortedLoad, Range<usize>),
}

/// A read under way.
struct Reading {
    run: usize,
    what: What,
}

enum What {
    OnItsWay(ChainTicket, Spilled, Option<Extent>),
    Here(Chunk),
}

/// A reader's work.
///
/// No deadlock: a run wants a read only when it has given back all buffers of an earlier one, so
/// there are always buffers for it. What was wanted comes, whatever the merge waits for.
pub(crate) async fn read_runs(worker: &Worker, reader: &RunReader) -> Result<(), Failure> {
    let runs = reader.runs.take(worker);
    let mut cursors = vec![Cursor::default(); runs.len()];
    let wants = &reader.wants.0[worker.index];
    let mut in_flight = VecDeque::new();
    loop {
        if in_flight.len() == reader.spilled.depth.get() {
            hand_on_oldest(worker, reader, &mut in_flight).await?;
        }
        let next = match worker.try_pop(wants).await {
            Some(next) => next?,
            None if in_flight.is_empty() => worker.pop(wants).await?,
            None => {
                hand_on_oldest(worker, reader, &mut in_flight).await?;
                continue;
            }
        };
        let Some(run) = next else { break };
        match cursors[run].step(&runs[run], reader) {
            Some(step) => in_flight.push_back(begin(worker, reader, run, step).await?),
            None => {
                // Its last reads may still be on their way.
                while in_flight.iter().any(|reading| reading.run == run) {
                    hand_on_oldest(worker, reader, &mut in_flight).await?;
                }
                reader.arrivals.end(&worker.node, run).await;
            }
        }
    }
    Ok(())
}

impl Cursor {
    fn step<'a>(&mut self, run: &'a SortedRun, reader: &RunReader) -> Option<Step<'a>> {
        let stretch = run.stretches.get(self.stretch)?;
        let (step, end) = match stretch {
            Stretch::Disk(all) => {
                let part = self.part(*all, reader);
                self.done += part.run.chunks();
                let ends = self.done == all.run.chunks();
                (
                    Step::Read(
                        part,
                        ends.then(|| all.run.extent(reader.spilled.chunk_bytes)),
                    ),
                    ends,
                )
            }
            Stretch::Memory(load) => {
                let all = load.bucket.records as usize;
                let rows = self.done..all.min(self.done + reader.chunk_records);
                self.done = rows.end;
                (Step::Gather(load, rows), self.done == all)
            }
        };
        if end {
            *self = Cursor {
                stretch: self.stretch + 1,
                done: 0,
            };
        }
        Some(step)
    }

    /// The next chunks of a stretch.
    fn part(&self, all: Spilled, reader: &RunReader) -> Spilled {
        let extent = all.run.extent(reader.spilled.chunk_bytes);
        let chunks = reader.read.min(all.run.chunks() - self.done);
        let before = (self.done * reader.chunk_records) as u64;
        let records = ((chunks * reader.chunk_records) as u64).min(all.records - before);
        let offset = extent.offset + (self.done * reader.spilled.chunk_bytes) as u64;
        let bytes = (chunks * reader.spilled.chunk_bytes) as u64;
        Spilled {
            run: Run::new(
                Extent {
                    offset,
                    bytes,
                    ..extent
                },
                chunks,
            ),
            records,
        }
    }
}

async fn begin(
    worker: &Worker,
    reader: &RunReader,
    run: usize,
    step: Step<'_>,
) -> Result<Reading, Failure> {
    let what = match step {
        Step::Read(part, ends) => {
            let mut buffers: Vec<Buffer> = Vec::with_capacity(part.run.chunks());
            while buffers.len() < part.run.chunks() {
                buffers.push(worker.take(&reader.spilled.pool).await?);
            }
            let extent = part.run.extent(reader.spilled.chunk_bytes);
            What::OnItsWay(reader.spilled.ask(worker, extent, buffers), part, ends)
        }
        Step::Gather(load, rows) => {
            let mut buffer = worker.take(&reader.spilled.pool).await?;
            let (records, contents) = (rows.len(), &reader.spilled.contents);
            let place = Place {
                buffer: &mut buffer,
                at: 0,
            };
            contents.gather(&load.bucket, &load.order, rows, place);
            let bytes = records * contents.record_bytes();
            worker.node.work(Work::Copy {
                bytes: bytes as u64,
            });
            buffer.set_len(bytes);
            let marks = Vec::new();
            What::Here(Chunk {
                bucket: 0,
                records: records as u32,
                marks,
                buffer,
            })
        }
    };
    Ok(Reading { run, what })
}

async fn hand_on_oldest(
    worker: &Worker,
    reader: &RunReader,
    in_flight: &mut VecDeque<Reading>,
) -> Result<(), Failure> {
    let Reading { run, what } = in_flight.pop_front().expect("a read is in flight");
    let chunks = match what {
        What::Here(chunk) => vec![chunk],
        What::OnItsWay(ticket, part, ends) => {
            let (buffers, result) = ticket.wait(&worker.node).await;
            result?;
            let chunks = reader.spilled.open(worker, part, buffers)?;
            let records: u64 = chunks.iter().map(|chunk| u64::from(chunk.records)).sum();
            if records != part.records {
                let extent = part.run.extent(reader.spilled.chunk_bytes);
                return Err(reader.spilled.spoilt(extent).into());
            }
            if let Some(extent) = ends {
                reader.spilled.spill.release(&worker.node, extent).await;
            }
            chunks
        }
    };
    reader.arrivals.add(&worker.node, run, chunks).await;
    Ok(())
}
