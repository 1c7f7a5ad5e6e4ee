//! Merges sorted runs: into the output, or into one longer run (TritonSort 2.5, the Merger).
//!
//! ```text
//! chunks of runs > loser tree > write units > writer            the last merge
//!                             > chunks > spill files            one before it, of too many runs
//! ```
//!
//! Order, count and checksum are checked in the bytes that go to the disk.

use std::sync::Arc;

use node::{Buffer, Pool, Posted, Queue};
use pipeline::{Failure, Worker};

use crate::files::output::Output;
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Piece;
use crate::records::contents::{RecordsAt, Room};
use crate::records::size::Size;
use crate::records::span::Span;
use crate::runs::partition::Spilled;
use crate::stages::Tally;
use crate::stages::carry::Carry;
use crate::stages::merge::{Filling, Merge, UnitRoom};
use crate::stages::run_writer::{Chaining, Chains};
use crate::stages::sources::Sources;

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
    let has_header = !merge.is_over();
    let header = if has_header {
        merger.sources.contents.header()
    } else {
        &[]
    };
    let mut carry = Carry::of(header);
    let mut at = 0;
    while !carry.is_empty() || merge.came_bytes() < until {
        let mut buffer = merge.worker.take(&merger.pool).await?;
        let unit = UnitRoom {
            start: 0,
            limit: merger.unit_bytes,
            until,
        };
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
