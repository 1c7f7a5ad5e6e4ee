//! The tests that every sort of entries must pass. `kit!(name, sort)` makes them a module.

use kernel::patterns::{Pattern, draw, entries_of};
use kernel::{Entry, Rows, WholeRecords, Words, gather};
use proptest::prelude::ProptestConfig;

/// A sort under test, of records of any length.
pub type Sort = fn(&mut [Entry], &mut [Entry], &WholeRecords<'_>);

/// Compares a sort of `records` with the oracle, and checks that prefixes are restored.
pub fn check(by: Sort, records: &[u8], record_bytes: usize, what: &str) {
    let mut expected: Vec<&[u8]> = records.chunks_exact(record_bytes).collect();
    expected.sort();
    let chunks = [records];
    let rows = Rows::new(&chunks, record_bytes);
    let words = WholeRecords(rows);
    let mut entries = entries_of(records, record_bytes);
    let mut scratch = vec![Entry::default(); entries.len()];
    by(&mut entries, &mut scratch, &words);
    let mut out = vec![0; records.len()];
    gather(&rows, &entries, &mut out);
    assert!(out == expected.concat(), "order: {what}");
    let mut seen: Vec<u64> = entries.iter().map(|entry| entry.row).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), entries.len(), "rows: {what}");
    for entry in &entries {
        assert_eq!(entry.prefix, words.word(entry.row, 0), "prefix: {what}");
    }
}

/// Checks every pattern at these lengths.
pub fn patterns(by: Sort, counts: &[usize], record_bytes: usize) {
    for pattern in Pattern::ALL {
        for &count in counts {
            let seed = count as u64;
            let records = draw(pattern, seed, count, record_bytes);
            let what = format!(
                "{} x {count} of {record_bytes}, seed {seed}",
                pattern.name()
            );
            check(by, &records, record_bytes, &what);
        }
    }
}

/// Checks all sequences of up to six records over three values, which differ at byte `differ`.
pub fn exhaustive(by: Sort, record_bytes: usize, differ: usize) {
    for len in 0..=6u32 {
        for code in 0..3usize.pow(len) {
            let mut records = vec![9; len as usize * record_bytes];
            let mut rest = code;
            for record in records.chunks_exact_mut(record_bytes) {
                record[differ] = (rest % 3) as u8;
                rest /= 3;
            }
            check(
                by,
                &records,
                record_bytes,
                &format!("sequence {code} of {len}"),
            );
        }
    }
}

/// Lengths around the thresholds for short ranges.
pub const SHORT: &[usize] = if cfg!(miri) {
    &[0, 1, 2, 25, 100]
} else {
    &[
        0, 1, 2, 3, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 2047,
        2048, 2049,
    ]
};

/// Lengths around the thresholds of buckets, of threads and of streaming.
pub const LONG: &[usize] = &[
    5000,
    16 << 10,
    (32 << 10) - 1,
    32 << 10,
    (32 << 10) + 1,
    (128 << 10) - 1,
    128 << 10,
];

macro_rules! kit {
    ($name:ident, $by:expr) => {
        mod $name {
            use super::kit::*;
            use super::*;

            #[test]
            fn short_inputs() {
                for record_bytes in [1, 7, 8, 9, 10, 16, 100] {
                    patterns($by, SHORT, record_bytes);
                }
            }

            #[cfg_attr(miri, ignore = "too long")]
            #[test]
            fn long_inputs() {
                patterns($by, LONG, 10);
                patterns($by, &[33_000], 100);
            }

            #[cfg_attr(miri, ignore = "too long")]
            #[test]
            fn streamed_inputs() {
                patterns($by, &[(512 << 10) - 1, (512 << 10) + 1], 9);
            }

            #[cfg_attr(miri, ignore = "too long")]
            #[test]
            fn tiny_inputs_exhaustively() {
                exhaustive($by, 8, 0);
                exhaustive($by, 8, 7);
                exhaustive($by, 17, 16);
            }

            #[cfg_attr(miri, ignore = "too long")]
            #[test]
            fn long_records_that_differ_late_or_never() {
                let record_bytes = 1 << 20;
                for last in [0u8, 1] {
                    let mut records = vec![b'x'; 60 * record_bytes];
                    for (number, record) in records.chunks_exact_mut(record_bytes).enumerate() {
                        record[record_bytes - 1] = last * (number * 7 % 60) as u8;
                    }
                    check($by, &records, record_bytes, "records of a megabyte");
                }
            }
        }
    };
}

/// Rows of three words in a table, with the default methods of `Words`.
pub struct Table(Vec<[u64; 3]>);

impl Words for Table {
    fn words(&self) -> u32 {
        3
    }

    fn word(&self, row: u64, depth: u32) -> u64 {
        self.0[row as usize][depth as usize]
    }
}

/// Checks a sort of rows whose words are from a small alphabet, so that ties of every depth occur.
pub fn table_sorts(codes: &[[usize; 3]], by: impl FnOnce(&mut [Entry], &mut [Entry], &Table)) {
    const ALPHABET: [u64; 8] = [0, 1, 2, 1 << 20, 1 << 40, 1 << 63, u64::MAX - 1, u64::MAX];
    let rows = codes.iter().map(|code| code.map(|c| ALPHABET[c]));
    let table = Table(rows.collect());
    let mut expected = table.0.clone();
    expected.sort_unstable();
    let entry = |(row, words): (u64, &[u64; 3])| Entry {
        prefix: words[0],
        row,
    };
    let mut entries: Vec<Entry> = (0..).zip(&table.0).map(entry).collect();
    let mut scratch = entries.clone();
    by(&mut entries, &mut scratch, &table);
    let got: Vec<[u64; 3]> = entries.iter().map(|e| table.0[e.row as usize]).collect();
    assert_eq!(got, expected);
    assert!(entries.iter().all(|e| e.prefix == table.word(e.row, 0)));
}

/// Few cases, whose failures leave no files.
pub fn config() -> ProptestConfig {
    ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 300 },
        failure_persistence: None,
        ..Default::default()
    }
}
