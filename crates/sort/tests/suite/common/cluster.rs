//! Sorts over several nodes of the driver.

use std::path::PathBuf;

use machine::Driver;
use node::Random;
use pipeline::{Control, Failure};
use sort::{ExchangeKind, Job, Report};

pub const KINDS: [ExchangeKind; 2] = [ExchangeKind::Streams, ExchangeKind::Rounds];

/// How each rank's sort ended. What they share of the job is the same; each has its own control.
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

/// Inputs of all ranks together; one is cut at random places.
pub fn cut(records: &[u8], bytes: usize, ranks: u32, random: &mut Random) -> Vec<Vec<u8>> {
    let count = records.len() / bytes;
    let mut cuts: Vec<usize> = (1..ranks)
        .map(|_| random.below(count + 1) * bytes)
        .collect();
    cuts.extend([0, records.len()]);
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|pair| records[pair[0]..pair[1]].to_vec())
        .collect()
}
