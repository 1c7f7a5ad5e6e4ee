//! Units of work: what flows from stage to stage.
//!
//! ```text
//! input    |......Block......|......Block......|        as read, whole records, a position each
//! memory   bucket 0: Chunk Chunk   bucket 1: Chunk ...  chains of small buffers from one pool
//! output   |..Piece..|.Piece.|..Piece..|                sorted, whole disk blocks
//! ```
//!
//! Chains of small buffers let any distribution of records fill memory evenly (TritonSort's
//! LDBuffers, section 3.3).

use node::{Buffer, Pool};
use std::ops::Range;

/// The block of direct I/O: a page, which fits every device's block.
pub(crate) const BLOCK_BYTES: u64 = 4096;

/// Records as they were read, in input order.
#[derive(Debug)]
pub struct Block {
    /// Position of the first record in the whole input.
    pub first: u64,
    /// How many records.
    pub records: usize,
    /// Where they begin in the buffer: direct reads begin at whole disk blocks.
    pub start: usize,
    /// The memory they lie in.
    pub buffer: Buffer,
    /// Where the records are of several runs of positions, these: then `first` is that of none.
    pub marks: Vec<Mark>,
}

impl Block {
    /// Its parts whose positions follow each other: the first position, where each begins, how
    /// many.
    pub(crate) fn parts(&self, record_bytes: usize) -> Vec<(u64, usize, usize)> {
        if self.marks.is_empty() {
            return vec![(self.first, self.start, self.records)];
        }
        let begins = self.marks.iter().map(|mark| mark.start as usize);
        let ends = begins.clone().skip(1).chain([self.records]);
        let parts = self.marks.iter().zip(begins.zip(ends));
        let start = |begin| self.start + begin * record_bytes;
        parts
            .map(|(mark, (begin, end))| (mark.position, start(begin), end - begin))
            .collect()
    }

    /// Leaves one of its parts alone.
    pub(crate) fn focus(&mut self, (first, start, records): (u64, usize, usize)) {
        (self.first, self.start, self.records) = (first, start, records);
    }

    /// Where the records lie in the buffer.
    pub fn range(&self, record_bytes: usize) -> Range<usize> {
        self.start..self.start + self.records * record_bytes
    }
}

/// From record number `start` of a chunk on, records have the positions `position`, +1, ... in an
/// order that agrees with the input's: one mark for each run of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Number of the run's first record in its chunk.
    pub start: u32,
    /// Rank of that record.
    pub position: u64,
}

/// Bytes of a mark in a spill file: its position and its start.
pub(crate) const MARK_BYTES: usize = 12;

/// The end of a chunk in a spill file: its records, its marks, and a checksum of all before.
pub(crate) const FOOTER_BYTES: usize = 12;

/// The place where a chunk belongs, as a number that is part of the chunk's checksum. So a chunk
/// that a disk reads from another place is found out. The stamp takes no room in the chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(pub u32);

/// Some records of one bucket.
#[derive(Debug)]
pub struct Chunk {
    /// The bucket.
    pub bucket: u32,
    /// How many records, one behind the other from the buffer's start.
    pub records: u32,
    /// Input positions, where the order asks for them.
    pub marks: Vec<Mark>,
    /// The memory they lie in.
    pub buffer: Buffer,
}

/// All records of one bucket, and where they go.
#[derive(Debug)]
pub struct Bucket {
    /// Its number in key order.
    pub index: u32,
    /// Records before it in the whole output.
    pub first: u64,
    /// How many records.
    pub records: u64,
    /// Their chunks, in no order.
    pub chunks: Vec<Chunk>,
    /// Where they go.
    pub to: Destination,
}

/// Where in the output a bucket goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Which file, if the output is a set of them.
    pub file: usize,
    /// Records before it in that file.
    pub first: u64,
    /// Length of that file in bytes.
    pub file_bytes: u64,
}

/// Sorted records on their way to the disk.
#[derive(Debug)]
pub struct Piece {
    /// Which file of the output they go to.
    pub file: usize,
    /// Where they go in that file, in bytes.
    pub offset: u64,
    /// Which part of the buffer.
    pub range: Range<usize>,
    /// The memory they lie in.
    pub buffer: Buffer,
    /// Where the buffer goes then.
    pub home: Pool,
}

/// How much goes into a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkShape {
    /// Records at most.
    pub records: u32,
    /// Marks at most; there is room for them behind the records, if the chunk may be spilled.
    pub marks: u32,
}

/// At most so many records, that end at whole blocks where that can be.
pub(crate) fn whole_blocks(records: usize, record_bytes: usize) -> usize {
    let step = BLOCK_BYTES / greatest_common_divisor(BLOCK_BYTES, record_bytes as u64);
    let step = step as usize;
    if records > step {
        records - records % step
    } else {
        records
    }
}

pub(crate) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
