//! Sorts a bucket in memory, and gathers its records into write buffers of whole disk blocks.
//!
//! ```text
//! bucket's records   ..|----+----+----+----+----|..
//! disk blocks        |     |     |     |     |     |
//! goes to            seam  |.... a Piece ....| seam
//! ```
//!
//! A record that reaches beyond its write buffer is gathered whole, and its rest is carried to the
//! next buffer. So every record is checked whole, in the bytes that go to the disk.

use std::sync::Arc;

use node::{Buffer, Pool, Work};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::records::block::Bucket;
use crate::records::contents::{Contents, Edges, RecordsAt, Room, Sorted, Workspace};
use crate::records::size::Sum;
use crate::records::span::Span;
use crate::stages::carry::Carry;
use crate::stages::outlet::{Handed, Outlet};
use crate::stages::{Place, Placing, Ready, Tally, Turn};

#[derive(Clone)]
pub(crate) struct Sorter {
    pub contents: Arc<dyn Contents>,
    pub ready: Ready,
    /// The memory of sorted buckets goes back here.
    pub chunks: Pool,
    pub unit_bytes: usize,
    pub outlet: Outlet,
    /// The order of workers, for outputs that are written front to back.
    pub turn: Option<Turn>,
    /// The places of buckets, where records are dropped.
    pub placing: Option<Placing>,
    pub tally: Tally,
}

pub(crate) async fn sort(worker: &Worker, sorter: &Sorter) -> Result<(), Failure> {
    let contents = &*sorter.contents;
    let mut workspace = Workspace::default();
    while let Some(mut bucket) = sorter.ready.next(worker).await? {
        let (came, begin) = (bucket.size, bucket.first.bytes);
        let dropped = contents.sort(&bucket, &mut workspace).map_err(|cause| {
            crate::error::no_memory(Workspace::bytes(bucket.size.records) as usize, &cause)
        })?;
        worker.node.work(Work::Sort {
            records: came.records,
        });
        worker.did_records(came.records, came.bytes);
        let first_row = place(worker, sorter, &mut bucket, &workspace, dropped).await?;
        if let Some(turn) = &sorter.turn {
            worker.hold(turn.wait(&worker.node, begin)).await?;
        }
        if bucket.size.records > 0 {
            let mut gathering = Gathering::new(sorter, &bucket, &workspace, first_row);
            gathering.run(worker).await?;
            sorter.tally.add_out(gathering.span(), contents)?;
        }
        if let Some(turn) = &sorter.turn {
            turn.pass(&worker.node, begin + came.bytes).await;
        }
        sorter.ready.is_done(&bucket);
        for chunk in bucket.chunks {
            sorter.chunks.give(&worker.node, chunk.buffer).await;
        }
    }
    sorter.outlet.out.finish(&worker.node).await;
    Ok(())
}

/// Gives a bucket its place, behind the records that are left of those before, where records are
/// dropped. Returns its first row: one with the keys of the last record before is dropped, too.
async fn place(
    worker: &Worker,
    sorter: &Sorter,
    bucket: &mut Bucket,
    workspace: &Workspace,
    mut dropped: Sum,
) -> Result<usize, Failure> {
    let Some(placing) = &sorter.placing else {
        return Ok(0);
    };
    let contents = &*sorter.contents;
    let came = bucket.first.bytes;
    let next = came + bucket.size.bytes;
    let sorted = Sorted { bucket, workspace };
    let rows = (bucket.size.records - dropped.size.records) as usize;
    let (first, last) = (
        sorted.record(contents, 0),
        sorted.record(contents, rows - 1),
    );
    let before = worker.hold(placing.wait(&worker.node, came)).await?;
    let is_again = !before.last.is_empty() && contents.keys_equal(&before.last, &first);
    if is_again {
        dropped += contents.sum_of(&first);
    }
    sorter.tally.add_repeated(dropped);
    let ended = (before.file != bucket.to.file).then_some((before.file, before.file_bytes));
    let behind = if ended.is_some() {
        0
    } else {
        before.file_bytes
    };
    let header = contents.header().len() as u64;
    bucket.first = before.before;
    bucket.size = bucket.size - dropped.size;
    bucket.to.offset = if behind == 0 { 0 } else { behind + header };
    // The end of the file is not known yet.
    bucket.to.file_bytes = u64::MAX;
    let place = Place {
        before: bucket.first + bucket.size,
        file: bucket.to.file,
        file_bytes: behind + bucket.size.bytes,
        last,
    };
    placing.pass(&worker.node, next, place).await;
    if let Some((file, bytes)) = ended {
        sorter.outlet.end(worker, file, header + bytes).await?;
    }
    Ok(usize::from(is_again))
}

/// Copies one bucket to write buffers.
struct Gathering<'a> {
    sorter: &'a Sorter,
    bucket: &'a Bucket,
    workspace: &'a Workspace,
    /// Rows gathered so far.
    rows: usize,
    edges: Edges,
    carry: Carry,
    sum: u128,
}

impl<'a> Gathering<'a> {
    fn new(
        sorter: &'a Sorter,
        bucket: &'a Bucket,
        workspace: &'a Workspace,
        rows: usize,
    ) -> Gathering<'a> {
        let carry = match bucket.to.offset {
            0 => Carry::of(sorter.contents.header()),
            _ => Carry::default(),
        };
        Gathering {
            sorter,
            bucket,
            workspace,
            rows,
            edges: Edges::default(),
            carry,
            sum: 0,
        }
    }

    fn span(self) -> Span {
        Span {
            begin: self.bucket.first,
            size: self.bucket.size,
            file: self.bucket.to.file,
            sum: self.sum,
            first: self.edges.first,
            last: self.edges.last,
        }
    }

    async fn run(&mut self, worker: &Worker) -> Result<(), Failure> {
        let mut at = self.bucket.to.offset;
        let end = at + self.carry.len() as u64 + self.bucket.size.bytes;
        while at < end {
            let begin = self.sorter.outlet.begin(at);
            let limit = (self.sorter.unit_bytes as u64).min(end - begin) as usize;
            let mut buffer = worker.take(&self.sorter.outlet.pool).await?;
            let start = (at - begin) as usize;
            self.fill(&mut buffer, start, limit)?;
            let bytes = (limit - start) as u64;
            worker.node.work(Work::Copy { bytes });
            worker.node.work(Work::Checksum { bytes });
            let handed = Handed {
                to: self.bucket.to,
                begin,
                range: start..limit,
                buffer,
            };
            self.sorter.outlet.hand_on(worker, handed).await?;
            at = begin + limit as u64;
        }
        Ok(())
    }

    /// Fills the buffer from `start` to `limit`: the carried bytes, then whole records. The bytes
    /// beyond `limit` are carried to the next buffer.
    fn fill(&mut self, buffer: &mut Buffer, start: usize, limit: usize) -> Result<(), SortError> {
        let contents = &self.sorter.contents;
        let at = self.carry.put(buffer, start, limit);
        if !self.carry.is_empty() {
            buffer.set_len(limit);
            return Ok(());
        }
        let room = Room::Covering(limit - at);
        let (bucket, workspace) = (self.bucket, self.workspace);
        let sorted = Sorted { bucket, workspace };
        let size = contents.gather(sorted, self.rows, room, RecordsAt { buffer, at });
        let checked = contents.check(RecordsAt { buffer, at }, size, &mut self.edges);
        let disorder = |number| SortError::Disorder {
            record: self.bucket.first.records + (self.rows + number) as u64,
        };
        self.sum += u128::from(checked.map_err(disorder)?);
        let end = at + size.bytes as usize;
        self.carry.keep(buffer, limit, end);
        self.rows += size.records as usize;
        buffer.set_len(limit);
        Ok(())
    }
}
