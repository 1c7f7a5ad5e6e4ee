//! The fingerprint of a multiset of records: the sum of their CRC-32s.
//!
//! A sum does not depend on order, so the input and the output of a sort have the same one; and it
//! adds up over parts, so parts may be summed anywhere. A lost, duplicated or altered record
//! changes it. It is no defence against deliberate changes.
//!
//! ```text
//! checksum { a, b, c } = crc32(a) + crc32(b) + crc32(c)   mod 2^128
//! ```
//!
//! Source: gensort `-c` and valsort; CRC-32 as in zlib (IEEE 802.3).

use std::fmt;

/// The wrapping 128-bit sum of the CRC-32 of each record, displayed as gensort and valsort print
/// it.
///
/// ```
/// let mut sum = record::Checksum::default();
/// sum.add_records(b"123456789123456789", 9);
/// assert_eq!(sum.to_string(), "197e8724c"); // 2 x cbf43926
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Checksum(pub u128);

impl Checksum {
    /// Adds one record.
    #[inline]
    pub fn add(&mut self, record: &[u8]) {
        self.0 = self.0.wrapping_add(u128::from(crc32fast::hash(record)));
    }

    /// Adds contiguous records of `record_bytes` bytes each.
    ///
    /// # Panics
    /// If `records` is not a whole number of records, or `record_bytes` is 0.
    pub fn add_records(&mut self, records: &[u8], record_bytes: usize) {
        let each = records.chunks_exact(record_bytes);
        assert!(
            each.remainder().is_empty(),
            "whole records of {record_bytes} bytes"
        );
        each.for_each(|record| self.add(record));
    }

    /// The checksum of both multisets together.
    #[must_use]
    pub fn merge(self, other: Checksum) -> Checksum {
        Checksum(self.0.wrapping_add(other.0))
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}
