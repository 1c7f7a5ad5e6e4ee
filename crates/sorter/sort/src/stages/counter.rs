//! Joins records with equal keys on their way to the output: counts them (`-u --count`, as `uniq -c` does), adds up
//! their numbers (`-u --sum`), or both.
//!
//! ```text
//! sorter or merger   |apple 3\n|apple 1\n|pe|     pieces, in order; a record may go on in the next
//!                                  |ar 2\n|pear 5\n|
//! counter            "      2 apple 3\n      2 pear 2\n"      with --sum 2: "apple 4\n" "pear 7\n"
//! ```
//!
//! Equal keys may meet in any two loads, runs or buckets, so records are joined where all of them come
//! in order: before the writer. Nothing is dropped earlier, and the sort keeps the account of all records.
//! Here the account learns which of them were dropped, and by how many bytes the others became longer.
//!
//! The counter holds one record of the output, with its totals a second time, and one that goes on in the next piece, so
//! its memory is bounded by the longest record.
//!
//! Totals have an account of their own: a checksum of all numbers that were read, which adds up as they do, must be
//! that of the numbers written.

use std::io::Write;
use std::sync::Arc;

use node::{Buffer, Pool, Queue, Work};
use pipeline::{Failure, Worker};
use record::{RunningTotals, Scanner};

use crate::error::SortError;
use crate::records::block::Piece;
use crate::records::contents::{Contents, Short};
use crate::records::framing::Framing;
use crate::records::size::Sum;
use crate::stages::merger::whole_blocks;
use crate::stages::{Sifted, Tally};

const UNIT_BYTES: usize = 256 << 10;

/// One unit that is filled, and some that wait or are written.
///
/// No deadlock: the counter waits for a unit while it holds none that is partly filled, and writers
/// return units that are written before they wait for a new piece.
const UNITS: usize = 4;

#[derive(Clone)]
pub(crate) struct Counter {
    pub contents: Arc<dyn Contents>,
    /// Sorted records, in order.
    pub pieces: Queue<Piece>,
    /// Units to fill and to write.
    pub pool: Pool,
    /// Whether the output is written front to back, not in whole disk blocks.
    pub sequential: bool,
    /// The checksum of numbers that were read to be added up.
    pub read: Sifted,
    pub out: Queue<Piece>,
    pub tally: Tally,
}

impl Counter {
    pub(crate) const POOL: (usize, usize) = (UNITS, UNIT_BYTES);

    /// Memory that it takes beside the rest of a sort: with totals the kept record is written anew, and a longer one
    /// may take twice its bytes as it grows.
    pub(crate) fn bytes(contents: &dyn Contents, framing: Framing) -> u64 {
        let records = if contents.totals().is_some() { 4 } else { 2 };
        (UNITS * UNIT_BYTES + records * framing.longest()) as u64
    }
}

/// Joins with one worker, which sees all records in order.
pub(crate) async fn count(worker: &Worker, counter: &Counter) -> Result<(), Failure> {
    let mut counting = Counting::new(worker, counter);
    while let Some(piece) = worker.pop(&counter.pieces).await? {
        let bytes = piece.range.len();
        worker.node.work(Work::Copy {
            bytes: bytes as u64,
        });
        counting.take(&piece.buffer.bytes()[piece.range]).await?;
        piece.home.give(&worker.node, piece.buffer).await;
        worker.did(bytes);
    }
    counting.end().await?;
    counter.out.finish(&worker.node).await;
    Ok(())
}

struct Counting<'a> {
    worker: &'a Worker,
    counter: &'a Counter,
    framing: record::Framing,
    /// Bytes of the header that are still to come; they pass as they are.
    header: usize,
    /// The start of a record that goes on in the next piece, and the search for its end.
    begun: Vec<u8>,
    scanner: Scanner,
    /// The first of the records with its keys, their number so far, and their totals.
    first: Vec<u8>,
    short: Short,
    number: u64,
    sums: RunningTotals,
    /// Room for a record with its totals.
    total: Vec<u8>,
    /// The unit that is filled, and its place in the output.
    open: Option<Buffer>,
    filled: usize,
    offset: u64,
    dropped: Sum,
    added: i64,
    apart: u64,
    /// The checksum of the numbers that were written.
    totals: u128,
}

impl<'a> Counting<'a> {
    fn new(worker: &'a Worker, counter: &'a Counter) -> Counting<'a> {
        let framing = counter.contents.framing().records();
        Counting {
            worker,
            counter,
            framing,
            header: counter.contents.header().len(),
            begun: Vec::new(),
            scanner: framing.scanner(),
            first: Vec::new(),
            short: Short::default(),
            number: 0,
            sums: RunningTotals::default(),
            total: Vec::new(),
            open: None,
            filled: 0,
            offset: 0,
            dropped: Sum::default(),
            added: 0,
            apart: 0,
            totals: 0,
        }
    }

    /// Takes the next bytes of the sorted records.
    async fn take(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        if self.header > 0 {
            let (header, records) = bytes.split_at(bytes.len().min(self.header));
            self.put(header).await?;
            (self.header, bytes) = (self.header - header.len(), records);
        }
        while !bytes.is_empty() {
            // Most records lie in one piece.
            if self.begun.is_empty()
                && let Some(end) = self.framing.end(bytes)
            {
                self.add(&bytes[..end]).await?;
                bytes = &bytes[end..];
                continue;
            }
            let end = self.scanner.end(bytes).expect("sorted records");
            let (next, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.begun.extend_from_slice(next);
            bytes = rest;
            if end.is_some() {
                let mut record = std::mem::take(&mut self.begun);
                self.add(&record).await?;
                record.clear();
                self.begun = record;
            }
        }
        Ok(())
    }

    /// Adds a record, with its delimiter or length.
    async fn add(&mut self, record: &[u8]) -> Result<(), Failure> {
        let is_again = self.number > 0 && self.is_again(record);
        let fits = is_again && self.add_up(record);
        if fits {
            self.number += 1;
            self.dropped += self.counter.contents.sum_of(record);
            self.short.add(record, &self.first);
            return Ok(());
        }
        self.apart += u64::from(is_again);
        self.put_first().await?;
        self.short = Short::default();
        self.first.clear();
        self.first.extend_from_slice(record);
        self.number = 1;
        if let Some(totals) = self.counter.contents.totals() {
            totals.begin(&mut self.sums, self.framing.body(record));
        }
        Ok(())
    }

    /// Whether a record has the keys of the one before. Equal bytes need no look at keys.
    fn is_again(&self, record: &[u8]) -> bool {
        let before = self.short.instead_of(&self.first);
        before == record || self.counter.contents.keys_equal(before, record)
    }

    /// Adds the numbers of a record to the totals. Returns false if one does not fit.
    fn add_up(&mut self, record: &[u8]) -> bool {
        let totals = self.counter.contents.totals();
        totals.is_none_or(|totals| totals.add(&mut self.sums, self.framing.body(record)))
    }

    /// Writes the record that stands for all with its keys: behind their number, with their totals.
    async fn put_first(&mut self) -> Result<(), Failure> {
        if self.number == 0 {
            return Ok(());
        }
        if self.counter.contents.counts() {
            let mut count = [0; MOST_COUNT_BYTES];
            let count = written(self.number, &mut count);
            self.added += count.len() as i64;
            self.put(count).await?;
        }
        let mut record = std::mem::take(&mut self.first);
        // One alone stays as it was written.
        if let Some(totals) = self.counter.contents.totals().filter(|_| self.number > 1) {
            self.total.clear();
            self.total.reserve_exact(record.len() + totals.most_added());
            let body = self.framing.body(&record);
            let before = body.as_ptr() as usize - record.as_ptr() as usize;
            let behind = before + body.len();
            self.total.extend_from_slice(&record[..before]);
            totals.write(&self.sums, body, &mut self.total);
            self.total.extend_from_slice(&record[behind..]);
            self.added += self.total.len() as i64 - record.len() as i64;
            std::mem::swap(&mut self.total, &mut record);
        }
        if let Some(totals) = self.counter.contents.totals() {
            let written = totals.check(self.framing.body(&record));
            let checksum = written.unwrap_or_default().checksum;
            self.totals = self.totals.wrapping_add(checksum);
        }
        self.put(&record).await?;
        self.first = record;
        Ok(())
    }

    async fn put(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() {
            let mut unit = match self.open.take() {
                Some(unit) => unit,
                None => self.worker.take(&self.counter.pool).await?,
            };
            let (now, rest) = bytes.split_at(bytes.len().min(UNIT_BYTES - self.filled));
            unit.bytes_mut()[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            self.open = Some(unit);
            bytes = rest;
            if self.filled == UNIT_BYTES {
                self.hand_on().await?;
            }
        }
        Ok(())
    }

    /// Hands the open unit on to the writers.
    async fn hand_on(&mut self) -> Result<(), Failure> {
        let Some(mut buffer) = self.open.take() else {
            return Ok(());
        };
        let bytes = std::mem::take(&mut self.filled);
        let range = 0..whole_blocks(&mut buffer, bytes, self.counter.sequential);
        let piece = Piece {
            file: 0,
            offset: self.offset,
            range,
            buffer,
            home: self.counter.pool.clone(),
        };
        self.offset += bytes as u64;
        Ok(self.worker.push(&self.counter.out, piece).await?)
    }

    async fn end(mut self) -> Result<(), Failure> {
        assert!(self.begun.is_empty(), "the last record is whole");
        self.put_first().await?;
        self.hand_on().await?;
        if self.counter.contents.totals().is_some() && self.totals != self.counter.read.totals() {
            return Err(SortError::Totals.into());
        }
        let changes = (self.added, self.apart);
        self.counter.tally.join(self.dropped, changes);
        Ok(())
    }
}

/// Bytes of the largest count: twenty digits and a space.
const MOST_COUNT_BYTES: usize = 21;

/// A count as `uniq -c` writes it.
fn written(number: u64, room: &mut [u8; MOST_COUNT_BYTES]) -> &[u8] {
    let mut left = &mut room[..];
    write!(left, "{number:7} ").expect("the largest number fits");
    let free = left.len();
    &room[..MOST_COUNT_BYTES - free]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_seven_wide_or_wider() {
        for (number, expected) in [
            (1, "      1 "),
            (9_999_999, "9999999 "),
            (10_000_000, "10000000 "),
            (u64::MAX, "18446744073709551615 "),
        ] {
            let mut room = [0; MOST_COUNT_BYTES];
            assert_eq!(written(number, &mut room), expected.as_bytes());
        }
    }
}
