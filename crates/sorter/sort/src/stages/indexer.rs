//! Reads files of chained records from front to back, to find where they may be cut.
//!
//! Each indexer reads one file at a time, with requests in flight, and follows its records.

use std::path::PathBuf;
use std::sync::Arc;

use node::{DiskTicket, File, Filled, Guarded, Node, Pool};
use pipeline::{Failure, Step, Window, Worker};

use crate::error::{SortError, no_memory};
use crate::files::input::index::{Index, IndexBuilder, NoRecord};
use crate::files::input::{Files, Input, Inputs};
use crate::records::block::BLOCK_BYTES;
use crate::records::contents::Contents;
use crate::stages::line_numbers::LineNumbers;

/// Requests in flight of each indexer.
pub(crate) const INDEXER_DEPTH: usize = 2;

/// Bytes of a read, whole disk blocks.
pub(crate) const INDEXER_UNIT_BYTES: usize = 1 << 20;

#[derive(Clone)]
pub(crate) struct Indexer {
    pub inputs: Arc<Inputs>,
    /// Bytes from one cut to the next, about.
    pub step: u64,
    pub pool: Pool,
    pub found: Found,
    /// How to tell the mistake of a row with an open quote.
    pub contents: Arc<dyn Contents>,
    /// Whether the line of such a row is set aside, and rows go on behind it.
    pub sets_aside: bool,
}

/// The indexes of all inputs. An indexer that is idle makes that of the next file.
#[derive(Clone)]
pub(crate) struct Found {
    shared: Arc<Guarded<Progress>>,
}

#[derive(Default)]
struct Progress {
    /// The number of the next file.
    next: usize,
    /// The indexes of some of those before.
    made: Vec<(usize, Index)>,
    /// It is kept here and does not end the run: another rank may be able to read the file.
    failure: Option<Failure>,
}

impl Found {
    pub(crate) fn new(node: &Node) -> Found {
        Found {
            shared: Arc::new(Guarded::new(node, "the next file", Progress::default())),
        }
    }

    /// The indexes in the order of their files, once all are made.
    pub(crate) fn indexes(&self) -> Result<Vec<Index>, Failure> {
        let Progress {
            mut made, failure, ..
        } = self.shared.change_now(std::mem::take);
        made.sort_by_key(|&(number, _)| number);
        let indexes = made.into_iter().map(|(_, index)| index).collect();
        failure.map_or(Ok(indexes), Err)
    }
}

pub(crate) async fn index(worker: &Worker, indexer: &Indexer) -> Result<(), Failure> {
    if indexer.inputs.reads_of(worker) == 0 {
        return Ok(());
    }
    let mut files = Files::new(&indexer.inputs);
    let shared = &indexer.found.shared;
    loop {
        let number = shared.change(&worker.node, |all| {
            all.next += 1;
            all.next - 1
        });
        let number = number.await;
        let Some(input) = indexer.inputs.files.get(number) else {
            return Ok(());
        };
        let made = match files.of(&worker.node, number).await {
            Ok(file) => make(worker, indexer, (input, file)).await,
            Err(failure) => Err(failure),
        };
        let note = |all: &mut Progress| match made {
            Ok(index) => {
                all.made.push((number, index));
                Ok(())
            }
            Err(Failure::Closed) => Err(Failure::Closed),
            Err(failure) => {
                // Its requests in flight keep their buffers, so no other file is begun.
                all.next = usize::MAX / 2;
                all.failure.get_or_insert(failure);
                Ok(())
            }
        };
        shared.change(&worker.node, note).await?;
    }
}

async fn make(
    worker: &Worker,
    indexer: &Indexer,
    (input, file): (&Input, File),
) -> Result<Index, Failure> {
    let (first, _) = input.front();
    let framing = indexer.inputs.framing.records();
    let begun = Making {
        builder: IndexBuilder::new(framing, first, indexer.step),
        file: &file,
        at: first,
        end: input.length(),
    };
    begun.make(worker, indexer).await
}

/// The index of a file that is being read.
struct Making<'a> {
    builder: IndexBuilder,
    file: &'a File,
    /// Offset of the next byte to look at.
    at: u64,
    /// Length of the file when it was opened first.
    end: u64,
}

impl Making<'_> {
    async fn make(mut self, worker: &Worker, indexer: &Indexer) -> Result<Index, Failure> {
        self.read(worker, &indexer.pool).await?;
        while let Some(begin) = self
            .builder
            .open_row()
            .filter(|_| indexer.contents.is_checked())
        {
            let line = self.line_at(worker, begin).await?;
            let end = begin + line.len() as u64;
            if !indexer.sets_aside {
                return Err(self
                    .open_quote(worker, &indexer.contents, (begin, &line))
                    .await);
            }
            self.builder.go_on_behind(end);
            self.at = end;
            self.read(worker, &indexer.pool).await?;
        }
        let file = self.file.path().to_owned();
        self.builder.finish().map_err(|bad| no_record(file, bad))
    }

    /// The line at an offset, with the newline at its end if there is one.
    async fn line_at(&self, worker: &Worker, begin: u64) -> Result<Vec<u8>, Failure> {
        let mut at = begin - begin % BLOCK_BYTES;
        let mut line = Vec::new();
        while at < self.end {
            let buffers = worker.node.buffers(1, INDEXER_UNIT_BYTES, Filled::Once);
            let buffers = buffers.map_err(|cause| no_memory(INDEXER_UNIT_BYTES, &cause))?;
            let buffer = buffers.into_iter().next().expect("one was asked for");
            let read = self.file.read(&worker.node, at, INDEXER_UNIT_BYTES, buffer);
            let (buffer, result) = read.wait(&worker.node).await;
            result?;
            let there = buffer.len().min((self.end - at) as usize);
            let from = begin.saturating_sub(at) as usize;
            let fresh = buffer.bytes()[..there].get(from..).unwrap_or_default();
            if let Some(before) = memchr::memchr(b'\n', fresh) {
                line.extend_from_slice(&fresh[..=before]);
                break;
            }
            line.extend_from_slice(fresh);
            at += INDEXER_UNIT_BYTES as u64;
        }
        Ok(line)
    }

    async fn open_quote(
        &self,
        worker: &Worker,
        contents: &Arc<dyn Contents>,
        (offset, line): (u64, &[u8]),
    ) -> Failure {
        let file = self.file.path().to_owned();
        match contents.mistake(&[line, b"\n"].concat()) {
            Some(bad) => {
                let numbers = LineNumbers::of(&**contents);
                let line = numbers.at(&worker.node, self.file, offset).await;
                let (bad, cure) = (Box::new(bad), "");
                SortError::BadRow {
                    file,
                    line,
                    offset,
                    bad,
                    cure,
                }
                .into()
            }
            None => {
                let what = "a quote in this row is never closed".to_owned();
                SortError::BadRecord { file, offset, what }.into()
            }
        }
    }

    async fn read(&mut self, worker: &Worker, pool: &Pool) -> Result<(), Failure> {
        let mut reads = Window::new(INDEXER_DEPTH);
        let mut next = self.at - self.at % BLOCK_BYTES;
        while next < self.end {
            let buffer = loop {
                match reads.take(worker, pool).await? {
                    Step::Begin(buffer) => break buffer,
                    Step::Finish((offset, read)) => {
                        self.look_at(worker, pool, (offset, read)).await?;
                    }
                }
            };
            let read = self
                .file
                .read(&worker.node, next, INDEXER_UNIT_BYTES, buffer);
            reads.push((next, read));
            next += INDEXER_UNIT_BYTES as u64;
        }
        while let Some(read) = reads.pop_oldest() {
            self.look_at(worker, pool, read).await?;
        }
        Ok(())
    }

    /// Follows the records through a read, the next one in the file's order.
    async fn look_at(
        &mut self,
        worker: &Worker,
        pool: &Pool,
        (offset, read): (u64, DiskTicket),
    ) -> Result<(), Failure> {
        let (buffer, result) = read.wait(&worker.node).await;
        result?;
        let end = self.end.min(offset + buffer.len() as u64);
        let wanted = self.end.min(offset + INDEXER_UNIT_BYTES as u64);
        if end < wanted {
            let file = self.file.path().to_owned();
            return Err(SortError::Shrunk { file, offset: end }.into());
        }
        let from = (self.at - offset) as usize;
        let bytes = &buffer.bytes()[from..(end - offset) as usize];
        let found = self.builder.add(bytes);
        found.map_err(|bad| no_record(self.file.path().to_owned(), bad))?;
        worker.did(bytes.len());
        self.at = end;
        pool.give(&worker.node, buffer).await;
        Ok(())
    }
}

fn no_record(file: PathBuf, NoRecord { offset, what }: NoRecord) -> Failure {
    SortError::BadRecord { file, offset, what }.into()
}
