//! Reads the input in large units, several in flight.
//!
//! Readers take units of seekable inputs in order, and each keeps requests in flight while there are
//! buffers. A pipe has one reader, which also draws the sample: it holds the first blocks back until
//! the splitters are chosen from them.

use std::sync::Arc;

use node::{Buffer, DiskTicket, File, Node, Pool, Posted, Queue};
use pipeline::{Dial, Failure, Step, Window, Worker};

use crate::error::SortError;
use crate::files::input::{Files, Inputs, ReadUnit, ends_whole};
use crate::records::block::{BLOCK_BYTES, Block};
use crate::records::contents::Contents;
use crate::records::sample::Sample;
use crate::records::size::Framing;
use crate::records::splitters::Splitters;
use crate::report::SampleCost;
use crate::stages::{Cursor, Tally};

#[derive(Clone)]
pub(crate) struct Reader {
    pub inputs: Arc<Inputs>,
    pub framing: Framing,
    /// Bytes of a unit; a unit has at least one record.
    pub unit_bytes: Dial,
    /// Requests in flight of each worker.
    pub depth: Dial,
    pub cursor: Cursor,
    pub pool: Pool,
    pub out: Queue<Block>,
    /// How to choose splitters for a pipe; a validator needs none.
    pub sampler: Option<PipeSampler>,
}

/// Chooses splitters from the first blocks of a pipe.
#[derive(Clone)]
pub(crate) struct PipeSampler {
    pub contents: Arc<dyn Contents>,
    pub buckets: usize,
    pub splitters: Posted<Splitters>,
    /// Blocks to look at: fewer than the pool has buffers.
    pub blocks: usize,
    /// Records the cost of the sample.
    pub tally: Tally,
}

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
    /// Bytes of the next unit, whole records. The dial's maximum is the plan's unit; smaller units
    /// end with a disk block as well, where possible.
    fn unit(&self) -> usize {
        let bytes = self.unit_bytes.get();
        match bytes == self.unit_bytes.most() {
            true => bytes,
            false => self.framing.unit(bytes as u64),
        }
    }
}

pub(crate) struct InFlight {
    file: File,
    unit: ReadUnit,
    begin: u64,
    start: usize,
    ticket: DiskTicket,
}

impl InFlight {
    /// Asks for a unit, or for the disk blocks around it if the file is read past the page cache.
    pub(crate) fn submit(node: &Node, file: File, unit: ReadUnit, buffer: Buffer) -> InFlight {
        let (from, bytes) = (unit.offset, unit.bytes);
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

    /// Waits for the records.
    pub(crate) async fn wait(self, node: &Node, framing: Framing) -> Result<Block, Failure> {
        let (buffer, result) = self.ticket.wait(node).await;
        result?;
        if buffer.len() < self.start + self.unit.bytes {
            let (file, offset) = (
                self.file.path().to_owned(),
                self.begin + buffer.len() as u64,
            );
            return Err(SortError::Shrunk { file, offset }.into());
        }
        Ok(Block {
            first: self.unit.position,
            size: framing.size_of(self.unit.bytes as u64),
            start: self.start,
            buffer,
            marks: Vec::new(),
        })
    }
}

async fn read_units(worker: &Worker, reader: &Reader) -> Result<(), Failure> {
    let mut files = Files::new(&reader.inputs);
    let mut reads = Window::new(&reader.depth);
    loop {
        if !worker.is_called() {
            while let Some(read) = reads.pop_oldest() {
                hand_on(worker, reader, read).await?;
            }
            worker.called().await?;
        }
        let next = reader.cursor.next(worker, &reader.inputs, reader.unit());
        let Some(unit) = next.await else { break };
        let buffer = loop {
            match reads.take(worker, &reader.pool).await? {
                Step::Begin(buffer) => break buffer,
                Step::Finish(read) => hand_on(worker, reader, read).await?,
            }
        };
        let file = files.of(&worker.node, unit.input).await?;
        reads.push(InFlight::submit(&worker.node, file, unit, buffer));
    }
    while let Some(read) = reads.pop_oldest() {
        hand_on(worker, reader, read).await?;
    }
    Ok(())
}

async fn hand_on(worker: &Worker, reader: &Reader, read: InFlight) -> Result<(), Failure> {
    let block = read.wait(&worker.node, reader.framing).await?;
    push(worker, reader, block).await
}

/// Reads all inputs in order, pipes and files.
async fn read_front_to_back(worker: &Worker, reader: &Reader) -> Result<(), Failure> {
    let mut held = Held {
        blocks: Vec::new(),
        waiting: reader.sampler.is_some(),
    };
    let mut files = Files::new(&reader.inputs);
    let mut position = 0;
    for (number, input) in reader.inputs.files.iter().enumerate() {
        let file = files.of(&worker.node, number).await?;
        if input.is_sequential() {
            position = read_pipe(worker, reader, &file, position, &mut held).await?;
            continue;
        }
        for unit in input.units(number, position, reader.unit()) {
            let buffer = worker.take(&reader.pool).await?;
            let read = InFlight::submit(&worker.node, file.clone(), unit, buffer);
            let block = read.wait(&worker.node, reader.framing).await?;
            held.hand_on(worker, reader, block).await?;
        }
        position += input.bytes;
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
    let mut offset = 0;
    loop {
        let unit = reader.unit();
        let buffer = worker.take(&reader.pool).await?;
        let read = file.read(&worker.node, offset, unit, buffer);
        let (buffer, result) = read.wait(&worker.node).await;
        result?;
        let bytes = buffer.len() as u64;
        offset += bytes;
        ends_whole(file.path(), (offset, bytes), reader.framing)?;
        if bytes == 0 {
            reader.pool.give(&worker.node, buffer).await;
        } else {
            let block = Block {
                first,
                size: reader.framing.size_of(bytes),
                start: 0,
                buffer,
                marks: Vec::new(),
            };
            held.hand_on(worker, reader, block).await?;
        }
        first += bytes;
        if bytes < unit as u64 {
            return Ok(first);
        }
    }
}

/// Blocks held back until the splitters are chosen from them.
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
        if self.blocks.len() >= reader.sampler.as_ref().map_or(0, |sampler| sampler.blocks) {
            self.release(worker, reader).await?;
        }
        Ok(())
    }

    async fn release(&mut self, worker: &Worker, reader: &Reader) -> Result<(), Failure> {
        if let Some(sampler) = reader.sampler.as_ref().filter(|_| self.waiting) {
            self.waiting = false;
            let begin = worker.node.now();
            let splitters = sampler.splitters_of(&self.blocks);
            let seconds = worker.node.seconds(worker.node.now().since(begin));
            let places = self.blocks.len() as u64;
            sampler.tally.sampled(SampleCost {
                places,
                bytes: 0,
                seconds,
            });
            sampler.splitters.post(&worker.node, splitters).await;
        }
        for block in self.blocks.drain(..) {
            push(worker, reader, block).await?;
        }
        Ok(())
    }
}

/// Records sampled for each bucket of a pipe.
const PIPE_OVERSAMPLING: usize = 16;

impl PipeSampler {
    fn splitters_of(&self, blocks: &[Block]) -> Splitters {
        let mut sample = Sample::default();
        let each = (self.buckets * PIPE_OVERSAMPLING).div_ceil(blocks.len().max(1));
        for block in blocks {
            self.contents.sample(block, each, &mut sample);
        }
        // A short input needs few buckets: each should fill its chunks.
        let buckets = self.buckets.min(sample.len() / PIPE_OVERSAMPLING + 1);
        self.contents.splitters(&sample, buckets)
    }
}

async fn push(worker: &Worker, reader: &Reader, block: Block) -> Result<(), Failure> {
    worker.did(block.size.bytes as usize);
    Ok(worker.push(&reader.out, block).await?)
}
