//! Reads an input that is sorted, as a run of a merge.
//!
//! ```text
//! reads    |ab\n|cdefg\n|hi|  |j\n|kl\n|m|  ...        cut anywhere
//! chunks   |ab\n|cdefg\n|   |hij\n|kl\n|               the start of a record is carried to the next
//! ```
//!
//! Each record is compared with the one before it, so the merge relies on nothing that it has not seen:
//! an input out of order is refused, with the number of the record. Rows are checked first, as every
//! reader does. A header was read before, and is skipped.

mod ends;
mod long;

use std::sync::Arc;

use node::{Buffer, DiskTicket, File, Node, Work};
use pipeline::{Failure, Worker};
use record::{Comparison, Scanner};

use crate::error::SortError;
use crate::files::input::{Files, Input, Inputs, ends_whole};
use crate::records::block::{BLOCK_BYTES, Block, Chunk, FOOTER_BYTES};
use crate::records::contents::Contents;
use crate::records::framing::Framing;
use crate::records::size::Sum;
use crate::runs::sorted_run::SortedRun;
use crate::stages::line_numbers::{lines_in, lines_of};
use crate::stages::row_checks::{FilePlace, Sifter};
use crate::stages::{LongRecords, Tally};

use ends::put_before;

/// A chunk has room for a missing delimiter, and for the footer of a chunk in a longer run.
const BESIDE_BYTES: usize = 1 + FOOTER_BYTES;

/// What all inputs of a merge have in common.
#[derive(Clone)]
pub(crate) struct SortedInputs {
    pub inputs: Arc<Inputs>,
    /// With the lengths that the plan counts on.
    pub framing: Framing,
    pub contents: Arc<dyn Contents>,
    /// The order that inputs must have: equal keys may come again, even if they are dropped later.
    pub order: Comparison,
    /// Bytes of a read, whole disk blocks. A buffer has room for a longest record beside it.
    pub unit_bytes: usize,
    pub tally: Tally,
    /// How to check rows.
    pub sifter: Option<Sifter>,
    pub memory: LongRecords,
}

/// An input, as far as it has been read.
struct InputRun {
    input: usize,
    /// Offset in the file of the next bytes to ask for; of a pipe as well.
    asked: u64,
    /// The start of a record that goes on in the next read.
    carried: Vec<u8>,
    /// Bytes of memory reserved for a record that is longer than a buffer, once for each of its bytes.
    reserved: usize,
    /// Follows chained records.
    scanner: Scanner,
    /// The last record while others may follow.
    last: Vec<u8>,
    /// The line behind it; records without lines count as one.
    line: u64,
    bytes: u64,
    ended: bool,
}

pub(crate) struct InputRead {
    bytes_read: BytesRead,
    file: File,
    offset: u64,
    bytes: usize,
}

enum BytesRead {
    OnItsWay(DiskTicket),
    /// They came with the header.
    Here(Buffer),
}

impl BytesRead {
    async fn wait(self, node: &Node) -> Result<Buffer, Failure> {
        match self {
            BytesRead::Here(buffer) => Ok(buffer),
            BytesRead::OnItsWay(ticket) => {
                let (buffer, result) = ticket.wait(node).await;
                result?;
                Ok(buffer)
            }
        }
    }
}

pub(crate) enum RecordsRead {
    Records(Chunk),
    /// It ends no record.
    Nothing(Buffer),
}

/// The inputs among the runs of one worker.
pub(crate) struct InputReads<'a> {
    shared: &'a SortedInputs,
    files: Files,
    runs: Vec<Option<InputRun>>,
}

impl<'a> InputReads<'a> {
    pub(crate) fn new(shared: &'a SortedInputs, runs: &[SortedRun]) -> InputReads<'a> {
        let framing = shared.framing.records();
        let scanner = framing.scanner();
        let line = lines_in(shared.contents.header(), framing) + 1;
        let input = |number| {
            let begin = (scanner.clone(), line);
            InputRun::new(number, &shared.inputs.files[number], begin)
        };
        let run = |run: &SortedRun| run.input().map(input);
        InputReads {
            shared,
            files: Files::new(&shared.inputs),
            runs: runs.iter().map(run).collect(),
        }
    }

    fn run(&self, number: usize) -> &InputRun {
        self.runs[number].as_ref().expect("it is an input")
    }

    /// Whether reads of a run must wait for each other.
    pub(crate) fn is_sequential(&self, number: usize) -> bool {
        self.shared.file_of(self.run(number)).is_sequential()
    }

    /// Whether there is more of a run to ask for. Of a pipe only an answer tells.
    pub(crate) fn has_more(&self, number: usize) -> bool {
        let run = self.run(number);
        let input = self.shared.file_of(run);
        !run.ended && (input.is_sequential() || run.asked < input.end())
    }

    /// Whether the last record of a run was taken.
    pub(crate) fn has_ended(&self, number: usize) -> bool {
        self.run(number).ended
    }

    /// Asks for the next bytes of a run.
    pub(crate) async fn ask(
        &mut self,
        node: &Node,
        number: usize,
        buffer: Buffer,
    ) -> Result<InputRead, Failure> {
        let run = self.runs[number].as_mut().expect("it is an input");
        let file = self.files.of(node, run.input).await?;
        Ok(self.shared.ask(node, run, (file, buffer)))
    }

    /// Waits for a read, and takes its records. Reads of a run are taken as they were asked for.
    pub(crate) async fn take(
        &mut self,
        worker: &Worker,
        number: usize,
        read: InputRead,
    ) -> Result<RecordsRead, Failure> {
        let run = self.runs[number].as_mut().expect("it is an input");
        self.shared.take(worker, run, read).await
    }
}

impl InputRun {
    fn new(number: usize, input: &Input, (scanner, line): (Scanner, u64)) -> InputRun {
        let (skipped, _) = input.front();
        // Reads of files begin with a disk block.
        let aside = if input.is_sequential() {
            0
        } else {
            skipped % BLOCK_BYTES
        };
        InputRun {
            input: number,
            asked: skipped - aside,
            carried: Vec::new(),
            reserved: 0,
            scanner,
            last: Vec::new(),
            line,
            bytes: 0,
            ended: false,
        }
    }
}

impl SortedInputs {
    fn file_of(&self, run: &InputRun) -> &Input {
        &self.inputs.files[run.input]
    }

    /// Asks for the next bytes of an input.
    fn ask(
        &self,
        node: &Node,
        run: &mut InputRun,
        (file, mut buffer): (File, Buffer),
    ) -> InputRead {
        let input = self.file_of(run);
        let offset = run.asked;
        let (skipped, front) = input.front();
        let left = front
            .as_ref()
            .and_then(|front| front.get((offset - skipped) as usize..));
        if let Some(left) = left.filter(|left| !left.is_empty()) {
            let bytes = left.len().min(self.unit_bytes);
            buffer.bytes_mut()[..bytes].copy_from_slice(&left[..bytes]);
            buffer.set_len(bytes);
            run.asked += bytes as u64;
            return InputRead {
                bytes_read: BytesRead::Here(buffer),
                file,
                offset,
                bytes,
            };
        }
        let left = if input.is_sequential() {
            u64::MAX
        } else {
            input.end() - offset
        };
        let bytes = left.min(self.unit_bytes as u64) as usize;
        // The last read of a direct file ends behind the file.
        let whole = if file.is_direct() {
            self.unit_bytes
        } else {
            bytes
        };
        run.asked += bytes as u64;
        InputRead {
            bytes_read: BytesRead::OnItsWay(file.read(node, offset, whole, buffer)),
            file,
            offset,
            bytes,
        }
    }

    async fn take(
        &self,
        worker: &Worker,
        run: &mut InputRun,
        read: InputRead,
    ) -> Result<RecordsRead, Failure> {
        let mut buffer = read.bytes_read.wait(&worker.node).await?;
        let file = &read.file;
        let bytes = self.check_end(run, file, (read.offset, buffer.len(), read.bytes))?;
        worker.did(bytes);
        let (skipped, _) = self.file_of(run).front();
        let header = skipped.saturating_sub(read.offset) as usize;
        let mut fresh = header.min(bytes)..bytes;
        if run.carried.len() + fresh.len() + BESIDE_BYTES > buffer.capacity() {
            let node = &worker.node;
            if !self.ends_long(run, file, &buffer.bytes()[fresh.clone()])? {
                return Ok(RecordsRead::Nothing(buffer));
            }
            let bytes = run.carried.len() + fresh.len() + BESIDE_BYTES;
            let mut own = self.memory.buffer(node, bytes)?;
            own.bytes_mut()[..fresh.len()].copy_from_slice(&buffer.bytes()[fresh.clone()]);
            fresh = 0..fresh.len();
            let small = std::mem::replace(&mut buffer, own);
            self.memory.give_back(node, small).await;
        }
        let all = put_before(&mut buffer, &run.carried, fresh);
        let end = self.end_of_records(run, file, (&mut buffer, all))?;
        run.carried = buffer.bytes()[end.min(all)..all].to_vec();
        if end == 0 {
            return Ok(RecordsRead::Nothing(buffer));
        }
        let mut block = Block {
            first: run.bytes,
            size: self.framing.size_of(end as u64),
            start: 0,
            buffer,
            marks: Vec::new(),
        };
        run.bytes += end as u64;
        self.check_records(worker, run, file, &mut block).await?;
        if block.size.bytes == 0 {
            return Ok(RecordsRead::Nothing(block.buffer));
        }
        Ok(RecordsRead::Records(self.chunk(worker, block)?))
    }

    /// Checks the order of records, and drops those that are no rows.
    async fn check_records(
        &self,
        worker: &Worker,
        run: &mut InputRun,
        file: &File,
        block: &mut Block,
    ) -> Result<(), Failure> {
        let ordered = self.check_order(run, file, block);
        if let Some(sifter) = &self.sifter {
            let place = FilePlace {
                file,
                position: 0,
                offset: self.file_of(run).front().0,
            };
            sifter.sift(worker, block, place).await?;
        }
        Ok(ordered?)
    }

    /// Notes whether the input ends with a read of `wanted` bytes at an offset, of which `came` came.
    /// Returns the number of those that count.
    fn check_end(
        &self,
        run: &mut InputRun,
        file: &File,
        (offset, came, wanted): (u64, usize, usize),
    ) -> Result<usize, SortError> {
        let input = self.file_of(run);
        // A file that grows while it is read ends where it ended when it was opened.
        let bytes = came.min(wanted);
        let upto = offset + bytes as u64;
        run.ended = if input.is_sequential() {
            bytes < wanted
        } else {
            upto == input.end()
        };
        if bytes < wanted && !input.is_sequential() {
            let (file, offset) = (file.path().to_owned(), upto);
            return Err(SortError::Shrunk { file, offset });
        }
        if run.ended && input.is_sequential() {
            ends_whole(file.path(), (upto, upto), self.framing)?;
        }
        Ok(bytes)
    }

    /// The next records, counted.
    ///
    /// # Errors
    /// When a line is too long.
    fn chunk(&self, worker: &Worker, mut block: Block) -> Result<Chunk, SortError> {
        let bytes = block.size.bytes;
        let crc = u128::from(self.contents.measure(&mut block)?);
        worker.node.work(Work::Checksum { bytes });
        let size = block.size;
        self.tally.add_in(Sum { size, crc });
        let mut buffer = block.buffer;
        buffer.set_len(bytes as usize);
        Ok(Chunk {
            bucket: 0,
            size,
            marks: Vec::new(),
            buffer,
        })
    }

    /// # Errors
    /// The first record that is less than the one before it.
    fn check_order(&self, run: &mut InputRun, file: &File, block: &Block) -> Result<(), SortError> {
        let records = &block.buffer.bytes()[block.range()];
        let (framing, is_several) = (self.framing.records(), self.contents.multiline().is_some());
        let mut before = &run.last[..];
        for record in framing.split(records) {
            // Only records that are checked may be blank: a look at each of the others costs.
            if self.sifter.is_some() && self.contents.is_blank(record) {
                run.line += lines_of(record, framing, is_several);
                continue;
            }
            if !before.is_empty() && self.order.compare(before, record).is_gt() {
                return Err(SortError::Unsorted {
                    file: file.path().to_owned(),
                    record: run.line,
                    noun: match framing.delimiter() {
                        None => "record",
                        Some(_) => "line",
                    },
                });
            }
            run.line += lines_of(record, framing, is_several);
            before = record;
        }
        let last = if run.ended { &[] } else { before };
        run.last = last.to_vec();
        Ok(())
    }
}

/// Bytes of reads into buffers of `buffer_bytes`, of at most `most`: whole disk blocks that leave room
/// for the start of a record beside them.
pub(crate) fn unit_beside(framing: Framing, buffer_bytes: usize, most: usize) -> usize {
    let block = BLOCK_BYTES as usize;
    let room = buffer_bytes.saturating_sub(framing.longest() + BESIDE_BYTES);
    let unit = room.min(most) / block * block;
    assert!(unit > 0, "a chunk has room for a record and two blocks");
    unit
}
