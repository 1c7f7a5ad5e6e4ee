//! Sets of files that keep one of the records with equal keys: how long each file becomes, and whether
//! it has any record, is known only when it is sorted.

use std::path::{Path, PathBuf};

use crate::common::lines::{LineSort, drawn_sort, run_with_enough, seeds, text_order};
use crate::common::set::{check, content, manifest};
use node::Random;
use record::{Keep, Ties};
use rehearsal::Driver;
use sort::{Choice, Report, Target};

const DIRECTORIES: [&str; 4] = ["/set", "/b", "/c", "/d"];

/// A driver with the inputs and the directories of a sort into a set.
fn driver(sort: &LineSort, seed: u64) -> Driver {
    let driver = sort.driver(seed);
    for directory in DIRECTORIES {
        driver.disks(0).put_directory(Path::new(directory));
    }
    driver
}

/// Sorts into a set, and checks its files and its manifest.
fn sort_into_set(sort: &LineSort, seed: u64) -> (Report, usize) {
    // Several files have seams, which need more memory than one.
    let (driver, end) = run_with_enough(|| driver(sort, seed), &mut sort.job());
    let report = end.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    assert!(content(&driver, "/set") == sort.expected(), "seed {seed}");
    let found = manifest(&driver, "/set");
    assert_eq!(found.records, report.records, "seed {seed}");
    assert!(
        found.files.iter().all(|file| file.records > 0),
        "seed {seed}"
    );
    let summary = check(&driver, "/set").unwrap_or_else(|failure| panic!("{seed}: {failure}"));
    assert!(summary.is_right(), "seed {seed}: {:?}", summary.wrong);
    let others = sort.files.len() + 1;
    let paths = driver.disks(0).paths();
    assert_eq!(
        paths.len(),
        others + found.files.len(),
        "seed {seed}: {paths:?}"
    );
    (report, found.files.len())
}

#[test]
fn hundreds_of_schedules_keep_the_first_of_equal_lines() {
    let (mut spilled, mut merged, mut dropped, mut files) = (0, 0, 0, 0);
    for seed in 4_000_000..4_000_000 + seeds(150, 500) {
        let (shape, mut sort) = drawn_sort(seed, 100_000);
        let mut random = Random::new(seed);
        let directories = DIRECTORIES[..1 + random.below(4)].iter();
        sort.job.target = Target::Directories(directories.map(PathBuf::from).collect());
        sort.keep(Keep::First);
        if seed % 3 > 0 && sort.job.plan != Choice::OnePass {
            sort.with_few_chunks(seed as usize % 5);
        }
        println!("seed {seed}, {shape:?}, {:?}", sort.job.tuning);
        let (report, count) = sort_into_set(&sort, seed);
        spilled += u64::from(report.passes > 1);
        merged += u64::from(report.plan == "merge");
        dropped += u64::from(report.dropped > 0);
        files += count;
    }
    assert!(
        spilled > 25 && merged > 25 && dropped > 50 && files > 200,
        "{spilled} spilled, {merged} merged, {dropped} dropped, {files} files"
    );
}

/// Files between others, and the last ones, have no record left: lines with one key fill them all.
#[test]
fn files_without_records_are_left_out() {
    let often = |line: &str| line.repeat(3000).into_bytes();
    for (lines, left) in [
        (vec![often("b\n")], 1),
        (vec![often("m\n"), b"a\nz\n".to_vec()], 3),
        (vec![b"a\nb\n".to_vec(), often("y\n"), often("z\n")], 4),
    ] {
        for seed in 0..10 {
            for plan in [Choice::OnePass, Choice::TwoPass, Choice::Merge] {
                let order = text_order(false, Ties::Record);
                let mut sort = LineSort::new(lines.clone(), order, b'\n');
                let directories = DIRECTORIES.map(PathBuf::from).to_vec();
                sort.job.target = Target::Directories(directories);
                sort.job.plan = plan;
                sort.job.tuning.buckets = Some(8);
                sort.keep(Keep::First);
                sort.job.resources.memory_bytes += 32 << 20;
                let (report, _) = sort_into_set(&sort, seed);
                assert_eq!(report.records, left, "{plan:?}");
            }
        }
    }
}
