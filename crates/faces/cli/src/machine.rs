//! Runs a program on this machine until it ends or a signal ends it.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};

use node::Node;
use node_real::{Cluster, facts_of_memory};
use pipeline::{Control, Failure};

use crate::ending::codes;
use crate::ending::failure::CliFailure;
use crate::ending::signals::{self, GRACE};
use crate::job::RankJob;
use crate::launcher::ranks_here;
use crate::progress::{Mode, Progress};
use crate::size::Memory;

/// Runs `program` on one real node, with signals and progress.
///
/// # Errors
/// When the program fails, or signals cannot be watched.
pub fn run<T, P, Task>(control: &Control, progress: Mode, program: P) -> Result<T, CliFailure>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = Result<T, Failure>> + 'static,
{
    run_on(&Cluster::new(1, seed()), control, progress, 1, program)
}

/// Runs `program` as one node of a job; rank 0 alone shows progress, for all.
///
/// # Errors
/// When the program fails, or signals cannot be watched.
pub fn run_in<T, P, Task>(
    job: &RankJob,
    control: &Control,
    progress: Mode,
    program: P,
) -> Result<T, CliFailure>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = Result<T, Failure>> + 'static,
{
    let cluster = Cluster::over(job.network(), seed());
    let disks = cluster.disks();
    job.on_failure(control.clone(), move || disks.remove_unfinished());
    let disks = cluster.disks();
    let guard = job.see_to_the_end(control.clone(), move || disks.remove_unfinished());
    let progress = if job.is_first() {
        progress
    } else {
        Mode::Never
    };
    let ended = run_on(&cluster, control, progress, job.ranks(), program);
    guard.stop();
    ended
}

/// Decides only names of temporary files and the places of samples.
fn seed() -> u64 {
    RandomState::new().hash_one("gristmill")
}

fn run_on<T, P, Task>(
    cluster: &Cluster,
    control: &Control,
    progress: Mode,
    ranks: u32,
    program: P,
) -> Result<T, CliFailure>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = Result<T, Failure>> + 'static,
{
    node_real::return_large_blocks();
    let (stopped, disks) = (control.clone(), cluster.disks());
    let stop = move |signal| stopped.stop(codes::name(signal));
    let caught = signals::watch(GRACE, stop, move || disks.remove_unfinished())?;
    let shown = Progress::start(control.clone(), progress, ranks);
    // A panic outside of the stages is a bug. Even then no file is left behind.
    let ended = catch_unwind(AssertUnwindSafe(|| cluster.run(program)));
    shown.stop();
    let Ok(mut ends) = ended else {
        cluster.disks().remove_unfinished();
        return Err(CliFailure::new(
            "bug",
            "stopped by the panic above; please report it",
        ));
    };
    ends.pop().expect("one node").map_err(|failure| {
        let stopped = matches!(failure, Failure::Stopped(_));
        let failure = CliFailure::from(failure);
        match caught.signal() {
            Some(signal) if stopped => failure.with_code(codes::of_signal(signal) as u8),
            _ => failure,
        }
    })
}

/// The part of a control group's limit that is left to the program and the kernel, which also counts
/// page tables and pages of files on their way.
pub const CGROUP_RESERVE_BYTES: u64 = 48 << 20;

/// Of a small group, a half.
fn without_reserve(limit: u64) -> u64 {
    limit - CGROUP_RESERVE_BYTES.min(limit / 2)
}

/// The default memory limit, in % of the available memory.
const DEFAULT_PERCENT: u64 = 75;

/// The memory limit in bytes: the one asked for, within the limit of the control group.
pub fn memory_limit(asked: Option<Memory>) -> u64 {
    let facts = facts_of_memory();
    let cap = facts.cgroup_limit_bytes.map_or(u64::MAX, without_reserve);
    let bytes = match asked {
        Some(Memory::Bytes(bytes)) => bytes,
        Some(Memory::Percent(percent)) => facts.total_bytes.min(cap) / 100 * percent / ranks_here(),
        None => facts.available_bytes.min(cap) / 100 * DEFAULT_PERCENT / ranks_here(),
    };
    bytes.min(cap)
}

/// The number of cores for this process. Unbound ranks share the cores of their host; cores that a
/// launcher has bound a rank to are its own.
pub fn cores() -> usize {
    let may_use = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    if may_use < count(&online) {
        may_use
    } else {
        (may_use / ranks_here() as usize).max(1)
    }
}

/// The length of a list of numbers as the kernel writes it, such as `0-3,8`.
fn count(list: &str) -> usize {
    let numbers = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let [first, last]: [Option<usize>; 2] =
            [first, last].map(|number| number.trim().parse().ok());
        first
            .zip(last)
            .map_or(0, |(first, last)| last + 1 - first.min(last))
    };
    list.split(',').map(numbers).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists_of_cores_are_counted() {
        for (list, cores) in [("0", 1), ("0-3\n", 4), ("0-3,8,10-11\n", 7), ("", 0)] {
            assert_eq!(super::count(list), cores, "{list:?}");
        }
    }
}
