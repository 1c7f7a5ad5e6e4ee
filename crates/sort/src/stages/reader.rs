//! Reads the input in large units, several in flight.
//!
//! Readers take units of seekable inputs in order; each keeps requests in flight while buffers
//! last. Pipes have one reader, which also draws the sample: from the first blocks, before any is
//! handed on.

use std::collections::VecDeque;
use std::sync::Arc;

use node::{Buffer, DiskTicket, File, Node, Pool, Posted, Queue};
use pipeline::{Dial, Failure, Worker};

use crate::error::SortError;
use crate::files::input::{Files, Inputs, ReadUnit};
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Block;
use crate::records::block::whole_blocks;
use crate::records::contents::{Contents, Sample};
use crate::records::splitters::Splitters;
use crate::report::SampleCost;
use crate::stages::{Cursor, Tally};

/// What readers share.
#[derive(Clone)]
pub(crate) struct Reader {
    pub inputs: Arc<Inputs>,
    pub record_bytes: usize,
    /// Bytes of a unit; at least one record is read.
    pub unit_bytes: Dial,
    /// Requests in flight of each.
    pub depth: Dial,
    pub cursor: Cursor,
    pub pool: Pool,
    pub out: Queue<Block>,
    /// For pipes, how to divide what comes; nobody needs it of a validator's input.
    pub divide: Option<Divide>,
}

/// Draws splitters from the first blocks of a pipe.
#[derive(Clone)]
pub(crate) struct Divide {
    pub contents: Arc<dyn Contents>,
    pub buckets: usize,
    pub splitters: Posted<Splitters>,
    /// Blocks to look at: fewer than the pool has buffers.
    pub blocks: usize,
    /// Where what the sample cost is noted.
    pub tally: Tally,
}

/// A reader's work.
pub(crate) async fn read(worker: &Worker, reader: &Reader) -> Result<(), Failure> {
    if reader.inputs.is_seekable() {
        read_units(worker, reader).await?;
    } else if worker.index == 0 {
        read_front_to_back(worker, reader).await?;
    }
    reader.out.finish(&worker.node).await;
    Ok(())
}

impl Reader {
    /// Records of the next unit. The dial's most is the plan's unit; smaller ones begin at whole
    /// blocks, too, where that can be.
    fn unit_records(&self) -> usize {
        let (bytes, record) = (self.unit_bytes.get(), self.record_bytes);
        let records = (bytes / record).max(1);
        if bytes == self.unit_bytes.most() {
            records
        } else {
            whole_blocks(records, record)
        }
    }
}

/// A read under way.
pub(crate) struct InFlight {
    file: File,
    unit: ReadUnit,
    begin: u64,
    start: usize,
    ticket: DiskTicket,
}

impl InFlight {
    /// Asks for a unit: whole disk blocks around it when the file is read past the page cache.
    pub(crate) fn submit(
        node: &Node,
        file: File,
        unit: ReadUnit,
        record_bytes: usize,
        buffer: Buffer,
    ) -> InFlight {
        let (from, bytes) = (
            unit.first * record_bytes as u64,
            unit.records * record_bytes,
        );
        let (begin, bytes) = if file.is_direct() {
            let begin = from - from % BLOCK_BYTES;
            let end = (from + bytes as u64).next_multiple_of(BLOCK_BYTES);
            (begin, (end - begin) as usize)
        } else {
            (from, bytes)
        };
        let ticket = file.read(node, begin, bytes, buffer);
        InFlight {
            file,
            unit,
            begin,
            start: (from - begin) as usize,
            ticket,
        }
    }

    /// The records, when they have come.
    pub(crate) async fn wait(self, node: &Node, record_bytes: usize) -> Result<Block, Failure> {
        let (buffer, result) = self.ticket.wait(node).await;
        result?;
        if buffer.len() < self.start + self.unit.records * record_bytes {
            let (file, offset) = (
                self.file.path().to_owned(),
                self.begin + buffer.len() as u64,
            );
            return Err(SortError::Shrunk { file, offset }.into());
        }
        let first = self.unit.position;
        Ok(Block {
            first,
            records: self.unit.records,
            start: self.start,
            buffer,
            marks: Vec::new(),
        })
    }
}

async fn read_units(worker: &Worker, reader: &Reader) -> Result<(), Failure> {
    let mut files = Files::new(&reader.inputs);
    let mut in_flight = VecDeque::new();
    loop {
        if !worker.is_called() {
            while !in_flight.is_empty() {
                hand_on_oldest(worker, reader, &mut in_flight).await?;
            }
            worker.called().await?;
        }
        let next = reader
            .cursor
            .next(worker, &reader.inputs, reader.unit_records());
        let Some(unit) = next.await else { break };
        let buffer = loop {
            if in_flight.len() >= reader.depth.get() {
                hand_on_oldest(worker, reader, &mut in_flight).await?;
            } else if let Some(buffer) = worker.try_take(&reader.pool).await {
                break buffer?;
            } else if in_flight.is_empty() {
                break worker.take(&reader.pool).await?;
            } else {
                hand_on_oldest(worker, reader, &mut in_flight).await?;
            }
        };
        let file = files.of(&worker.node, unit.input).await?;
        in_flight.push_back(InFlight::submit(
            &worker.node,
            file,
            unit,
            reader.record_bytes,
            buffer,
        ));
    }
    while !in_flight.is_empty() {
        hand_on_oldest(worker, reader, &mut in_flight).await?;
    }
    Ok(())
}

async fn hand_on_oldest(
    worker: &Worker,
    reader: &Reader,
    in_flight: &mut VecDeque<InFlight>,
) -> Result<(), Failure> {
    let oldest = in_flight.pop_front().expect("a read is in flight");
    let block = oldest.wait(&worker.node, reader.record_bytes).await?;
    worker.did(block.records * reader.record_bytes);
    Ok(worker.push(&reader.out, block).await?)
}

/// Reads all inputs in order, pipes and files.
async fn read_front_to_back(worker: &Worker, reader: &Reader) -> Result<(), Failure> {
    let mut held = Held {
        blocks: Vec::new(),
        waiting: reader.divide.is_some(),
    };
    let mut files = Files::new(&reader.inputs);
    let mut position = 0;
    for (number, input) in reader.inputs.files.iter().enumerate() {
        let file = files.of(&worker.node, number).await?;
        if input.is_sequential() {
            position = read_pipe(worker, reader, &file, position, &mut held).await?;
            continue;
        }
        for unit in input.units(number, position, reader.unit_records()) {
            let buffer = worker.take(&reader.pool).await?;
            let read = InFlight::submit(
                &worker.node,
                file.clone(),
                unit,
                reader.record_bytes,
                buffer,
            );
            held.hand_on(
                worker,
                reader,
                read.wait(&worker.node, reader.record_bytes).await?,
            )
            .await?;
        }
        position += input.records;
    }
    held.release(worker, reader).await
}

async fn read_pipe(
    worker: &Worker,
    reader: &Reader,
    file: &File,
    mut first: u64,
    held: &mut Held,
) -> Result<u64, Failure> {
    let record_bytes = reader.record_bytes;
    let mut offset = 0;
    loop {
        let unit_bytes = reader.unit_records() * record_bytes;
        let buffer = worker.take(&reader.pool).await?;
        let read = file.read(&worker.node, offset, unit_bytes, buffer);
        let (buffer, result) = read.wait(&worker.node).await;
        result?;
        let (bytes, records) = (buffer.len(), buffer.len() / record_bytes);
        let left = (bytes % record_bytes) as u64;
        offset += bytes as u64;
        if left > 0 {
            let (file, offset) = (file.path().to_owned(), offset - left);
            return Err(SortError::TruncatedRecord {
                file,
                offset,
                left,
                record_bytes,
            }
            .into());
        }
        if records == 0 {
            reader.pool.give(&worker.node, buffer).await;
        } else {
            held.hand_on(
                worker,
                reader,
                Block {
                    first,
                    records,
                    start: 0,
                    buffer,
                    marks: Vec::new(),
                },
            )
            .await?;
        }
        first += records as u64;
        if bytes < unit_bytes {
            return Ok(first);
        }
    }
}

/// Blocks that wait until the splitters are drawn from them.
struct Held {
    blocks: Vec<Block>,
    waiting: bool,
}

impl Held {
    async fn hand_on(
        &mut self,
        worker: &Worker,
        reader: &Reader,
        block: Block,
    ) -> Result<(), Failure> {
        if !self.waiting {
            return push(worker, reader, block).await;
        }
        self.blocks.push(block);
        if self.blocks.len() >= reader.divide.as_ref().map_or(0, |divide| divide.blocks) {
            self.release(worker, reader).await?;
        }
        Ok(())
    }

    async fn release(&mut self, worker: &Worker, reader: &Reader) -> Result<(), Failure> {
        if let Some(divide) = reader.divide.as_ref().filter(|_| self.waiting) {
            self.waiting = false;
            let begin = worker.node.now();
            let splitters = divide.splitters_of(&self.blocks);
            let seconds = worker.node.seconds(worker.node.now().since(begin));
            let places = self.blocks.len() as u64;
            divide.tally.sampled(SampleCost {
                places,
                bytes: 0,
                seconds,
            });
            divide.splitters.post(&worker.node, splitters).await;
        }
        for block in self.blocks.drain(..) {
            push(worker, reader, block).await?;
        }
        Ok(())
    }
}

/// Records sampled for each bucket of a pipe.
const OVERSAMPLING: usize = 16;

impl Divide {
    fn splitters_of(&self, blocks: &[Block]) -> Splitters {
        let mut sample = Sample::default();
        let each = (self.buckets * OVERSAMPLING).div_ceil(blocks.len().max(1));
        for block in blocks {
            self.contents.sample(block, each, &mut sample);
        }
        // A short input needs few buckets: each should be worth its chunks.
        let buckets = self.buckets.min(sample.positions.len() / OVERSAMPLING + 1);
        self.contents.splitters(&sample, buckets)
    }
}

async fn push(worker: &Worker, reader: &Reader, block: Block) -> Result<(), Failure> {
    worker.did(block.records * reader.record_bytes);
    Ok(worker.push(&reader.out, block).await?)
}
