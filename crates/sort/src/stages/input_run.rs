//! Reads an input that is sorted, as a run of a merge.
//!
//! ```text
//! reads    |ab\n|cdefg\n|hi|  |j\n|kl\n|m|  ...        cut anywhere
//! chunks   |ab\n|cdefg\n|   |hij\n|kl\n|               the start of a record is carried to the next
//! ```
//!
//! Each record is compared with the one before it, so the merge relies on nothing that it has not seen:
//! an input out of order is refused, with the number of the record.

use std::sync::Arc;

use node::{Buffer, DiskTicket, File, Node, Work};
use pipeline::{Failure, Worker};
use record::Comparison;

use crate::error::SortError;
use crate::files::input::{Files, Input, Inputs, ends_whole};
use crate::records::block::{Block, Chunk};
use crate::records::contents::Contents;
use crate::records::framing::Framing;
use crate::records::size::Sum;
use crate::runs::sorted_run::SortedRun;
use crate::stages::Tally;

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
}

/// An input, as far as it has been read.
struct InputRun {
    /// Its number.
    input: usize,
    /// Bytes that were asked for; of a pipe as well.
    asked: u64,
    /// The start of a record that goes on in the next read.
    carried: Vec<u8>,
    /// The last record, and the number of all.
    last: Vec<u8>,
    records: u64,
    /// Bytes of these records.
    bytes: u64,
    ended: bool,
}

/// A read on its way.
pub(crate) struct InputRead {
    ticket: DiskTicket,
    file: File,
    offset: u64,
    bytes: usize,
}

/// The result of a read.
pub(crate) enum Taken {
    Records(Chunk),
    /// It ends no record.
    Nothing(Buffer),
}

/// The inputs among the runs of one worker.
pub(crate) struct InputReads<'a> {
    shared: &'a SortedInputs,
    files: Files,
    /// By run.
    runs: Vec<Option<InputRun>>,
}

impl<'a> InputReads<'a> {
    pub(crate) fn new(shared: &'a SortedInputs, runs: &[SortedRun]) -> InputReads<'a> {
        let run = |run: &SortedRun| run.input().map(InputRun::new);
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
        !run.ended && (input.is_sequential() || run.asked < input.bytes)
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
    ) -> Result<Taken, Failure> {
        let run = self.runs[number].as_mut().expect("it is an input");
        self.shared.take(worker, run, read).await
    }
}

impl InputRun {
    fn new(input: usize) -> InputRun {
        InputRun {
            input,
            asked: 0,
            carried: Vec::new(),
            last: Vec::new(),
            records: 0,
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
    fn ask(&self, node: &Node, run: &mut InputRun, (file, buffer): (File, Buffer)) -> InputRead {
        let input = self.file_of(run);
        let left = match input.is_sequential() {
            true => u64::MAX,
            false => input.bytes - run.asked,
        };
        let (offset, bytes) = (run.asked, left.min(self.unit_bytes as u64) as usize);
        // Reads begin with a disk block. The last one of a direct file ends behind the file.
        let whole = match file.is_direct() {
            true => self.unit_bytes,
            false => bytes,
        };
        run.asked += bytes as u64;
        InputRead {
            ticket: file.read(node, offset, whole, buffer),
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
    ) -> Result<Taken, Failure> {
        let (mut buffer, result) = read.ticket.wait(&worker.node).await;
        result?;
        let input = self.file_of(run);
        // A file that grows while it is read ends where it ended when it was opened.
        let bytes = buffer.len().min(read.bytes);
        let upto = read.offset + bytes as u64;
        run.ended = match input.is_sequential() {
            true => bytes < read.bytes,
            false => upto == input.bytes,
        };
        let file = read.file.path();
        if bytes < read.bytes && !input.is_sequential() {
            let (file, offset) = (file.to_owned(), upto);
            return Err(SortError::Shrunk { file, offset }.into());
        }
        if run.ended && input.is_sequential() {
            ends_whole(file, (upto, upto), self.framing)?;
        }
        worker.did(bytes);
        let all = put_before(&mut buffer, &run.carried, bytes);
        let end = self.end_of_records(&mut buffer, all, run.ended);
        run.carried.clear();
        run.carried
            .extend_from_slice(&buffer.bytes()[end.min(all)..all]);
        let long = |at: u64| SortError::LongLine {
            file: Some(read.file.path().to_owned()),
            position: at,
            limit: self.framing.longest() as u64,
        };
        if run.carried.len() > self.framing.longest() {
            return Err(long(run.bytes + end as u64).into());
        }
        if end == 0 {
            return Ok(Taken::Nothing(buffer));
        }
        let chunk = self.chunk(worker, run, (buffer, end));
        let chunk = chunk.map_err(|error| match error {
            SortError::LongLine { position, .. } => long(position),
            error => error,
        })?;
        self.check_order(run, &read.file, &chunk)?;
        Ok(Taken::Records(chunk))
    }

    /// The end of the last whole record of `all` bytes. The last record of an input gets its delimiter.
    fn end_of_records(&self, buffer: &mut Buffer, all: usize, is_last: bool) -> usize {
        let framing = self.framing;
        let Some(delimiter) = framing.records().delimiter() else {
            return framing.whole(all as u64) as usize;
        };
        let bytes = buffer.bytes_mut();
        if is_last && all > 0 && bytes[all - 1] != delimiter {
            bytes[all] = delimiter;
            return all + 1;
        }
        memchr::memrchr(delimiter, &bytes[..all]).map_or(0, |before| before + 1)
    }

    /// The first `end` bytes of a buffer, as counted records.
    ///
    /// # Errors
    /// When a line is too long, with its place in this input.
    fn chunk(
        &self,
        worker: &Worker,
        run: &mut InputRun,
        (buffer, end): (Buffer, usize),
    ) -> Result<Chunk, SortError> {
        let bytes = end as u64;
        let mut block = Block {
            first: run.bytes,
            size: self.framing.size_of(bytes),
            start: 0,
            buffer,
            marks: Vec::new(),
        };
        let crc = u128::from(self.contents.measure(&mut block)?);
        worker.node.work(Work::Checksum { bytes });
        let size = block.size;
        self.tally.add_in(Sum { size, crc });
        run.bytes += bytes;
        let mut buffer = block.buffer;
        buffer.set_len(end);
        Ok(Chunk {
            bucket: 0,
            size,
            marks: Vec::new(),
            buffer,
        })
    }

    /// # Errors
    /// The first record that is less than the one before it.
    fn check_order(&self, run: &mut InputRun, file: &File, chunk: &Chunk) -> Result<(), SortError> {
        let records = &chunk.buffer.bytes()[..chunk.size.bytes as usize];
        let framing = self.framing.records();
        let mut before = &run.last[..];
        for record in framing.split(records) {
            run.records += 1;
            if !before.is_empty() && self.order.compare(before, record).is_gt() {
                return Err(SortError::Unsorted {
                    file: file.path().to_owned(),
                    record: run.records,
                    is_line: framing.delimiter().is_some(),
                });
            }
            before = record;
        }
        run.last = before.to_vec();
        Ok(())
    }
}

/// Puts the carried bytes before the first `bytes` of a buffer. Returns the number of all.
fn put_before(buffer: &mut Buffer, carried: &[u8], bytes: usize) -> usize {
    let all = carried.len() + bytes;
    let memory = buffer.bytes_mut();
    memory.copy_within(..bytes, carried.len());
    memory[..carried.len()].copy_from_slice(carried);
    all
}

/// Bytes of reads into buffers of `buffer_bytes`, of at most `most`: whole disk blocks that leave room
/// for the start of a record, and for a delimiter.
pub(crate) fn unit_beside(framing: Framing, buffer_bytes: usize, most: usize) -> usize {
    let block = crate::records::block::BLOCK_BYTES as usize;
    let room = buffer_bytes.saturating_sub(framing.longest() + 1);
    let unit = room.min(most) / block * block;
    assert!(unit > 0, "a chunk has room for a record and two blocks");
    unit
}
