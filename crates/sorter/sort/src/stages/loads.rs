//! Gathers blocks into loads in input order, and decides which loads go to disk.
//!
//! A load is what one sorter sorts at a time. While one load is filled, others are sorted and
//! written. Replacement selection would make runs twice as long, but each record would pass through
//! a heap; NOW-Sort 6.5 sorts whole loads for that reason.

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

#[derive(Clone)]
pub(crate) struct Loads {
    pub blocks: Queue<Block>,
    /// Blocks of a load.
    pub most: usize,
    /// Loads that memory holds.
    pub fit: u64,
    /// Whether more loads than that are certain to come.
    pub exceeds: bool,
    pub room: Room,
    pub out: Queue<Load>,
    pub shelf: Shelf,
}

/// Runs with one worker, which alone knows all loads.
///
/// No deadlock: the reader always finds a buffer in the end. When a load begins, all but the last
/// `fit - 1` loads, itself included, are sent to disk. The pool holds `fit` loads and the reader's
/// requests, so the memory of a whole load becomes free. Sorters wait for no stage, and run writers
/// for disks alone.
pub(crate) async fn gather_loads(worker: &Worker, loads: &Loads) -> Result<(), Failure> {
    let (mut number, mut blocks) = (0, Vec::new());
    while let Some(block) = worker.pop(&loads.blocks).await? {
        if blocks.is_empty() {
            loads
                .shelf
                .send_below(&worker.node, loads.sent_by(number))
                .await;
        }
        worker.did(block.size.bytes as usize);
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
    /// When load `number` begins, the loads before the returned number go to disk. If more loads are
    /// certain to come, one goes earlier than it must and is written while the next one is read.
    fn sent_by(&self, number: u64) -> u64 {
        let full = number + 1 > self.fit || (self.exceeds && number + 1 == self.fit);
        if full { number + 2 - self.fit } else { 0 }
    }
}
