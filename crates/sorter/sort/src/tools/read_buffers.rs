//! Buffers of the tools that only read: with room for any record that the input may have.
//!
//! The system gives memory for the bytes that come, so the room costs addresses alone. Where those
//! are limited there is less of it.

use node::{Buffer, Filled, Node};
use pipeline::Failure;

use crate::error::no_memory;
use crate::records::block::BLOCK_BYTES;
use crate::records::framing::Framing;
use crate::records::lengths::Lengths;

/// The room for long records shrinks by this until the system has addresses for it.
const TIMES_LESS: usize = 8;

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
