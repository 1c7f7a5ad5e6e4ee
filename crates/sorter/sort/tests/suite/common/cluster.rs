//! Sorts over several nodes of the driver.

use std::path::PathBuf;

use pipeline::{Control, Failure};
use rehearsal::Driver;
use sort::{ExchangeKind, Job, Report};

pub use simulated_sort::world::cut;

pub const KINDS: [ExchangeKind; 2] = [ExchangeKind::Streams, ExchangeKind::Rounds];

/// Runs the job on each rank and returns the results. All ranks share the job, except for its
/// control.
pub fn run(driver: &Driver, job: &Job) -> Vec<Result<Report, Failure>> {
    let job = job.clone();
    let ends = driver.run(move |node| {
        let job = Job {
            control: Control::default(),
            ..job.clone()
        };
        async move { sort::run(&node, &job).await }
    });
    ends.unwrap_or_else(|stuck| panic!("{stuck}"))
}

pub fn put(driver: &Driver, rank: u32, bytes: &[u8]) {
    driver
        .disks(rank)
        .put(&PathBuf::from("/in"), bytes.to_vec());
}

/// The outputs of all ranks, one behind the other.
pub fn outputs(driver: &Driver, ranks: u32) -> Vec<u8> {
    let of = |rank| {
        driver
            .disks(rank)
            .get(&PathBuf::from("/out"))
            .expect("an output")
    };
    (0..ranks).flat_map(of).collect()
}
