//! Reads a partition that is too large for memory, to be partitioned again.
//!
//! First it looks at chunks here and there: their records are the sample for the splitters. Then all runs
//! come in, as blocks for distributors.

use std::collections::VecDeque;
use std::sync::Arc;

use node::{Buffer, ChainTicket, Pool, Posted, Queue};
use pipeline::{Failure, Worker};

use crate::block::{Block, Chunk};
use crate::contents::{Contents, Sample};
use crate::error::SortError;
use crate::partition::Run;
use crate::spill::{Extent, Spill};
use crate::splitters::Splitters;
use crate::stages::open_run;

/// Records that are sampled for each bucket.
const OVERSAMPLING: usize = 32;

/// What the reloader needs.
#[derive(Clone)]
pub(crate) struct Reloader {
    pub contents: Arc<dyn Contents>,
    /// Where it lies; nothing of it is in memory.
    pub runs: Arc<Vec<Run>>,
    pub buckets: usize,
    pub splitters: Posted<Splitters>,
    pub spill: Spill,
    pub depth: usize,
    pub pool: Pool,
    pub chunk_bytes: usize,
    pub out: Queue<Block>,
}

/// The reloader's work: one worker.
pub(crate) async fn reload(worker: &Worker, reloader: &Reloader) -> Result<(), Failure> {
    let splitters = sample(worker, reloader).await?;
    reloader.splitters.post(&worker.node, splitters).await;
    let mut in_flight: VecDeque<(ChainTicket, Run)> = VecDeque::new();
    let mut first = 0;
    for run in &*reloader.runs {
        if in_flight.len() == reloader.depth {
            hand_on_oldest(worker, reloader, &mut in_flight, &mut first).await?;
        }
        let mut buffers = Vec::with_capacity(run.chunks());
        while buffers.len() < run.chunks() {
            if let Some(buffer) = worker.try_take(&reloader.pool).await {
                buffers.push(buffer?);
            } else if in_flight.is_empty() {
                buffers.push(worker.take(&reloader.pool).await?);
            } else {
                hand_on_oldest(worker, reloader, &mut in_flight, &mut first).await?;
            }
        }
        in_flight
            .push_back((read(worker, reloader, run.extent(reloader.chunk_bytes), buffers), *run));
    }
    while !in_flight.is_empty() {
        hand_on_oldest(worker, reloader, &mut in_flight, &mut first).await?;
    }
    reloader.out.finish(&worker.node).await;
    Ok(())
}

async fn hand_on_oldest(
    worker: &Worker,
    reloader: &Reloader,
    in_flight: &mut VecDeque<(ChainTicket, Run)>,
    first: &mut u64,
) -> Result<(), Failure> {
    let (ticket, run) = in_flight.pop_front().expect("a read is in flight");
    let (buffers, result) = ticket.wait(&worker.node).await;
    result?;
    let chunks = open_run(worker, &*reloader.contents, (&reloader.spill, run), buffers)?;
    reloader.spill.release(&worker.node, run.extent(reloader.chunk_bytes)).await;
    for chunk in chunks {
        let block = block_of(chunk, *first);
        *first += block.records as u64;
        worker.push(&reloader.out, block).await?;
    }
    Ok(())
}

/// Draws splitters from chunks all over the partition.
async fn sample(worker: &Worker, reloader: &Reloader) -> Result<Splitters, Failure> {
    let all = reloader.runs.iter().map(|run| run.chunks()).sum::<usize>();
    let wanted = (2 * reloader.buckets).min(all);
    let each = (reloader.buckets * OVERSAMPLING).div_ceil(wanted.max(1));
    let (contents, mut sample) = (&*reloader.contents, Sample::default());
    let mut looked = 0;
    let (mut number, mut first) = (0, 0);
    for run in &*reloader.runs {
        let (all_of_it, bytes) = (run.extent(reloader.chunk_bytes), reloader.chunk_bytes as u64);
        for chunk in 0..run.chunks() {
            if looked < wanted && number * wanted >= looked * all {
                looked += 1;
                let offset = all_of_it.offset + chunk as u64 * bytes;
                let extent = Extent { offset, bytes, ..all_of_it };
                let buffer = worker.take(&reloader.pool).await?;
                let ticket = read(worker, reloader, extent, vec![buffer]);
                let (mut buffers, result) = ticket.wait(&worker.node).await;
                result?;
                let share = (run.records() / run.chunks() as u64) as u32;
                let buffer = buffers.pop().expect("one was read");
                let opened = contents.unseal(&buffer, share);
                let (records, marks) = opened.ok_or_else(|| SortError::Spoilt {
                    file: reloader.spill.file(extent).path().to_owned(),
                    offset,
                })?;
                let mut block = block_of(
                    Chunk { bucket: 0, records, marks, buffer },
                    first + chunk as u64 * u64::from(share),
                );
                for part in block.parts(contents.record_bytes()) {
                    block.focus(part);
                    let count = (each * block.records).div_ceil(records.max(1) as usize);
                    contents.sample(&block, count, &mut sample);
                }
                reloader.pool.give(&worker.node, block.buffer).await;
            }
            number += 1;
        }
        first += run.records();
    }
    Ok(contents.splitters(&sample, reloader.buckets))
}

fn read(worker: &Worker, reloader: &Reloader, extent: Extent, buffers: Vec<Buffer>) -> ChainTicket {
    reloader.spill.file(extent).read_chain(&worker.node, extent.offset, buffers)
}

/// A chunk as a block whose first record has that position, if its marks do not say another.
fn block_of(chunk: Chunk, first: u64) -> Block {
    let Chunk { records, marks, buffer, .. } = chunk;
    Block { first, records: records as usize, start: 0, buffer, marks }
}
