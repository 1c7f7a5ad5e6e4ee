//! The chunks of a merge: one size serves the input, the runs and the merge.

use crate::plan::Shape;
use crate::records::block::{BLOCK_BYTES, FOOTER_BYTES, greatest_common_divisor};

/// A chunk, and what fits into it.
pub(super) struct Chunk {
    pub bytes: u64,
    /// Records that a read of the input brings.
    pub block_records: usize,
    /// Records of a run.
    pub records: usize,
}

impl Chunk {
    /// A chunk of about that size. If it can be, reads of the input begin and end at whole disk
    /// blocks; else there is a block more on either side.
    pub(super) fn of(shape: &Shape, wanted: u64) -> Chunk {
        let record = shape.record_bytes as u64;
        let step = BLOCK_BYTES / greatest_common_divisor(BLOCK_BYTES, record);
        let whole = wanted / (step * record);
        let (bytes, block_records) = if whole > 1 {
            (whole * step * record + BLOCK_BYTES, whole * step)
        } else {
            let beside = 2 * BLOCK_BYTES;
            let bytes = wanted.max(record + beside).next_multiple_of(BLOCK_BYTES);
            (bytes, (bytes - beside) / record)
        };
        let records = (bytes - FOOTER_BYTES as u64) / record;
        Chunk {
            bytes,
            block_records: block_records as usize,
            records: records as usize,
        }
    }
}
