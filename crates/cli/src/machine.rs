//! Runs a program on this machine, until it ends or a signal ends it.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use node::Node;
use node_real::{Cluster, RealDisks, facts_of_memory};
use pipeline::{Control, Failure};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::CliFailure;
use crate::progress::{Mode, Progress};
use crate::size::Memory;

/// After a signal the run may end by itself for so long; then it is ended.
const GRACE: Duration = Duration::from_secs(1);

/// What a process that a signal ended exits with: this and the signal's number.
const SIGNAL_CODE: i32 = 128;

/// Runs `program` on one real node, with signals and progress.
pub fn run<T, P, Task>(control: &Control, progress: Mode, program: P) -> Result<T, CliFailure>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = Result<T, Failure>> + 'static,
{
    // Only names of temporary files and the places of samples are drawn.
    let cluster = Cluster::new(1, RandomState::new().hash_one("gristmill"));
    let caught = watch_signals(control.clone(), cluster.disks());
    let shown = Progress::start(control.clone(), progress);
    let mut ends = cluster.run(program);
    shown.stop();
    ends.pop().expect("one node").map_err(|failure| {
        let stopped = matches!(failure, Failure::Stopped(_));
        let failure = CliFailure::from(failure);
        let code = SIGNAL_CODE + caught.load(Ordering::SeqCst);
        if stopped { failure.with_code(code as u8) } else { failure }
    })
}

/// On a signal one thread stops the pipeline; after a second it removes what the run has made and
/// ends the process, whatever others do.
fn watch_signals(control: Control, disks: Arc<RealDisks>) -> Arc<AtomicI32> {
    let caught = Arc::new(AtomicI32::new(0));
    let seen = Arc::clone(&caught);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).expect("signals can be watched");
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            seen.store(signal, Ordering::SeqCst);
            control.stop(name(signal));
            std::thread::sleep(GRACE);
            disks.remove_unfinished();
            eprintln!("gristmill: stopped by {}", name(signal));
            std::process::exit(SIGNAL_CODE + signal);
        }
    });
    caught
}

fn name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        _ => "SIGHUP",
    }
}

/// What a cgroup's limit keeps for the program and the kernel's own needs.
const CGROUP_RESERVE_BYTES: u64 = 48 << 20;

/// Per cent of the available memory that a sort takes when nobody says how much.
const DEFAULT_PERCENT: u64 = 75;

/// The memory limit in bytes: as asked for, under the control group's limit.
pub fn memory_limit(asked: Option<Memory>) -> u64 {
    let facts = facts_of_memory();
    let cap = facts
        .cgroup_limit_bytes
        .map_or(u64::MAX, |limit| limit.saturating_sub(CGROUP_RESERVE_BYTES));
    let bytes = match asked {
        Some(Memory::Bytes(bytes)) => bytes,
        Some(Memory::Percent(percent)) => facts.total_bytes.min(cap) / 100 * percent,
        None => facts.available_bytes.min(cap) / 100 * DEFAULT_PERCENT,
    };
    bytes.min(cap)
}

/// Cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The most memory this process has had, in bytes.
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}
