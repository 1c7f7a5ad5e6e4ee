//! The readers of the tools that only read, and their buffers: with room for any record that the input
//! may have.
//!
//! The system gives memory for the bytes that come, so the room costs addresses alone. Where those
//! are limited there is less of it.

use std::sync::Arc;

use node::{Buffer, Filled, Node, Pool, Queue};
use pipeline::{Failure, Pipeline, sharing};

use crate::error::no_memory;
use crate::files::input::Inputs;
use crate::names::StageName;
use crate::records::block::{BLOCK_BYTES, Block};
use crate::records::framing::Framing;
use crate::records::lengths::Lengths;
use crate::stages::{Cursor, Reader, Sifter, read};

/// The most readers of a tool.
pub(super) const READERS: usize = 2;

/// Requests in flight of a reader.
pub(super) const DEPTH: usize = 2;

/// The room for long records shrinks by this until the system has addresses for it.
const TIMES_LESS: usize = 8;

/// Readers of all inputs of a tool.
pub(super) struct BlockReaders {
    pub inputs: Inputs,
    pub framing: Framing,
    pub unit: usize,
    pub buffers: Vec<Buffer>,
    pub sifter: Option<Sifter>,
}

/// Blocks that were read, and the pool of their buffers.
#[derive(Clone)]
pub(super) struct ReadBlocks {
    pub blocks: Queue<Block>,
    pub pool: Pool,
}

impl BlockReaders {
    /// The number of readers: one, where bytes come in order.
    pub(super) fn count(inputs: &Inputs) -> usize {
        if inputs.is_seekable() { READERS } else { 1 }
    }

    /// Starts the readers for `takers` that take blocks.
    pub(super) fn start(self, node: &Node, pipeline: &mut Pipeline, takers: usize) -> ReadBlocks {
        let readers = BlockReaders::count(&self.inputs);
        let pool = pipeline.owns(Pool::new(node, "read buffers", self.buffers));
        let blocks = pipeline.owns(Queue::new(node, "blocks", takers, readers));
        let reader = Reader {
            cursor: Cursor::in_order(node, &self.inputs),
            inputs: Arc::new(self.inputs),
            framing: self.framing,
            unit_bytes: (self.unit),
            depth: DEPTH,
            pool: pool.clone(),
            out: blocks.clone(),
            most_lines: None,
            sampler: None,
            sifter: self.sifter,
            cut: None,
            from: None,
        };
        pipeline.stage(node, StageName::Reader, readers, sharing(reader, read));
        ReadBlocks { blocks, pool }
    }
}

/// `count` buffers for units of `unit` bytes and records of up to `longest` bytes, and the records that
/// they have room for.
pub(super) fn read_buffers(
    node: &Node,
    (count, unit): (usize, usize),
    framing: Framing,
    longest: u64,
) -> Result<(Framing, Vec<Buffer>), Failure> {
    let longest = usize::try_from(longest).unwrap_or(usize::MAX);
    let mut framing = framing.with_lengths(Lengths::about(framing.mean(), longest));
    loop {
        let bytes = unit.next_multiple_of(BLOCK_BYTES as usize) + framing.around();
        let longest = framing.longest();
        match node.buffers(count, bytes, Filled::Often) {
            Ok(buffers) => return Ok((framing, buffers)),
            Err(_) if !framing.is_fixed() && longest > unit => {
                framing =
                    framing.with_lengths(Lengths::about(framing.mean(), longest / TIMES_LESS));
            }
            Err(cause) => return Err(no_memory(count * bytes, &cause).into()),
        }
    }
}
