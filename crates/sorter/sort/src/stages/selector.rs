//! Selects the records that the output may have while the input is read, so that few of the others are sorted
//! or kept: with `--top` the first ones, with `-u` those whose keys did not come before.
//!
//! ```text
//! with --top 2
//! read      |......|......|......|......|......|......|
//! held      |......|......|  full: sort, keep the first N records
//!           |.|                   their last one is the bound
//!           |.|..|               of later blocks only records before the bound are kept
//! ```
//!
//! A record that does not come before N others is not among the first N. A later one that is equal to the
//! bound comes after it: blocks come in input order, and in a unique order it is a repeat. Where the last of equal
//! records is kept, it stays, and is told apart when the records are sorted.

use std::sync::Arc;

use node::{Pool, Queue, Work};
use pipeline::{Failure, Worker};

use crate::records::block::Block;
use crate::records::contents::{Contents, Sorted, Workspace};
use crate::records::repeats::Repeats;
use crate::records::size::Sum;
use crate::stages::Tally;
use crate::stages::load_sorter::bucket_of;

#[derive(Clone)]
pub(crate) struct Selector {
    pub contents: Arc<dyn Contents>,
    pub blocks: Queue<Block>,
    pub out: Queue<Block>,
    /// Where emptied buffers go.
    pub pool: Pool,
    /// Blocks that are held at most, the bytes of each, and its records if they have unlike lengths.
    pub most: usize,
    pub room: usize,
    pub most_lines: Option<usize>,
    /// The number of records that are wanted, if not all are.
    pub top: Option<u64>,
    pub tally: Tally,
}

/// Runs with one worker, which alone knows all records before a block.
///
/// No deadlock: it holds one load at most, which the plan has memory for: that of one sorter less.
pub(crate) async fn select(worker: &Worker, selector: &Selector) -> Result<(), Failure> {
    let mut selected = Selected {
        selector,
        held: Vec::new(),
        sum: Sum::default(),
        bound: None,
        seen: Repeats::default(),
        workspace: Workspace::default(),
    };
    while let Some(block) = worker.pop(&selector.blocks).await? {
        worker.did_records(block.size.records, block.size.bytes);
        selected.take(worker, block).await?;
        if selected.held.len() == selector.most {
            selected.sort(worker).await?;
            // There would be room for little more.
            if selected.held.len() > selector.most / 2 {
                selected.hand_on(worker).await?;
            }
        }
    }
    selected.hand_on(worker).await?;
    selector.out.finish(&worker.node).await;
    Ok(())
}

/// The records that may be among the first, of those that were read and not handed on.
struct Selected<'a> {
    selector: &'a Selector,
    held: Vec<Block>,
    /// Of the blocks that are held.
    sum: Sum,
    /// The last of the first records.
    bound: Option<Vec<u8>>,
    seen: Repeats,
    workspace: Workspace,
}

impl Selected<'_> {
    /// Keeps a block's records that are no repeats and come before the bound.
    async fn take(&mut self, worker: &Worker, mut block: Block) -> Result<(), Failure> {
        let contents = &*self.selector.contents;
        let bytes = block.size.bytes;
        let mut kept = sum_of(contents, &mut block)?;
        worker.node.work(Work::Checksum { bytes });
        if contents.drop_repeats(&mut block, &mut self.seen) {
            let all = kept;
            kept = sum_of(contents, &mut block)?;
            self.selector.tally.leave_out(all - kept, Sum::default());
        }
        if let Some(bound) = &self.bound {
            let all = kept;
            contents.keep_before(&mut block, bound);
            kept = sum_of(contents, &mut block)?;
            self.selector.tally.leave_out(Sum::default(), all - kept);
        }
        self.sum += kept;
        self.hold(worker, block).await;
        Ok(())
    }

    /// Adds a block's records to the last block, if that has room.
    async fn hold(&mut self, worker: &Worker, mut block: Block) {
        let Selector {
            room, most_lines, ..
        } = *self.selector;
        let joined = self.held.last().map(|last| last.size + block.size);
        let fits = |last: &Block| {
            let room = room.min(last.buffer.capacity());
            let lines = most_lines.unwrap_or(usize::MAX);
            joined.is_some_and(|all| all.bytes <= room as u64 && all.records <= lines as u64)
        };
        if block.size.records > 0 {
            match self.held.last_mut().filter(|last| fits(last)) {
                Some(last) => last.append(&block),
                None => {
                    self.selector.contents.align(&mut block);
                    return self.held.push(block);
                }
            }
        }
        self.selector.pool.give(&worker.node, block.buffer).await;
    }

    /// Sorts the records that are held, if there are more than are wanted, and keeps the first.
    async fn sort(&mut self, worker: &Worker) -> Result<(), Failure> {
        let (contents, before) = (&*self.selector.contents, self.sum);
        let wanted = self.selector.top.filter(|&top| top < before.size.records);
        let Some(top) = wanted else {
            return Ok(());
        };
        let mut bucket = bucket_of(contents, std::mem::take(&mut self.held));
        let records = before.size.records;
        let repeated = contents
            .sort(&bucket, &mut self.workspace)
            .map_err(|cause| crate::error::no_memory(Workspace::bytes(records) as usize, &cause))?;
        worker.node.work(Work::Sort { records });
        if top <= records - repeated.size.records {
            let sorted = Sorted {
                bucket: &bucket,
                workspace: &self.workspace,
            };
            self.bound = Some(sorted.record(contents, top as usize - 1));
            self.workspace.truncate(top as usize);
        }
        contents.keep_sorted(&mut bucket, &mut self.workspace);
        self.sum = Sum::default();
        for chunk in bucket.chunks {
            let mut block = Block {
                first: 0,
                size: chunk.size,
                start: 0,
                buffer: chunk.buffer,
                marks: chunk.marks,
            };
            self.sum += sum_of(contents, &mut block)?;
            self.hold(worker, block).await;
        }
        let behind = before - self.sum - repeated;
        self.selector.tally.leave_out(repeated, behind);
        Ok(())
    }

    async fn hand_on(&mut self, worker: &Worker) -> Result<(), Failure> {
        self.sum = Sum::default();
        for block in self.held.drain(..) {
            worker.push(&self.selector.out, block).await?;
        }
        Ok(())
    }
}

/// Counts the records of a block.
fn sum_of(contents: &dyn Contents, block: &mut Block) -> Result<Sum, Failure> {
    let crc = u128::from(contents.measure(block)?);
    Ok(Sum {
        size: block.size,
        crc,
    })
}
