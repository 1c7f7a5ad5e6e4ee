//! Disk blocks in which buckets meet: each is written once, by the worker that completes it.
//!
//! ```text
//! buckets   ...... 4 .......|........ 5 ........|.. 6 ..
//! blocks    |     |     |   .  |     |     |    .    |
//!                       ^ seam ^           ^  seam   ^
//! ```

use crate::records::span::Left;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use node::{Buffer, Closed, Guarded, Node, Pool};
use pipeline::{Failure, Worker};

use crate::records::block::BLOCK_BYTES;
use crate::records::block::Piece;

/// Seams that are not complete; clones share them.
#[derive(Clone)]
pub(crate) struct Seams {
    shared: Arc<Guarded<Open>>,
    pool: Pool,
}

#[derive(Default)]
struct Open {
    /// By file and disk block.
    seams: BTreeMap<(usize, u64), Seam>,
    /// Lengths of files that were not known at first.
    lengths: BTreeMap<usize, u64>,
}

struct Seam {
    buffer: Buffer,
    /// Where the filled bytes begin; parts arrive in any order.
    begin: usize,
    filled: usize,
}

/// Bytes that belong to one disk block, and lie in `buffer` at `from`.
pub(crate) struct Part<'a> {
    /// Number of the output file.
    pub file: usize,
    /// Length of that file in bytes.
    pub file_bytes: u64,
    /// Byte offset in that file.
    pub offset: u64,
    pub buffer: &'a Buffer,
    pub from: Range<usize>,
}

impl Seams {
    /// `pool` has buffers of one disk block.
    pub(crate) fn new(node: &Node, pool: Pool) -> Seams {
        Seams {
            shared: Arc::new(Guarded::new(node, "a seam", Open::default())),
            pool,
        }
    }

    /// Adds the incomplete disk blocks that an earlier group left.
    pub(crate) async fn with(self, node: &Node, left: &[Left]) -> Result<Seams, Closed> {
        for Left {
            block,
            begin,
            bytes,
        } in left
        {
            let mut buffer = self.pool.take(node).await?;
            let filled = bytes.len();
            buffer.copy_from(*begin, &Buffer::new(Box::new(bytes.clone())), 0..filled);
            let seam = Seam {
                buffer,
                begin: *begin,
                filled,
            };
            self.shared
                .change(node, |open| open.seams.insert((0, *block), seam))
                .await;
        }
        Ok(self)
    }

    /// The incomplete disk blocks, when a range of buckets is done: its ends in one file.
    pub(crate) fn left(&self) -> Vec<Left> {
        let left = |(&(_, block), seam): (&(usize, u64), &Seam)| {
            let there = seam.begin..seam.begin + seam.filled;
            Left {
                block,
                begin: seam.begin,
                bytes: seam.buffer.bytes()[there].to_vec(),
            }
        };
        self.shared
            .look(|open| open.seams.iter().map(left).collect())
    }

    /// Ends a file whose length was not known. Returns its last disk block, if that is complete then;
    /// otherwise the last part completes it.
    pub(crate) async fn end(&self, node: &Node, file: usize, bytes: u64) -> Option<Piece> {
        let number = bytes / BLOCK_BYTES;
        let rest = (bytes % BLOCK_BYTES) as usize;
        let is_complete = |seam: &Seam| seam.filled == rest;
        let step = |open: &mut Open| {
            open.lengths.insert(file, bytes);
            if open.seams.get(&(file, number)).is_some_and(is_complete) {
                open.seams.remove(&(file, number))
            } else {
                None
            }
        };
        let done = self.shared.change(node, step).await;
        done.map(|seam| self.piece(seam, file, (number, rest)))
    }

    /// A disk block whose first `bytes` bytes are complete.
    fn piece(&self, seam: Seam, file: usize, (number, bytes): (u64, usize)) -> Piece {
        Piece {
            file,
            offset: number * BLOCK_BYTES,
            range: 0..BLOCK_BYTES as usize,
            buffer: seam.whole(bytes),
            home: self.pool.clone(),
        }
    }

    /// Adds a part of a disk block, and returns the block if that completes it.
    pub(crate) async fn add(
        &self,
        worker: &Worker,
        part: Part<'_>,
    ) -> Result<Option<Piece>, Failure> {
        let number = part.offset / BLOCK_BYTES;
        let begin = number * BLOCK_BYTES;
        let mut fresh = Some(worker.take(&self.pool).await?);
        let done = self
            .shared
            .change(&worker.node, |open| {
                let file_bytes = open.lengths.get(&part.file).unwrap_or(&part.file_bytes);
                let complete = BLOCK_BYTES.min(file_bytes - begin) as usize;
                let seam = open
                    .seams
                    .entry((part.file, number))
                    .or_insert_with(|| Seam {
                        buffer: fresh.take().expect("taken above"),
                        begin: BLOCK_BYTES as usize,
                        filled: 0,
                    });
                let at = (part.offset - begin) as usize;
                seam.begin = seam.begin.min(at);
                seam.buffer.copy_from(at, part.buffer, part.from.clone());
                seam.filled += part.from.len();
                if seam.filled == complete {
                    let seam = open.seams.remove(&(part.file, number));
                    seam.map(|seam| (seam, complete))
                } else {
                    None
                }
            })
            .await;
        if let Some(unused) = fresh {
            self.pool.give(&worker.node, unused).await;
        }
        Ok(done.map(|(seam, bytes)| self.piece(seam, part.file, (number, bytes))))
    }
}

impl Seam {
    /// The disk block, with zeros behind its first `complete` bytes.
    fn whole(mut self, complete: usize) -> Buffer {
        if !self.buffer.is_counted() {
            // The last block of a file is written whole; the file is cut to its length later.
            self.buffer.bytes_mut()[complete..].fill(0);
        }
        self.buffer.set_len(BLOCK_BYTES as usize);
        self.buffer
    }
}
