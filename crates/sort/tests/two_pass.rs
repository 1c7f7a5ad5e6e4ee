//! Sorts that spill, under hundreds of schedules of the deterministic driver.

mod common;

use std::path::{Path, PathBuf};

use common::{drawn_records, drawn_tuning, get, job, put, run, sorted};
use kernel::patterns::{Pattern, draw};
use machine::{Driver, Fault};
use node::Random;
use record::{Format, Order, Ties};
use sort::{Choice, IoChoice, Job, Plan, Shape, Tuning};

/// Record lengths and keys of all shapes.
const FORMATS: [(&str, &[&str]); 5] = [
    ("gensort", &[]),
    ("fixed:1", &[]),
    ("fixed:7", &["2+3:bytes:desc"]),
    ("fixed:16", &["8+8:f64le"]),
    ("fixed:5000", &["100+10"]),
];

fn order(random: &mut Random) -> Order {
    let (format, keys) = FORMATS[random.below(FORMATS.len())];
    let ties = if random.below(2) == 0 { Ties::Record } else { Ties::Position };
    Format::parse(format, keys, ties).unwrap().order
}

/// A job that spills, with few more chunks than the least that works.
fn spilling(inputs: &[&str], order: &Order, records: Option<u64>, random: &mut Random) -> Job {
    let mut job = job(inputs, "/out", order);
    job.plan = Choice::TwoPass;
    job.temporary = vec![PathBuf::from("/tmp0"), PathBuf::from("/tmp1")];
    job.temporary.truncate(1 + random.below(2));
    job.tuning = drawn_tuning(random);
    job.resources.io = [IoChoice::Direct, IoChoice::Buffered][random.below(2)];
    let shape = Shape {
        records,
        record_bytes: order.record_bytes(),
        sequential_output: false,
        stable: order.ties() == Ties::Position,
    };
    let enough = |chunks: &usize| {
        let tuning = Tuning { chunks: Some(*chunks), ..job.tuning };
        Plan::two_pass(&shape, &job.resources, &tuning).is_ok()
    };
    let least = (1..10_000).find(enough).expect("some number of chunks is enough");
    job.tuning.chunks = Some(least + random.below(20));
    job
}

/// What is left when a run is over.
fn paths(driver: &Driver) -> Vec<PathBuf> {
    driver.disks(0).paths()
}

#[test]
fn three_hundred_schedules_give_the_same_bytes() {
    let mut spilled = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let order = order(&mut random);
        let driver = Driver::new(seed, 1);
        let records = drawn_records(&mut random, order.record_bytes(), 3000);
        let (name, count) = match random.below(3) {
            0 => {
                driver.disks(0).put_pipe(Path::new("/pipe"), records.clone());
                ("/pipe", None)
            }
            _ => {
                put(&driver, "/in", &records);
                ("/in", Some((records.len() / order.record_bytes()) as u64))
            }
        };
        let job = spilling(&[name], &order, count, &mut random);
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        assert!(get(&driver, "/out").unwrap() == sorted(&records, &order), "seed {seed}");
        assert_eq!(paths(&driver).len(), 2, "seed {seed}: a file is left");
        assert_eq!(report.passes > 1, report.temp_peak_bytes > 0, "seed {seed}");
        spilled += u32::from(report.passes > 1);
    }
    assert!(spilled > 150, "only {spilled} of them spilled");
}

/// Disk operation 1, 2, 3 ... fails until none fails any more: the input is intact, the output is the old
/// one or the complete new one, nothing else is left, and the error names a file or its directory.
#[test]
fn every_disk_fault_is_survived() {
    let order = Order::gensort(Ties::Record);
    let records = draw(Pattern::Uniform, 8, 2000, 100);
    for fault in [Fault::Device, Fault::Full, Fault::Short] {
        let (mut fired, mut nth) = (0, 1);
        loop {
            let driver = Driver::new(nth, 1);
            put(&driver, "/in", &records);
            put(&driver, "/out", b"old");
            driver.disks(0).fail(nth, fault);
            let mut job = spilling(&["/in"], &order, Some(2000), &mut Random::new(5));
            job.temporary = vec![PathBuf::from("/tmp0"), PathBuf::from("/tmp1")];
            let end = run(&driver, &job);
            assert!(get(&driver, "/in").unwrap() == records, "{fault:?} {nth}");
            assert_eq!(
                paths(&driver),
                [PathBuf::from("/in"), PathBuf::from("/out")],
                "{fault:?} {nth}"
            );
            let output = get(&driver, "/out").unwrap();
            match end {
                Ok(report) => {
                    assert!(
                        report.passes > 1 && output == sorted(&records, &order),
                        "{fault:?} {nth}"
                    );
                }
                Err(failure) => {
                    fired += 1;
                    let said = failure.to_string();
                    let names = ["/in", "/out", "/tmp0", "/tmp1"];
                    assert!(
                        names.iter().any(|name| said.contains(name)),
                        "{fault:?} {nth}: {said}"
                    );
                    assert!(output == b"old", "{fault:?} {nth}");
                }
            }
            if driver.disks(0).operations() < nth {
                break;
            }
            nth += 1;
        }
        assert!(fired > 50, "only {fired} faults of {nth} operations were noticed");
    }
}

/// More memory never means more bytes on disk, and with enough there are none: no cliff between two passes
/// and one.
#[test]
fn what_memory_holds_is_not_written() {
    let order = Order::gensort(Ties::Record);
    let records = drawn_records(&mut Random::new(1), 100, 3000);
    let count = (records.len() / 100) as u64;
    let mut random = Random::new(4);
    let mut job = spilling(&["/in"], &order, Some(count), &mut random);
    let least = job.tuning.chunks.unwrap();
    let mut before = u64::MAX;
    for more in (0..2000).step_by(50) {
        let driver = Driver::new(1, 1);
        put(&driver, "/in", &records);
        job.tuning.chunks = Some(least + more);
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("{more}: {failure}"));
        assert!(
            report.temp_peak_bytes <= before,
            "{more}: {} after {before}",
            report.temp_peak_bytes
        );
        before = report.temp_peak_bytes;
    }
    assert_eq!(before, 0);
}
