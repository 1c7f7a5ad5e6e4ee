//! Merges sorted runs: into the output, or into one longer run (TritonSort 2.5, the Merger).
//!
//! ```text
//! chunks of runs > loser tree > write units > writer            the last merge
//!                             > chunks > spill files            one before it, of too many runs
//! ```
//!
//! Order, count and checksum are checked in the bytes that go to the disk.

use std::sync::Arc;

use node::{Buffer, Pool, Posted, Queue, Work};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::files::output::Output;
use crate::plan::READS_AHEAD;
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Piece;
use crate::records::contents::{Contents, Edges, Merging, RecordsAt, Room};
use crate::records::size::{Size, Sum};
use crate::records::span::Span;
use crate::runs::arrivals::Arrivals;
use crate::runs::partition::Spilled;
use crate::stages::carry::Carry;
use crate::stages::run_writer::{Chaining, Chains};
use crate::stages::{LongRecords, Tally, Wants};

#[derive(Clone)]
pub(crate) struct Sources {
    pub contents: Arc<dyn Contents>,
    pub runs: usize,
    /// Records that are wanted of all of them.
    pub most: u64,
    /// Size of all of them.
    pub size: Size,
    pub wants: Wants,
    pub arrivals: Arrivals,
    /// Merged chunks go back here.
    pub memory: LongRecords,
}

/// The records of the sorted order that make up one file of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputPart {
    pub file: usize,
    /// Records before it in the whole output.
    pub first: Size,
    pub size: Size,
}

impl OutputPart {
    /// The only file, of records whose number is not known.
    pub(crate) const ALL: OutputPart = OutputPart {
        file: 0,
        first: Size {
            records: 0,
            bytes: 0,
        },
        size: Size {
            records: u64::MAX / 2,
            bytes: u64::MAX / 2,
        },
    };
}

#[derive(Clone)]
pub(crate) struct Merger {
    pub sources: Sources,
    /// In order; together they hold all records.
    pub parts: Vec<OutputPart>,
    pub unit_bytes: usize,
    pub pool: Pool,
    pub output: Arc<Output>,
    /// Whether the output is written front to back, not in whole disk blocks.
    pub sequential: bool,
    pub out: Queue<Piece>,
    pub tally: Tally,
}

#[derive(Clone)]
pub(crate) struct RunMerger {
    pub sources: Sources,
    pub chains: Chains,
    pub tally: Tally,
    /// The chains of the merged run.
    pub merged: Posted<Vec<Spilled>>,
}

/// Merges into the output, with one worker. It waits for chunks of runs and for write units, which
/// the writers give back.
pub(crate) async fn merge(worker: &Worker, merger: &Merger) -> Result<(), Failure> {
    let mut merge = Merge::begin(worker, &merger.sources).await?;
    for part in &merger.parts {
        let merged = merge_part(&mut merge, merger, *part).await?;
        if merged.size.records > 0 {
            merger.tally.add_out(merged, &*merger.sources.contents)?;
        }
    }
    merge.account(&merger.tally);
    merge.end().await;
    merger.out.finish(&worker.node).await;
    Ok(())
}

/// Merges into one longer run in spill files, with one worker.
pub(crate) async fn merge_run(worker: &Worker, merger: &RunMerger) -> Result<(), Failure> {
    let mut merge = Merge::begin(worker, &merger.sources).await?;
    let mut chaining = Chaining::new(worker, &merger.chains);
    loop {
        let room = Room::Within(merger.chains.room);
        let mut buffer = chaining.take().await?;
        let place = RecordsAt {
            buffer: &mut buffer,
            at: 0,
        };
        let Filling { size, long } = merge.fill(place, room).await?;
        if size.records == 0 {
            assert!(long.is_none(), "records of a longer run fit its chunks");
            merger.chains.pool.give(&worker.node, buffer).await;
            break;
        }
        chaining.add(buffer, size).await?;
    }
    merge.account(&merger.tally);
    merge.end().await;
    let merged = chaining.end().await?;
    merger.merged.post(&worker.node, merged).await;
    Ok(())
}

/// Merges one file. It ends with the record that covers its share, or with the last one.
async fn merge_part(
    merge: &mut Merge<'_>,
    merger: &Merger,
    part: OutputPart,
) -> Result<Span, Failure> {
    let (sum_before, begin) = (merge.sum, merge.done);
    merge.edges.first.clear();
    let until = part.first.bytes + part.size.bytes;
    // A file without a record gets its header elsewhere.
    let has_header = !merge.merging.is_over();
    let header = if has_header {
        merger.sources.contents.header()
    } else {
        &[]
    };
    let mut carry = Carry::of(header);
    let mut at = 0;
    while !carry.is_empty() || merge.came_bytes() < until {
        let mut buffer = merge.worker.take(&merger.pool).await?;
        let unit = (merger.unit_bytes, until);
        let filled = merge.fill_unit(&mut buffer, &mut carry, unit).await?;
        if filled == 0 {
            merger.pool.give(&merge.worker.node, buffer).await;
            break;
        }
        merge.worker.did(filled);
        let range = 0..whole_blocks(&mut buffer, filled, merger.sequential);
        let piece = Piece {
            file: part.file,
            offset: at,
            range,
            buffer,
            home: merger.pool.clone(),
        };
        merge.worker.push(&merger.out, piece).await?;
        at += filled as u64;
        if filled < merger.unit_bytes {
            break;
        }
    }
    let size = merge.done - begin;
    let length = header.len() as u64 + size.bytes;
    assert_eq!(at, length, "all bytes of a file were handed on");
    let output = &merger.output;
    (output.set_length(&merge.worker.node, part.file, length)).await;
    Ok(Span {
        begin,
        size,
        file: part.file,
        sum: merge.sum - sum_before,
        first: std::mem::take(&mut merge.edges.first),
        last: merge.edges.last.clone(),
    })
}

/// Pads the buffer to whole disk blocks, unless the output is sequential, and returns its length. The
/// padding is cut off when the file gets its length.
pub(super) fn whole_blocks(buffer: &mut Buffer, bytes: usize, sequential: bool) -> usize {
    let whole = if sequential {
        bytes
    } else {
        bytes.next_multiple_of(BLOCK_BYTES as usize)
    };
    if !buffer.is_counted() {
        buffer.bytes_mut()[bytes..whole].fill(0);
    }
    buffer.set_len(whole);
    whole
}

/// The result of merging into a buffer.
struct Filling {
    size: Size,
    /// Bytes of the next record, for which the buffer has no room.
    long: Option<usize>,
}

struct Merge<'a> {
    worker: &'a Worker,
    sources: &'a Sources,
    merging: Merging,
    /// By run: whether its current chunk is the last one of its read.
    ends_read: Vec<bool>,
    done: Size,
    dropped: Sum,
    edges: Edges,
    sum: u128,
}

impl<'a> Merge<'a> {
    /// Asks for the first reads of each run, and waits for the first chunk of each.
    async fn begin(worker: &'a Worker, sources: &'a Sources) -> Result<Merge<'a>, Failure> {
        let mut merge = Merge {
            worker,
            sources,
            merging: Merging::new(sources.runs, sources.most),
            ends_read: vec![false; sources.runs],
            done: Size::default(),
            dropped: Sum::default(),
            edges: Edges::default(),
            sum: 0,
        };
        for _ in 0..READS_AHEAD {
            for run in 0..sources.runs {
                sources.wants.add(worker, run).await?;
            }
        }
        for run in 0..sources.runs {
            merge.next_chunk(run).await?;
        }
        Ok(merge)
    }

    /// Fills a unit of the output: the carried bytes, then records, until it is full, the records
    /// so far have `until` bytes, or there is none left. The bytes beyond the unit are carried.
    async fn fill_unit(
        &mut self,
        buffer: &mut Buffer,
        carry: &mut Carry,
        (unit_bytes, until): (usize, u64),
    ) -> Result<usize, Failure> {
        let mut at = carry.put(buffer, 0, unit_bytes);
        while at < unit_bytes && self.came_bytes() < until {
            let room = (until - self.came_bytes()).min((unit_bytes - at) as u64);
            let room = Room::Covering(room as usize);
            let place = RecordsAt {
                buffer: &mut *buffer,
                at,
            };
            let filled = self.fill(place, room).await?;
            let end = at + filled.size.bytes as usize;
            at = end.min(unit_bytes);
            if end > unit_bytes {
                carry.keep(buffer, unit_bytes, end);
            }
            let Some(mut bytes) = filled.long else { break };
            // Only a buffer of its own has room for it.
            while carry.is_empty() && bytes > 0 {
                bytes = self.carry_long(carry, bytes).await?;
            }
            at = carry.put(buffer, at, unit_bytes);
        }
        Ok(at)
    }

    /// Carries the next record, which has `bytes` bytes. Returns the length of the one behind it if it
    /// was dropped and that is longer still.
    async fn carry_long(&mut self, carry: &mut Carry, bytes: usize) -> Result<usize, Failure> {
        let mut own = self.sources.memory.buffer(&self.worker.node, bytes)?;
        let place = RecordsAt {
            buffer: &mut own,
            at: 0,
        };
        let filled = self.fill(place, Room::Covering(1)).await?;
        carry.keep(&own, 0, filled.size.bytes as usize);
        Ok(filled.long.unwrap_or(0))
    }

    /// Merges the next records into a buffer until its room is full, or there is none left, or the
    /// next one is longer than the buffer, and checks them there.
    async fn fill(&mut self, out: RecordsAt<'_>, room: Room) -> Result<Filling, Failure> {
        let contents = &self.sources.contents;
        let RecordsAt { buffer, at } = out;
        let mut size = Size::default();
        let long = loop {
            let done = size.bytes as usize;
            let place = RecordsAt {
                buffer: &mut *buffer,
                at: at + done,
            };
            let merged = contents.merge(&mut self.merging, room.behind(done), place);
            size += merged.size;
            self.dropped += merged.dropped;
            match merged.dry {
                Some(run) => self.next_chunk(run).await?,
                None => break merged.long,
            }
        };
        let before = self.done.records;
        let checked = contents.check(RecordsAt { buffer, at }, size, &mut self.edges);
        let disorder = |number| SortError::Disorder {
            record: before + number as u64,
        };
        self.sum += u128::from(checked.map_err(disorder)?);
        self.done += size;
        let Size { records, bytes } = size;
        let node = &self.worker.node;
        node.work(Work::Merge {
            records,
            sources: self.sources.runs as u64,
        });
        node.work(Work::Copy { bytes });
        node.work(Work::Checksum { bytes });
        Ok(Filling { size, long })
    }

    /// Bytes of the records so far, with those that were dropped.
    fn came_bytes(&self) -> u64 {
        (self.done + self.dropped.size).bytes
    }

    /// Continues with the next chunk of a run, and gives the merged one back.
    async fn next_chunk(&mut self, run: usize) -> Result<(), Failure> {
        let Sources {
            arrivals,
            wants,
            memory,
            ..
        } = self.sources;
        // The next read needs this buffer: the merged chunk goes back before it is asked for.
        if let Some(used) = self.merging.take(run) {
            memory.give_back(&self.worker.node, used.buffer).await;
            if self.ends_read[run] {
                wants.add(self.worker, run).await?;
            }
        }
        let arrived = self
            .worker
            .starve(arrivals.next(&self.worker.node, run))
            .await?;
        if let Some(arrived) = arrived {
            self.ends_read[run] = arrived.ends_read;
            self.merging.put(run, arrived.chunk);
        }
        Ok(())
    }

    /// Notes the records that are not merged.
    fn account(&self, tally: &Tally) {
        tally.add_repeated(self.dropped);
        let top = self.sources.most;
        if top < u64::MAX {
            let merged = self.done.records + self.dropped.size.records;
            tally.add_unread(self.sources.size.records - merged, top);
        }
    }

    /// Ends the run readers.
    async fn end(&self) {
        self.sources.wants.finish(&self.worker.node).await;
    }
}
