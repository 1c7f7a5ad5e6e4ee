//! The first of the sorted records, selected while the input is read.

use crate::common::lines::{LineSort, drawn_sort, seeds, text_order};
use crate::common::{drawn_order, drawn_records, get, job, put, run, sorted};
use node::Random;
use record::{Keep, Ties};
use rehearsal::Driver;
use sort::{Choice, Report};

/// The units of the stage that selects, and the bytes of the stage that sorts.
fn work(report: &Report) -> (u64, u64) {
    let of = |name: &str| report.stages.iter().find(|stage| stage.name == name);
    let bytes = |name| of(name).map_or(0, |stage| stage.bytes);
    (bytes("selector"), bytes("sorter"))
}

#[test]
fn hundreds_of_schedules_keep_the_first_lines() {
    let (mut selected, mut spilled, mut all) = (0, 0, 0);
    for seed in 0..seeds(300, 800) {
        let random = &mut Random::new(seed);
        let (shape, mut sort) = drawn_sort(seed, 200_000);
        sort.job.plan = Choice::Merge;
        sort.job.top = Some([1, 2, 9, 100, 3000][random.below(5)]);
        sort.job.tuning.sorters = [None, Some(1), Some(2), Some(3)][random.below(4)];
        sort.job.tuning.load_chunks = [None, Some(1), Some(2), Some(5)][random.below(4)];
        sort.keep([Keep::Stable, Keep::First, Keep::Last][random.below(3)]);
        if random.below(3) > 0 {
            sort.with_few_chunks(random.below(30));
        }
        println!(
            "seed {seed}, {shape:?}, {:?}, {:?}",
            sort.job.top, sort.job.tuning
        );
        let report = sort.check(seed);
        let lines: usize = sort.files.iter().map(|file| lines_of(&sort, file)).sum();
        assert_eq!(report.records + report.dropped, lines as u64, "seed {seed}");
        let (read, left) = work(&report);
        selected += u64::from(left < read / 2);
        spilled += u64::from(report.passes > 1);
        all += u64::from(report.dropped == 0);
    }
    println!("{selected} selected, {spilled} spilled, {all} with all lines");
    assert!(selected > 30 && spilled > 30 && all > 30);
}

fn lines_of(sort: &LineSort, file: &[u8]) -> usize {
    let mut whole = file.to_vec();
    let end = sort.order.framing.delimiter().unwrap();
    whole.extend(Some(end).filter(|_| file.last().is_some_and(|&last| last != end)));
    sort.order.framing.split(&whole).count()
}

#[test]
fn the_first_binary_records_are_kept_in_their_order() {
    for seed in 0..seeds(60, 200) {
        let random = &mut Random::new(seed);
        let order = drawn_order(random);
        let bytes = order.record_bytes();
        let input = drawn_records(random, bytes, 200_000 / bytes + 2);
        let mut job = job(&["/in"], "/out", &order);
        job.top = Some(1 + random.below(2000) as u64);
        job.tuning.load_chunks = [None, Some(1), Some(2)][random.below(3)];
        job.tuning.chunk_bytes = [None, Some(4096), Some(16384)][random.below(3)];
        let driver = Driver::new(seed, 1);
        put(&driver, "/in", &input);
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("{seed}: {failure}"));
        let expected = sorted(&input, &order);
        let kept = expected.len().min(job.top.unwrap() as usize * bytes);
        assert!(
            get(&driver, "/out").unwrap() == expected[..kept],
            "seed {seed}"
        );
        assert_eq!(
            (report.records + report.dropped) as usize * bytes,
            input.len()
        );
    }
}

/// In the worst order each block has lines that come before all others, and still no load is left over
/// but the last.
#[test]
fn few_records_are_sorted_and_none_is_spilled_in_any_order() {
    let number = |number: usize| format!("{number:09}\n");
    for lines in [
        (0..200_000).map(number).collect::<String>(),
        (0..200_000).rev().map(number).collect(),
        (0..200_000).map(|at| number(at % 7)).collect(),
        "same\n".repeat(400_000),
    ] {
        for equal in [Keep::Stable, Keep::First, Keep::Last] {
            let order = text_order(false, Ties::Record);
            let mut sort = LineSort::new(vec![lines.clone().into_bytes()], order, b'\n');
            sort.keep(equal);
            sort.job.top = Some(5);
            sort.job.resources.memory_bytes = 64 << 20;
            sort.job.tuning.load_chunks = Some(2);
            sort.job.tuning.chunk_bytes = Some(64 << 10);
            let report = sort.check(1);
            let (read, left) = work(&report);
            assert_eq!(read, lines.len() as u64);
            assert!(left <= 128 << 10, "{left} of {read} bytes are sorted again");
            assert_eq!(report.passes, 1);
        }
    }
}

/// With much memory, too, records are dropped as they come, and not when memory is full.
#[test]
fn memory_that_is_there_is_not_taken() {
    let order = record::Order::gensort(record::Ties::Record);
    let driver = Driver::new(1, 1);
    let records = kernel::patterns::draw(kernel::patterns::Pattern::Uniform, 1, 500_000, 100);
    put(&driver, "/in", &records);
    let mut job = job(&["/in"], "/out", &order);
    job.resources.memory_bytes = 8 << 30;
    job.top = Some(3);
    let report = run(&driver, &job).unwrap();
    let (read, left) = work(&report);
    assert!(left < read / 2, "{left} of {read} bytes were sorted");
}
