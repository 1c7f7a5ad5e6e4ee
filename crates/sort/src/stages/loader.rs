//! Reads partitions back, in key order, several requests in flight, and gives their space back
//! (TritonSort's phase two reader, 3.3).

use std::collections::VecDeque;
use std::sync::Arc;

use node::{Buffer, ChainTicket, Pool, Queue, Work};
use pipeline::{Failure, Worker};

use crate::block::{Bucket, Chunk};
use crate::contents::Contents;
use crate::error::SortError;
use crate::partition::{Partition, Run};
use crate::spill::Spill;

/// What the loader needs.
#[derive(Clone)]
pub(crate) struct Loader {
    pub contents: Arc<dyn Contents>,
    /// In key order.
    pub partitions: Queue<Partition>,
    pub spill: Spill,
    pub depth: usize,
    pub pool: Pool,
    pub chunk_bytes: usize,
    pub out: Queue<Bucket>,
    /// Length of the whole output in bytes.
    pub output_bytes: u64,
}

/// A run on its way back; the last one of its partition comes with what becomes of that.
struct Reading {
    ticket: ChainTicket,
    run: Run,
    ends: Option<Bucket>,
}

/// The loader's work: one worker.
///
/// No deadlock: it reads partitions in order and hands each on when it is whole, before it waits for
/// more chunks without a read in flight. Then all chunks that are not of partitions still to come are with
/// sorters, who give them back, and there are enough of them for any partition.
pub(crate) async fn load(worker: &Worker, loader: &Loader) -> Result<(), Failure> {
    let mut in_flight = VecDeque::new();
    // Chunks of the partition that is being read.
    let mut here = Vec::new();
    let (mut first, mut index) = (0, 0);
    while let Some(partition) = worker.pop(&loader.partitions).await? {
        let records = partition.records();
        let Partition { chunks, mut runs } = partition;
        let bucket = Bucket { index, first, records, chunks, output_bytes: loader.output_bytes };
        (first, index) = (first + records, index + 1);
        if records == 0 {
            continue;
        }
        let Some(last) = runs.pop() else {
            while !in_flight.is_empty() {
                end_oldest(worker, loader, &mut in_flight, &mut here).await?;
            }
            worker.push(&loader.out, bucket).await?;
            continue;
        };
        for run in runs {
            begin(worker, loader, (run, None), &mut in_flight, &mut here).await?;
        }
        begin(worker, loader, (last, Some(bucket)), &mut in_flight, &mut here).await?;
    }
    while !in_flight.is_empty() {
        end_oldest(worker, loader, &mut in_flight, &mut here).await?;
    }
    loader.out.finish(&worker.node).await;
    Ok(())
}

async fn begin(
    worker: &Worker,
    loader: &Loader,
    (run, ends): (Run, Option<Bucket>),
    in_flight: &mut VecDeque<Reading>,
    here: &mut Vec<Chunk>,
) -> Result<(), Failure> {
    if in_flight.len() == loader.depth {
        end_oldest(worker, loader, in_flight, here).await?;
    }
    let mut buffers: Vec<Buffer> = Vec::with_capacity(run.chunks());
    while buffers.len() < run.chunks() {
        if let Some(buffer) = worker.try_take(&loader.pool).await {
            buffers.push(buffer?);
        } else if in_flight.is_empty() {
            buffers.push(worker.take(&loader.pool).await?);
        } else {
            end_oldest(worker, loader, in_flight, here).await?;
        }
    }
    let extent = run.extent(loader.chunk_bytes);
    let file = loader.spill.file(extent);
    let ticket = file.read_chain(&worker.node, extent.offset, buffers);
    in_flight.push_back(Reading { ticket, run, ends });
    Ok(())
}

async fn end_oldest(
    worker: &Worker,
    loader: &Loader,
    in_flight: &mut VecDeque<Reading>,
    here: &mut Vec<Chunk>,
) -> Result<(), Failure> {
    let Reading { ticket, run, ends } = in_flight.pop_front().expect("a read is in flight");
    let (buffers, result) = ticket.wait(&worker.node).await;
    result?;
    here.extend(open_run(worker, &*loader.contents, (&loader.spill, run), buffers)?);
    loader.spill.release(&worker.node, run.extent(loader.chunk_bytes)).await;
    if let Some(mut bucket) = ends {
        bucket.chunks.append(here);
        worker.push(&loader.out, bucket).await?;
    }
    Ok(())
}

/// The chunks of a run that was read.
///
/// # Errors
/// When it is not what was written, with the place.
pub(crate) fn open_run(
    worker: &Worker,
    contents: &dyn Contents,
    (spill, run): (&Spill, Run),
    buffers: Vec<Buffer>,
) -> Result<Vec<Chunk>, SortError> {
    let extent = run.extent(buffers.first().map_or(0, Buffer::capacity));
    let file = spill.file(extent);
    let spoilt = |offset| SortError::Spoilt { file: file.path().to_owned(), offset };
    let mut offset = extent.offset;
    let (mut left, all) = (run.records(), run.chunks() as u64);
    let mut chunks = Vec::with_capacity(buffers.len());
    for (number, mut buffer) in buffers.into_iter().enumerate() {
        let share = (left / (all - number as u64)) as u32;
        let is_whole = buffer.len() == buffer.capacity();
        let opened = is_whole.then(|| contents.unseal(&buffer, share)).flatten();
        let (records, marks) = opened.ok_or_else(|| spoilt(offset))?;
        left = left.checked_sub(records.into()).ok_or_else(|| spoilt(offset))?;
        offset += buffer.capacity() as u64;
        buffer.set_len(records as usize * contents.record_bytes());
        chunks.push(Chunk { bucket: 0, records, marks, buffer });
    }
    worker.node.work(Work::Checksum { bytes: extent.bytes });
    worker.did(extent.bytes as usize);
    if left > 0 { Err(spoilt(extent.offset)) } else { Ok(chunks) }
}
