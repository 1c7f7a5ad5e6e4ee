//! A bit of a spill file flips: the sort names the file and the offset, and leaves the old output
//! in place.
//!
//! ```text
//! chunk   records | marks (with --stable) | unused | footer
//! footer  records, their bytes, marks, checksum: four bytes each
//! packed  checksum, length, format | packed bytes | unused
//! ```

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::common::run;
use crate::common::survival::{Case, Output, WAYS};
use node::Random;
use pipeline::Failure;
use record::Ties;
use rehearsal::Driver;
use sort::{Pack, Packing, SortError};

const MARK_BYTES: usize = 12;
const FOOTER_BYTES: usize = 16;
const PACKED_HEADER_BYTES: usize = 12;

/// The regions of a chunk; the unused one is never read.
const REGIONS: [&str; 4] = ["records", "marks", "footer", "unused"];
const UNUSED: usize = 3;

/// Flips of each region of chunks, for each way to sort and each order.
const FLIPS: usize = 12;

/// One seed, so that all runs of a case write the same.
const SEED: u64 = 3;

/// A chunk as it was written.
struct Written {
    path: PathBuf,
    offset: u64,
    bytes: Vec<u8>,
}

impl Written {
    /// Its [`REGIONS`].
    fn regions(&self) -> [Range<usize>; REGIONS.len()] {
        let footer = self.bytes.len() - FOOTER_BYTES;
        let field = |number: usize| {
            let at = footer + 4 * number;
            u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap()) as usize
        };
        let records = field(1);
        let marks = records + field(2) * MARK_BYTES;
        [
            0..records,
            records..marks,
            footer..self.bytes.len(),
            marks..footer,
        ]
    }

    /// The header, the packed bytes and the unused ones of a packed chunk.
    fn packed_regions(&self) -> [Range<usize>; 3] {
        let length = u32::from_le_bytes(self.bytes[4..8].try_into().unwrap()) as usize;
        let end = PACKED_HEADER_BYTES + length;
        [
            0..PACKED_HEADER_BYTES,
            PACKED_HEADER_BYTES..end,
            end..self.bytes.len(),
        ]
    }
}

/// All chunks that a case spills.
fn all_written(case: &Case) -> Vec<Written> {
    let driver = case.driver(SEED);
    let all = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&all);
    driver.disks(0).spoil(move |path, offset, bytes| {
        if Case::is_spilled(path) {
            let chunk = Written {
                path: path.to_owned(),
                offset,
                bytes: bytes.to_vec(),
            };
            seen.lock().unwrap().push(chunk);
        }
    });
    let report = run(&driver, &case.job()).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(report.passes >= case.way.passes, "{} passes", report.passes);
    std::mem::take(&mut all.lock().unwrap())
}

/// The error of a sort whose disk damages a chunk.
fn sort_with(
    case: &Case,
    driver: &Driver,
    chunk: &Written,
    spoil: impl Fn(&mut [u8]) + Send + 'static,
) -> Option<Failure> {
    let (spilled, at) = (chunk.path.clone(), chunk.offset);
    let spoilt = Arc::new(Mutex::new(0));
    let count = Arc::clone(&spoilt);
    driver
        .disks(0)
        .spoil(move |path: &Path, offset, bytes: &mut [u8]| {
            if path == spilled && offset == at {
                spoil(bytes);
                *count.lock().unwrap() += 1;
            }
        });
    let end = run(driver, &case.job());
    assert_eq!(*spoilt.lock().unwrap(), 1, "the chunk is written, once");
    end.err()
}

/// Flips one bit of a region of some chunk that has it.
fn flip(case: &Case, chunks: &[Written], (region, random): (usize, &mut Random)) {
    let there = chunks
        .iter()
        .filter(|chunk| !chunk.regions()[region].is_empty());
    let there: Vec<_> = there.collect();
    let chunk = there[random.below(there.len())];
    let range = chunk.regions()[region].clone();
    flip_one(case, chunk, (range, region == UNUSED), random);
}

/// Flips one bit of a range of a chunk, which may be unused.
fn flip_one(
    case: &Case,
    chunk: &Written,
    (range, is_unused): (Range<usize>, bool),
    random: &mut Random,
) {
    let byte = range.start + random.below(range.len());
    let bit = random.below(8) as u32;
    let here = format!(
        "{}, bit {bit} of byte {byte} of {}",
        case.way.name, chunk.offset
    );
    let driver = case.driver(SEED);
    let failure = sort_with(case, &driver, chunk, move |bytes| bytes[byte] ^= 1 << bit);
    let expected = if is_unused {
        assert!(failure.is_none(), "{here}: it is unused");
        Output::New
    } else {
        let found = failure.unwrap_or_else(|| panic!("{here} is not found"));
        let spoilt = SortError::Spoilt {
            file: chunk.path.clone(),
            offset: chunk.offset,
        };
        assert_eq!(found.to_string(), spoilt.to_string(), "{here}");
        Output::Old
    };
    let checked = case
        .check(&driver, expected)
        .and_then(|_| case.check_alone(&driver));
    checked.unwrap_or_else(|wrong| panic!("{here}: {wrong}"));
}

#[test]
fn every_flipped_bit_of_a_spill_file_is_found() {
    let mut random = Random::new(SEED);
    let mut flips = [0; REGIONS.len()];
    for (way, ties) in WAYS
        .into_iter()
        .flat_map(|way| [(way, Ties::Record), (way, Ties::Position)])
    {
        for case in Case::both("/out", way, way.records, ties) {
            let chunks = all_written(&case);
            assert_eq!(chunks.is_empty(), !case.spills(), "{}", way.name);
            for (region, flips) in flips.iter_mut().enumerate() {
                if chunks
                    .iter()
                    .all(|chunk| chunk.regions()[region].is_empty())
                {
                    continue;
                }
                for _ in 0..FLIPS {
                    flip(&case, &chunks, (region, &mut random));
                }
                *flips += FLIPS;
            }
        }
    }
    let spilling = WAYS.iter().filter(|way| way.passes > 1).count();
    // In two orders, of records of one length and of lines.
    let mut expected = [4, 0, 4, 4].map(|cases| cases * spilling * FLIPS);
    // Only a stable sort that spills partitions has marks: sorted runs have their records in order.
    expected[1] = 2 * (spilling - 1) * FLIPS;
    assert_eq!(flips, expected, "{REGIONS:?}");
}

#[test]
fn every_flipped_bit_of_a_packed_chunk_is_found() {
    let mut random = Random::new(SEED);
    for way in WAYS.into_iter().filter(|way| way.passes > 1) {
        for format in [Packing::Lz4, Packing::Zstd] {
            let case = Case::of_lines("/out", way, way.records, Ties::Record);
            let plain = all_written(&case);
            let case = case.packed(Pack::In(format));
            let chunks = all_written(&case);
            let is_shorter = |chunk: &&Written| chunk.bytes.len() < plain[0].bytes.len();
            let packed: Vec<_> = chunks.iter().filter(is_shorter).collect();
            assert!(!packed.is_empty(), "{}: {format:?}", way.name);
            for region in 0..3 {
                for _ in 0..FLIPS {
                    let chunk = packed[random.below(packed.len())];
                    let range = chunk.packed_regions()[region].clone();
                    if !range.is_empty() {
                        flip_one(&case, chunk, (range, region == 2), &mut random);
                    }
                }
            }
        }
    }
}

/// A write that the disk lost, in reserved space: it reads as zeros.
#[test]
fn a_chunk_that_was_never_written_is_found() {
    let mut random = Random::new(SEED);
    for way in WAYS.into_iter().filter(|way| way.passes > 1) {
        for case in Case::both("/out", way, way.records, Ties::Record) {
            let chunks = all_written(&case);
            for _ in 0..FLIPS {
                let chunk = &chunks[random.below(chunks.len())];
                let driver = case.driver(SEED);
                let found = sort_with(&case, &driver, chunk, |bytes| bytes.fill(0));
                let found = found.unwrap_or_else(|| panic!("{}: {}", way.name, chunk.offset));
                let spoilt = SortError::Spoilt {
                    file: chunk.path.clone(),
                    offset: chunk.offset,
                };
                assert_eq!(found.to_string(), spoilt.to_string(), "{}", way.name);
            }
        }
    }
}
