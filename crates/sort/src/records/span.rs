//! Stretches of the output: sorted records that follow each other, and bytes of a disk block.

use serde::{Deserialize, Serialize};

use crate::error::SortError;
use crate::records::contents::Contents;

/// Sorted records of one file that follow each other: how many, their first and their last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Span {
    /// Records before them.
    pub begin: u64,
    pub records: u64,
    /// The file of the output.
    pub file: usize,
    /// Sum of their CRC-32.
    pub sum: u128,
    pub first: Vec<u8>,
    pub last: Vec<u8>,
}

impl Span {
    pub(crate) fn end(&self) -> u64 {
        self.begin + self.records
    }

    /// Whether that one is the next in the same file.
    pub(crate) fn is_before(&self, other: &Span) -> bool {
        self.end() == other.begin && self.file == other.file
    }

    /// Adds the next one.
    pub(crate) fn join(&mut self, next: Span, contents: &dyn Contents) -> Result<(), SortError> {
        check(self, &next, contents)?;
        self.records += next.records;
        self.sum = self.sum.wrapping_add(next.sum);
        self.last = next.last;
        Ok(())
    }
}

/// Whether one span may stand before the other.
pub(crate) fn check(a: &Span, b: &Span, contents: &dyn Contents) -> Result<(), SortError> {
    let in_order = contents.in_order(&a.last, &b.first);
    if in_order {
        Ok(())
    } else {
        Err(SortError::Disorder { record: b.begin })
    }
}

/// A part of a disk block of the output, of which the rest is to come, or is elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    pub block: u64,
    /// Where in the block it begins.
    pub begin: usize,
    pub bytes: Vec<u8>,
}
