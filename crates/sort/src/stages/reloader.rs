//! Reads a partition that is too large for memory, to be partitioned again.
//!
//! First it looks at chunks here and there: their records are the sample for the splitters. Then
//! all runs come in, as blocks for distributors.

use std::collections::VecDeque;
use std::sync::Arc;

use node::{ChainTicket, Posted, Queue};
use pipeline::{Failure, Worker};

use crate::files::spill::Extent;
use crate::records::block::{Block, Chunk};
use crate::records::contents::Sample;
use crate::records::splitters::Splitters;
use crate::runs::partition::Run;
use crate::stages::spill_reader::{SpillReader, wishes};

/// Records that are sampled for each bucket: buckets come out within about a third of each other.
const OVERSAMPLING: usize = 128;

/// What the reloader needs.
#[derive(Clone)]
pub(crate) struct Reloader {
    pub spilled: SpillReader,
    /// Where it lies; nothing of it is in memory.
    pub runs: Arc<Vec<Run>>,
    /// How many records that are.
    pub records: u64,
    pub buckets: usize,
    /// Records to look at, at most.
    pub sample: usize,
    pub splitters: Posted<Splitters>,
    pub out: Queue<Block>,
}

/// The reloader's work: one worker.
pub(crate) async fn reload(worker: &Worker, reloader: &Reloader) -> Result<(), Failure> {
    let reader = &reloader.spilled;
    let splitters = sample(worker, reloader).await?;
    reloader.splitters.post(&worker.node, splitters).await;
    let wanted = wishes(reloader.runs.to_vec(), reloader.records).map(|wish| (Some(wish), ()));
    let mut runs = reader.read(wanted);
    let mut first = 0;
    while let Some((chunks, _)) = runs.next(worker).await? {
        for chunk in chunks {
            let block = block_of(chunk, first);
            first += block.records as u64;
            worker.push(&reloader.out, block).await?;
        }
    }
    reloader.out.finish(&worker.node).await;
    Ok(())
}

/// A chunk to look at.
#[derive(Clone, Copy)]
struct Place {
    extent: Extent,
    /// Position of its first record, about.
    first: u64,
    /// Its records, about.
    records: u32,
}

/// Draws splitters from chunks all over the partition.
async fn sample(worker: &Worker, reloader: &Reloader) -> Result<Splitters, Failure> {
    let reader = &reloader.spilled;
    let all = reloader.runs.iter().map(|run| run.chunks()).sum::<usize>();
    let chunk_records = reloader.records / all as u64;
    let records = (reloader.buckets * OVERSAMPLING).min(reloader.sample);
    let wanted = records.div_ceil(chunk_records.max(1) as usize);
    let wanted = wanted.min(all);
    let each = records.div_ceil(wanted);
    let mut sample = Sample::default();
    let mut in_flight: VecDeque<(ChainTicket, Place)> = VecDeque::new();
    let mut places = places(reloader, chunk_records, (wanted, all));
    loop {
        while in_flight.len() < reader.depth.get() {
            let Some(place) = places.next() else { break };
            let buffer = worker.take(&reader.pool).await?;
            in_flight.push_back((reader.ask(worker, place.extent, vec![buffer]), place));
        }
        let Some((ticket, place)) = in_flight.pop_front() else {
            break;
        };
        let (mut buffers, result) = ticket.wait(&worker.node).await;
        result?;
        let buffer = buffers.pop().expect("one was read");
        let chunk = reader.open_chunk(buffer, place.records, place.extent)?;
        let records = chunk.records;
        let mut block = block_of(chunk, place.first);
        for part in block.parts(reader.contents.record_bytes()) {
            block.focus(part);
            let count = (each * block.records).div_ceil(records.max(1) as usize);
            reader.contents.sample(&block, count, &mut sample);
        }
        reader.pool.give(&worker.node, block.buffer).await;
    }
    Ok(reader.contents.splitters(&sample, reloader.buckets))
}

/// So many of all chunks, evenly spread.
fn places(
    reloader: &Reloader,
    chunk_records: u64,
    (wanted, all): (usize, usize),
) -> impl Iterator<Item = Place> {
    let bytes = reloader.spilled.chunk_bytes as u64;
    let chunks = reloader.runs.iter().flat_map(move |run| {
        let extent = run.extent(bytes as usize);
        let offsets = (0..run.chunks() as u64).map(move |chunk| extent.offset + chunk * bytes);
        offsets.map(move |offset| Extent {
            offset,
            bytes,
            ..extent
        })
    });
    let (mut number, mut looked) = (0, 0);
    let numbered = (0..).zip(chunks).filter(move |_| {
        let looks = looked < wanted && number * wanted >= looked * all;
        looked += usize::from(looks);
        number += 1;
        looks
    });
    let records = chunk_records as u32;
    numbered.map(move |(at, extent)| Place {
        extent,
        first: at * chunk_records,
        records,
    })
}

/// A chunk as a block whose first record has that position, if its marks do not say another.
fn block_of(chunk: Chunk, first: u64) -> Block {
    let Chunk {
        records,
        marks,
        buffer,
        ..
    } = chunk;
    Block {
        first,
        records: records as usize,
        start: 0,
        buffer,
        marks,
    }
}
