//! Gathers blocks into loads in input order, and decides which loads go to disk.
//!
//! A load is what one sorter sorts at a time. While one load is filled, others are sorted and
//! written. Where the input may fit in memory, the first loads are small and the next ones larger, so that
//! all sorters work on what one load would hold:
//!
//! ```text
//! of 2 sorters    | 1 | 1 |  2  |  2  |    4    |    4    | ...      up to a load's share of memory
//! ```
//!
//! Replacement selection would make runs twice as long, but each record would pass through
//! a heap; NOW-Sort 6.5 sorts whole loads for that reason.

use node::Queue;
use pipeline::{Failure, Worker};

use crate::plan::Room;
use crate::records::block::Block;
use crate::runs::shelf::Shelf;
use crate::stages::pipe_lines::Cut;

/// Blocks that are sorted together, in input order.
#[derive(Debug)]
pub(crate) struct Load {
    pub number: u64,
    pub blocks: Vec<Block>,
}

#[derive(Clone)]
pub(crate) struct Loads {
    pub blocks: Queue<Block>,
    pub sizes: LoadSizes,
    pub room: Room,
    /// Where the reader may end before another plan goes on, which needs all memory.
    pub cut: Option<Cut>,
    pub out: Queue<Load>,
    pub shelf: Shelf,
}

/// How large loads become, in blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadSizes {
    /// Blocks of a load at most.
    pub most: usize,
    /// Blocks of each of the first loads, as many as there are sorters.
    pub first: usize,
    pub sorters: usize,
    /// Loads of `most` blocks that memory holds.
    pub fit: usize,
    /// Whether more than that are certain to come.
    pub exceeds: bool,
}

/// Runs with one worker, which alone knows all loads.
///
/// No deadlock: the reader always finds a buffer in the end. When a load begins that memory may not hold
/// beside all others, the first ones are sent to disk: the last ones and itself then leave room for a
/// whole load. The pool has the memory of `fit` loads and of the reader's requests. Sorters wait for no
/// stage, and run writers for disks alone.
pub(crate) async fn gather_loads(worker: &Worker, loads: &Loads) -> Result<(), Failure> {
    let (mut number, mut blocks) = (0, Vec::new());
    let mut sizes: Vec<usize> = Vec::new();
    while let Some(block) = worker.pop(&loads.blocks).await? {
        if blocks.is_empty() {
            loads
                .shelf
                .send_below(&worker.node, loads.sizes.sent_by(&sizes))
                .await;
        }
        worker.did_records(block.size.records, block.size.bytes);
        blocks.push(block);
        if blocks.len() == loads.sizes.of(sizes.len()) {
            sizes.push(blocks.len());
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
    let room = if loads.cut.as_ref().is_some_and(Cut::is_made) {
        Room::NONE
    } else {
        loads.room
    };
    Ok(worker
        .hold(loads.shelf.settle(&worker.node, number, room))
        .await?)
}

impl LoadSizes {
    /// Blocks of load `number`.
    fn of(&self, number: usize) -> usize {
        if self.exceeds {
            return self.most;
        }
        let doubled = (number / self.sorters).min(usize::BITS as usize / 2) as u32;
        self.first.saturating_mul(1 << doubled).min(self.most)
    }

    /// When the next load begins behind loads of these sizes, the loads before the returned number go to
    /// disk. If more than memory holds are certain to come, one goes earlier than it must and is written
    /// while the next one is read.
    fn sent_by(&self, sizes: &[usize]) -> u64 {
        let (all, next) = (self.fit * self.most, self.of(sizes.len()));
        let spare = if self.exceeds { self.most } else { 0 };
        let mut kept: usize = sizes.iter().sum();
        if kept + next + spare <= all {
            return 0;
        }
        let is_sent = |size: &&usize| -> bool {
            let is_sent = kept + next + self.most > all;
            kept -= if is_sent { **size } else { 0 };
            is_sent
        };
        sizes.iter().take_while(is_sent).count() as u64
    }
}

#[cfg(test)]
mod tests;
