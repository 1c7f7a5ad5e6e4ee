//! Jobs for tests, on either backend.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::patterns::{Pattern, draw};
use machine::Driver;
use node::Random;
use pipeline::{Control, Failure};
use record::Order;
use sort::{Bytes, Choice, IoChoice, Job, Report, Resources, Source, Target, Tuning};

/// A job over paths, with more memory than tests need.
pub fn job(inputs: &[&str], output: &str, order: &Order) -> Job {
    Job {
        sources: inputs.iter().map(|path| Source::Path(PathBuf::from(path))).collect(),
        target: Target::Path(PathBuf::from(output)),
        contents: Arc::new(Bytes::new(order.clone())),
        resources: Resources { cores: 2, memory_bytes: 1 << 30, io: IoChoice::Auto },
        temporary: Vec::new(),
        plan: Choice::Auto,
        tuning: Tuning::default(),
        control: Control::default(),
    }
}

/// Small units and drawn worker counts, so that few records make many units.
pub fn drawn_tuning(random: &mut Random) -> Tuning {
    let mut up_to = |most: usize| Some(1 + random.below(most));
    Tuning {
        readers: up_to(3),
        distributors: up_to(3),
        sorters: up_to(3),
        writers: up_to(3),
        depth: up_to(3),
        unit_records: up_to(90),
        buckets: up_to(20),
        chunk_bytes: up_to(9000),
        chunks: None,
    }
}

/// Records of a drawn pattern.
pub fn drawn_records(random: &mut Random, record_bytes: usize, most: usize) -> Vec<u8> {
    let pattern = Pattern::ALL[random.below(Pattern::ALL.len())];
    draw(pattern, random.next_u64(), random.below(most), record_bytes)
}

/// The naive oracle: the standard library's stable sort.
pub fn sorted(records: &[u8], order: &Order) -> Vec<u8> {
    let mut each: Vec<&[u8]> = records.chunks_exact(order.record_bytes()).collect();
    each.sort_by(|a, b| order.compare(a, b));
    each.concat()
}

/// Runs a job on the driver's only node.
pub fn run(driver: &Driver, job: &Job) -> Result<Report, Failure> {
    let job = job.clone();
    let ends = driver.run(move |node| {
        let job = job.clone();
        async move { sort::run(&node, &job).await }
    });
    ends.unwrap_or_else(|stuck| panic!("{stuck}")).pop().expect("one node")
}

/// Puts a file on the driver's only node.
pub fn put(driver: &Driver, path: &str, bytes: &[u8]) {
    driver.disks(0).put(Path::new(path), bytes.to_vec());
}

/// A file of the driver's only node.
pub fn get(driver: &Driver, path: &str) -> Option<Vec<u8>> {
    driver.disks(0).get(Path::new(path))
}
