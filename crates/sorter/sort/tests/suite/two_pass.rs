//! Sorts that spill, under hundreds of schedules of the deterministic driver.

use std::path::Path;

use crate::common::{drawn_order, drawn_records, get, paths, put, run, sorted, spilling_job};
use node::Random;
use record::{Order, Ties};
use rehearsal::Driver;
use sort::Choice;

#[test]
fn three_hundred_schedules_give_the_same_bytes() {
    let mut spilled = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let order = drawn_order(&mut random);
        let driver = Driver::new(seed, 1);
        let records = drawn_records(&mut random, order.record_bytes(), 3000);
        let (name, count) = match random.below(3) {
            0 => {
                driver
                    .disks(0)
                    .put_pipe(Path::new("/pipe"), records.clone());
                ("/pipe", None)
            }
            _ => {
                put(&driver, "/in", &records);
                ("/in", Some((records.len() / order.record_bytes()) as u64))
            }
        };
        let job = spilling_job((&[name], count), &order, Choice::TwoPass, &mut random);
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        assert!(
            get(&driver, "/out").unwrap() == sorted(&records, &order),
            "seed {seed}"
        );
        assert_eq!(paths(&driver).len(), 2, "seed {seed}: a file is left");
        assert_eq!(report.passes > 1, report.temp_peak_bytes > 0, "seed {seed}");
        spilled += u32::from(report.passes > 1);
    }
    assert!(spilled > 150, "only {spilled} of them spilled");
}

/// More memory never means more bytes on disk, except for the length of a write, and enough memory
/// means none: no cliff between two passes and one.
#[test]
fn records_that_memory_holds_are_not_written() {
    let order = Order::gensort(Ties::Record);
    let records = drawn_records(&mut Random::new(1), 100, 3000);
    let count = (records.len() / 100) as u64;
    let mut random = Random::new(4);
    let mut job = spilling_job(
        (&["/in"], Some(count)),
        &order,
        Choice::TwoPass,
        &mut random,
    );
    let least = job.tuning.chunks.unwrap();
    let mut before = u64::MAX;
    for more in (0..2000).step_by(50) {
        let driver = Driver::new(1, 1);
        put(&driver, "/in", &records);
        job.tuning.chunks = Some(least + more);
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("{more}: {failure}"));
        assert!(
            report.temp_peak_bytes <= before.saturating_add(records.len() as u64 / 20),
            "{more}: {} after {before}",
            report.temp_peak_bytes
        );
        before = report.temp_peak_bytes;
    }
    assert_eq!(before, 0);
}
