//! Records of a merge of inputs that are longer than its buffers: each gets a buffer of its own.
//!
//! Nobody knows the longest record of an input before its end, and a merge writes before it has read all.
//! So it does not begin again with larger buffers, as other sorts do: memory that the plan leaves idle
//! holds such a record until it is merged.
//!
//! ```text
//! reads     |ab\n|cde|fghij|klmn|op\n|q\n|
//! chunks    |ab\n|   |cdefghijklmnop\nq\n|     one of its own size
//! ```

use std::sync::Arc;

use node::{Buffer, Filled, Mutex, Node, Pool};
use pipeline::Failure;

use crate::error::no_memory;

/// Copies of a record that are in memory at once between the input and the output: it is gathered in
/// memory that doubles, read, merged, carried, and kept as the last of its input, of the merge and of
/// the checks.
const COPIES: u64 = 8;

/// The idle memory; clones share it.
#[derive(Clone)]
pub(crate) struct LongRecords {
    idle: Arc<Mutex<u64>>,
    /// The buffers of all other chunks.
    pool: Pool,
    chunk_bytes: usize,
}

impl LongRecords {
    /// Chunks of `chunk_bytes` bytes are in buffers of the pool, beside which `idle` bytes are free.
    pub(crate) fn new(pool: Pool, chunk_bytes: usize, idle: u64) -> LongRecords {
        LongRecords {
            idle: Arc::new(Mutex::new(idle)),
            pool,
            chunk_bytes,
        }
    }

    /// Reserves memory for a record that grows from `held` to `bytes` bytes. Returns whether there is
    /// enough.
    pub(super) fn reserve(&self, held: usize, bytes: usize) -> bool {
        let more = COPIES * bytes.saturating_sub(held) as u64;
        let mut idle = self.idle.lock();
        let is_there = more <= *idle;
        if is_there {
            *idle -= more;
        }
        is_there
    }

    /// A buffer for a chunk with a record for which memory is reserved.
    pub(super) fn buffer(&self, node: &Node, bytes: usize) -> Result<Buffer, Failure> {
        let buffers = node.buffers(1, bytes, Filled::Once);
        let buffers = buffers.map_err(|cause| no_memory(bytes, &cause))?;
        let mut buffer = buffers.into_iter().next().expect("one was asked for");
        buffer.set_capacity(bytes);
        Ok(buffer)
    }

    /// Gives the buffer of a chunk back to the pool, or its memory if it is its own.
    pub(super) async fn give_back(&self, node: &Node, buffer: Buffer) {
        if buffer.capacity() <= self.chunk_bytes {
            self.pool.give(node, buffer).await;
            return;
        }
        *self.idle.lock() += COPIES * buffer.capacity() as u64;
    }
}
