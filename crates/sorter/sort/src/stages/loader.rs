//! Reads partitions back into memory (TritonSort's phase two reader, 3.3).
//!
//! ```text
//! one loader       reads from all disks at once, and partitions in their order
//! one of each disk, where each partition is on one: takes the memory of a whole partition, and reads it
//! ```

use node::{Buffer, Queue, Tokens};
use pipeline::{Failure, Worker};

use crate::records::block::Bucket;
use crate::records::size::Size;
use crate::runs::partition::{Spilled, SpilledRun};
use crate::stages::kept::{Kept, Waiting};
use crate::stages::spill_reader::{SpillReader, wishes};

#[derive(Clone)]
pub(crate) struct Loader {
    pub spilled: SpillReader,
    pub partitions: Partitions,
    pub out: Queue<Bucket>,
}

/// The partitions that are read back.
#[derive(Clone)]
pub(crate) enum Partitions {
    /// By one loader, in the order in which buckets are to begin.
    InOrder(Queue<Kept>),
    /// By several, which take memory in turns.
    ByDisk { waiting: Waiting, turn: Tokens },
}

/// No deadlock: a loader alone waits for chunks only without a read in flight; then every chunk that no
/// later partition holds is with sorters, which give it back, and these are enough for any partition. Of
/// several, one at a time waits for chunks; the others have all that they need, and hand their partition on.
pub(crate) async fn load(worker: &Worker, loader: &Loader) -> Result<(), Failure> {
    match &loader.partitions {
        Partitions::InOrder(partitions) => {
            let mut all = Vec::new();
            while let Some(partition) = worker.pop(partitions).await? {
                all.push(partition);
            }
            read(worker, loader, all, Vec::new()).await?;
        }
        Partitions::ByDisk { waiting, turn } => {
            while let Some(partition) = waiting.next(&worker.node, worker.index).await {
                let memory = memory(worker, loader, turn, &partition).await?;
                read(worker, loader, vec![partition], memory).await?;
            }
        }
    }
    loader.out.finish(&worker.node).await;
    Ok(())
}

/// Takes the memory of a whole partition.
async fn memory(
    worker: &Worker,
    loader: &Loader,
    turn: &Tokens,
    (_, runs): &Kept,
) -> Result<Vec<Buffer>, Failure> {
    let chunks = runs.iter().map(|run| run.chunks()).sum();
    let token = worker.hold(turn.take_any(&worker.node, &[0], None)).await?;
    let mut memory = Vec::with_capacity(chunks);
    while memory.len() < chunks {
        memory.push(worker.take(&loader.spilled.pool).await?);
    }
    let token = token.expect("it waited for the token");
    turn.give(&worker.node, token).await;
    Ok(memory)
}

/// Reads partitions, first to `memory`, and hands each on when it is whole.
async fn read(
    worker: &Worker,
    loader: &Loader,
    partitions: Vec<Kept>,
    memory: Vec<Buffer>,
) -> Result<(), Failure> {
    let reader = &loader.spilled;
    let mut runs = reader.read(parts(partitions)).with_memory(memory);
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
    Ok(())
}

/// The end of a partition among the runs.
struct Whole {
    bucket: Bucket,
    /// Its first run, for the error.
    begin: Option<SpilledRun>,
}

/// All runs in the order in which they are read, each partition's followed by its end.
fn parts(partitions: Vec<Kept>) -> impl Iterator<Item = (Option<Spilled>, Option<Whole>)> {
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
