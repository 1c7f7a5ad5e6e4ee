//! Jobs for tests, on either backend.
#![allow(dead_code)]

pub mod chained;
pub mod cluster;
pub mod lines;
pub mod resumable;
pub mod set;
pub mod survival;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::patterns::{Pattern, draw};
use node::Random;
use pipeline::Failure;
use record::Order;
use rehearsal::Driver;
use simulated_sort::world::{self, FormatWords};
use sort::{
    Bytes, Choice, IoChoice, Job, Pack, Report, Resources, Source, SpillLayout, SplitterChoice,
    Target, Tuning,
};

pub use simulated_sort::world::{distinct, least_chunks, sorted, with_ties};

/// A job over paths, with more memory than tests need.
pub fn job(inputs: &[&str], output: &str, order: &Order) -> Job {
    let sources = inputs.iter().map(|path| Source::Path(PathBuf::from(path)));
    let target = Target::Path(PathBuf::from(output));
    let contents = Arc::new(Bytes::new(order.clone()));
    let resources = Resources {
        cores: 2,
        memory_bytes: 1 << 30,
        io: IoChoice::Auto,
    };
    Job {
        pack: Pack::Never,
        may_begin_again: false,
        ..Job::of_contents(sources.collect(), contents, target, resources)
    }
}

/// A job that spills under this plan, over one or two temporary directories, with few more chunks
/// than the least that works.
pub fn spilling_job(
    (inputs, records): (&[&str], Option<u64>),
    order: &Order,
    plan: Choice,
    random: &mut Random,
) -> Job {
    let mut job = job(inputs, "/out", order);
    job.plan = plan;
    job.temporary = vec![PathBuf::from("/tmp0"), PathBuf::from("/tmp1")];
    job.temporary.truncate(1 + random.below(2));
    job.tuning = drawn_tuning(random);
    if plan == Choice::Merge {
        job.tuning.load_chunks = [None, Some(1), Some(2)][random.below(3)];
        job.tuning.mergers = [None, Some(1), Some(2), Some(5)][random.below(4)];
    }
    job.resources.io = [IoChoice::Direct, IoChoice::Buffered][random.below(2)];
    job.spill_layout = drawn_layout(random);
    draw_stripes(&mut job, random);
    job.splitters = [SplitterChoice::Sampled, SplitterChoice::Even][random.below(2)];
    let least = least_chunks(&job, order, records);
    job.tuning.chunks = Some(least + random.below(20));
    job
}

/// Where chunks of partitions lie.
pub fn drawn_layout(random: &mut Random) -> SpillLayout {
    [SpillLayout::Log, SpillLayout::Preallocated][random.below(2)]
}

/// Stripes over two to four directories, in one of four jobs.
pub fn draw_stripes(job: &mut Job, random: &mut Random) {
    if random.below(4) == 0 {
        stripe(job, 1 + random.below(3));
    }
}

/// Spills to stripes of so many blocks and their parity.
pub fn stripe(job: &mut Job, blocks: usize) {
    let directories = (0..=blocks).map(|number| PathBuf::from(format!("/tmp{number}")));
    job.temporary = directories.collect();
    (job.stripe, job.spill_layout) = (Some(blocks), SpillLayout::Log);
}

/// The files of the driver's only node.
pub fn paths(driver: &Driver) -> Vec<PathBuf> {
    driver.disks(0).paths()
}

/// As [`world::drawn_tuning`], with at most 20 buckets.
pub fn drawn_tuning(random: &mut Random) -> Tuning {
    world::drawn_tuning(20, random)
}

/// Record lengths and keys of all shapes.
const FORMATS: [FormatWords; 5] = [
    ("gensort", &[]),
    ("fixed:1", &[]),
    ("fixed:7", &["2+3:bytes:desc"]),
    ("fixed:16", &["8+8:f64le"]),
    ("fixed:5000", &["100+10"]),
];

/// An order over one of them.
pub fn drawn_order(random: &mut Random) -> Order {
    world::drawn_order(&FORMATS, random)
}

/// Records of a drawn pattern.
pub fn drawn_records(random: &mut Random, record_bytes: usize, most: usize) -> Vec<u8> {
    let pattern = Pattern::ALL[random.below(Pattern::ALL.len())];
    draw(pattern, random.next_u64(), random.below(most), record_bytes)
}

/// Runs a job on the driver's only node.
pub fn run(driver: &Driver, job: &Job) -> Result<Report, Failure> {
    run_unless_killed(driver, job).expect("no test kills this node")
}

/// As [`run`], on a node that may die before the sort ends.
pub fn run_unless_killed(driver: &Driver, job: &Job) -> Option<Result<Report, Failure>> {
    let job = job.clone();
    let ends = driver.run(move |node| {
        let job = job.clone();
        async move { sort::run(&node, &job).await }
    });
    ends.unwrap_or_else(|stuck| panic!("{stuck}")).pop()
}

/// Puts a file on the driver's only node.
pub fn put(driver: &Driver, path: &str, bytes: &[u8]) {
    driver.disks(0).put(Path::new(path), bytes.to_vec());
}

/// A file of the driver's only node.
pub fn get(driver: &Driver, path: &str) -> Option<Vec<u8>> {
    driver.disks(0).get(Path::new(path))
}
