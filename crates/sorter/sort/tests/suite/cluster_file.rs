//! One file that all ranks write, each its part, in a shared file system: it has the sorted records
//! of all inputs, or its old content.

use std::path::PathBuf;

use crate::common::cluster::{KINDS, run};
use crate::common::{drawn_order, drawn_records, drawn_tuning, job, least_chunks, sorted};
use kernel::patterns::{Pattern, draw};
use node::{Random, Rank};
use pipeline::Control;
use record::{Order, Ties};
use rehearsal::Driver;
use rehearsal::{Durability, Fault};
use sort::{Choice, IoChoice, Job, Target};

fn output() -> PathBuf {
    PathBuf::from("/out")
}

/// A job whose ranks all read the same input and write the same output.
fn together(order: &Order) -> Job {
    Job {
        shared: true,
        target: Target::Together(output()),
        ..job(&["/in"], "", order)
    }
}

#[test]
fn two_hundred_schedules_give_one_file() {
    let (mut spilled, mut tiny, mut in_place) = (0, 0, 0);
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let ranks = 2 + random.below(4) as u32;
        let driver = Driver::new(seed, ranks).sharing_disks();
        let order = drawn_order(&mut random);
        // Often several parts, or all, lie in one disk block.
        let most = [40, 300, 3000][random.below(3)];
        let records = drawn_records(&mut random, order.record_bytes(), most);
        let count = records.len() / order.record_bytes();
        driver.disks(0).put(&PathBuf::from("/in"), records.clone());
        let mut job = together(&order);
        job.tuning = drawn_tuning(&mut random);
        job.exchange = KINDS[random.below(2)];
        job.resources.io = [IoChoice::Direct, IoChoice::Buffered][random.below(2)];
        let target = PathBuf::from(if random.below(4) == 0 { "/in" } else { "/out" });
        job.target = Target::Together(target.clone());
        if random.below(2) == 0 {
            job.plan = Choice::TwoPass;
            let each = count as u64 / u64::from(ranks);
            job.tuning.chunks = Some(least_chunks(&job, &order, Some(each)) + random.below(20));
        }
        driver.disks(0).set_durability(Durability::Synced);
        let ends = run(&driver, &job);
        // The parts of all ranks are durable before the file has its name.
        driver.disks(0).crash(seed);
        let reports: Vec<_> = ends
            .into_iter()
            .map(|end| end.unwrap_or_else(|failure| panic!("seed {seed}: {failure}")))
            .collect();
        assert!(
            driver.disks(0).get(&target).unwrap() == sorted(&records, &order),
            "seed {seed}"
        );
        let names = if target == output() { 2 } else { 1 };
        assert_eq!(driver.disks(0).paths().len(), names, "seed {seed}");
        spilled += usize::from(reports.iter().any(|report| report.passes > 1));
        tiny += usize::from(records.len() < 4096 * ranks as usize);
        in_place += usize::from(names == 1);
    }
    assert!(spilled > 30, "only {spilled} of them spilled");
    assert!(
        tiny > 30,
        "only {tiny} of them had less than a disk block a rank"
    );
    assert!(
        in_place > 30,
        "only {in_place} of them wrote over their input"
    );
}

fn three(seed: u64, records: usize) -> (Driver, Vec<u8>, Job) {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(seed, 3).sharing_disks();
    let records = draw(Pattern::Uniform, 1, records, 100);
    driver.disks(0).put(&PathBuf::from("/in"), records.clone());
    driver.disks(0).put(&output(), b"old".to_vec());
    (driver, sorted(&records, &order), together(&order))
}

#[test]
fn few_records_and_none() {
    for count in [0, 1, 2, 40, 41, 81] {
        let (driver, whole, job) = three(count as u64, count);
        run(&driver, &job)
            .into_iter()
            .for_each(|end| drop(end.unwrap()));
        assert!(driver.disks(0).get(&output()).unwrap() == whole, "{count}");
    }
}

/// A disk operation of any rank fails: all ranks end, the old output stays, and no other file.
#[test]
fn a_failing_disk_leaves_the_old_file() {
    let mut fired = 0;
    for nth in 1.. {
        let (driver, whole, job) = three(nth, 1200);
        driver.disks(0).fail(nth, Fault::Device);
        let job = Job {
            exchange: KINDS[(nth % 2) as usize],
            ..job
        };
        let failed = run(&driver, &job).iter().filter(|end| end.is_err()).count();
        assert!(failed == 0 || failed == 3, "{nth}: {failed}");
        let there = driver.disks(0).get(&output()).unwrap();
        let left = driver.disks(0).paths();
        match failed {
            0 => assert!(there == whole && left.len() == 2, "{nth}: {left:?}"),
            _ => assert!(there == b"old" && left.len() == 2, "{nth}: {left:?}"),
        }
        fired += usize::from(failed > 0);
        if driver.disks(0).operations() < nth {
            break;
        }
    }
    assert!(fired > 15, "only {fired} faults were noticed");
}

/// A node dies at any moment: the others end, and name it; the file is the old one or the whole new
/// one.
#[test]
fn a_dead_node_leaves_the_old_file_or_the_new_one() {
    let (mut told, mut done, mut left) = (0, 0, 0);
    for nth in (1..).step_by(31) {
        let dies = (nth / 31 % 3) as u32;
        let (driver, whole, job) = three(nth, 900);
        driver.kill(dies, nth);
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
                    assert!(said.contains(&format!("rank {dies}")), "{nth}: {said}");
                    told += 1;
                }
            }
        }
        let there = driver.disks(0).get(&output()).unwrap();
        assert!(
            there == b"old" || there == whole,
            "{nth}: {} bytes",
            there.len()
        );
        // Survivors remove the draft, unless they do not know of it yet; then the next sort does.
        left += usize::from(driver.disks(0).paths().len() > 2);
        run(&driver, &job)
            .into_iter()
            .for_each(|end| drop(end.unwrap()));
        assert!(driver.disks(0).get(&output()).unwrap() == whole, "{nth}");
        assert_eq!(driver.disks(0).paths().len(), 2, "{nth}");
    }
    assert!(left <= 5, "{left} drafts were left");
    assert!(
        told > 50,
        "only {told} ranks told of a dead one, {done} were done"
    );
}

/// Ranks that do not share a file system are refused, and leave nothing on any disk.
#[test]
fn a_directory_that_is_not_shared_is_refused() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(1, 3);
    for rank in 0..3 {
        driver
            .disks(rank)
            .put(&PathBuf::from("/in"), draw(Pattern::Uniform, 1, 100, 100));
    }
    for (rank, end) in run(&driver, &together(&order)).into_iter().enumerate() {
        let said = end.unwrap_err().to_string();
        assert!(
            said.contains("does not see the file that rank 0 created"),
            "{said}"
        );
        assert!(said.contains("{rank}"), "{said}");
        assert_eq!(
            said.starts_with("rank 1: "),
            rank != 1 && rank != 2,
            "{said}"
        );
        assert_eq!(driver.disks(rank as u32).paths(), [PathBuf::from("/in")]);
    }
}

/// A pipe has no offsets.
#[test]
fn only_a_regular_file_is_shared() {
    let (driver, _, job) = three(1, 100);
    driver
        .disks(0)
        .put_pipe(&PathBuf::from("/pipe"), Vec::new());
    let job = Job {
        target: Target::Together(PathBuf::from("/pipe")),
        ..job
    };
    for end in run(&driver, &job) {
        let said = end.unwrap_err().to_string();
        assert!(
            said.contains("/pipe") && said.contains("a regular file"),
            "{said}"
        );
    }
    assert_eq!(driver.disks(0).paths().len(), 3);
}

/// Ranks that were started with different outputs end before anything is written.
#[test]
fn ranks_with_different_outputs_are_refused() {
    let own = |path: &str| Target::Path(PathBuf::from(path));
    let all = |path: &str| Target::Together(PathBuf::from(path));
    for (targets, told) in [
        ([all("/out"), all("/other")], "rank 0 writes out"),
        (
            [all("/out"), own("/out")],
            "(-o without {rank}) false, not true",
        ),
    ] {
        let (driver, _, job) = three(1, 100);
        let ends = driver.run(move |node| {
            let target = targets[usize::from(node.rank() == Rank(1))].clone();
            let job = Job {
                control: Control::default(),
                target,
                ..job.clone()
            };
            async move {
                sort::run(&node, &job)
                    .await
                    .map(drop)
                    .unwrap_err()
                    .to_string()
            }
        });
        for said in ends.unwrap() {
            assert!(said.contains("rank 1") || said.contains("/other"), "{said}");
            assert!(said.contains(told), "{said}");
        }
        assert!(driver.disks(0).get(&output()).unwrap() == b"old");
        assert_eq!(driver.disks(0).paths().len(), 2);
    }
}

/// The spill files of all ranks must fit beside the file, too; that is checked before the first
/// byte.
#[test]
fn one_rank_checks_the_space_for_all() {
    let (driver, _, job) = three(1, 30_000);
    let mut job = Job {
        plan: Choice::TwoPass,
        ..job
    };
    (job.tuning.unit_records, job.tuning.chunk_bytes) = (Some(40), Some(4096));
    let least = least_chunks(&job, &Order::gensort(Ties::Record), Some(10_000));
    job.tuning.chunks = Some(least);
    // The input, the output, and not twice the output.
    driver.disks(0).set_capacity(8_000_000);
    for end in run(&driver, &job) {
        let said = end.unwrap_err().to_string();
        assert!(said.contains("room") || said.contains("free"), "{said}");
    }
    assert!(
        driver.disks(0).peak_bytes() < 7_000_000,
        "{}",
        driver.disks(0).peak_bytes()
    );
    assert!(driver.disks(0).get(&output()).unwrap() == b"old");
}
