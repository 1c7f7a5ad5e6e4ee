//! What is sorted in place of a record: its first eight key bytes and its address.
//!
//! ```text
//! Entry   | prefix: u64, key bytes 0..8 as a big-endian number | row: u64 |
//! row     | chunk index: u32 | byte offset in that chunk: u32 |
//! ```
//!
//! Sixteen bytes are one vector register and a quarter of a cache line, so an entry never straddles
//! two lines, and four of them leave as one full line (see the write-combining partition).
//!
//! Refuses: chunks of 4 GiB and more, as an offset has 32 bits.

use crate::prefetch;
use bytemuck::{Pod, Zeroable};

/// One record while it is sorted: the first eight bytes of its normalised key, and where it is.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Entry {
    /// Word 0 of the order: the first eight bytes of the normalised key, as a number.
    pub prefix: u64,
    /// Where the record is; see [`row`].
    pub row: u64,
}

/// The row of a record that starts `offset` bytes into chunk number `chunk`.
pub const fn row(chunk: u32, offset: u32) -> u64 {
    ((chunk as u64) << 32) | offset as u64
}

/// The records that rows point into: chunks of memory, all records of one length.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    chunks: &'a [&'a [u8]],
    record_bytes: usize,
}

impl<'a> Rows<'a> {
    /// Records of `record_bytes` each in `chunks`.
    ///
    /// # Panics
    /// If `record_bytes` is zero.
    pub fn new(chunks: &'a [&'a [u8]], record_bytes: usize) -> Self {
        assert!(record_bytes > 0, "a record has at least one byte");
        Self {
            chunks,
            record_bytes,
        }
    }

    /// The length of every record.
    pub fn record_bytes(&self) -> usize {
        self.record_bytes
    }

    /// The record at `row`.
    ///
    /// # Panics
    /// If no whole record is there.
    #[inline]
    pub fn get(&self, row: u64) -> &'a [u8] {
        let offset = row as u32 as usize;
        &self.chunks[(row >> 32) as usize][offset..offset + self.record_bytes]
    }

    /// Asks for the cache line that is `offset` bytes into the record at `row`.
    #[inline]
    pub fn prefetch(&self, row: u64, offset: usize) {
        prefetch::read(self.address(row).wrapping_add(offset));
    }

    /// Where the record at `row` starts, for a prefetch; never dereferenced, so never wrong.
    #[inline]
    pub(crate) fn address(&self, row: u64) -> *const u8 {
        let chunk = self.chunks.get((row >> 32) as usize);
        chunk.map_or(std::ptr::null(), |chunk| {
            chunk.as_ptr().wrapping_add(row as u32 as usize)
        })
    }
}
