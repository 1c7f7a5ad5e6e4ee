//! Sorts over several nodes, under schedules of the deterministic driver: the outputs of all ranks,
//! one behind the other, are the sorted records of all inputs.

use std::path::{Path, PathBuf};

use crate::common::cluster::{KINDS, cut, outputs, put, run};
use crate::common::{drawn_order, drawn_records, drawn_tuning, job, least_chunks, sorted};
use kernel::patterns::{Pattern, draw};
use node::{Costs, Random, Time};
use pipeline::Control;
use record::{Order, Ties};
use rehearsal::Fault;
use rehearsal::{DiskModel, Driver};
use sort::{Choice, ExchangeKind, Job, Report, Shares, SplitterChoice, Target};

#[test]
fn three_hundred_schedules_give_the_same_records() {
    let (mut spilled, mut shared, mut rounds) = (0, 0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let ranks = 2 + random.below(3) as u32;
        let driver = Driver::new(seed, ranks);
        let order = drawn_order(&mut random);
        let records = drawn_records(&mut random, order.record_bytes(), 3000);
        let mut job = job(&["/in"], "/out", &order);
        job.tuning = drawn_tuning(&mut random);
        job.shared = random.below(3) == 0;
        job.exchange = KINDS[random.below(2)];
        job.shares = match random.below(3) {
            0 => Shares::Even,
            1 => Shares::Measured,
            _ => Shares::Given((0..ranks).map(|_| 1 + random.below(5) as u32).collect()),
        };
        job.splitters = [SplitterChoice::Sampled, SplitterChoice::Even][random.below(2)];
        let parts = if job.shared {
            vec![records.clone(); ranks as usize]
        } else {
            cut(&records, order.record_bytes(), ranks, &mut random)
        };
        for (rank, part) in (0..).zip(&parts) {
            put(&driver, rank, part);
        }
        if random.below(2) == 0 {
            job.plan = Choice::TwoPass;
            let count = (records.len() / order.record_bytes()) as u64 / u64::from(ranks);
            job.tuning.chunks = Some(least_chunks(&job, &order, Some(count)) + random.below(20));
        }
        let mut reports = Vec::new();
        for end in run(&driver, &job) {
            reports.push(end.unwrap_or_else(|failure| panic!("seed {seed}: {failure}")));
        }
        assert!(
            outputs(&driver, ranks) == sorted(&records, &order),
            "seed {seed}"
        );
        for rank in 0..ranks {
            // The input, the output, and nothing else.
            assert_eq!(driver.disks(rank).paths().len(), 2, "seed {seed}");
        }
        spilled += usize::from(reports.iter().any(|report| report.passes > 1));
        shared += usize::from(job.shared);
        rounds += usize::from(job.exchange == ExchangeKind::Rounds);
    }
    assert!(rounds > 100, "only {rounds} of them went in rounds");
    assert!(spilled > 40, "only {spilled} of them spilled");
    assert!(shared > 40, "only {shared} of them had one input for all");
}

/// Two ranks, of which one has disks of three times the rate: with measured shares both end together, and with
/// given ones each has its part.
#[test]
fn ranks_have_shares_in_proportion_to_their_disks() {
    let order = Order::gensort(Ties::Record);
    let records = draw(Pattern::Uniform, 7, 200_000, 100);
    let half = records.len() / 2;
    let run_with = |shares: Shares| {
        let disk = |ns_per_kib: u64| DiskModel {
            latency_ns: 2000,
            read_ns_per_kib: 100,
            write_ns_per_kib: ns_per_kib,
        };
        let driver = Driver::with(6, 2, Costs::default(), disk(100));
        for (rank, ns_per_kib) in [(0, 30_000), (1, 10_000)] {
            driver
                .disks(rank)
                .mount(Path::new("/disk"), disk(ns_per_kib));
        }
        put(&driver, 0, &records[..half]);
        put(&driver, 1, &records[half..]);
        let mut job = job(&["/in"], "/disk/out", &order);
        job.shares = shares;
        let reports: Vec<Report> = run(&driver, &job).into_iter().map(Result::unwrap).collect();
        let out = |rank| driver.disks(rank).get(Path::new("/disk/out")).unwrap();
        assert!([out(0), out(1)].concat() == sorted(&records, &order));
        let busy = |report: &Report| report.stage("writer").unwrap().busy_s;
        (
            busy(&reports[1]) / busy(&reports[0]),
            out(1).len() as f64 / out(0).len() as f64,
        )
    };
    let (times, shares) = run_with(Shares::Measured);
    assert!((0.9..1.1).contains(&times), "{times}");
    assert!((2.7..3.3).contains(&shares), "{shares}");
    let (times, _) = run_with(Shares::Even);
    assert!(times < 0.4, "{times}");
    let (_, shares) = run_with(Shares::Given(vec![2, 1]));
    assert!((0.45..0.55).contains(&shares), "{shares}");
    let driver = Driver::new(1, 2);
    put(&driver, 0, &records[..100]);
    put(&driver, 1, &[]);
    let mut job = job(&["/in"], "/out", &order);
    job.shares = Shares::Given(vec![1, 2, 3]);
    let failure = run(&driver, &job).swap_remove(0).unwrap_err().to_string();
    assert!(
        failure.contains("--shares has 3 numbers, and the number of ranks is 2"),
        "{failure}"
    );
}

/// No rank gets much more than the mean, whatever the input.
#[test]
fn ranks_share_evenly() {
    for pattern in Pattern::ALL {
        for ties in [Ties::Record, Ties::Position] {
            let (driver, order) = (Driver::new(1, 4), Order::gensort(ties));
            let parts: Vec<Vec<u8>> = (0..4)
                .map(|rank| draw(pattern, rank, 20_000, 100))
                .collect();
            for (rank, part) in (0..).zip(&parts) {
                put(&driver, rank, part);
            }
            let reports = run(&driver, &job(&["/in"], "/out", &order));
            for report in &reports {
                let skew = report.as_ref().unwrap().skew();
                assert!(skew < 1.1, "{pattern:?} {ties:?}: {skew}");
            }
            assert!(
                outputs(&driver, 4) == sorted(&parts.concat(), &order),
                "{pattern:?}"
            );
        }
    }
}

#[test]
fn few_records_and_none() {
    let order = Order::gensort(Ties::Record);
    for count in [0, 1, 2, 5] {
        let driver = Driver::new(count as u64, 3);
        let records = draw(Pattern::Uniform, 1, count, 100);
        for rank in 0..3 {
            put(&driver, rank, if rank == 1 { &records } else { &[] });
        }
        for end in run(&driver, &job(&["/in"], "/out", &order)) {
            end.unwrap();
        }
        assert!(outputs(&driver, 3) == sorted(&records, &order), "{count}");
    }
}

/// A node dies at any moment: the others end and name it, no rank waits for ever, and no output is
/// partial.
#[test]
fn a_dead_node_ends_the_sort() {
    let order = Order::gensort(Ties::Record);
    let parts: Vec<Vec<u8>> = (0..3)
        .map(|rank| draw(Pattern::Uniform, rank, 400, 100))
        .collect();
    let whole = sorted(&parts.concat(), &order);
    let (mut told, mut done) = (0, 0);
    for nth in (1..).step_by(37) {
        let exchange = KINDS[(nth / 37 % 2) as usize];
        let driver = Driver::new(nth, 3);
        for (rank, part) in (0..).zip(&parts) {
            put(&driver, rank, part);
        }
        driver.kill((nth % 3) as u32, nth);
        let job = Job {
            exchange,
            ..job(&["/in"], "/out", &order)
        };
        let ends = run(&driver, &job);
        if driver.deaths() == 0 {
            assert!(ends.iter().all(Result::is_ok));
            break;
        }
        for end in ends {
            match end {
                Ok(_) => done += 1,
                Err(failure) => {
                    let said = failure.to_string();
                    assert!(said.contains(&format!("rank {}", nth % 3)), "{nth}: {said}");
                    told += 1;
                }
            }
        }
        for rank in 0..3 {
            let output = driver.disks(rank).get(&PathBuf::from("/out"));
            let is_part = |bytes: &Vec<u8>| whole.windows(bytes.len().max(1)).any(|at| at == bytes);
            assert!(
                output.is_none_or(|bytes| bytes.is_empty() || is_part(&bytes)),
                "{nth}"
            );
        }
    }
    assert!(
        told > 50,
        "only {told} ranks told of a dead one, {done} were done"
    );
}

/// Rank 0 dies at the very end, while messages are late: it may have said that all is done while
/// some of its messages are still on their way. No rank waits for them for ever.
#[test]
fn a_rank_that_is_done_stays_until_the_others_are() {
    const LATE: u64 = 50_000_000;
    const LAST_EVENTS: u64 = 120;
    let order = Order::gensort(Ties::Record);
    let late = || {
        let driver = Driver::new(3, 3);
        driver.delay(LATE);
        driver.end_by(Time(600_000_000_000));
        for rank in 0..3 {
            put(
                &driver,
                rank,
                &draw(Pattern::Uniform, u64::from(rank), 50, 100),
            );
        }
        driver
    };
    let whole = late();
    run(&whole, &job(&["/in"], "/out", &order))
        .into_iter()
        .for_each(|end| drop(end.unwrap()));
    let (mut told, mut done) = (0, 0);
    for before in 0..LAST_EVENTS {
        let driver = late();
        driver.kill(0, whole.events() - before);
        for end in run(&driver, &job(&["/in"], "/out", &order)) {
            match end {
                Ok(_) => done += 1,
                Err(failure) => {
                    assert!(
                        failure.to_string().contains("rank 0"),
                        "{before}: {failure}"
                    );
                    told += 1;
                }
            }
        }
    }
    assert!(
        told > 20 && done > 20,
        "{told} ranks told of a dead one, {done} were done"
    );
}

/// Any disk operation of a rank fails: all ranks end with its reason, or all are done.
#[test]
fn a_failing_disk_ends_the_sort_on_all() {
    let order = Order::gensort(Ties::Record);
    let parts: Vec<Vec<u8>> = (0..3)
        .map(|rank| draw(Pattern::Uniform, rank, 400, 100))
        .collect();
    let mut fired = 0;
    for nth in 1.. {
        let driver = Driver::new(nth, 3);
        for (rank, part) in (0..).zip(&parts) {
            put(&driver, rank, part);
        }
        driver.disks(1).fail(nth, Fault::Device);
        let exchange = KINDS[(nth % 2) as usize];
        let ends = run(
            &driver,
            &Job {
                exchange,
                ..job(&["/in"], "/out", &order)
            },
        );
        let failed = ends.iter().filter(|end| end.is_err()).count();
        // Closing or removing a file may fail without harm.
        assert!(failed == 0 || failed == 3, "{nth}: {failed}");
        for (rank, end) in ends.iter().enumerate() {
            let Err(failure) = end else { continue };
            let said = failure.to_string();
            assert_eq!(said.starts_with("rank 1: "), rank != 1, "{nth}: {said}");
            assert!(
                said.contains("/in") || said.contains("/out"),
                "{nth}: {said}"
            );
        }
        for rank in 0..3 {
            let left = driver.disks(rank).paths().len();
            assert!(left <= 2, "{nth}: {:?}", driver.disks(rank).paths());
        }
        fired += usize::from(failed > 0);
        if driver.disks(1).operations() < nth {
            break;
        }
    }
    assert!(fired > 10, "only {fired} faults were noticed");
}

/// Hosts differ in memory, cores and disks; their exchange suits all of them.
#[test]
fn ranks_may_differ() {
    let order = Order::gensort(Ties::Position);
    let driver = Driver::new(5, 3);
    let parts: Vec<Vec<u8>> = (0..3)
        .map(|rank| draw(Pattern::Uniform, rank, 9000, 100))
        .collect();
    for (rank, part) in (0..).zip(&parts) {
        put(&driver, rank, part);
    }
    let base = job(&["/in"], "/out", &order);
    let ends = driver.run(move |node| {
        let mut job = Job {
            control: Control::default(),
            ..base.clone()
        };
        let rank = node.rank().0;
        job.resources.memory_bytes = [1 << 30, 8 << 20, 20 << 20][rank as usize];
        job.resources.cores = [7, 1, 2][rank as usize];
        async move { sort::run(&node, &job).await.map(drop) }
    });
    ends.unwrap().into_iter().for_each(|end| end.unwrap());
    assert!(outputs(&driver, 3) == sorted(&parts.concat(), &order));
}

/// Sets of files from an earlier sort may be the inputs.
#[test]
fn sets_may_be_inputs() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(6, 2);
    let parts: Vec<Vec<u8>> = (0..2)
        .map(|rank| draw(Pattern::Uniform, rank, 2000, 100))
        .collect();
    for (rank, part) in (0..).zip(&parts) {
        put(&driver, rank, part);
        driver.disks(rank).put_directory(&PathBuf::from("/set"));
    }
    let first = job(&["/in"], "", &order);
    let target = Target::Directories(vec![PathBuf::from("/set")]);
    let into_set = Job { target, ..first };
    run(&driver, &into_set)
        .into_iter()
        .for_each(|end| drop(end.unwrap()));
    let again = Driver::new(7, 2);
    for rank in 0..2 {
        again.disks(rank).put_directory(&PathBuf::from("/set"));
        for path in driver.disks(rank).paths() {
            again
                .disks(rank)
                .put(&path, driver.disks(rank).get(&path).unwrap());
        }
    }
    run(&again, &job(&["/set"], "/out", &order))
        .into_iter()
        .for_each(|end| drop(end.unwrap()));
    assert!(outputs(&again, 2) == sorted(&parts.concat(), &order));
}
