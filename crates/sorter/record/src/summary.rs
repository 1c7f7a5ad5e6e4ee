//! The summary of a run of records: seven values, which valsort prints and writes to files.
//!
//! On a cluster, each node validates its part (`valsort -o part.sum`), the summaries are
//! concatenated in the order of the parts, and `valsort -s` validates the whole from them. A
//! summary in its file:
//!
//! ```text
//! 0                16         32       48          64        80            180          280
//! | first_unordered | unordered | records | duplicates | checksum | first record | last record |
//! ```
//!
//! A number is its upper and then its lower 64 bits, each little-endian. Record numbers count from
//! the first record of the run, which is 0; merging two runs renumbers those of the second
//! (`validate`).
//!
//! Source: valsort 1.5, whose files the tests read and write byte for byte. A file has no summary
//! of no records, nor of records that are not 100 bytes long.

use std::fmt;

use thiserror::Error;

use crate::checksum::Checksum;
use crate::gensort::RECORD_BYTES;

/// The length of a summary in its file.
pub const SUMMARY_BYTES: usize = NUMBERS * NUMBER_BYTES + 2 * RECORD_BYTES;

const NUMBERS: usize = 5;
const NUMBER_BYTES: usize = 16;

/// More records than any file holds. Below this bound, sums of summaries do not overflow.
const MAX_RECORDS: u128 = 1 << 64;

/// The result of validating one run of records. The default is that of a run without records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of the first record that is less than its predecessor, from 0 within the run.
    pub first_unordered: Option<u128>,
    /// The number of records that are less than their predecessor.
    pub unordered: u128,
    /// The number of records.
    pub records: u128,
    /// The number of records with the same key as their predecessor.
    pub duplicates: u128,
    /// The checksum of all records.
    pub checksum: Checksum,
    /// The first record; empty if there is none.
    pub first: Vec<u8>,
    /// The last record; empty if there is none.
    pub last: Vec<u8>,
}

/// The reason why a summary cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SummaryError {
    /// There are no records; valsort needs at least one.
    #[error("a summary of no records; leave empty parts out")]
    Empty,
    /// The records are not 100 bytes long, but this many.
    #[error("a summary file holds records of {RECORD_BYTES} bytes, not of {0}; use another report")]
    RecordLength(usize),
    /// The numbers contradict each other, for this reason.
    #[error("not a partition summary: {0}; write it again with valsort -o")]
    Damaged(&'static str),
}

impl Summary {
    /// Whether no record is less than its predecessor.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.unordered == 0
    }

    /// The summary in valsort's file format.
    ///
    /// # Errors
    /// If there are no records, or they are not 100 bytes long.
    pub fn to_bytes(&self) -> Result<[u8; SUMMARY_BYTES], SummaryError> {
        if self.records == 0 {
            return Err(SummaryError::Empty);
        }
        if self.first.len() != RECORD_BYTES {
            return Err(SummaryError::RecordLength(self.first.len()));
        }
        let numbers = [
            self.first_unordered.unwrap_or(0),
            self.unordered,
            self.records,
            self.duplicates,
            self.checksum.0,
        ];
        let mut bytes = [0; SUMMARY_BYTES];
        let (head, ends) = bytes.split_at_mut(NUMBERS * NUMBER_BYTES);
        for (place, number) in head.as_chunks_mut().0.iter_mut().zip(numbers) {
            *place = number_to_bytes(number);
        }
        let (first, last) = ends.split_at_mut(RECORD_BYTES);
        first.copy_from_slice(&self.first);
        last.copy_from_slice(&self.last);
        Ok(bytes)
    }

    /// Reads a summary in valsort's file format.
    ///
    /// # Errors
    /// If the bytes cannot be the summary of any run.
    pub fn from_bytes(bytes: &[u8; SUMMARY_BYTES]) -> Result<Summary, SummaryError> {
        let (head, ends) = bytes.split_at(NUMBERS * NUMBER_BYTES);
        let mut numbers = [0; NUMBERS];
        for (number, place) in numbers.iter_mut().zip(head.as_chunks().0) {
            *number = number_from_bytes(place);
        }
        let [first_unordered, unordered, records, duplicates, checksum] = numbers;
        check(first_unordered, unordered, records, duplicates)?;
        let (first, last) = ends.split_at(RECORD_BYTES);
        Ok(Summary {
            first_unordered: (unordered > 0).then_some(first_unordered),
            unordered,
            records,
            duplicates,
            checksum: Checksum(checksum),
            first: first.to_vec(),
            last: last.to_vec(),
        })
    }

    /// The lines that valsort prints, in its words. For a run without records valsort prints an
    /// error instead, and so must the caller.
    #[must_use]
    pub fn report_lines(&self) -> Vec<String> {
        let mut lines = Vec::with_capacity(4);
        if let Some(number) = self.first_unordered {
            lines.push(format!("First unordered record is record {number}"));
        }
        lines.push(format!("Records: {}", self.records));
        lines.push(format!("Checksum: {}", self.checksum));
        if self.is_ordered() {
            lines.push(format!("Duplicate keys: {}", self.duplicates));
            lines.push("SUCCESS - all records are in order".to_owned());
        } else {
            lines.push(format!(
                "ERROR - there are {} unordered records",
                self.unordered
            ));
        }
        lines
    }
}

impl fmt::Display for Summary {
    /// Writes the report, with a line ending after each line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report_lines()
            .iter()
            .try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Refuses numbers that contradict each other.
fn check(
    first_unordered: u128,
    unordered: u128,
    records: u128,
    duplicates: u128,
) -> Result<(), SummaryError> {
    if records == 0 {
        Err(SummaryError::Empty)
    } else if records >= MAX_RECORDS {
        Err(SummaryError::Damaged("more records than a file holds"))
    } else if unordered >= records || duplicates >= records {
        Err(SummaryError::Damaged(
            "more pairs of records than neighbours",
        ))
    } else if first_unordered >= records || (unordered > 0 && first_unordered == 0) {
        Err(SummaryError::Damaged(
            "a first unordered record that has no record before it",
        ))
    } else {
        Ok(())
    }
}

fn number_to_bytes(number: u128) -> [u8; NUMBER_BYTES] {
    number.rotate_left(64).to_le_bytes()
}

fn number_from_bytes(bytes: &[u8; NUMBER_BYTES]) -> u128 {
    u128::from_le_bytes(*bytes).rotate_left(64)
}
