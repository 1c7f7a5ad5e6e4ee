//! The way of sorted bytes to the writers: whole disk blocks as pieces, the ends to the seams.
//!
//! ```text
//! bytes of a bucket  ..|----+----+----+----+----|..
//! disk blocks          |     |     |     |     |     |
//! goes to              seam  |.... a Piece ....| seam
//! ```

use std::ops::Range;
use std::sync::Arc;

use node::{Buffer, Closed, Node, Pool, Queue};
use pipeline::{Failure, Worker};

use crate::records::block::{BLOCK_BYTES, Destination, Piece};
use crate::stages::seams::{Part, Seams};

#[derive(Clone)]
pub(crate) struct Outlet {
    /// Units that are filled; they come back when they are written.
    pub pool: Pool,
    /// None if the output is written front to back, as it comes.
    pub seams: Option<Seams>,
    pub out: Outs,
}

/// The pieces for writers: in a queue for each directory, so that one whose disk is slow holds up no other.
#[derive(Clone)]
pub(crate) struct Outs {
    queues: Vec<Queue<Piece>>,
    /// Of each file; others are in the first.
    directories: Arc<Vec<usize>>,
}

impl Outs {
    /// A queue for each directory, and the directory of each file.
    pub(crate) fn new(queues: Vec<Queue<Piece>>, directories: Vec<usize>) -> Outs {
        Outs {
            queues,
            directories: Arc::new(directories),
        }
    }

    async fn push(&self, worker: &Worker, piece: Piece) -> Result<(), Closed> {
        let directory = self.directories.get(piece.file).copied().unwrap_or(0);
        worker.push(&self.queues[directory], piece).await
    }

    /// Announces that one producer will push no more.
    pub(crate) async fn finish(&self, node: &Node) {
        for queue in &self.queues {
            queue.finish(node).await;
        }
    }
}

/// The bytes `range` of a buffer that belongs at byte `begin` of its file.
pub(super) struct Handed {
    pub to: Destination,
    pub begin: u64,
    pub range: Range<usize>,
    pub buffer: Buffer,
}

impl Outlet {
    /// Where the buffer begins that has byte `at`: an output with positions is written in whole disk blocks.
    pub(super) fn begin(&self, at: u64) -> u64 {
        match self.seams {
            Some(_) => at - at % BLOCK_BYTES,
            None => at,
        }
    }

    /// Hands bytes on: whole disk blocks to the writers, the ends to the seams.
    pub(super) async fn hand_on(&self, worker: &Worker, handed: Handed) -> Result<(), Failure> {
        let block = BLOCK_BYTES as usize;
        let range = handed.range.clone();
        let mut whole = range.clone();
        if let Some(seams) = &self.seams {
            whole.start = range.start.next_multiple_of(block).min(range.end);
            whole.end = whole.start.max(range.end - range.end % block);
            for part in [range.start..whole.start, whole.end..range.end] {
                self.to_seam(worker, seams, (&handed, part)).await?;
            }
        }
        let home = self.pool.clone();
        if whole.is_empty() {
            home.give(&worker.node, handed.buffer).await;
            return Ok(());
        }
        let piece = Piece {
            file: handed.to.file,
            offset: handed.begin + whole.start as u64,
            range: whole,
            buffer: handed.buffer,
            home,
        };
        Ok(self.out.push(worker, piece).await?)
    }

    async fn to_seam(
        &self,
        worker: &Worker,
        seams: &Seams,
        (handed, from): (&Handed, Range<usize>),
    ) -> Result<(), Failure> {
        if from.is_empty() {
            return Ok(());
        }
        let Destination {
            file, file_bytes, ..
        } = handed.to;
        let part = Part {
            file,
            file_bytes,
            offset: handed.begin + from.start as u64,
            buffer: &handed.buffer,
            from,
        };
        let complete = seams.add(worker, part).await?;
        if let Some(piece) = complete {
            self.out.push(worker, piece).await?;
        }
        Ok(())
    }

    /// Ends a file whose length was not known before.
    pub(super) async fn end(
        &self,
        worker: &Worker,
        file: usize,
        bytes: u64,
    ) -> Result<(), Failure> {
        if let Some(seams) = &self.seams
            && let Some(last_block) = seams.end(&worker.node, file, bytes).await
        {
            self.out.push(worker, last_block).await?;
        }
        Ok(())
    }
}
