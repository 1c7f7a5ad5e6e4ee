//! Reads a partition that is too large for memory, so that it is partitioned again.
//!
//! It first samples chunks all over the partition and chooses splitters. Then it reads all runs as
//! blocks for distributors.

use std::sync::Arc;

use node::{ChainTicket, Posted, Queue};
use pipeline::{Failure, Window, Worker};

use crate::records::block::{Block, Chunk};
use crate::records::sample::{Element, Sample};
use crate::records::size::Size;
use crate::records::splitters::Splitters;
use crate::runs::partition::{Spilled, SpilledRun};
use crate::stages::spill_reader::{SpillReader, wishes};

/// Sampled records per bucket: bucket sizes differ by about a third.
const OVERSAMPLING: usize = 128;

/// Chunks that are sampled at least, per bucket. One chunk may have more records than are sampled;
/// but it is one place of a partition in ascending order, or of equal records in input order.
const PLACES_PER_BUCKET: usize = 4;

#[derive(Clone)]
pub(crate) struct Reloader {
    pub spilled: SpillReader,
    /// All of the partition; none of it is in memory.
    pub runs: Arc<Vec<SpilledRun>>,
    pub size: Size,
    pub buckets: usize,
    /// Most records to sample.
    pub sample: usize,
    /// Most bytes of them.
    pub sample_bytes: usize,
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

#[derive(Clone, Copy)]
struct Sampled {
    run: SpilledRun,
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
    let wanted = wanted.max(reloader.buckets * PLACES_PER_BUCKET).min(all);
    let each = records.div_ceil(wanted);
    let mut spread = Spread::new(reloader.sample_bytes);
    let mut reads: Window<(ChainTicket, Sampled)> = Window::new(reader.depth);
    let mut places = places(reloader, chunk, (wanted, all));
    loop {
        while !reads.is_full() {
            let Some(place) = places.next() else { break };
            let buffer = worker.take(&reader.pool).await?;
            reads.push((reader.ask(worker, place.run, vec![buffer]), place));
        }
        let Some((ticket, place)) = reads.pop_oldest() else {
            break;
        };
        let wish = Spilled {
            run: place.run,
            size: place.share,
        };
        let chunk = reader.open(worker, wish, ticket).await?.pop();
        let chunk = chunk.expect("one was read");
        let bytes = chunk.size.bytes;
        let mut block = block_of(chunk, place.first);
        for part in reader.contents.parts(&block, usize::MAX) {
            block.focus(part);
            let count = (each as u64 * block.size.bytes).div_ceil(bytes.max(1));
            let mut sample = Sample::default();
            reader.contents.sample(&block, count as usize, &mut sample);
            spread.add(&sample);
        }
        reader.pool.give(&worker.node, block.buffer).await;
    }
    Ok(reader.contents.splitters(&spread.kept, reloader.buckets))
}

/// Records evenly spread over all that were added, as many as there is room for. Lines may be longer
/// than the mean: then every second one is as good a sample. If those that came first were
/// favoured, a partition in ascending order would lose its least lines alone in every division.
struct Spread {
    kept: Sample,
    /// One of so many is kept.
    stride: usize,
    added: usize,
    most_bytes: usize,
}

impl Spread {
    fn new(most_bytes: usize) -> Spread {
        Spread {
            kept: Sample::default(),
            stride: 1,
            added: 0,
            most_bytes,
        }
    }

    fn add(&mut self, sample: &Sample) {
        for Element { record, position } in sample.elements() {
            if self.added.is_multiple_of(self.stride) {
                self.kept.push(record, position);
                if self.kept.bytes() > self.most_bytes {
                    self.kept = self.kept.every_second();
                    self.stride *= 2;
                }
            }
            self.added += 1;
        }
    }
}

/// `wanted` of all chunks, evenly spread.
fn places(
    reloader: &Reloader,
    share: Size,
    (wanted, all): (usize, usize),
) -> impl Iterator<Item = Sampled> {
    let bytes = reloader.spilled.chunk_bytes;
    let chunks = reloader
        .runs
        .iter()
        .flat_map(move |run| (0..run.chunks()).map(move |chunk| run.part(chunk..chunk + 1, bytes)));
    let (mut number, mut looked) = (0, 0);
    let numbered = (0..).zip(chunks).filter(move |_| {
        let looks = looked < wanted && number * wanted >= looked * all;
        looked += usize::from(looks);
        number += 1;
        looks
    });
    numbered.map(move |(at, run)| Sampled {
        run,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_with_little_room_is_spread_over_all_records() {
        for count in 3..2000_u64 {
            for room in [2, 3, 8, 100] {
                let mut spread = Spread::new(10 * room);
                let mut sample = Sample::default();
                for number in 0..count {
                    sample.push(&[0; 10], number);
                    if number % 7 == 0 {
                        spread.add(&std::mem::take(&mut sample));
                    }
                }
                spread.add(&sample);
                let kept = spread.kept.positions();
                let step = spread.stride as u64;
                let even: Vec<u64> = (0..count).step_by(spread.stride).collect();
                assert_eq!(kept, even, "one of {step} of {count}");
                assert!(kept.len() <= room && (spread.stride == 1 || kept.len() > room / 2));
            }
        }
    }
}
