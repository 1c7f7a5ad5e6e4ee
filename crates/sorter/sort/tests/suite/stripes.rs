//! Stripes of spill files: a directory is lost, and the output has the same bytes.

use std::path::{Path, PathBuf};

use crate::common::survival::{Case, Output, WAYS};
use crate::common::{get, job, least_chunks, put, run, sorted, stripe};
use kernel::patterns::{Pattern, draw};
use node::Costs;
use record::{Order, Ties};
use rehearsal::{DiskModel, Driver, Fault};
use sort::{Choice, Job, Report, StripeReport, Tuning};

const BLOCKS: usize = 3;

/// Every way that spills, of records of one length and of lines.
fn cases(blocks: usize) -> impl Iterator<Item = (String, Case)> {
    let ways = WAYS.into_iter().filter(|way| way.passes > 1);
    ways.map(move |way| way.striped(blocks)).flat_map(|way| {
        let records = Case::new(way, way.records);
        let lines = Case::of_lines("/out", way, way.records, Ties::Record);
        let named = |what: &str| format!("{} of {what}", way.name);
        [(named("records"), records), (named("lines"), lines)]
    })
}

fn directory(number: usize) -> PathBuf {
    PathBuf::from(format!("/tmp{number}"))
}

fn stripes(report: &Report) -> &StripeReport {
    report.stripes.as_ref().expect("it has stripes")
}

fn rebuilt(report: &Report) -> u64 {
    let stripes = stripes(report);
    stripes.rebuilt.iter().map(|rebuilt| rebuilt.bytes).sum()
}

/// Only files of a directory that is lost may be left.
fn left(driver: &Driver, lost: &Path) -> Vec<PathBuf> {
    let mut paths = driver.disks(0).paths();
    paths.retain(|path| path.to_string_lossy().contains("tmp"));
    paths.retain(|path| !path.starts_with(lost));
    paths
}

/// From operation 1, 2, 3 ... on a directory fails, or reads short.
#[test]
fn a_directory_may_be_lost_at_any_moment() {
    for (name, case) in cases(BLOCKS) {
        let driver = case.driver(1);
        let whole = run(&driver, &case.job()).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(rebuilt(&whole), 0, "{name}");
        assert!(stripes(&whole).parity_bytes > 0, "{name}");
        assert!(whole.warnings.is_empty(), "{name}: {:?}", whole.warnings);
        let all = driver.disks(0).operations();
        let (mut back, mut given_up) = (0, 0);
        for (fault, first) in [(Fault::Device, 1), (Fault::Short, 2)] {
            for nth in (first..all).step_by((all / 40).max(1) as usize) {
                let driver = case.driver(nth);
                let lost = directory(nth as usize % (BLOCKS + 1));
                driver.disks(0).lose(&lost, nth, fault);
                let here = format!("{name}, {fault:?} from operation {nth} of {all} on");
                let ran = run(&driver, &case.job());
                let expected = match &ran {
                    Err(failure) => {
                        let said = failure.to_string();
                        // Nothing is spilled yet.
                        assert!(said.contains("make temporary files"), "{here}: {said}");
                        Output::Old
                    }
                    Ok(report) => {
                        back += u32::from(rebuilt(report) > 0);
                        given_up += u32::from(!report.warnings.is_empty());
                        let named = stripes(report).rebuilt.iter();
                        let named: Vec<_> = named.map(|rebuilt| &rebuilt.directory).collect();
                        assert!(
                            named.iter().all(|named| **named == lost),
                            "{here}: {named:?}"
                        );
                        Output::New
                    }
                };
                let checked = case.check(&driver, expected);
                checked.unwrap_or_else(|wrong| panic!("{here}: {wrong}"));
                assert_eq!(left(&driver, &lost), [] as [PathBuf; 0], "{here}");
            }
        }
        assert!(back > 10, "{name}: rebuilt {back} times");
        assert!(given_up >= back, "{name}: given up {given_up} times");
    }
}

/// A change of the bytes that a disk is given.
type Spoiler = (&'static str, fn(&mut [u8]));

const SPOILERS: [Spoiler; 2] = [
    ("forgets", |bytes| bytes.fill(0)),
    ("flips a bit", |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
    }),
];

/// From a write on, a disk returns something else than was written there: data, parity, or both.
#[test]
fn a_directory_may_return_other_bytes() {
    for (name, case) in cases(2) {
        let mut back = 0;
        for (does, spoil) in SPOILERS {
            for nth in 0..15 {
                let (driver, lost) = (case.driver(nth), directory(nth as usize % 3));
                let (under, mut writes) = (lost.clone(), 0);
                driver.disks(0).spoil(move |path, _, bytes| {
                    if path.starts_with(&under) {
                        writes += 1;
                        if writes > nth {
                            spoil(bytes);
                        }
                    }
                });
                let here = format!("{name}, {does} from write {nth} on");
                let report = run(&driver, &case.job());
                let report = report.unwrap_or_else(|failure| panic!("{here}: {failure}"));
                back += u32::from(rebuilt(&report) > 0);
                let checked = case.check(&driver, Output::New);
                let checked = checked.and_then(|_| case.check_alone(&driver));
                checked.unwrap_or_else(|wrong| panic!("{here}: {wrong}"));
            }
        }
        assert!(back > 5, "{name}: rebuilt {back} times");
    }
}

/// One directory fails and another returns other bytes: an error, never a wrong output.
#[test]
fn a_second_lost_directory_ends_the_sort() {
    for (name, case) in cases(BLOCKS) {
        let (mut ended, mut done) = (0, 0);
        for nth in (20..400).step_by(20) {
            let driver = case.driver(nth);
            driver.disks(0).lose(&directory(1), nth, Fault::Device);
            driver.disks(0).spoil(|path, _, bytes| {
                if path.starts_with("/tmp2") {
                    bytes.fill(0);
                }
            });
            let expected = match run(&driver, &case.job()) {
                Ok(_) => Output::New,
                Err(failure) => {
                    let said = failure.to_string();
                    assert!(
                        case.names_a_place(&said) || said.contains("/tmp2"),
                        "{said}"
                    );
                    Output::Old
                }
            };
            (ended, done) = match expected {
                Output::Old => (ended + 1, done),
                _ => (ended, done + 1),
            };
            let checked = case.check(&driver, expected);
            checked.unwrap_or_else(|wrong| panic!("{name}, from operation {nth}: {wrong}"));
        }
        assert!(ended > 3, "{name}: {ended} of {}", ended + done);
    }
}

/// A directory without space takes no more; what it has is good.
#[test]
fn a_full_directory_takes_no_more() {
    for (name, case) in cases(BLOCKS) {
        let mut unprotected = 0;
        for room in [0, 4096, 16 << 10, 40 << 10] {
            let driver = case.driver(room);
            for number in 0..=BLOCKS {
                driver
                    .disks(0)
                    .mount(&directory(number), DiskModel::default());
            }
            driver.disks(0).set_capacity_of(&directory(1), room);
            let report = run(&driver, &case.job());
            let report = report.unwrap_or_else(|failure| panic!("{name}, {room}: {failure}"));
            unprotected += u32::from(stripes(&report).unprotected_bytes > 0);
            let checked = case.check(&driver, Output::New);
            let checked = checked.and_then(|_| case.check_alone(&driver));
            checked.unwrap_or_else(|wrong| panic!("{name}, {room}: {wrong}"));
        }
        assert!(unprotected > 0, "{name}");
    }
}

const RECORDS: usize = 60_000;

fn order() -> Order {
    Order::gensort(Ties::Record)
}

/// Nanoseconds of a KiB on a slow disk.
const SLOW: u64 = 40_000;

/// A sort over four slow disks, with stripes or without: its report, and the bytes that were written there.
fn timed(plan: Choice, stripes: bool, (read, write): (u64, u64)) -> (Report, f64) {
    let records = draw(Pattern::Uniform, 8, RECORDS, 100);
    let fast = DiskModel {
        latency_ns: 2000,
        read_ns_per_kib: 100,
        write_ns_per_kib: 100,
    };
    let slow = DiskModel {
        read_ns_per_kib: read,
        write_ns_per_kib: write,
        ..fast
    };
    let driver = Driver::with(3, 1, Costs::default(), fast);
    let mut job = job(&["/in"], "/out", &order());
    stripe(&mut job, BLOCKS);
    for path in &job.temporary {
        driver.disks(0).mount(path, slow);
    }
    put(&driver, "/in", &records);
    job.plan = plan;
    job.tuning = Tuning {
        unit_records: Some(200),
        buckets: Some(16),
        chunk_bytes: Some(4096),
        depth: Some(2),
        ..Tuning::default()
    };
    // The same chunks with stripes and without.
    job.tuning.chunks = Some(least_chunks(&job, &order(), Some(RECORDS as u64)) + 200);
    job.stripe = job.stripe.filter(|_| stripes);
    let report = run(&driver, &job).unwrap_or_else(|failure| panic!("{plan:?}: {failure}"));
    assert!(get(&driver, "/out").unwrap() == sorted(&records, &order()));
    let written = job.temporary.iter();
    let written: u64 = written
        .map(|path| driver.disks(0).written_bytes(path))
        .sum();
    (report, written as f64)
}

/// Bytes and seconds with parity and without, where the temporary disks decide: (k + 1) / k, and 5 %.
#[test]
fn parity_costs_its_share_of_bytes_and_seconds() {
    let most = (BLOCKS + 1) as f64 / BLOCKS as f64 * 1.05;
    for plan in [Choice::TwoPass, Choice::Merge] {
        for rates in [(SLOW, SLOW), (100, SLOW)] {
            let (plain, bytes) = timed(plan, false, rates);
            let (striped, with_parity) = timed(plan, true, rates);
            let (more, longer) = (with_parity / bytes, striped.seconds / plain.seconds);
            println!("{plan:?}, {rates:?}: {more:.3} of the bytes, {longer:.3} of the seconds");
            assert!(more <= most, "{plan:?}: {more} times the bytes");
            assert!(
                longer <= most,
                "{plan:?}, {rates:?}: {longer} times as long"
            );
            let parity = stripes(&striped).parity_bytes as f64;
            assert!(
                parity > 0.9 * bytes / BLOCKS as f64,
                "{plan:?}: {parity} bytes"
            );
            assert!(striped.temp_peak_bytes as f64 >= with_parity, "{plan:?}");
        }
    }
}

/// Where the reads of temporary disks decide, stripes take no longer.
#[test]
fn directories_are_read_as_fast_as_without_stripes() {
    for plan in [Choice::TwoPass, Choice::Merge] {
        let [plain, striped] = [false, true].map(|has| timed(plan, has, (SLOW, 100)).0.seconds);
        println!("{plan:?}: {:.3} of the seconds", striped / plain);
        assert!(
            striped < 1.1 * plain,
            "{plan:?}: {striped} s, and {plain} s without"
        );
    }
}

/// A job whose directories do not fit its stripes is refused.
#[test]
fn stripes_need_directories_of_their_own() {
    let refused = |job: &Job| {
        let driver = Driver::new(1, 1);
        put(&driver, "/in", &[]);
        let failure = run(&driver, job).expect_err("it is refused");
        failure.to_string()
    };
    let mut asked = job(&["/in"], "/out", &order());
    asked.stripe = Some(2);
    assert!(refused(&asked).contains("needs 3 directories"));
    asked.temporary = ["/a", "/b", "/a"].map(PathBuf::from).to_vec();
    assert!(refused(&asked).contains("needs 3 directories"));
}
