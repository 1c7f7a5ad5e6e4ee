//! Sorts over several simulated disks of unequal rates: each gets its share, and all work at once.

use std::path::{Path, PathBuf};

use crate::common::{get, job, least_chunks, put, run, sorted};
use kernel::patterns::{Pattern, draw};
use node::Costs;
use record::{Order, Ties};
use rehearsal::DiskModel;
use rehearsal::Driver;
use sort::{Choice, IoChoice, Job, Manifest, Target, Tuning};

const RECORDS: usize = 60_000;

/// A disk that takes `ns_per_kib` for each KiB.
fn disk(ns_per_kib: u64) -> DiskModel {
    DiskModel {
        latency_ns: 2000,
        read_ns_per_kib: ns_per_kib,
        write_ns_per_kib: ns_per_kib,
    }
}

fn order() -> Order {
    Order::gensort(Ties::Record)
}

/// A driver whose disks under `/slow` and `/fast` take 40 us and 10 us a KiB; `/in` is on a faster
/// one.
fn driver(seed: u64, records: &[u8]) -> Driver {
    let driver = Driver::with(seed, 1, Costs::default(), disk(100));
    driver.disks(0).mount(Path::new("/slow"), disk(40_000));
    driver.disks(0).mount(Path::new("/fast"), disk(10_000));
    put(&driver, "/in", records);
    driver
}

/// A sort that spills most of its records to these directories, once.
fn spilling(temporary: &[&str], plan: Choice) -> Job {
    let mut job = job(&["/in"], "/out", &order());
    job.plan = plan;
    job.temporary = temporary.iter().map(PathBuf::from).collect();
    job.tuning = Tuning {
        unit_records: Some(200),
        buckets: Some(16),
        chunk_bytes: Some(4096),
        depth: Some(2),
        ..Tuning::default()
    };
    job.tuning.chunks = Some(least_chunks(&job, &order(), Some(RECORDS as u64)) + 600);
    job
}

fn written(driver: &Driver, under: &str) -> f64 {
    driver.disks(0).written_bytes(Path::new(under)) as f64
}

#[test]
fn a_fast_temporary_disk_gets_more_than_a_slow_one() {
    let records = draw(Pattern::Uniform, 8, RECORDS, 100);
    for plan in [Choice::TwoPass, Choice::Merge] {
        let seconds = |temporary: &[&str]| {
            let driver = driver(3, &records);
            let report = run(&driver, &spilling(temporary, plan)).unwrap();
            assert!(
                get(&driver, "/out").unwrap() == sorted(&records, &order()),
                "{plan:?}"
            );
            assert!(report.passes > 1, "{plan:?}: {}", report.reason);
            (
                report.seconds,
                written(&driver, "/fast") / written(&driver, "/slow").max(1.0),
            )
        };
        let (both, share) = seconds(&["/slow", "/fast"]);
        assert!(
            (2.5..5.0).contains(&share),
            "{plan:?}: {share} times as much to a disk of 4 times"
        );
        let (fast, _) = seconds(&["/fast"]);
        let (slow, _) = seconds(&["/slow"]);
        // Runs are not split over disks: with so few of them, one may be the last to be done.
        let most = if plan == Choice::Merge { slow } else { fast };
        assert!(
            both < most && fast < slow,
            "{plan:?}: {both} s, {fast} s, {slow} s alone"
        );
    }
}

#[test]
fn an_output_set_is_divided_by_the_measured_rates() {
    let records = draw(Pattern::Uniform, 8, RECORDS, 100);
    let driver = driver(5, &records);
    let mut job = spilling(&["/slow", "/fast"], Choice::TwoPass);
    // Many buckets, so that shares can be fine.
    job.tuning.buckets = Some(60);
    job.target = Target::Directories(vec![PathBuf::from("/slow"), PathBuf::from("/fast")]);
    job.tuning.chunks = Some(least_chunks(&job, &order(), Some(RECORDS as u64)) + 600);
    run(&driver, &job).unwrap();
    let share = fast_share(&driver);
    assert!((2.0..6.0).contains(&share), "{share}");
}

/// Records of the output set on the fast disk, over those on the slow one.
fn fast_share(driver: &Driver) -> f64 {
    let text = String::from_utf8(get(driver, "/slow/manifest.json").unwrap()).unwrap();
    let manifest: Manifest = serde_json::from_str(&text).unwrap();
    let its = manifest.files.iter();
    let its = its.filter(|file| file.path.starts_with("/fast"));
    let fast: u64 = its.map(|file| file.records).sum();
    fast as f64 / (manifest.records - fast) as f64
}

/// In one pass nothing is spilled, and the rates are those at which the inputs were read.
#[test]
fn an_output_set_in_one_pass_is_divided_by_the_rates_of_reading() {
    let records = draw(Pattern::Uniform, 8, 4 * RECORDS, 100);
    let half = records.len() / 2;
    let driver = Driver::with(5, 1, Costs::default(), disk(10));
    let directories = [
        ("/slow", 40_000, &records[..half]),
        ("/fast", 10_000, &records[half..]),
    ];
    for (under, ns_per_kib, part) in directories {
        driver.disks(0).mount(Path::new(under), disk(ns_per_kib));
        put(&driver, &format!("{under}/in"), part);
    }
    let mut job = job(&["/slow/in", "/fast/in"], "/out", &order());
    job.plan = Choice::OnePass;
    job.resources.io = IoChoice::Direct;
    job.target = Target::Directories(vec![PathBuf::from("/slow"), PathBuf::from("/fast")]);
    job.tuning = Tuning {
        unit_records: Some(1024),
        buckets: Some(60),
        ..Tuning::default()
    };
    run(&driver, &job).unwrap();
    let share = fast_share(&driver);
    assert!((3.0..5.0).contains(&share), "{share}");
    // One reader takes turns, and knows no rates.
    job.tuning.readers = Some(1);
    run(&driver, &job).unwrap();
    let share = fast_share(&driver);
    assert!((0.9..1.1).contains(&share), "{share}");
}

/// Inputs on two disks, of which one is three times as fast and has three times the bytes: both are read at
/// their rates, whichever comes first, and the output has every record once.
#[test]
fn inputs_on_several_disks_are_read_at_the_same_time() {
    // Enough for the sample and the last unit to count little.
    let records = draw(Pattern::Uniform, 9, 8 * RECORDS, 100);
    let (quarter, rest) = records.split_at(2 * RECORDS * 100);
    let read_alone = rest.len() as f64 / 1024.0 * 13_333.0 / 1e9;
    for inputs in [["/slow/in", "/fast/in"], ["/fast/in", "/slow/in"]] {
        for readers in [1, 2, 5] {
            let driver = Driver::with(4, 1, Costs::default(), disk(10));
            driver.disks(0).mount(Path::new("/slow"), disk(40_000));
            driver.disks(0).mount(Path::new("/fast"), disk(13_333));
            put(&driver, "/slow/in", quarter);
            put(&driver, "/fast/in", rest);
            let mut job = job(&inputs, "/out", &order());
            job.tuning = Tuning {
                // Whole disk blocks.
                unit_records: Some(1024),
                readers: Some(readers),
                ..Tuning::default()
            };
            let report = run(&driver, &job).unwrap();
            assert!(get(&driver, "/out").unwrap() == sorted(&records, &order()));
            let part = report.seconds / read_alone;
            // One reader takes units of both in turn, and waits for the oldest.
            let most = if readers == 1 { 2.5 } else { 1.1 };
            assert!(
                (1.0..most).contains(&part),
                "{inputs:?}, {readers} readers: {} s, {read_alone} s of each disk",
                report.seconds
            );
        }
    }
}
