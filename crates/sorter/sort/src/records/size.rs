//! Amounts of records: their number and their bytes, which are independent if records differ in
//! length (docs/decisions/0021).

use std::ops::{Add, AddAssign, Range, Sub};

use serde::{Deserialize, Serialize};

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

/// The middles of `parts` equal parts of a range.
pub(crate) fn middles(range: Range<u64>, parts: u64) -> impl Iterator<Item = u64> {
    let length = range.end - range.start;
    (0..parts).map(move |part| range.start + portion(length, 2 * part + 1, 2 * parts))
}

/// Size and sum of the CRC-32 of some records: the account of a sort compares these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    /// Their size.
    pub size: Size,
    /// The sum, modulo 2^128.
    pub crc: u128,
}

impl Add for Sum {
    type Output = Sum;

    fn add(mut self, other: Sum) -> Sum {
        self += other;
        self
    }
}

impl Sub for Sum {
    type Output = Sum;

    fn sub(self, other: Sum) -> Sum {
        Sum {
            size: self.size - other.size,
            crc: self.crc.wrapping_sub(other.crc),
        }
    }
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
