//! Sorts loads in memory: their order is found, and their records stay where they were read.

use std::sync::Arc;

use node::{Queue, Work};
use pipeline::{Failure, Worker};

use crate::records::block::{Block, Bucket, Chunk, Destination, Mark};
use crate::records::contents::{Contents, Place, Workspace};
use crate::runs::shelf::{Ends, Shelf};
use crate::runs::sorted_run::SortedLoad;
use crate::stages::{Load, Tally};

/// What sorters of loads share.
#[derive(Clone)]
pub(crate) struct LoadSorter {
    pub contents: Arc<dyn Contents>,
    pub loads: Queue<Load>,
    pub shelf: Shelf,
    pub tally: Tally,
}

/// A sorter's work.
pub(crate) async fn sort_loads(worker: &Worker, sorter: &LoadSorter) -> Result<(), Failure> {
    let contents = &*sorter.contents;
    let mut workspace = Workspace::default();
    let (mut records, mut sum) = (0, 0_u128);
    while let Some(Load { number, blocks }) = worker.pop(&sorter.loads).await? {
        sum += blocks
            .iter()
            .map(|block| u128::from(contents.checksum(block)))
            .sum::<u128>();
        let bucket = bucket_of(contents, blocks);
        contents
            .sort(&bucket, &mut workspace)
            .map_err(|cause| crate::error::no_memory(bucket.records as usize * 32, &cause))?;
        let bytes = bucket.records as usize * contents.record_bytes();
        worker.node.work(Work::Checksum {
            bytes: bytes as u64,
        });
        worker.node.work(Work::Sort {
            records: bucket.records,
        });
        records += bucket.records;
        let last = bucket.records as usize - 1;
        let first = record_of(contents, (&bucket, &workspace), 0);
        let ends = Ends {
            first,
            last: record_of(contents, (&bucket, &workspace), last),
        };
        let load = SortedLoad {
            bucket,
            order: workspace.take_order(),
        };
        sorter
            .shelf
            .add(&worker.node, contents, (number, load), ends)
            .await;
        worker.did(bytes);
    }
    sorter.tally.came_in(records, sum);
    Ok(())
}

/// The blocks as chunks of one bucket; with `--stable` each remembers where it was in the input.
fn bucket_of(contents: &dyn Contents, blocks: Vec<Block>) -> Bucket {
    let stable = contents.is_stable();
    let chunk = |mut block: Block| {
        contents.align(&mut block);
        let mark = Mark {
            start: 0,
            position: block.first,
        };
        let marks = if stable { vec![mark] } else { Vec::new() };
        Chunk {
            bucket: 0,
            records: block.records as u32,
            marks,
            buffer: block.buffer,
        }
    };
    let chunks: Vec<Chunk> = blocks.into_iter().map(chunk).collect();
    let records = chunks.iter().map(|chunk| u64::from(chunk.records)).sum();
    // Only what it becomes part of goes somewhere.
    let to = Destination {
        file: 0,
        first: 0,
        file_bytes: 0,
    };
    Bucket {
        index: 0,
        first: 0,
        records,
        chunks,
        to,
    }
}

/// One record of the sorted order; nothing where records are only counted.
fn record_of(
    contents: &dyn Contents,
    (bucket, order): (&Bucket, &Workspace),
    row: usize,
) -> Vec<u8> {
    let mut buffer = bucket.chunks[0].buffer.sibling(contents.record_bytes());
    contents.gather(
        bucket,
        order,
        row..row + 1,
        Place {
            buffer: &mut buffer,
            at: 0,
        },
    );
    if buffer.is_counted() {
        Vec::new()
    } else {
        buffer.bytes().to_vec()
    }
}
