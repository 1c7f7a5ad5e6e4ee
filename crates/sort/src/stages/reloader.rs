//! Reads a partition that is too large for memory, so that it is partitioned again.
//!
//! It first samples chunks all over the partition and chooses splitters. Then it reads all runs as
//! blocks for distributors.

use std::sync::Arc;

use node::{ChainTicket, Posted, Queue};
use pipeline::{Failure, Window, Worker};

use crate::files::spill::Extent;
use crate::records::block::{Block, Chunk};
use crate::records::sample::Sample;
use crate::records::size::Size;
use crate::records::splitters::Splitters;
use crate::runs::partition::SpilledRun;
use crate::stages::spill_reader::{SpillReader, wishes};

/// Sampled records per bucket: bucket sizes differ by about a third.
const OVERSAMPLING: usize = 128;

#[derive(Clone)]
pub(crate) struct Reloader {
    pub spilled: SpillReader,
    /// All of the partition; none of it is in memory.
    pub runs: Arc<Vec<SpilledRun>>,
    pub size: Size,
    pub buckets: usize,
    /// Most records to sample.
    pub sample: usize,
    pub splitters: Posted<Splitters>,
    pub out: Queue<Block>,
}

pub(crate) async fn reload(worker: &Worker, reloader: &Reloader) -> Result<(), Failure> {
    let reader = &reloader.spilled;
    let splitters = sample(worker, reloader).await?;
    reloader.splitters.post(&worker.node, splitters).await;
    let wanted = wishes(reloader.runs.to_vec(), reloader.size).map(|wish| (Some(wish), ()));
    let mut runs = reader.read(wanted);
    let mut first = 0;
    while let Some((chunks, _)) = runs.next(worker).await? {
        for chunk in chunks {
            let block = block_of(chunk, first);
            first += block.size.bytes;
            worker.push(&reloader.out, block).await?;
        }
    }
    reloader.out.finish(&worker.node).await;
    Ok(())
}

/// A chunk to sample.
#[derive(Clone, Copy)]
struct Sampled {
    extent: Extent,
    /// Estimated position of its first record.
    first: u64,
    /// Estimated records.
    share: Size,
}

async fn sample(worker: &Worker, reloader: &Reloader) -> Result<Splitters, Failure> {
    let reader = &reloader.spilled;
    let all = reloader.runs.iter().map(|run| run.chunks()).sum::<usize>();
    let chunk = reloader.size.upto(1, all as u64);
    let records = (reloader.buckets * OVERSAMPLING).min(reloader.sample);
    let wanted = records.div_ceil(chunk.records.max(1) as usize);
    let wanted = wanted.min(all);
    let each = records.div_ceil(wanted);
    let mut sample = Sample::default();
    let mut reads: Window<(ChainTicket, Sampled)> = Window::new(&reader.depth);
    let mut places = places(reloader, chunk, (wanted, all));
    loop {
        while !reads.is_full() {
            let Some(place) = places.next() else { break };
            let buffer = worker.take(&reader.pool).await?;
            reads.push((reader.ask(worker, place.extent, vec![buffer]), place));
        }
        let Some((ticket, place)) = reads.pop_oldest() else {
            break;
        };
        let (mut buffers, result) = ticket.wait(&worker.node).await;
        result?;
        let buffer = buffers.pop().expect("one was read");
        let chunk = reader.open_chunk(buffer, place.share, place.extent)?;
        let records = chunk.size.records;
        let mut block = block_of(chunk, place.first);
        for part in block.parts(reader.contents.framing()) {
            block.focus(part);
            let count = (each as u64 * block.size.records).div_ceil(records.max(1));
            reader.contents.sample(&block, count as usize, &mut sample);
        }
        reader.pool.give(&worker.node, block.buffer).await;
    }
    Ok(reader.contents.splitters(&sample, reloader.buckets))
}

/// `wanted` of all chunks, evenly spread.
fn places(
    reloader: &Reloader,
    share: Size,
    (wanted, all): (usize, usize),
) -> impl Iterator<Item = Sampled> {
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
    numbered.map(move |(at, extent)| Sampled {
        extent,
        first: at * share.bytes,
        share,
    })
}

/// A chunk as a block. Its marks, if it has some, take precedence over the position `first`.
fn block_of(chunk: Chunk, first: u64) -> Block {
    Block {
        first,
        size: chunk.size,
        start: 0,
        buffer: chunk.buffer,
        marks: chunk.marks,
    }
}
