//! Sets of files on the driver.

use std::path::{Path, PathBuf};

use pipeline::{Control, Failure};
use record::Order;
use rehearsal::Driver;
use sort::{Choice, IoChoice, Job, Manifest, SetSummary, Target, ValidatedSet, validate_set};

use super::{get, job, least_chunks};

/// A node with some directories.
pub fn driver(seed: u64) -> Driver {
    let driver = Driver::new(seed, 1);
    for directory in ["/set", "/b", "/c", "/d"] {
        driver.disks(0).put_directory(Path::new(directory));
    }
    driver
}

pub fn into_set(inputs: &[&str], directories: &[&str], order: &Order) -> Job {
    let target = Target::Directories(directories.iter().map(PathBuf::from).collect());
    let mut job = Job {
        target,
        ..job(inputs, "", order)
    };
    job.resources.memory_bytes = 1 << 26;
    job
}

pub fn manifest(driver: &Driver, directory: &str) -> Manifest {
    let text = get(driver, &format!("{directory}/manifest.json")).expect("a manifest");
    serde_json::from_slice(&text).unwrap()
}

/// The files of a set, one behind the other.
pub fn content(driver: &Driver, directory: &str) -> Vec<u8> {
    let paths = manifest(driver, directory).paths(Path::new(directory));
    paths
        .iter()
        .flat_map(|path| driver.disks(0).get(path).expect("a listed file"))
        .collect()
}

pub fn check(driver: &Driver, directory: &str) -> Result<SetSummary, Failure> {
    let job = ValidatedSet {
        manifest: PathBuf::from(directory).join(sort::Manifest::NAME),
        io: IoChoice::Auto,
        cores: 2,
        control: Control::default(),
    };
    let ends = driver.run(move |node| {
        let job = job.clone();
        async move { validate_set(&node, &job).await }
    });
    ends.unwrap_or_else(|stuck| panic!("{stuck}"))
        .pop()
        .expect("one node")
}

/// A job with few more chunks than the least that works, so that it spills.
pub fn spill(job: &mut Job, order: &Order, records: Option<u64>, more: usize) {
    job.plan = Choice::TwoPass;
    job.tuning.chunks = Some(least_chunks(job, order, records) + more);
}
