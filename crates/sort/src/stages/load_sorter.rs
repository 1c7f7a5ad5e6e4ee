//! Sorts loads in memory: finds their order, and leaves the records where they were read.

use std::sync::Arc;

use node::{Queue, Work};
use pipeline::{Failure, Worker};

use crate::records::block::{Block, Bucket, Chunk, Destination, Mark};
use crate::records::contents::{Contents, RecordsAt, Room, Workspace};
use crate::records::size::{Size, Sum};
use crate::runs::shelf::{Ends, Shelf};
use crate::runs::sorted_run::SortedLoad;
use crate::stages::{Load, Tally};

#[derive(Clone)]
pub(crate) struct LoadSorter {
    pub contents: Arc<dyn Contents>,
    pub loads: Queue<Load>,
    pub shelf: Shelf,
    pub tally: Tally,
}

pub(crate) async fn sort_loads(worker: &Worker, sorter: &LoadSorter) -> Result<(), Failure> {
    let contents = &*sorter.contents;
    let mut workspace = Workspace::default();
    let mut read = Sum::default();
    while let Some(Load { number, blocks }) = worker.pop(&sorter.loads).await? {
        for block in &blocks {
            let crc = u128::from(contents.checksum(block));
            let size = block.size;
            read += Sum { size, crc };
        }
        let bucket = bucket_of(contents, blocks);
        contents.sort(&bucket, &mut workspace).map_err(|cause| {
            crate::error::no_memory(Workspace::bytes(bucket.size.records) as usize, &cause)
        })?;
        let Size { records, bytes } = bucket.size;
        worker.node.work(Work::Checksum { bytes });
        worker.node.work(Work::Sort { records });
        let record = |row| record_of(contents, (&bucket, &workspace), row);
        let ends = Ends {
            first: record(0),
            last: record(records as usize - 1),
        };
        let load = SortedLoad {
            bucket,
            order: workspace.take_order(),
        };
        sorter
            .shelf
            .add(&worker.node, contents, (number, load), ends)
            .await;
        worker.did(bytes as usize);
    }
    sorter.tally.add_in(read);
    Ok(())
}

/// The blocks as chunks of one bucket; with `--stable` each has a mark of its position.
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

/// One record of the sorted order; empty where records are only counted.
fn record_of(
    contents: &dyn Contents,
    (bucket, order): (&Bucket, &Workspace),
    row: usize,
) -> Vec<u8> {
    let one = contents.fitting(bucket, order, row, Room::Covering(1));
    let mut buffer = bucket.chunks[0].buffer.sibling(one.bytes as usize);
    let place = RecordsAt {
        buffer: &mut buffer,
        at: 0,
    };
    contents.gather(bucket, order, row..row + 1, place);
    if buffer.is_counted() {
        Vec::new()
    } else {
        buffer.bytes().to_vec()
    }
}
