//! Amounts of records: their number and their bytes, which are independent if records differ in
//! length (docs/decisions/0021).

use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

use crate::records::block::BLOCK_BYTES;

/// An amount of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Number of records.
    pub records: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Size {
    /// The first `part` of `of` equal parts. The bytes are an estimate if records differ in length.
    pub(crate) fn upto(self, part: u64, of: u64) -> Size {
        let records = portion(self.records, part, of);
        let bytes = portion(self.bytes, records, self.records);
        Size { records, bytes }
    }
}

/// The first `part` of `of` equal parts of `all`, rounded down.
pub(crate) fn portion(all: u64, part: u64, of: u64) -> u64 {
    (u128::from(all) * u128::from(part) / u128::from(of.max(1))) as u64
}

/// Size and sum of the CRC-32 of some records: the account of a sort compares these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum {
    pub size: Size,
    pub crc: u128,
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        self.size += other.size;
        self.crc = self.crc.wrapping_add(other.crc);
    }
}

impl std::iter::Sum for Sum {
    fn sum<I: Iterator<Item = Sum>>(sums: I) -> Sum {
        sums.fold(Sum::default(), |mut all, sum| {
            all += sum;
            all
        })
    }
}

impl Add for Size {
    type Output = Size;

    fn add(self, other: Size) -> Size {
        Size {
            records: self.records + other.records,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        *self = *self + other;
    }
}

impl Sub for Size {
    type Output = Size;

    fn sub(self, other: Size) -> Size {
        Size {
            records: self.records - other.records,
            bytes: self.bytes - other.bytes,
        }
    }
}

impl std::iter::Sum for Size {
    fn sum<I: Iterator<Item = Size>>(sizes: I) -> Size {
        sizes.fold(Size::default(), Size::add)
    }
}

impl<'a> std::iter::Sum<&'a Size> for Size {
    fn sum<I: Iterator<Item = &'a Size>>(sizes: I) -> Size {
        sizes.copied().sum()
    }
}

/// Divides a sequence of bytes into records. All records have one length now; the methods are those
/// that records of unequal length can have, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    record_bytes: usize,
}

/// Records of the sort benchmark, 100 bytes each.
pub(crate) const GENSORT: Framing = Framing {
    record_bytes: record::RECORD_BYTES,
};

impl Framing {
    /// Records of one length, at least a byte.
    pub const fn fixed(record_bytes: usize) -> Framing {
        assert!(record_bytes > 0, "a record has a byte");
        Framing { record_bytes }
    }

    /// Bytes of the longest record: a buffer with that much room takes any record.
    pub fn longest(self) -> usize {
        self.record_bytes
    }

    /// The most records that `bytes` bytes hold.
    pub fn most_in(self, bytes: u64) -> u64 {
        bytes / self.record_bytes as u64
    }

    /// The size of `records` records of one length.
    pub(crate) fn of(self, records: u64) -> Size {
        let bytes = records * self.record_bytes as u64;
        Size { records, bytes }
    }

    /// The size of whole records in `bytes` bytes.
    pub(crate) fn size_of(self, bytes: u64) -> Size {
        let records = self.most_in(bytes);
        debug_assert!(self.is_whole(bytes));
        Size { records, bytes }
    }

    /// Room for any `records` records, in bytes.
    pub(crate) fn room_for(self, records: u64) -> u64 {
        records.saturating_mul(self.record_bytes as u64)
    }

    /// The end of the last record that ends within `bytes` bytes, counted from the beginning of a
    /// record.
    pub(crate) fn whole(self, bytes: u64) -> u64 {
        bytes - bytes % self.record_bytes as u64
    }

    /// As [`Framing::whole`], but at least one record.
    pub(crate) fn whole_or_one(self, bytes: u64) -> u64 {
        self.whole(bytes).max(self.record_bytes as u64)
    }

    /// The end of the first record that ends at or behind `bytes` bytes, counted from the beginning
    /// of a record.
    pub(crate) fn covering(self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.record_bytes as u64)
    }

    /// Whether a record can have `bytes` bytes.
    pub(crate) fn is_record(self, bytes: usize) -> bool {
        bytes == self.record_bytes
    }

    pub(crate) fn is_whole(self, bytes: u64) -> bool {
        bytes.is_multiple_of(self.record_bytes as u64)
    }

    /// Bytes after which both a record and a disk block end.
    pub(crate) const fn period(self) -> u64 {
        let record = self.record_bytes as u64;
        BLOCK_BYTES / greatest_common_divisor(BLOCK_BYTES, record) * record
    }

    /// Whole records of at most `bytes`, one at least, that end with a disk block where possible.
    pub(crate) fn unit(self, bytes: u64) -> usize {
        let period = self.period();
        let unit = match bytes > period {
            true => bytes - bytes % period,
            false => self.whole_or_one(bytes),
        };
        unit as usize
    }
}

const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
