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

/// The most chunks of a run on disk: it has a few megabytes, and a chunk at least a disk block.
pub(crate) const MOST_CHUNKS_OF_RUN: usize = 2047;

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

    /// Adds the records of a later block behind its own, where both begin at the start of their buffers.
    pub(crate) fn append(&mut self, next: &Block) {
        let end = self.size.bytes as usize;
        if self.marks.is_empty() {
            self.marks = self.stretches();
        }
        self.marks
            .extend(next.stretches().into_iter().map(|mark| Mark {
                start: mark.start + end as u32,
                ..mark
            }));
        self.buffer.copy_from(end, &next.buffer, next.range());
        self.size += next.size;
    }

    /// A mark for each stretch of successive input records.
    pub(crate) fn stretches(&self) -> Vec<Mark> {
        if self.marks.is_empty() {
            vec![Mark {
                start: 0,
                position: self.first,
            }]
        } else {
            self.marks.clone()
        }
    }

    /// Removes all but these of its records, which are one stretch. Those behind others move to their
    /// places, and their positions with them, so that positions still ascend.
    pub(crate) fn keep(&mut self, kept: Ranges) {
        let all = self.range();
        self.size = kept.keep(&mut self.buffer.bytes_mut()[all]);
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

/// Records of a stretch that stay, in its order: neighbours make one range.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    ranges: Vec<Range<usize>>,
    records: u64,
}

impl Ranges {
    pub(crate) fn add(&mut self, start: usize, bytes: usize) {
        self.records += 1;
        match self.ranges.last_mut() {
            Some(last) if last.end == start => last.end += bytes,
            _ => self.ranges.push(start..start + bytes),
        }
    }

    /// Bytes that are kept before an offset.
    fn before(&self, offset: u32) -> u32 {
        let offset = offset as usize;
        let ranges = self.ranges.iter().take_while(|range| range.start < offset);
        let kept = ranges.map(|range| range.end.min(offset) - range.start);
        kept.sum::<usize>() as u32
    }

    /// Moves them to the front of the stretch.
    pub(crate) fn keep(self, stretch: &mut [u8]) -> Size {
        let mut kept = 0;
        for range in self.ranges {
            let next = kept + range.len();
            stretch.copy_within(range, kept);
            kept = next;
        }
        Size {
            records: self.records,
            bytes: kept as u64,
        }
    }
}

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
    /// Removes all records but those of these rows, which ascend; `length` is that of the first record
    /// of some bytes.
    pub(crate) fn keep(
        &mut self,
        rows: impl Iterator<Item = u64>,
        length: impl Fn(&[u8]) -> usize,
    ) {
        let mut rows = rows.peekable();
        for (number, chunk) in (0..).zip(&mut self.chunks) {
            let records = &mut chunk.buffer.bytes_mut()[..chunk.size.bytes as usize];
            let mut kept = Ranges::default();
            while let Some(row) = rows.next_if(|row| row >> 32 == number) {
                let start = row as u32 as usize;
                kept.add(start, length(&records[start..]));
            }
            // Positions ascend behind a mark as before, and end before that of the next.
            for mark in &mut chunk.marks {
                mark.start = kept.before(mark.start);
            }
            // Of marks of one place the last has the records.
            chunk.marks.reverse();
            chunk.marks.dedup_by_key(|mark| mark.start);
            chunk.marks.reverse();
            chunk.size = kept.keep(records);
        }
        self.size = self.chunks.iter().map(|chunk| chunk.size).sum();
    }

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
