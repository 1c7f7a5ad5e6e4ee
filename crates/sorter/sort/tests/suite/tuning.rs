//! Sorts that are tuned while they run, under many schedules, from the worst start: one worker of
//! each stage, one request in flight, small units.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::{drawn_records, drawn_tuning, get, job, least_chunks, put, run, sorted};
use node::{Costs, Random};
use record::{Order, Ties};
use rehearsal::Driver;
use rehearsal::{DiskModel, Fault};
use sort::{Choice, Counts, Job, Report, Start, Tune, Tuning};

/// Costs at which a few records take seconds, so that the tuner has something to observe.
fn slow(random: &mut Random) -> (Costs, DiskModel) {
    let mut up_to = |most: usize| random.below(most) as u64;
    let costs = Costs {
        classify: up_to(1_000_000_000),
        sort: up_to(200_000_000),
        copy: up_to(20_000_000),
        ..Costs::default()
    };
    let disk = DiskModel {
        latency_ns: up_to(30_000_000),
        read_ns_per_kib: up_to(3_000_000),
        write_ns_per_kib: up_to(3_000_000),
    };
    (costs, disk)
}

fn tuning(random: &mut Random) -> Tuning {
    let more = |drawn: Option<usize>| drawn.map(|workers| workers + 1);
    let drawn = drawn_tuning(random);
    Tuning {
        readers: more(drawn.readers),
        distributors: more(drawn.distributors),
        sorters: more(drawn.sorters),
        writers: more(drawn.writers),
        start: Start::Worst,
        ..drawn
    }
}

/// A sort drawn from a seed: its driver, its job, and the expected output.
fn drawn(seed: u64) -> (Driver, Job, Vec<u8>) {
    let mut random = Random::new(seed);
    let (costs, disk) = slow(&mut random);
    let driver = Driver::with(seed, 1, costs, disk);
    let order = Order::gensort([Ties::Record, Ties::Position][random.below(2)]);
    let records = drawn_records(&mut random, 100, 2000);
    let input = ["/in", "/pipe"][random.below(2)];
    match input {
        "/in" => put(&driver, input, &records),
        _ => driver.disks(0).put_pipe(Path::new(input), records.clone()),
    }
    let mut job = job(&[input], "/out", &order);
    job.tuning = tuning(&mut random);
    if random.below(2) == 0 {
        job.plan = Choice::TwoPass;
        job.temporary = vec![PathBuf::from("/tmp")];
        job.tuning.chunks = Some(least_chunks(&job, &order, None) + random.below(10));
    }
    (driver, job, sorted(&records, &order))
}

#[test]
fn two_hundred_schedules_give_the_same_bytes() {
    let (mut moved, mut spilled) = (0, 0);
    for seed in 0..200 {
        let (driver, job, expected) = drawn(seed);
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        assert!(get(&driver, "/out").unwrap() == expected, "seed {seed}");
        moved += u32::from(!report.moves.is_empty());
        spilled += u32::from(report.passes > 1);
        for one in &report.moves {
            assert!(
                one.from != one.to && one.seconds <= report.seconds,
                "seed {seed}: {one:?}"
            );
        }
    }
    assert!(
        moved > 120 && spilled > 20,
        "{moved} moved something, {spilled} spilled"
    );
}

#[test]
fn a_seed_decides_every_move() {
    for seed in 0..10 {
        let [first, again] = [(); 2].map(|()| {
            let (driver, job, _) = drawn(seed);
            run(&driver, &job).unwrap()
        });
        assert_eq!(first, again, "seed {seed}");
    }
}

/// Disk operation 1, 2, 3 ... fails while workers are parked and dials are turned.
#[test]
fn disk_faults_are_survived() {
    let order = Order::gensort(Ties::Record);
    let records = drawn_records(&mut Random::new(8), 100, 600);
    let disk = DiskModel {
        latency_ns: 10_000_000,
        ..DiskModel::default()
    };
    for fault in [Fault::Device, Fault::Full, Fault::Short] {
        let (mut fired, mut nth) = (0, 1);
        loop {
            let driver = Driver::with(nth, 1, Costs::default(), disk);
            put(&driver, "/in", &records);
            put(&driver, "/out", b"old");
            driver.disks(0).fail(nth, fault);
            let mut job = job(&["/in"], "/out", &order);
            let (unit_records, buckets) = (Some(20), Some(5));
            let start = Start::Worst;
            job.tuning = Tuning {
                unit_records,
                buckets,
                start,
                ..Tuning::default()
            };
            match run(&driver, &job) {
                Ok(_) => assert!(get(&driver, "/out").unwrap() == sorted(&records, &order)),
                Err(_) => {
                    fired += 1;
                    assert_eq!(get(&driver, "/out").unwrap(), b"old", "{fault:?} {nth}");
                }
            }
            let paths = driver.disks(0).paths();
            assert_eq!(
                paths,
                [PathBuf::from("/in"), PathBuf::from("/out")],
                "{fault:?} {nth}"
            );
            if driver.disks(0).operations() < nth {
                break;
            }
            nth += 1;
        }
        assert!(
            fired > 15,
            "only {fired} faults of {nth} operations were noticed"
        );
    }
}

/// A counted sort of 1.2 GB, by a disk of 200 MB/s with 1 ms for each request.
fn counted(start: Start, tune: Tune) -> Report {
    let disk = DiskModel {
        latency_ns: 1_000_000,
        read_ns_per_kib: 5000,
        write_ns_per_kib: 5000,
    };
    // A core classifies 4, copies 8 and sorts 1 million records a second.
    let costs = Costs {
        classify: 250_000,
        copy: 50_000,
        sort: 50_000,
        ..Costs::default()
    };
    let driver = Driver::with(1, 1, costs, disk);
    driver.disks(0).put_counted(Path::new("/in"), 1_200_000_000);
    let mut job: Job = job(&["/in"], "/out", &Order::gensort(Ties::Record));
    job.contents = Arc::new(Counts::new(100, 1.0, 1));
    job.resources.memory_bytes = 4 << 30;
    job.tuning = Tuning {
        buckets: Some(64),
        start,
        tune,
        ..Tuning::default()
    };
    let report = run(&driver, &job).unwrap();
    assert_eq!((report.records, report.plan), (12_000_000, "one-pass"));
    report
}

#[test]
fn tuning_soon_makes_up_for_the_worst_start() {
    let derived = counted(Start::Derived, Tune::Off);
    assert_eq!(derived.moves, []);
    let worst = counted(Start::Worst, Tune::Off);
    assert_eq!(worst.moves, []);
    assert!(
        worst.stages.iter().all(|stage| stage.workers == 1),
        "{:#?}",
        worst.stages
    );
    let tuned = counted(Start::Worst, Tune::Auto);
    let times = [&derived, &worst, &tuned].map(|report| report.seconds);
    assert!(worst.seconds > 1.5 * derived.seconds, "{times:?}");
    assert!(
        tuned.seconds < 1.15 * derived.seconds,
        "{times:?} {:#?}",
        tuned.moves
    );
}

/// The plan is right for this disk: tuning it moves little, and costs nothing.
#[test]
fn a_derived_plan_is_left_alone() {
    let [off, auto] = [Tune::Off, Tune::Auto].map(|tune| counted(Start::Derived, tune));
    assert!(auto.moves.len() < 20, "{:#?}", auto.moves);
    assert!(
        auto.seconds < 1.02 * off.seconds,
        "{} s, not {}",
        auto.seconds,
        off.seconds
    );
}

/// If a temporary disk waits for the input, its writes may as well be larger (TritonSort 5.3).
#[test]
fn writes_grow_while_the_temporary_disk_waits() {
    let moves = |tune: Tune| {
        let disk = DiskModel::default();
        let driver = Driver::with(1, 1, Costs::default(), disk);
        let disks = driver.disks(0);
        disks.mount(
            Path::new("/in"),
            DiskModel {
                read_ns_per_kib: 100_000,
                ..disk
            },
        );
        disks.put_counted(Path::new("/in"), 60_000_000);
        let mut job = job(&["/in"], "/out", &Order::gensort(Ties::Record));
        job.contents = Arc::new(Counts::new(100, 1.0, 1));
        job.plan = Choice::TwoPass;
        job.temporary = vec![PathBuf::from("/tmp")];
        job.tuning = Tuning {
            unit_records: Some(1000),
            buckets: Some(4),
            chunk_bytes: Some(64 << 10),
            chunks: Some(400),
            writers: Some(1),
            depth: Some(1),
            tune,
            ..Tuning::default()
        };
        let mut moves = run(&driver, &job).unwrap().moves;
        moves.retain(|one| one.what == "least_write_bytes");
        moves
    };
    let grown = moves(Tune::Auto);
    assert!(
        grown
            .first()
            .is_some_and(|one| one.from == 1 << 20 && one.to > one.from),
        "{grown:?}"
    );
    assert_eq!(moves(Tune::Off), []);
}
