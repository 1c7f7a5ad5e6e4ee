//! Counts lines with equal keys on their way to the output (`-u --count`, as `uniq -c` does).
//!
//! ```text
//! sorter or merger   |apple\n|apple\n|pe|     pieces, in order; a line may go on in the next
//!                                |ar\n|pear\n|
//! counter            "      2 apple\n      2 pear\n"
//! ```
//!
//! Equal keys may meet in any two loads, runs or buckets, so lines are counted where all of them come
//! in order: before the writer. Nothing is dropped earlier, and the sort keeps the account of all lines.
//! Here the account learns which of them were dropped, and how many bytes the counts take.
//!
//! The counter holds one line of the output and one that goes on in the next piece, so its memory is
//! bounded by the longest line.

use std::io::Write;
use std::sync::Arc;

use node::{Buffer, Pool, Queue, Work};
use pipeline::{Failure, Worker};

use crate::records::block::Piece;
use crate::records::contents::{Contents, Short};
use crate::records::framing::Framing;
use crate::records::size::Sum;
use crate::stages::Tally;
use crate::stages::merger::whole_blocks;

const UNIT_BYTES: usize = 256 << 10;

/// One unit that is filled, and some that wait or are written.
///
/// No deadlock: the counter waits for a unit while it holds none that is partly filled, and writers
/// return units that are written before they wait for a new piece.
const UNITS: usize = 4;

#[derive(Clone)]
pub(crate) struct Counter {
    pub contents: Arc<dyn Contents>,
    /// Sorted lines, in order.
    pub pieces: Queue<Piece>,
    /// Units to fill and to write.
    pub pool: Pool,
    /// Whether the output is written front to back, not in whole disk blocks.
    pub sequential: bool,
    pub out: Queue<Piece>,
    pub tally: Tally,
}

impl Counter {
    pub(crate) const POOL: (usize, usize) = (UNITS, UNIT_BYTES);

    /// Memory that it takes beside the rest of a sort.
    pub(crate) fn bytes(framing: Framing) -> u64 {
        (UNITS * UNIT_BYTES + 2 * framing.longest()) as u64
    }
}

/// Counts with one worker, which sees all lines in order.
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
    delimiter: u8,
    /// Bytes of the header that are still to come; they pass as they are.
    header: usize,
    /// The start of a line that goes on in the next piece.
    begun: Vec<u8>,
    /// The first of the lines with its keys, and their number so far.
    first: Vec<u8>,
    short: Short,
    number: u64,
    /// The unit that is filled, and its place in the output.
    open: Option<Buffer>,
    filled: usize,
    offset: u64,
    dropped: Sum,
    added: u64,
}

impl<'a> Counting<'a> {
    fn new(worker: &'a Worker, counter: &'a Counter) -> Counting<'a> {
        let framing = counter.contents.framing().records();
        Counting {
            worker,
            counter,
            delimiter: framing.delimiter().expect("lines are counted"),
            header: counter.contents.header().len(),
            begun: Vec::new(),
            first: Vec::new(),
            short: Short::default(),
            number: 0,
            open: None,
            filled: 0,
            offset: 0,
            dropped: Sum::default(),
            added: 0,
        }
    }

    /// Takes the next bytes of the sorted lines.
    async fn take(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        if self.header > 0 {
            let (header, lines) = bytes.split_at(bytes.len().min(self.header));
            self.put(header).await?;
            (self.header, bytes) = (self.header - header.len(), lines);
        }
        while let Some(before) = memchr::memchr(self.delimiter, bytes) {
            let (end, rest) = bytes.split_at(before + 1);
            bytes = rest;
            if self.begun.is_empty() {
                self.add(end).await?;
                continue;
            }
            let mut line = std::mem::take(&mut self.begun);
            line.extend_from_slice(end);
            self.add(&line).await?;
            line.clear();
            self.begun = line;
        }
        self.begun.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds a line, which ends with its delimiter.
    async fn add(&mut self, line: &[u8]) -> Result<(), Failure> {
        if self.number > 0 && self.is_again(line) {
            self.number += 1;
            self.dropped += self.counter.contents.sum_of(line);
            self.short.add(line, &self.first);
            return Ok(());
        }
        self.put_first().await?;
        self.short = Short::default();
        self.first.clear();
        self.first.extend_from_slice(line);
        self.number = 1;
        Ok(())
    }

    /// Whether a line has the keys of the one before. Equal bytes need no look at keys.
    fn is_again(&self, line: &[u8]) -> bool {
        let before = self.short.instead_of(&self.first);
        before == line || self.counter.contents.keys_equal(before, line)
    }

    /// Writes the line that was counted, behind its number.
    async fn put_first(&mut self) -> Result<(), Failure> {
        if self.number == 0 {
            return Ok(());
        }
        let mut count = [0; MOST_COUNT_BYTES];
        let count = written(self.number, &mut count);
        self.added += count.len() as u64;
        self.put(count).await?;
        let first = std::mem::take(&mut self.first);
        self.put(&first).await?;
        self.first = first;
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
        assert!(self.begun.is_empty(), "the last line has its delimiter");
        self.put_first().await?;
        self.hand_on().await?;
        self.counter.tally.count(self.dropped, self.added);
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
