//! Chunks that leave memory: records, marks if they have positions, and a footer.

use crate::plan::Plan;
use crate::records::block::{BLOCK_BYTES, ChunkShape, FOOTER_BYTES, MARK_BYTES};

/// Marks take this part of a chunk.
pub(super) const MARKS_SHARE: u64 = 32;

impl Plan {
    /// A chunk of about that size which takes any record: its bytes, and its capacity.
    pub(super) fn sealed(&self, wanted: u64) -> (u64, ChunkShape) {
        let share = wanted / MARKS_SHARE / MARK_BYTES as u64;
        self.sealed_with(wanted, share.clamp(1, u32::MAX.into()) as u32)
    }

    /// The same with so many marks, if records have positions.
    pub(super) fn sealed_with(&self, wanted: u64, marks: u32) -> (u64, ChunkShape) {
        let marks = if self.stable { marks } else { 0 };
        let beyond_records = FOOTER_BYTES as u64 + u64::from(marks) * MARK_BYTES as u64;
        let least = self.framing.longest() as u64 + beyond_records;
        let bytes = (wanted - wanted % BLOCK_BYTES).max(least.next_multiple_of(BLOCK_BYTES));
        let shape = ChunkShape {
            room: self.framing.whole(bytes - beyond_records) as u32,
            marks: if self.stable { marks } else { u32::MAX },
        };
        (bytes, shape)
    }

    /// The most chunks that so many distributors have open for so many buckets: two of each, one that
    /// becomes full and the next; one more if marks may end a chunk; and what a unit fills.
    pub(super) fn open_chunks(
        &self,
        (buckets, distributors): (usize, usize),
        chunk: ChunkShape,
    ) -> usize {
        let each = 2 + usize::from(self.stable);
        distributors * (each * buckets + self.unit_chunks(chunk) + 1)
    }

    /// Chunks that a unit of the input fills.
    pub(super) fn unit_chunks(&self, chunk: ChunkShape) -> usize {
        self.framing.chunks_of(self.read_bytes as u64, chunk.room)
    }
}
