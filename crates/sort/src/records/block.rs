//! Units of work that flow from stage to stage.
//!
//! ```text
//! input    |......Block......|......Block......|        as read, whole records, a position each
//! memory   bucket 0: Chunk Chunk   bucket 1: Chunk ...  chains of small buffers from one pool
//! output   |..Piece..|.Piece.|..Piece..|                sorted, whole disk blocks
//! ```
//!
//! Chains of small buffers let any distribution of records fill memory evenly (TritonSort's
//! LDBuffers, section 3.3).

use std::ops::Range;

use node::{Buffer, Pool};

use crate::records::framing::Framing;
use crate::records::size::Size;

/// The block of direct I/O: a page, which fits every device's block.
pub(crate) const BLOCK_BYTES: u64 = 4096;

/// Records as they were read, in input order.
#[derive(Debug)]
pub struct Block {
    /// Position of the first record: bytes before it in the whole input.
    pub first: u64,
    /// Size of the records.
    pub size: Size,
    /// Offset of the records in the buffer: direct reads begin at whole disk blocks.
    pub start: usize,
    /// The buffer that holds them.
    pub buffer: Buffer,
    /// Marks of the stretches, if the records are not one stretch of the input; `first` means
    /// nothing then.
    pub marks: Vec<Mark>,
}

impl Block {
    /// Its stretches of successive input records: position, offset in the buffer, size.
    pub(crate) fn parts(&self, framing: Framing) -> Vec<(u64, usize, Size)> {
        if self.marks.is_empty() {
            return vec![(self.first, self.start, self.size)];
        }
        let begins = self.marks.iter().map(|mark| u64::from(mark.start));
        let ends = begins.clone().skip(1).chain([self.size.bytes]);
        let parts = self.marks.iter().zip(begins.zip(ends));
        let part = |(mark, (begin, end)): (&Mark, (u64, u64))| {
            let start = self.start + begin as usize;
            (mark.position, start, framing.size_of(end - begin))
        };
        parts.map(part).collect()
    }

    /// Narrows the block to one of its parts.
    pub(crate) fn focus(&mut self, (first, start, size): (u64, usize, Size)) {
        (self.first, self.start, self.size) = (first, start, size);
    }

    /// The records' bytes in the buffer.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.size.bytes as usize
    }
}

/// The start of a stretch of records in a chunk: from byte `start` on, records have position
/// `position` and the following ones. Their order agrees with the input's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Offset of the stretch in its chunk, in bytes.
    pub start: u32,
    /// Position of its first record: bytes before it in the whole input.
    pub position: u64,
}

/// Bytes of a mark in a spill file: its position and its start.
pub(crate) const MARK_BYTES: usize = 12;

/// Bytes of the footer of a chunk in a spill file: the number of its records, their bytes, the
/// number of its marks, and a checksum of all before.
pub(crate) const FOOTER_BYTES: usize = 16;

/// The place of a chunk as a number that is part of the chunk's checksum. So a chunk that a disk
/// reads from another place is found out. The stamp takes no room in the chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(pub u32);

/// Records of one bucket.
#[derive(Debug)]
pub struct Chunk {
    /// Number of the bucket.
    pub bucket: u32,
    /// Size of the records, which begin at the buffer's start.
    pub size: Size,
    /// Input positions, if the order needs them.
    pub marks: Vec<Mark>,
    /// The buffer that holds them.
    pub buffer: Buffer,
}

/// All records of one bucket, and their place in the output.
#[derive(Debug)]
pub struct Bucket {
    /// Its number in key order.
    pub index: u32,
    /// Records before it in the whole output.
    pub first: Size,
    /// Size of the records.
    pub size: Size,
    /// Its chunks, in no order.
    pub chunks: Vec<Chunk>,
    /// The place in the output.
    pub to: Destination,
}

impl Bucket {
    /// A row's position in the input, from the mark of its stretch.
    pub(crate) fn position(&self, row: u64) -> u64 {
        let chunk = &self.chunks[(row >> 32) as usize];
        let start = row as u32;
        let after = chunk.marks.partition_point(|mark| mark.start <= start);
        let mark = chunk.marks[after - 1];
        mark.position + u64::from(start - mark.start)
    }
}

/// The place of a bucket in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Destination {
    /// Number of the file, if the output is a set.
    pub file: usize,
    /// Bytes before it in that file.
    pub offset: u64,
    /// Length of that file in bytes.
    pub file_bytes: u64,
}

/// Sorted records on their way to the disk.
#[derive(Debug)]
pub struct Piece {
    /// Number of the output file.
    pub file: usize,
    /// Offset in that file, in bytes.
    pub offset: u64,
    /// The part of the buffer to write.
    pub range: Range<usize>,
    /// The buffer that holds them.
    pub buffer: Buffer,
    /// The pool that gets the buffer back.
    pub home: Pool,
}

/// The capacity of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkShape {
    /// Maximum bytes of records, whole records.
    pub room: u32,
    /// Maximum number of marks. A chunk that may be spilled has room for them behind the records.
    pub marks: u32,
}
