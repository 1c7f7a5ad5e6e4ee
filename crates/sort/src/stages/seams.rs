//! Disk blocks in which buckets meet: each is written once, by whoever completes it.
//!
//! ```text
//! buckets   ...... 4 .......|........ 5 ........|.. 6 ..
//! blocks    |     |     |   .  |     |     |    .    |
//!                       ^ seam ^           ^  seam   ^
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use node::{Buffer, Guarded, Node, Pool};
use pipeline::{Failure, Worker};

use crate::block::Piece;
use crate::input::BLOCK_BYTES;

/// The seams under way; clones share them.
#[derive(Clone)]
pub(crate) struct Seams {
    shared: Arc<Guarded<BTreeMap<u64, Seam>>>,
    pool: Pool,
}

struct Seam {
    buffer: Buffer,
    filled: usize,
}

/// Bytes that belong to one disk block, and lie in `buffer` at `from`.
pub(crate) struct Part<'a> {
    /// Where they go in the output.
    pub offset: u64,
    pub buffer: &'a Buffer,
    pub from: Range<usize>,
}

impl Seams {
    /// No seam yet; `pool` has buffers of one disk block.
    pub(crate) fn new(node: &Node, pool: Pool) -> Seams {
        Seams { shared: Arc::new(Guarded::new(node, "a seam", BTreeMap::new())), pool }
    }

    /// Adds a part of a disk block of an output of `output_bytes`; the block, if it is complete.
    pub(crate) async fn add(
        &self,
        worker: &Worker,
        part: Part<'_>,
        output_bytes: u64,
    ) -> Result<Option<Piece>, Failure> {
        let number = part.offset / BLOCK_BYTES;
        let begin = number * BLOCK_BYTES;
        let complete = BLOCK_BYTES.min(output_bytes - begin) as usize;
        let mut fresh = Some(worker.take(&self.pool).await?);
        let done = self
            .shared
            .change(&worker.node, |seams| {
                let seam = seams.entry(number).or_insert_with(|| Seam {
                    buffer: fresh.take().expect("taken above"),
                    filled: 0,
                });
                let at = (part.offset - begin) as usize;
                seam.buffer.copy_from(at, part.buffer, part.from.clone());
                seam.filled += part.from.len();
                if seam.filled == complete { seams.remove(&number) } else { None }
            })
            .await;
        if let Some(unused) = fresh {
            self.pool.give(&worker.node, unused).await;
        }
        Ok(done.map(|seam| self.piece(begin, seam, complete)))
    }

    fn piece(&self, offset: u64, mut seam: Seam, complete: usize) -> Piece {
        if !seam.buffer.is_counted() {
            // The last block is written whole and cut off with the file's end.
            seam.buffer.bytes_mut()[complete..].fill(0);
        }
        seam.buffer.set_len(BLOCK_BYTES as usize);
        let range = 0..BLOCK_BYTES as usize;
        Piece { offset, range, buffer: seam.buffer, home: self.pool.clone() }
    }
}
