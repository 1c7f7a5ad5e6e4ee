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
use crate::plan::READS_AHEAD;
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Piece;
use crate::records::contents::{Contents, Merging, Place};
use crate::records::span::Span;
use crate::runs::arrivals::Arrivals;
use crate::runs::partition::Spilled;
use crate::stages::run_writer::{Chaining, Chains};
use crate::stages::{Tally, Wants};

/// Where the merged records come from.
#[derive(Clone)]
pub(crate) struct Sources {
    pub contents: Arc<dyn Contents>,
    /// How many runs.
    pub runs: usize,
    pub wants: Wants,
    pub arrivals: Arrivals,
    /// Where chunks go when they are merged.
    pub pool: Pool,
}

/// Some records of the sorted order that make up an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputPart {
    /// The file that they go to.
    pub file: usize,
    /// Records before them.
    pub first: u64,
    pub records: u64,
}

/// What merges into the output.
#[derive(Clone)]
pub(crate) struct Merger {
    pub sources: Sources,
    /// The outputs, in order; together they are all records.
    pub parts: Vec<OutputPart>,
    pub unit_bytes: usize,
    pub pool: Pool,
    /// Whether the output is written front to back, and not in whole disk blocks.
    pub sequential: bool,
    pub out: Queue<Piece>,
    pub tally: Tally,
}

/// What merges into a longer run.
#[derive(Clone)]
pub(crate) struct RunMerger {
    pub sources: Sources,
    pub records: u64,
    pub chains: Chains,
    /// Where the run is.
    pub merged: Posted<Vec<Spilled>>,
}

/// The work of one worker. It waits for write units, which come back from the writers, and for
/// chunks.
pub(crate) async fn merge(worker: &Worker, merger: &Merger) -> Result<(), Failure> {
    let mut merge = Merge::begin(worker, &merger.sources).await?;
    for part in &merger.parts {
        let merged = merge_part(&mut merge, merger, *part).await?;
        if merged.records > 0 {
            merger.tally.goes_out(merged, &*merger.sources.contents)?;
        }
    }
    merge.end().await;
    merger.out.finish(&worker.node).await;
    Ok(())
}

/// The work of one worker; as above, but what is merged goes to spill files.
pub(crate) async fn merge_run(worker: &Worker, merger: &RunMerger) -> Result<(), Failure> {
    let mut merge = Merge::begin(worker, &merger.sources).await?;
    let mut chaining = Chaining::new(worker, &merger.chains);
    while merge.records < merger.records {
        let left = merger.records - merge.records;
        let count = left.min(merger.chains.chunk_records as u64) as usize;
        let mut buffer = chaining.take().await?;
        merge
            .fill(
                Place {
                    buffer: &mut buffer,
                    at: 0,
                },
                count,
            )
            .await?;
        chaining.add(buffer, count).await?;
    }
    merge.end().await;
    let merged = chaining.end().await?;
    merger.merged.post(&worker.node, merged).await;
    Ok(())
}

/// Merges the records of one output.
async fn merge_part(
    merge: &mut Merge<'_>,
    merger: &Merger,
    part: OutputPart,
) -> Result<Span, Failure> {
    assert_eq!(merge.records, part.first, "parts are in order");
    let (sum_before, mut first) = (merge.sum, Vec::new());
    let record_bytes = merge.record_bytes;
    let (mut at, end) = (0, part.records * record_bytes as u64);
    // The end of a record whose beginning is in the buffer before.
    let mut carried: Vec<u8> = Vec::new();
    let mut carried_bytes = 0;
    while at < end {
        let limit = (merger.unit_bytes as u64).min(end - at) as usize;
        let mut buffer = merge.worker.take(&merger.pool).await?;
        if !buffer.is_counted() {
            buffer.bytes_mut()[..carried_bytes].copy_from_slice(&carried);
        }
        let count = (limit - carried_bytes).div_ceil(record_bytes);
        merge
            .fill(
                Place {
                    buffer: &mut buffer,
                    at: carried_bytes,
                },
                count,
            )
            .await?;
        let filled = carried_bytes + count * record_bytes;
        carried_bytes = filled - limit;
        if !buffer.is_counted() {
            if at == 0 {
                first = buffer.bytes()[..record_bytes].to_vec();
            }
            carried.clear();
            carried.extend_from_slice(&buffer.bytes()[limit..filled]);
        }
        merge.worker.did(limit);
        let range = 0..whole_blocks(&mut buffer, limit, merger.sequential);
        let piece = Piece {
            file: part.file,
            offset: at,
            range,
            buffer,
            home: merger.pool.clone(),
        };
        merge.worker.push(&merger.out, piece).await?;
        at += limit as u64;
    }
    let (sum, last) = (merge.sum - sum_before, merge.last.clone());
    let OutputPart {
        file,
        first: begin,
        records,
    } = part;
    Ok(Span {
        begin,
        records,
        file,
        sum,
        first,
        last,
    })
}

/// Fills the buffer's last disk block up, which is cut off with the file's end; its length then.
fn whole_blocks(buffer: &mut Buffer, bytes: usize, sequential: bool) -> usize {
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

/// A merge under way.
struct Merge<'a> {
    worker: &'a Worker,
    sources: &'a Sources,
    merging: Merging,
    /// Whether the chunk that a run is merged from is the last one of its read.
    ends_read: Vec<bool>,
    record_bytes: usize,
    /// Records merged so far.
    records: u64,
    /// The last of them.
    last: Vec<u8>,
    sum: u128,
}

impl<'a> Merge<'a> {
    /// Asks for the first reads of each run, and waits for a chunk of each.
    async fn begin(worker: &'a Worker, sources: &'a Sources) -> Result<Merge<'a>, Failure> {
        let mut merge = Merge {
            worker,
            sources,
            merging: Merging::new(sources.runs),
            ends_read: vec![false; sources.runs],
            record_bytes: sources.contents.record_bytes(),
            records: 0,
            last: Vec::new(),
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

    /// Merges the next `count` records to a buffer, and checks them there.
    async fn fill(&mut self, out: Place<'_>, count: usize) -> Result<(), Failure> {
        let contents = &self.sources.contents;
        let mut done = 0;
        while done < count {
            let at = out.at + done * self.record_bytes;
            let place = Place {
                buffer: &mut *out.buffer,
                at,
            };
            let merged = contents.merge(&mut self.merging, count - done, place);
            done += merged.records;
            match merged.dry {
                Some(run) => self.next_chunk(run).await?,
                None => assert_eq!(done, count, "runs have as many records as they say"),
            }
        }
        let (at, records) = (out.at, self.records);
        let checked = contents.check(
            Place {
                buffer: out.buffer,
                at,
            },
            count,
            &mut self.last,
        );
        let disorder = |number| SortError::Disorder {
            record: records + number as u64,
        };
        self.sum += u128::from(checked.map_err(disorder)?);
        self.records += count as u64;
        let bytes = (count * self.record_bytes) as u64;
        let node = &self.worker.node;
        node.work(Work::Merge {
            records: count as u64,
            sources: self.sources.runs as u64,
        });
        node.work(Work::Copy { bytes });
        node.work(Work::Checksum { bytes });
        Ok(())
    }

    /// Goes on with the next chunk of a run, and gives the last one back.
    async fn next_chunk(&mut self, run: usize) -> Result<(), Failure> {
        let Sources {
            arrivals,
            wants,
            pool,
            ..
        } = self.sources;
        // What is asked for must have its buffers: the used chunk goes back first.
        if let Some(used) = self.merging.take(run) {
            pool.give(&self.worker.node, used.buffer).await;
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

    /// Lets the readers go home.
    async fn end(&self) {
        self.sources.wants.finish(&self.worker.node).await;
    }
}
