//! The sort that users run, under hundreds of schedules of the deterministic driver.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::{drawn_records, drawn_tuning, get, job, put, run, sorted};
use node::{Costs, Random};
use pipeline::Failure;
use record::{Order, Ties};
use rehearsal::DiskModel;
use rehearsal::Driver;
use sort::{Choice, Counts, IoChoice, Job, SortError, Tuning};

/// Formats of all shapes: long and short records, odd lengths, typed and descending keys.
const FORMATS: [(&str, &[&str]); 7] = [
    ("gensort", &[]),
    ("fixed:100", &["4+4:u32le:desc", "20+3"]),
    ("fixed:1", &[]),
    ("fixed:7", &["2+3:bytes:desc"]),
    ("fixed:16", &["8+8:f64le"]),
    ("fixed:4096", &[]),
    ("fixed:5000", &["100+10"]),
];

fn order(random: &mut Random) -> Order {
    let (format, keys) = FORMATS[random.below(FORMATS.len())];
    let ties = if random.below(2) == 0 {
        Ties::Record
    } else {
        Ties::Position
    };
    Order::parse(format, keys, ties).unwrap()
}

fn drawn_io(random: &mut Random) -> IoChoice {
    [IoChoice::Auto, IoChoice::Direct, IoChoice::Buffered][random.below(3)]
}

#[test]
fn two_hundred_schedules_give_the_same_bytes() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let order = order(&mut random);
        let driver = Driver::new(seed, 1);
        let mut all = Vec::new();
        let names = ["/a", "/b", "/c"];
        let inputs = &names[..1 + random.below(3)];
        for name in inputs {
            let records = drawn_records(&mut random, order.record_bytes(), 700);
            put(&driver, name, &records);
            all.extend(records);
        }
        let mut job = job(inputs, "/out", &order);
        job.tuning = drawn_tuning(&mut random);
        job.resources.io = drawn_io(&mut random);
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        assert!(
            get(&driver, "/out").unwrap() == sorted(&all, &order),
            "seed {seed}"
        );
        assert_eq!(report.bytes, all.len() as u64, "seed {seed}");
        assert_eq!(
            driver.disks(0).paths().len(),
            inputs.len() + 1,
            "seed {seed}: a file is left"
        );
    }
}

#[test]
fn pipes_give_the_same_bytes() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let order = order(&mut random);
        let driver = Driver::new(seed, 1);
        let (pipe, file) = (
            drawn_records(&mut random, order.record_bytes(), 700),
            drawn_records(&mut random, order.record_bytes(), 300),
        );
        driver.disks(0).put_pipe(Path::new("/pipe"), pipe.clone());
        driver.disks(0).put_pipe(Path::new("/to"), Vec::new());
        put(&driver, "/file", &file);
        let (inputs, all): (&[&str], _) = match random.below(3) {
            0 => (&["/pipe"], pipe),
            1 => (&["/pipe", "/file"], [pipe, file].concat()),
            _ => (&["/file", "/pipe"], [file, pipe].concat()),
        };
        let output = ["/to", "/out"][random.below(2)];
        let mut job = job(inputs, output, &order);
        job.tuning = drawn_tuning(&mut random);
        job.resources.io = drawn_io(&mut random);
        run(&driver, &job).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        assert!(
            get(&driver, output).unwrap() == sorted(&all, &order),
            "seed {seed} to {output}"
        );
    }
}

#[test]
fn an_output_may_be_an_input() {
    let order = Order::gensort(Ties::Record);
    for seed in 0..20 {
        let driver = Driver::new(seed, 1);
        let records = drawn_records(&mut Random::new(seed), 100, 500);
        put(&driver, "/file", &records);
        run(&driver, &job(&["/file"], "/file", &order)).unwrap();
        assert!(get(&driver, "/file").unwrap() == sorted(&records, &order));
    }
}

#[test]
fn a_disk_that_fills_is_refused_up_front() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(1, 1);
    put(&driver, "/in", &vec![7; 50_000]);
    driver.disks(0).set_capacity(60_000);
    let failure = run(&driver, &job(&["/in"], "/out", &order)).unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("/out needs 50.0 KB, and 10.0 KB are free"),
        "{failure}"
    );
    // The length of a pipe is not known before, so its output is refused once it is.
    let driver = Driver::new(2, 1);
    driver
        .disks(0)
        .put_pipe(Path::new("/pipe"), vec![7; 20_000]);
    driver.disks(0).set_capacity(30_000);
    let failure = run(&driver, &job(&["/pipe"], "/out", &order)).unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("/out needs 20.0 KB, and 10.0 KB are free"),
        "{failure}"
    );
    assert_eq!(get(&driver, "/out"), None);
}

#[test]
fn short_records_are_named_with_file_and_offset() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(1, 1);
    put(&driver, "/good", &[7; 300]);
    put(&driver, "/bad", &[7; 250]);
    driver.disks(0).put_pipe(Path::new("/pipe"), vec![7; 1010]);
    for (path, offset) in [("/bad", 200), ("/pipe", 1000)] {
        let failure = run(&driver, &job(&["/good", path], "/out", &order)).unwrap_err();
        let Failure::Program(error) = &failure else {
            panic!("{failure}")
        };
        let error = error.downcast_ref::<SortError>().unwrap();
        assert_eq!(
            (error.file(), error.offset()),
            (Some(&PathBuf::from(path)), Some(offset))
        );
        assert_eq!(get(&driver, "/out"), None);
    }
}

#[test]
fn a_pipe_beyond_the_memory_of_one_pass_is_refused() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(1, 1);
    driver
        .disks(0)
        .put_pipe(Path::new("/pipe"), vec![7; 8_000_000]);
    let mut job = job(&["/pipe"], "/out", &order);
    job.tuning = Tuning {
        unit_records: Some(100),
        buckets: Some(4),
        ..Tuning::default()
    };
    job.resources.memory_bytes = 14 << 20;
    job.plan = Choice::OnePass;
    let failure = run(&driver, &job).unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("does not fit in 14.7 MB of memory"),
        "{failure}"
    );
    assert_eq!(get(&driver, "/out"), None);
}

/// A run over counted records makes the same decisions, and counts every record.
#[test]
fn the_same_stages_run_over_counts() {
    for (seed, skew) in [(1, 1.0), (2, 5.0)] {
        let driver = Driver::new(seed, 1);
        let records = 20_000_000_u64;
        driver.disks(0).put_counted(Path::new("/in"), records * 100);
        let mut job: Job = job(&["/in"], "/out", &Order::gensort(Ties::Record));
        job.contents = Arc::new(Counts::new(100, skew, seed));
        job.resources.memory_bytes = 4 << 30;
        let report = run(&driver, &job).unwrap();
        assert_eq!(report.records, records);
        assert_eq!(
            driver.disks(0).length(Path::new("/out")),
            Some(records * 100)
        );
        assert_eq!(report.partitions, 1024);
        // Weights fall evenly from that of the first bucket to 1.
        let expected = skew / f64::midpoint(skew, 1.0);
        assert!(
            (report.unevenness / expected - 1.0).abs() < 0.05,
            "{skew}: {}",
            report.unevenness
        );
    }
}

/// One stage at a time is slow; the report must name it, and those around it must starve or block.
#[test]
fn the_report_names_the_slow_stage() {
    let none = (Costs::default(), DiskModel::default());
    let read = DiskModel {
        read_ns_per_kib: 4000,
        ..none.1
    };
    let write = DiskModel {
        write_ns_per_kib: 4000,
        ..none.1
    };
    let slow = [
        ("reader", (none.0, read)),
        (
            "distributor",
            (
                Costs {
                    classify: 1_000_000,
                    ..none.0
                },
                none.1,
            ),
        ),
        (
            "partition buffers",
            (
                Costs {
                    account: 100_000_000,
                    ..none.0
                },
                none.1,
            ),
        ),
        (
            "sorter",
            (
                Costs {
                    sort: 100_000,
                    ..none.0
                },
                none.1,
            ),
        ),
        ("writer", (none.0, write)),
    ];
    for (name, (costs, model)) in slow {
        let driver = Driver::with(1, 1, costs, model);
        driver.disks(0).put_counted(Path::new("/in"), 100_000_000);
        let mut job = job(&["/in"], "/out", &Order::gensort(Ties::Record));
        job.contents = Arc::new(Counts::new(100, 1.0, 1));
        let report = run(&driver, &job).unwrap();
        assert_eq!(report.bottleneck, name, "{:#?}", report.stages);
        let stage = |name| report.stage(name).unwrap();
        match name {
            "reader" => assert!(stage("distributor").starved_s > stage("distributor").busy_s),
            "distributor" => assert!(stage("reader").blocked_s > stage("reader").busy_s),
            "partition buffers" => {
                assert!(stage("distributor").blocked_s > stage("distributor").busy_s)
            }
            "sorter" => assert!(stage("writer").starved_s > stage("writer").busy_s),
            _ => assert!(stage("sorter").blocked_s > stage("sorter").busy_s),
        }
    }
}
