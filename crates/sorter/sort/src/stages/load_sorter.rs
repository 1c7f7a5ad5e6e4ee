//! Sorts loads in memory: finds their order, and leaves the records where they were read.

use std::sync::Arc;

use node::{Queue, Work};
use pipeline::{Failure, Worker};

use crate::records::block::{Block, Bucket, Chunk, Destination};
use crate::records::contents::{Contents, Sorted, Workspace};
use crate::records::size::{Size, Sum};
use crate::runs::shelf::{Ends, Shelf};
use crate::runs::sorted_run::SortedLoad;
use crate::stages::{Load, Tally};

#[derive(Clone)]
pub(crate) struct LoadSorter {
    pub contents: Arc<dyn Contents>,
    pub loads: Queue<Load>,
    pub shelf: Shelf,
    /// Only so many records are wanted in all.
    pub top: Option<u64>,
    pub tally: Tally,
}

pub(crate) async fn sort_loads(worker: &Worker, sorter: &LoadSorter) -> Result<(), Failure> {
    let contents = &*sorter.contents;
    let mut workspace = Workspace::default();
    let mut read = Sum::default();
    while let Some(Load { number, mut blocks }) = worker.pop(&sorter.loads).await? {
        let before = read;
        for block in &mut blocks {
            let crc = u128::from(contents.measure(block)?);
            let size = block.size;
            read += Sum { size, crc };
        }
        let mut bucket = bucket_of(contents, blocks);
        let bytes = bucket.size.bytes;
        let dropped = contents.sort(&bucket, &mut workspace).map_err(|cause| {
            crate::error::no_memory(Workspace::bytes(bucket.size.records) as usize, &cause)
        })?;
        worker.node.work(Work::Checksum { bytes });
        worker.node.work(Work::Sort {
            records: bucket.size.records,
        });
        worker.did_records(bucket.size.records, bytes);
        sorter.tally.add_repeated(dropped);
        bucket.size = bucket.size - dropped.size;
        if let Some(top) = sorter.top.filter(|&top| top < bucket.size.records) {
            let sorted = Sorted {
                bucket: &bucket,
                workspace: &workspace,
            };
            let kept = contents.sum_of_first(sorted, top as usize);
            sorter.tally.add_behind_top(read - before - dropped - kept);
            bucket.size = kept.size;
            workspace.truncate(top as usize);
        }
        let sorted = Sorted {
            bucket: &bucket,
            workspace: &workspace,
        };
        let ends = Ends {
            first: sorted.record(contents, 0),
            last: sorted.record(contents, bucket.size.records as usize - 1),
        };
        let load = SortedLoad {
            bucket,
            order: workspace.take_order(),
        };
        sorter.shelf.add(&worker.node, number, load, ends).await;
    }
    sorter.tally.add_in(read);
    Ok(())
}

/// The blocks as chunks of one bucket; with `--stable` they have marks of their positions.
pub(super) fn bucket_of(contents: &dyn Contents, blocks: Vec<Block>) -> Bucket {
    let stable = contents.is_stable();
    let chunk = |mut block: Block| {
        contents.align(&mut block);
        let marks = if stable {
            block.stretches()
        } else {
            Vec::new()
        };
        Chunk {
            bucket: 0,
            size: block.size,
            marks,
            buffer: block.buffer,
        }
    };
    let chunks: Vec<Chunk> = blocks.into_iter().map(chunk).collect();
    Bucket {
        index: 0,
        first: Size::default(),
        size: chunks.iter().map(|chunk| chunk.size).sum(),
        chunks,
        // The run that it becomes part of has a destination.
        to: Destination::default(),
    }
}
