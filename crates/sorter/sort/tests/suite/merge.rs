//! Sorts that merge sorted runs, under hundreds of schedules of the deterministic driver.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::{
    drawn_order, drawn_records, get, job, least_chunks, paths, put, run, sorted, spilling_job,
};
use kernel::patterns::{Pattern, draw};
use node::Random;
use record::{Order, Ties};
use rehearsal::Driver;
use rehearsal::Fault;
use sort::{Choice, Counts, Job, Tuning};

#[test]
fn three_hundred_schedules_give_the_same_bytes() {
    let (mut spilled, mut several) = (0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let order = drawn_order(&mut random);
        let driver = Driver::new(seed, 1);
        let records = drawn_records(&mut random, order.record_bytes(), 3000);
        let count = (records.len() / order.record_bytes()) as u64;
        let (inputs, count): (&[&str], _) = match random.below(4) {
            0 => {
                driver
                    .disks(0)
                    .put_pipe(Path::new("/pipe"), records.clone());
                (&["/pipe"], None)
            }
            1 => {
                let half = (count / 2) as usize * order.record_bytes();
                put(&driver, "/in", &records[..half]);
                put(&driver, "/in2", &records[half..]);
                (&["/in", "/in2"], Some(count))
            }
            _ => {
                put(&driver, "/in", &records);
                (&["/in"], Some(count))
            }
        };
        let mut job = spilling_job((inputs, count), &order, Choice::Merge, &mut random);
        let output = if random.below(4) == 0 { "/to" } else { "/out" };
        if output == "/to" {
            driver.disks(0).put_pipe(Path::new("/to"), Vec::new());
            job.target = sort::Target::Path(PathBuf::from("/to"));
        }
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        assert!(
            get(&driver, output).unwrap() == sorted(&records, &order),
            "seed {seed}"
        );
        assert_eq!(
            paths(&driver).len(),
            inputs.len() + 1,
            "seed {seed}: a file is left"
        );
        assert_eq!(report.plan, "merge");
        assert_eq!(report.passes > 1, report.temp_peak_bytes > 0, "seed {seed}");
        spilled += u32::from(report.passes > 1);
        several += u32::from(report.passes > 2);
    }
    assert!(spilled > 150, "only {spilled} of them spilled");
    assert!(several > 20, "only {several} of them merged more than once");
}

/// Disk operation 1, 2, 3 ... fails until none fails any more: the input is intact, the output is
/// the old one or the complete new one, no other file is left, and the error names a file or its
/// directory.
#[test]
fn every_disk_fault_is_survived() {
    let order = Order::gensort(Ties::Record);
    let records = draw(Pattern::Uniform, 8, 2000, 100);
    for fault in [Fault::Device, Fault::Full, Fault::Short] {
        let (mut fired, mut nth, mut passes) = (0, 1, 0);
        loop {
            let driver = Driver::new(nth, 1);
            put(&driver, "/in", &records);
            put(&driver, "/out", b"old");
            driver.disks(0).fail(nth, fault);
            let mut job = spilling_job(
                (&["/in"], Some(2000)),
                &order,
                Choice::Merge,
                &mut Random::new(5),
            );
            job.temporary = vec![PathBuf::from("/tmp0"), PathBuf::from("/tmp1")];
            let tuning = Tuning {
                unit_records: Some(50),
                chunk_bytes: Some(9000),
                ..job.tuning
            };
            job.tuning = Tuning {
                load_chunks: Some(1),
                chunks: None,
                ..tuning
            };
            job.tuning.chunks = Some(least_chunks(&job, &order, Some(2000)));
            let end = run(&driver, &job);
            assert!(get(&driver, "/in").unwrap() == records, "{fault:?} {nth}");
            let left = [PathBuf::from("/in"), PathBuf::from("/out")];
            assert_eq!(paths(&driver), left, "{fault:?} {nth}");
            let output = get(&driver, "/out").unwrap();
            match end {
                Ok(report) => {
                    passes = report.passes;
                    assert!(output == sorted(&records, &order), "{fault:?} {nth}");
                }
                Err(failure) => {
                    fired += 1;
                    let said = failure.to_string();
                    let names = ["/in", "/out", "/tmp0", "/tmp1"];
                    let named = names.iter().any(|name| said.contains(name));
                    assert!(named, "{fault:?} {nth}: {said}");
                    assert!(output == b"old", "{fault:?} {nth}");
                }
            }
            if driver.disks(0).operations() < nth {
                break;
            }
            nth += 1;
        }
        assert!(passes > 2, "runs were merged in {passes} passes");
        assert!(
            fired > 50,
            "only {fired} faults of {nth} operations were noticed"
        );
    }
}

/// More memory never means more bytes on disk, and enough memory means none: no cliff between many
/// passes and one.
#[test]
fn records_that_memory_holds_are_not_written() {
    let order = Order::gensort(Ties::Record);
    for pipe in [false, true] {
        let records = draw(Pattern::Uniform, 3, 3000, 100);
        let count = (!pipe).then_some(3000);
        let mut job = spilling_job(
            (&["/in"], count),
            &order,
            Choice::Merge,
            &mut Random::new(4),
        );
        let tuning = Tuning {
            unit_records: Some(40),
            chunk_bytes: Some(9000),
            ..job.tuning
        };
        job.tuning = Tuning {
            load_chunks: None,
            chunks: None,
            sorters: Some(2),
            ..tuning
        };
        let least = least_chunks(&job, &order, count);
        let mut written = Vec::new();
        for chunks in (least..300).step_by(20) {
            let driver = Driver::new(1, 1);
            if pipe {
                driver.disks(0).put_pipe(Path::new("/in"), records.clone())
            } else {
                put(&driver, "/in", &records)
            }
            job.tuning.chunks = Some(chunks);
            let report = run(&driver, &job).unwrap_or_else(|failure| panic!("{chunks}: {failure}"));
            assert!(get(&driver, "/out").unwrap() == sorted(&records, &order));
            written.push(report.temp_peak_bytes);
        }
        // Loads are whole, so a little more memory may hold a little less of the input.
        let load = 300_000 / 3;
        assert!(
            written.windows(2).all(|pair| pair[1] <= pair[0] + load),
            "{written:?}"
        );
        assert!(
            written[0] > 150_000 && written.last() == Some(&0),
            "{written:?}"
        );
    }
}

/// Loads in order are one run, with any memory.
#[test]
fn sorted_input_is_one_run() {
    for ties in [Ties::Record, Ties::Position] {
        let order = Order::gensort(ties);
        let records = sorted(&draw(Pattern::Uniform, 2, 3000, 100), &order);
        let mut random = Random::new(11);
        for seed in 0..20 {
            let driver = Driver::new(seed, 1);
            put(&driver, "/in", &records);
            let mut job = spilling_job((&["/in"], Some(3000)), &order, Choice::Merge, &mut random);
            job.tuning = Tuning {
                load_chunks: Some(2),
                ..Tuning::default()
            };
            job.tuning.chunk_bytes = Some(9000);
            job.tuning.chunks = Some(least_chunks(&job, &order, Some(3000)));
            let report = run(&driver, &job).unwrap();
            assert!(get(&driver, "/out").unwrap() == records, "seed {seed}");
            assert_eq!((report.partitions, report.passes), (1, 2), "seed {seed}");
            assert!(
                report.reason.contains("one sorted run"),
                "{}",
                report.reason
            );
        }
    }
}

#[test]
fn a_few_sorted_files_are_a_few_runs() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(1, 1);
    let mut all = Vec::new();
    for (number, name) in ["/a", "/b", "/c"].iter().enumerate() {
        // Whole loads, so that none has records of two files.
        let records = sorted(&draw(Pattern::Uniform, number as u64, 1200, 100), &order);
        put(&driver, name, &records);
        all.extend(records);
    }
    let mut job = spilling_job(
        (&["/a", "/b", "/c"], Some(3600)),
        &order,
        Choice::Merge,
        &mut Random::new(1),
    );
    let tuning = Tuning {
        chunk_bytes: Some(9000),
        unit_records: Some(40),
        ..Tuning::default()
    };
    job.tuning = Tuning {
        load_chunks: Some(2),
        ..tuning
    };
    job.tuning.chunks = Some(4 + least_chunks(&job, &order, Some(3600)));
    let report = run(&driver, &job).unwrap();
    assert!(get(&driver, "/out").unwrap() == sorted(&all, &order));
    assert_eq!((report.partitions, report.passes), (3, 2));
}

/// By default, input larger than memory is merged if it is nearly sorted or of unknown length.
#[test]
fn nearly_sorted_input_is_merged() {
    let order = Order::gensort(Ties::Record);
    let random = draw(Pattern::Uniform, 2, 20_000, 100);
    let ascending = sorted(&random, &order);
    // Neighbours in disorder, as in a log of several writers.
    let mut jittered = ascending.clone();
    jittered
        .chunks_exact_mut(5_000)
        .for_each(|part| part.rotate_left(2_500));
    let half = ascending.len() / 2;
    let files = [&ascending[half..], &ascending[..half]].concat();
    let cases = [
        (&random, "two-pass"),
        (&ascending, "merge"),
        (&jittered, "merge"),
        (&files, "merge"),
    ];
    for (records, plan) in cases {
        let driver = Driver::new(1, 1);
        put(&driver, "/in", records);
        let mut job = job(&["/in"], "/out", &order);
        job.resources.memory_bytes = 8 << 20;
        job.resources.cores = 1;
        let report = run(&driver, &job).unwrap();
        assert!(get(&driver, "/out").unwrap() == ascending);
        assert_eq!(report.plan, plan, "{}", report.reason);
        assert!(
            report.reason.contains("sampled places"),
            "{}",
            report.reason
        );
    }
    let driver = Driver::new(1, 1);
    driver.disks(0).put_pipe(Path::new("/pipe"), random);
    let report = run(&driver, &job(&["/pipe"], "/out", &order)).unwrap();
    assert_eq!(
        (report.plan, report.passes),
        ("merge", 1),
        "{}",
        report.reason
    );
    assert!(get(&driver, "/out").unwrap() == ascending);
}

/// The order of a thousand records, however large, is not measured: sorting them is as fast.
#[test]
fn the_order_of_few_records_is_not_measured() {
    let order = Order::new(10_000, &[], Ties::Record).unwrap();
    for (count, measured) in [(1023, false), (1024, true)] {
        let ascending = sorted(&draw(Pattern::Uniform, 3, count, 10_000), &order);
        let driver = Driver::new(1, 1);
        put(&driver, "/in", &ascending);
        let mut job = job(&["/in"], "/out", &order);
        job.resources.memory_bytes = 8 << 20;
        job.resources.cores = 1;
        let report = run(&driver, &job).unwrap();
        assert!(get(&driver, "/out").unwrap() == ascending);
        assert_eq!(
            report.reason.contains("sampled places"),
            measured,
            "{}",
            report.reason
        );
    }
}

/// A run over counted records makes the same decisions.
#[test]
fn the_same_stages_run_over_counts() {
    let driver = Driver::new(1, 1);
    let bytes = 1_000_000_000;
    driver.disks(0).put_counted(Path::new("/in"), bytes);
    let mut job: Job = job(&["/in"], "/out", &Order::gensort(Ties::Record));
    job.plan = Choice::Merge;
    job.temporary = vec![PathBuf::from("/tmp0")];
    job.contents = Arc::new(Counts::new(100, 1.0, 1));
    job.resources.memory_bytes = 64 << 20;
    let report = run(&driver, &job).unwrap();
    assert_eq!(driver.disks(0).length(Path::new("/out")), Some(bytes));
    assert_eq!((report.bytes, report.passes), (bytes, 2));
    assert!(report.partitions > 40, "{report:?}");
    assert!(
        report
            .stage("merger")
            .is_some_and(|stage| stage.bytes == bytes)
    );
}
