//! Inputs: gensort's records, and orders of keys that are hard for some sorts.
//!
//! ```text
//! uniform   gensort          equal     one record, again and again
//! skewed    gensort -s       sorted    keys ascend in even steps; reverse   they descend
//! ```

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use kernel::RecordCrc;
use record::{Checksum, Generator, RECORD_BYTES, Style};
use terminal::ending::failure::CliFailure;

use crate::records::generated;

/// The order in which keys come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// Random keys
    #[default]
    Uniform,
    /// Keys that crowd around a few beginnings, as of gensort -s
    Skewed,
    /// The same record, again and again
    Equal,
    /// Ascending keys
    Sorted,
    /// Descending keys
    Reverse,
}

/// Records that are made at a time: some 4 MB.
const UNIT_RECORDS: u64 = 40_000;

/// Bytes of a key that count records; of text, digits.
const BINARY_PLACES: usize = 8;
const TEXT_PLACES: usize = 10;

impl Pattern {
    /// Its name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value()
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default()
    }

    /// Writes a file of such records.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn make(self, path: &Path, style: Style, records: u64) -> Result<Checksum, CliFailure> {
        let skewed = match self {
            Pattern::Uniform => false,
            Pattern::Skewed => true,
            _ => {
                return self
                    .synthesise(path, style, records)
                    .map_err(|cause| failed(path, &cause));
            }
        };
        generated(path, Generator { style, skewed }, records)
    }

    fn synthesise(self, path: &Path, style: Style, records: u64) -> io::Result<Checksum> {
        let mut file = File::create(path)?;
        let crc = RecordCrc::new(RECORD_BYTES);
        let mut unit = vec![0; UNIT_RECORDS as usize * RECORD_BYTES];
        let mut sum = Checksum::default();
        for first in (0..records).step_by(UNIT_RECORDS as usize) {
            let count = UNIT_RECORDS.min(records - first);
            let out = &mut unit[..count as usize * RECORD_BYTES];
            self.fill(style, first, records, out);
            sum = sum.merge(Checksum(u128::from(crc.sum(out))));
            file.write_all(out)?;
        }
        file.sync_all()?;
        Ok(sum)
    }

    /// Records from number `first` on: gensort's, with other keys.
    fn fill(self, style: Style, first: u64, records: u64, out: &mut [u8]) {
        let generator = Generator {
            style,
            skewed: false,
        };
        generator.fill(u128::from(first), out);
        let mut same = [0; RECORD_BYTES];
        generator.fill(0, &mut same);
        for (number, record) in (first..).zip(out.as_chunks_mut::<RECORD_BYTES>().0) {
            match self {
                Pattern::Equal => *record = same,
                Pattern::Reverse => place(style, records - 1 - number, records, record),
                _ => place(style, number, records, record),
            }
        }
    }
}

/// Writes the key of that place among `records` keys, which stand in even steps.
fn place(style: Style, place: u64, records: u64, record: &mut [u8; RECORD_BYTES]) {
    let of = |keys: u128| u128::from(place) * keys / u128::from(records);
    match style {
        Style::Binary => {
            let key = of(1 << u64::BITS) as u64;
            record[..BINARY_PLACES].copy_from_slice(&key.to_be_bytes());
        }
        Style::Ascii => {
            let key = of(10_u128.pow(TEXT_PLACES as u32));
            record[..TEXT_PLACES].copy_from_slice(format!("{key:0TEXT_PLACES$}").as_bytes());
        }
    }
}

fn failed(path: &Path, cause: &io::Error) -> CliFailure {
    let message = format!("cannot make the input {}: {cause}", path.display());
    CliFailure {
        file: Some(path.to_owned()),
        ..CliFailure::new("io", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDS: u64 = UNIT_RECORDS + 7;

    fn keys(pattern: Pattern, style: Style) -> Vec<Vec<u8>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let sum = pattern.make(file.path(), style, RECORDS).unwrap();
        let records = std::fs::read(file.path()).unwrap();
        assert_eq!(records.len() as u64, RECORDS * RECORD_BYTES as u64);
        let mut naive = Checksum::default();
        naive.add_records(&records, RECORD_BYTES);
        assert_eq!(sum, naive);
        let lines = records
            .chunks(RECORD_BYTES)
            .all(|record| record.ends_with(b"\r\n"));
        assert_eq!(lines, style == Style::Ascii);
        records
            .chunks(RECORD_BYTES)
            .map(|record| record[..10].to_vec())
            .collect()
    }

    #[test]
    fn keys_ascend_descend_or_stay() {
        for style in [Style::Binary, Style::Ascii] {
            let sorted = keys(Pattern::Sorted, style);
            assert!(sorted.is_sorted_by(|a, b| a < b));
            let reverse = keys(Pattern::Reverse, style);
            assert!(reverse.is_sorted_by(|a, b| a > b));
            assert!(
                keys(Pattern::Equal, style)
                    .windows(2)
                    .all(|two| two[0] == two[1])
            );
            assert!(!keys(Pattern::Uniform, style).is_sorted());
            // Keys reach over the whole range, not over a corner of it.
            assert!(sorted[0][0] + 9 <= sorted.last().unwrap()[0]);
        }
    }
}
