//! Entries, which are sorted in place of records: the first eight key bytes and the address.
//!
//! ```text
//! Entry   | prefix: u64, key bytes 0..8 as a big-endian number | row: u64 |
//! row     | chunk index: u32 | byte offset in that chunk: u32 |
//! ```
//!
//! Sixteen bytes are one vector register and a quarter of a cache line, so an entry never straddles
//! two lines, and four of them leave as one full line (see the write-combining partition). Chunks
//! are shorter than 4 GiB, because an offset has 32 bits.

use crate::prefetch;
use bytemuck::{Pod, Zeroable};

/// Stands for one record in a sort.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Entry {
    /// Word 0 of the order: the first eight bytes of the normalised key, as a number.
    pub prefix: u64,
    /// The address of the record; see [`row`].
    pub row: u64,
}

/// The row (address) of a record that starts `offset` bytes into chunk number `chunk`.
pub const fn row(chunk: u32, offset: u32) -> u64 {
    ((chunk as u64) << 32) | offset as u64
}

/// The memory that rows address: chunks of records, all of one length.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    chunks: &'a [&'a [u8]],
    record_bytes: usize,
}

impl<'a> Rows<'a> {
    /// Records of `record_bytes` bytes each in `chunks`.
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
    /// If there is no whole record.
    #[inline]
    pub fn get(&self, row: u64) -> &'a [u8] {
        let offset = row as u32 as usize;
        &self.chunks[(row >> 32) as usize][offset..offset + self.record_bytes]
    }

    /// Prefetches the cache line at `offset` in the record at `row`.
    #[inline]
    pub fn prefetch(&self, row: u64, offset: usize) {
        prefetch::read(self.address(row).wrapping_add(offset));
    }

    /// The address of the record at `row`, for a prefetch, which accepts any address.
    #[inline]
    pub(crate) fn address(&self, row: u64) -> *const u8 {
        let chunk = self.chunks.get((row >> 32) as usize);
        chunk.map_or(std::ptr::null(), |chunk| {
            chunk.as_ptr().wrapping_add(row as u32 as usize)
        })
    }
}
