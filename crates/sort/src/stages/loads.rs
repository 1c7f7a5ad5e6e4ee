//! Gathers blocks, as they were read, into loads, and says which of them go to disk.
//!
//! A load is as much as one sorter sorts at a time. While one is filled, others are sorted and
//! written (replacement selection would make runs twice as long, at a heap's price for every
//! record; NOW-Sort 6.5 sorts whole loads for that reason).

use node::Queue;
use pipeline::{Failure, Worker};

use crate::plan::Room;
use crate::records::block::Block;
use crate::runs::shelf::Shelf;

/// Blocks that are sorted together, in input order.
#[derive(Debug)]
pub(crate) struct Load {
    pub number: u64,
    pub blocks: Vec<Block>,
}

/// What gathers loads.
#[derive(Clone)]
pub(crate) struct Loads {
    pub blocks: Queue<Block>,
    /// Blocks of a load.
    pub most: usize,
    /// Loads that memory holds.
    pub fit: u64,
    /// Whether more than these will come, for sure.
    pub exceeds: bool,
    pub room: Room,
    pub out: Queue<Load>,
    pub shelf: Shelf,
    pub record_bytes: usize,
}

/// The work of one worker, who alone knows all loads.
///
/// No deadlock: the reader always finds a buffer in the end. When a load begins, all but the `fit -
/// 1` last ones, itself among them, are sent to disk; so of the pool, which holds `fit` loads and
/// what the reader has in flight, a whole load is free in the end, and what the reader has read
/// comes here. Sorters wait for nobody, and those who write wait for disks alone.
pub(crate) async fn gather_loads(worker: &Worker, loads: &Loads) -> Result<(), Failure> {
    let (mut number, mut blocks) = (0, Vec::new());
    while let Some(block) = worker.pop(&loads.blocks).await? {
        if blocks.is_empty() {
            loads
                .shelf
                .send_below(&worker.node, loads.sent_by(number))
                .await;
        }
        worker.did(block.records * loads.record_bytes);
        blocks.push(block);
        if blocks.len() == loads.most {
            let blocks = std::mem::take(&mut blocks);
            worker.push(&loads.out, Load { number, blocks }).await?;
            number += 1;
        }
    }
    if !blocks.is_empty() {
        worker.push(&loads.out, Load { number, blocks }).await?;
        number += 1;
    }
    loads.out.finish(&worker.node).await;
    Ok(worker
        .hold(loads.shelf.settle(&worker.node, number, loads.room))
        .await?)
}

impl Loads {
    /// Loads below that number go to disk when load `number` begins. One goes earlier than it must
    /// if more will come, so that it is written while the next one is read.
    fn sent_by(&self, number: u64) -> u64 {
        let full = number + 1 > self.fit || (self.exceeds && number + 1 == self.fit);
        if full { number + 2 - self.fit } else { 0 }
    }
}
