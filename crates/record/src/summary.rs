//! What a run of records is, in seven values: what valsort prints, and what it exchanges.
//!
//! Over a cluster, each node validates its part (`valsort -o part.sum`), the summaries are joined
//! in the order of the parts, and `valsort -s` judges the whole from them alone. The file holds,
//! one after the other:
//!
//! ```text
//! 0                16         32       48          64        80            180          280
//! | first_unordered | unordered | records | duplicates | checksum | first record | last record |
//! ```
//!
//! A number is its upper and then its lower 64 bits, each little-endian. Numbers of records count
//! from the run's own first, which is 0; merging two runs adds what lies before (`validate`).
//!
//! Source: valsort 1.5, whose files the tests read and write byte for byte. It refuses a file that
//! cannot be a summary, and to write one of no records or of records that are not 100 bytes long.

use std::fmt;

use thiserror::Error;

use crate::checksum::Checksum;
use crate::gensort::RECORD_BYTES;

/// Length of a summary in its file.
pub const SUMMARY_BYTES: usize = NUMBERS * NUMBER_BYTES + 2 * RECORD_BYTES;

const NUMBERS: usize = 5;
const NUMBER_BYTES: usize = 16;

/// No file holds more records; below this bound sums of summaries do not overflow.
const MAX_RECORDS: u128 = 1 << 64;

/// What a validator found in one run of records. The default is the run of no records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The first record less than the one before it, counted from 0 within the run.
    pub first_unordered: Option<u128>,
    /// How many records are less than the one before.
    pub unordered: u128,
    /// How many records there are.
    pub records: u128,
    /// How many records have the key of the one before.
    pub duplicates: u128,
    /// The fingerprint of the records.
    pub checksum: Checksum,
    /// The first record; empty if there is none.
    pub first: Vec<u8>,
    /// The last record; empty if there is none.
    pub last: Vec<u8>,
}

/// Why a summary cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SummaryError {
    /// There is nothing to summarise: valsort wants at least one record.
    #[error("a summary of no records; leave empty parts out")]
    Empty,
    /// The records are not those of gensort.
    #[error("a summary file holds records of {RECORD_BYTES} bytes, not of {0}; use another report")]
    RecordLength(usize),
    /// The numbers contradict each other.
    #[error("not a partition summary: {0}; write it again with valsort -o")]
    Damaged(&'static str),
}

impl Summary {
    /// Whether no record is less than the one before it.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.unordered == 0
    }

    /// The summary as valsort writes it.
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

    /// Reads a summary that valsort wrote.
    ///
    /// # Errors
    /// If the bytes cannot be the summary of any records.
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

    /// The lines that valsort prints, in its words. A run without records has no report: valsort,
    /// and so the command, calls it an error.
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
    /// The report, each line with its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report_lines()
            .iter()
            .try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Refuses numbers that no run of records has.
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
