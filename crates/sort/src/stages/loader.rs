//! Brings partitions back to memory, in key order (TritonSort's phase two reader, 3.3).

use node::Queue;
use pipeline::{Failure, Worker};

use crate::records::block::Bucket;
use crate::runs::partition::{Run, Spilled};
use crate::stages::spill_reader::{SpillReader, wishes};

/// What the loader needs.
#[derive(Clone)]
pub(crate) struct Loader {
    pub spilled: SpillReader,
    /// Each with its bucket, which has all but its chunks that are on disk; in the order in which
    /// buckets are to be begun.
    pub partitions: Queue<(Bucket, Vec<Run>)>,
    pub out: Queue<Bucket>,
}

/// The loader's work: one worker.
///
/// No deadlock: it reads partitions in order and hands each on when it is whole, before it waits
/// for more chunks without a read in flight. Then all chunks that are not of partitions still to
/// come are with sorters, who give them back, and there are enough of them for any partition.
pub(crate) async fn load(worker: &Worker, loader: &Loader) -> Result<(), Failure> {
    let mut partitions = Vec::new();
    while let Some(partition) = worker.pop(&loader.partitions).await? {
        partitions.push(partition);
    }
    let reader = &loader.spilled;
    let mut runs = reader.read(parts(partitions));
    // Chunks of the partition that is being read.
    let mut here = Vec::new();
    while let Some((mut chunks, whole)) = runs.next(worker).await? {
        here.append(&mut chunks);
        let Some(Whole { mut bucket, begin }) = whole else {
            continue;
        };
        bucket.chunks.append(&mut here);
        let records: u64 = bucket
            .chunks
            .iter()
            .map(|chunk| u64::from(chunk.records))
            .sum();
        // Every chunk was as it had been written, but perhaps not the last time.
        if let Some(begin) = begin.filter(|_| records != bucket.records) {
            return Err(reader.spoilt(begin.extent(reader.chunk_bytes)).into());
        }
        worker.push(&loader.out, bucket).await?;
    }
    loader.out.finish(&worker.node).await;
    Ok(())
}

/// What becomes of a partition when all of it is there.
struct Whole {
    bucket: Bucket,
    /// The first run of it, if there is one.
    begin: Option<Run>,
}

/// All runs in the order in which they are read; behind those of each partition what becomes of it.
fn parts(
    partitions: Vec<(Bucket, Vec<Run>)>,
) -> impl Iterator<Item = (Option<Spilled>, Option<Whole>)> {
    partitions.into_iter().flat_map(|(bucket, runs)| {
        let held: u64 = bucket
            .chunks
            .iter()
            .map(|chunk| u64::from(chunk.records))
            .sum();
        let spilled = bucket.records - held;
        let whole = Whole {
            bucket,
            begin: runs.first().copied(),
        };
        let runs = wishes(runs, spilled).map(|wish| (Some(wish), None));
        runs.chain([(None, Some(whole))])
    })
}
