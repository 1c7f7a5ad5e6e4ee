//! Reads the input in large units, several in flight.
//!
//! Readers take units of seekable inputs in order, and each keeps requests in flight while there are
//! buffers. A pipe has one reader, which also draws the sample: it holds the first blocks back until
//! the splitters are chosen from them.

use std::sync::Arc;

use node::{File, Pool, Posted, Queue};
use pipeline::{Failure, Step, Window, Worker};

use crate::files::input::{Files, Inputs, ends_whole};
use crate::records::block::Block;
use crate::records::contents::Contents;
use crate::records::framing::Framing;
use crate::records::sample::Sample;
use crate::records::splitters::Splitters;
use crate::report::SampleCost;
use crate::stages::line_quota::push_in_blocks;
use crate::stages::pipe_lines::{Cut, RestOfPipe, Stream};
use crate::stages::row_checks::{FilePlace, Sifter};
use crate::stages::unit_read::{Arrived, InFlight, Rest};
use crate::stages::{Cursor, Tally};

#[derive(Clone)]
pub(crate) struct Reader {
    pub inputs: Arc<Inputs>,
    pub framing: Framing,
    /// Bytes of a unit; one of records of one length has at least one.
    pub unit_bytes: usize,
    /// Requests in flight of each worker.
    pub depth: usize,
    pub cursor: Cursor,
    pub pool: Pool,
    pub out: Queue<Block>,
    /// Lines of a block at most, where the plan counts on that.
    pub most_lines: Option<usize>,
    /// How to choose splitters for a pipe; a validator needs none.
    pub sampler: Option<PipeSampler>,
    /// How to check rows; a validator takes them as they are.
    pub sifter: Option<Sifter>,
    /// Where a pipe is left to another plan, and where this one goes on.
    pub cut: Option<Cut>,
    pub from: Option<Arc<RestOfPipe>>,
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
    /// Checks the rows of a block, which were read at `place`.
    pub(super) async fn sift(
        &self,
        worker: &Worker,
        block: &mut Block,
        place: FilePlace<'_>,
    ) -> Result<(), Failure> {
        match &self.sifter {
            Some(sifter) => sifter.sift(worker, block, place).await,
            None => Ok(()),
        }
    }
}

async fn read_units(worker: &Worker, reader: &Reader) -> Result<(), Failure> {
    let mut files = Files::new(&reader.inputs);
    let mut reads = Window::new(reader.depth);
    let most = reader.inputs.reads_of(worker);
    if most == 0 {
        return Ok(());
    }
    loop {
        let next = reader
            .cursor
            .next(worker, &reader.inputs, reader.unit_bytes);
        let Some(unit) = next.await else { break };
        while reads.len() >= most
            && let Some(read) = reads.pop_oldest()
        {
            hand_on(worker, reader, read).await?;
        }
        let buffer = loop {
            match reads.take(worker, &reader.pool).await? {
                Step::Begin(buffer) => break buffer,
                Step::Finish(read) => hand_on(worker, reader, read).await?,
            }
        };
        let file = files.of(&worker.node, unit.input).await?;
        let read = InFlight::submit(&worker.node, file, unit, buffer);
        reads.push(read);
    }
    while let Some(read) = reads.pop_oldest() {
        hand_on(worker, reader, read).await?;
    }
    Ok(())
}

async fn hand_on(worker: &Worker, reader: &Reader, read: InFlight) -> Result<(), Failure> {
    let (file, unit) = (read.file().clone(), read.unit());
    let place = FilePlace {
        file: &file,
        position: unit.position,
        offset: unit.offset,
    };
    let Arrived { mut block, rest } = read.wait(&worker.node, reader.framing).await?;
    reader.sift(worker, &mut block, place).await?;
    push(worker, reader, block).await?;
    if let Some(rest) = rest {
        let mut block = read_rest(worker, reader, &file, rest).await?;
        reader.sift(worker, &mut block, place).await?;
        push(worker, reader, block).await?;
    }
    Ok(())
}

/// Reads a line that reaches far beyond its unit.
///
/// No deadlock: the reader holds no buffer that is filled while it waits for this one.
async fn read_rest(
    worker: &Worker,
    reader: &Reader,
    file: &File,
    rest: Rest,
) -> Result<Block, Failure> {
    let buffer = worker.take(&reader.pool).await?;
    rest.read(&worker.node, file, buffer, reader.framing).await
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
        let file = match &reader.from {
            Some(rest) => rest.file.clone(),
            None => files.of(&worker.node, number).await?,
        };
        if input.is_sequential() {
            position = if reader.framing.is_fixed() {
                read_pipe(worker, reader, &file, position, &mut held).await?
            } else {
                let (skipped, front) = input.front();
                let from = reader.from.as_deref();
                let stream = Stream {
                    worker,
                    reader,
                    file: &file,
                    first: from.map_or(position, |rest| rest.position),
                    skipped: from.map_or(skipped, |rest| rest.offset),
                    front: from.map_or(front, |rest| Some(Arc::clone(&rest.bytes))),
                };
                stream.read(&mut held).await?
            };
            continue;
        }
        for unit in input.units(number, position, reader.unit_bytes) {
            let buffer = worker.take(&reader.pool).await?;
            let read = InFlight::submit(&worker.node, file.clone(), unit, buffer);
            let place = FilePlace {
                file: &file,
                position: unit.position,
                offset: unit.offset,
            };
            let Arrived { mut block, rest } = read.wait(&worker.node, reader.framing).await?;
            reader.sift(worker, &mut block, place).await?;
            held.hand_on(worker, reader, block).await?;
            if let Some(rest) = rest {
                let mut block = read_rest(worker, reader, &file, rest).await?;
                reader.sift(worker, &mut block, place).await?;
                held.hand_on(worker, reader, block).await?;
            }
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
        let unit = reader.unit_bytes;
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
            let mut block = Block {
                first,
                size: reader.framing.size_of(bytes),
                start: 0,
                buffer,
                marks: Vec::new(),
            };
            let place = FilePlace {
                file,
                position: first,
                offset: offset - bytes,
            };
            reader.sift(worker, &mut block, place).await?;
            held.hand_on(worker, reader, block).await?;
        }
        first += bytes;
        if bytes < unit as u64 {
            return Ok(first);
        }
    }
}

/// Blocks held back until the splitters are chosen from them.
pub(super) struct Held {
    blocks: Vec<Block>,
    waiting: bool,
}

impl Held {
    pub(super) async fn hand_on(
        &mut self,
        worker: &Worker,
        reader: &Reader,
        block: Block,
    ) -> Result<(), Failure> {
        if !self.waiting || block.size.bytes == 0 {
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
    if block.size.bytes == 0 {
        reader.pool.give(&worker.node, block.buffer).await;
        return Ok(());
    }
    worker.did_records(block.size.records, block.size.bytes);
    match reader.most_lines {
        Some(most) => push_in_blocks(worker, reader, block, most).await,
        None => Ok(worker.push(&reader.out, block).await?),
    }
}
