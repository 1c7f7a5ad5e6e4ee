//! Places in spill files.

use crate::records::block::{BLOCK_BYTES, Stamp};

/// Bits of the number of a disk block in a file.
pub(crate) const BLOCK_BITS: u32 = 34;

/// A file is full at 64 TiB.
pub(crate) const MOST_FILE_BYTES: u64 = BLOCK_BYTES << BLOCK_BITS;

pub(crate) const FILE_BITS: u32 = 11;

/// The length of a packed chunk is counted in units, of which it has at most this many.
const MOST_UNITS: usize = u8::MAX as usize;

/// The unit in which the length of a packed chunk is counted, in bytes: disk blocks, more than one if
/// chunks are larger than a megabyte.
pub(crate) fn packed_unit(chunk_bytes: usize) -> usize {
    let block = BLOCK_BYTES as usize;
    chunk_bytes.div_ceil(MOST_UNITS * block).max(1) * block
}

/// A range of a spill file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Number of the file.
    pub file: usize,
    /// Byte offset.
    pub offset: u64,
    /// Length in bytes, whole disk blocks.
    pub bytes: u64,
}

/// The stamps of a file's chunks. A stamp is made of the file's name, which no other spill file
/// has, and of the offset. A resumed sort finds its files under the same names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    pub(super) file: u32,
}

impl Stamps {
    /// The stamp of the chunk that begins at `offset`. Within 16 TiB of a file no two stamps are
    /// equal.
    pub(crate) fn at(self, offset: u64) -> Stamp {
        let block = offset / BLOCK_BYTES;
        Stamp(self.file ^ block as u32 ^ (block >> 32) as u32)
    }
}

/// The wanted place of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Number of the temporary directory.
    pub directory: usize,
    /// Position of its records in the output, from 0 to 1.
    pub position: f64,
    /// Its partition, if it has one.
    pub partition: Option<usize>,
}
