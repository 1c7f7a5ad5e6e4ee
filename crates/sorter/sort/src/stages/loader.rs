//! Reads partitions back into memory, in key order (TritonSort's phase two reader, 3.3).

use node::Queue;
use pipeline::{Failure, Worker};

use crate::records::block::Bucket;
use crate::records::size::Size;
use crate::runs::partition::{Spilled, SpilledRun};
use crate::stages::spill_reader::{SpillReader, wishes};

#[derive(Clone)]
pub(crate) struct Loader {
    pub spilled: SpillReader,
    /// Each with its bucket, which holds the chunks that stayed in memory; in the order in which
    /// buckets are to begin.
    pub partitions: Queue<(Bucket, Vec<SpilledRun>)>,
    pub out: Queue<Bucket>,
}

/// No deadlock: the loader reads partitions in order and hands each on when it is whole. It waits
/// for chunks only without a read in flight; then every chunk that no later partition holds is with
/// sorters, which give it back, and these are enough for any partition.
pub(crate) async fn load(worker: &Worker, loader: &Loader) -> Result<(), Failure> {
    let mut partitions = Vec::new();
    while let Some(partition) = worker.pop(&loader.partitions).await? {
        partitions.push(partition);
    }
    let reader = &loader.spilled;
    let mut runs = reader.read(parts(partitions));
    // Chunks of the partition that is read now.
    let mut here = Vec::new();
    while let Some((mut chunks, whole)) = runs.next(worker).await? {
        here.append(&mut chunks);
        let Some(Whole { mut bucket, begin }) = whole else {
            continue;
        };
        bucket.chunks.append(&mut here);
        let size: Size = bucket.chunks.iter().map(|chunk| chunk.size).sum();
        // Each chunk is as it was written once, but an older write may have come back.
        if let Some(begin) = begin.filter(|_| size != bucket.size) {
            return Err(reader.spoilt(begin.extent(reader.chunk_bytes)).into());
        }
        worker.push(&loader.out, bucket).await?;
    }
    loader.out.finish(&worker.node).await;
    Ok(())
}

/// The end of a partition among the runs.
struct Whole {
    bucket: Bucket,
    /// Its first run, for the error.
    begin: Option<SpilledRun>,
}

/// All runs in the order in which they are read, each partition's followed by its end.
fn parts(
    partitions: Vec<(Bucket, Vec<SpilledRun>)>,
) -> impl Iterator<Item = (Option<Spilled>, Option<Whole>)> {
    partitions.into_iter().flat_map(|(bucket, runs)| {
        let held: Size = bucket.chunks.iter().map(|chunk| chunk.size).sum();
        let spilled = bucket.size - held;
        let whole = Whole {
            bucket,
            begin: runs.first().copied(),
        };
        let runs = wishes(runs, spilled).map(|wish| (Some(wish), None));
        runs.chain([(None, Some(whole))])
    })
}
