//! Sorts of a few very large records with exactly the least memory that a refusal names, under
//! schedules of the deterministic driver. A plan that is too tight gets stuck there.

use std::path::Path;

use crate::common::{get, job, put, run, sorted};
use kernel::patterns::{Pattern, draw};
use node::Random;
use pipeline::Failure;
use record::{Order, Ties};
use rehearsal::Driver;
use sort::{Choice, Job, SortError};

/// The least memory that this sort is refused with.
fn least(driver: &Driver, job: &Job) -> u64 {
    let mut refused = Job {
        control: pipeline::Control::default(),
        ..job.clone()
    };
    refused.resources.memory_bytes = 1 << 20;
    let failure = run(driver, &refused).expect_err("a MiB is too little");
    let Failure::Program(error) = &failure else {
        panic!("{failure}")
    };
    match error.downcast_ref() {
        Some(SortError::TooLittleMemory { needed, .. }) => *needed,
        _ => panic!("{failure}"),
    }
}

#[test]
fn the_least_memory_is_enough_for_large_records() {
    let mut merged = 0;
    for seed in 0..80 {
        let mut random = Random::new(seed);
        let record_bytes = 300_000 + random.below(9) * 4096 + random.below(2) * 77;
        let ties = if random.below(2) == 0 {
            Ties::Record
        } else {
            Ties::Position
        };
        let order = Order::parse(&format!("fixed:{record_bytes}"), &["0+3"], ties).unwrap();
        let records = draw(Pattern::Uniform, seed, 2 + random.below(11), record_bytes);
        let driver = Driver::new(seed, 1);
        let pipe = random.below(3) == 0;
        if pipe {
            driver.disks(0).put_pipe(Path::new("/in"), records.clone());
        } else {
            put(&driver, "/in", &records);
        }
        let mut job = job(&["/in"], "/out", &order);
        let plans = [
            Choice::Auto,
            Choice::TwoPass,
            Choice::Merge,
            Choice::OnePass,
        ];
        // The bytes that a pipe will have cannot be known before.
        job.plan = plans[random.below(plans.len() - usize::from(pipe))];
        job.resources.memory_bytes = least(&driver, &job);
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("{seed}: {failure}"));
        assert!(
            get(&driver, "/out").unwrap() == sorted(&records, &order),
            "seed {seed}"
        );
        merged += usize::from(report.plan == "merge");
    }
    assert!(merged > 20, "{merged} merged");
}
