//! Stretches of the output: successive sorted records, and bytes of incomplete disk blocks.

use serde::{Deserialize, Serialize};

use crate::error::SortError;
use crate::records::contents::Contents;
use crate::records::size::Size;

/// Successive sorted records of one output file, with the first and the last one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Span {
    /// Records before them in the whole output.
    pub begin: Size,
    pub size: Size,
    /// Number of the output file.
    pub file: usize,
    /// Sum of their CRC-32.
    pub sum: u128,
    pub first: Vec<u8>,
    pub last: Vec<u8>,
}

impl Span {
    pub(crate) fn end(&self) -> Size {
        self.begin + self.size
    }

    pub(crate) fn is_before(&self, other: &Span) -> bool {
        self.end() == other.begin && self.file == other.file
    }

    pub(crate) fn join(&mut self, next: Span, contents: &dyn Contents) -> Result<(), SortError> {
        check(self, &next, contents)?;
        self.size += next.size;
        self.sum = self.sum.wrapping_add(next.sum);
        self.last = next.last;
        Ok(())
    }
}

/// Checks that span `a` may stand before `b`.
pub(crate) fn check(a: &Span, b: &Span, contents: &dyn Contents) -> Result<(), SortError> {
    let in_order = contents.in_order(&a.last, &b.first);
    if in_order {
        Ok(())
    } else {
        Err(SortError::Disorder {
            record: b.begin.records,
        })
    }
}

/// A part of a disk block of the output; the rest comes later, or lies elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    pub block: u64,
    /// Byte offset in the block.
    pub begin: usize,
    pub bytes: Vec<u8>,
}
