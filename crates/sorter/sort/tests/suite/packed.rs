//! Spill files whose chunks are packed: the output is the same, and they are shorter where their
//! records can be compressed.

use crate::common::survival::{Case, Output, WAYS};
use crate::common::{put, run};
use node::Random;
use record::Ties;
use rehearsal::Driver;
use sort::{Job, Pack, Packing, Report};

const FORMATS: [Packing; 2] = [Packing::Lz4, Packing::Zstd];

fn sorted(case: &Case) -> Report {
    let driver = case.driver(1);
    let report = run(&driver, &case.job()).unwrap_or_else(|failure| panic!("{failure}"));
    case.check(&driver, Output::New).unwrap();
    case.check_alone(&driver).unwrap();
    report
}

#[test]
fn packed_chunks_take_less_disk() {
    for way in WAYS.into_iter().filter(|way| way.passes > 1) {
        for ties in [Ties::Record, Ties::Position] {
            let case = |pack| Case::of_lines("/out", way, way.records, ties).packed(pack);
            let plain = sorted(&case(Pack::Never));
            for format in FORMATS {
                let packed = sorted(&case(Pack::In(format)));
                let (few, many) = (packed.temp_peak_bytes, plain.temp_peak_bytes);
                assert!(few < many, "{}, {format:?}: {few} of {many}", way.name);
            }
        }
    }
}

/// Records of random bytes stay as they are, and every chunk that does so among others is unpacked.
#[test]
fn records_that_cannot_be_packed_stay_as_they_are() {
    let mut random = Random::new(2);
    for percent in [0, 50, 90, 100] {
        let way = WAYS.into_iter().find(|way| way.name == "merge").unwrap();
        let case = Case::of_lines("/out", way, way.records, Ties::Record);
        let mut lines = Vec::new();
        while lines.len() < 300_000 {
            let is_random = random.below(100) < percent;
            let line = (0..2000).map(|_| {
                if is_random {
                    (b'\n' + 1).wrapping_add(random.below(255) as u8)
                } else {
                    b'x'
                }
            });
            lines.extend(line.chain([b'\n']));
        }
        let mut expected: Vec<&[u8]> = lines.split_inclusive(|&byte| byte == b'\n').collect();
        expected.sort();
        let sorted = |pack| {
            let driver = Driver::new(1, 1);
            put(&driver, "/in", &lines);
            let job = Job { pack, ..case.job() };
            let report = run(&driver, &job).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(crate::common::get(&driver, "/out").unwrap() == expected.concat());
            report.temp_peak_bytes
        };
        let plain = sorted(Pack::Never);
        for format in FORMATS {
            let packed = sorted(Pack::In(format));
            match percent {
                100 => assert!(packed > plain / 10 * 8, "{packed} of {plain}"),
                0 => assert!(packed < plain / 4 * 3, "{packed} of {plain}"),
                _ => assert!(packed <= plain, "{packed} of {plain}"),
            }
        }
    }
}
