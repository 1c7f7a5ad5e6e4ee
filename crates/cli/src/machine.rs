//! Runs a program on this machine, until it ends or a signal ends it.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use node::Node;
use node_real::{Cluster, RealDisks, facts_of_memory};
use pipeline::{Control, Failure};
use signal_hook::consts::SIGXFSZ;
use signal_hook::iterator::Signals;

use crate::failure::CliFailure;
use crate::progress::{Mode, Progress};
use crate::size::Memory;
use crate::{say, scratch, signals};

/// After a signal the run may end by itself for so long; then it is ended.
const GRACE: Duration = Duration::from_secs(1);

/// Runs `program` on one real node, with signals and progress.
pub fn run<T, P, Task>(control: &Control, progress: Mode, program: P) -> Result<T, CliFailure>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = Result<T, Failure>> + 'static,
{
    // Only names of temporary files and the places of samples are drawn.
    let cluster = Cluster::new(1, RandomState::new().hash_one("gristmill"));
    let caught = watch_signals(control.clone(), cluster.disks())?;
    let shown = Progress::start(control.clone(), progress);
    // A panic outside of the stages is a bug; even then nothing is left behind.
    let ended = catch_unwind(AssertUnwindSafe(|| cluster.run(program)));
    shown.stop();
    let Ok(mut ends) = ended else {
        cluster.disks().remove_unfinished();
        return Err(CliFailure::new("bug", "stopped by the panic above; please report it"));
    };
    ends.pop().expect("one node").map_err(|failure| {
        let stopped = matches!(failure, Failure::Stopped(_));
        let failure = CliFailure::from(failure);
        let code = signals::code(caught.load(Ordering::SeqCst));
        if stopped { failure.with_code(code as u8) } else { failure }
    })
}

/// On a signal one thread stops the pipeline; after a second, or at another signal, what the run has
/// made is removed and the process ends, whatever others do.
fn watch_signals(control: Control, disks: Arc<RealDisks>) -> Result<Arc<AtomicI32>, CliFailure> {
    let caught = Arc::new(AtomicI32::new(0));
    let seen = Arc::clone(&caught);
    // A file size limit's signal is heard too: then the write that was too long fails and is told.
    let mut heard = signals::ending();
    heard.push(SIGXFSZ);
    let mut incoming = Signals::new(heard).map_err(signals::unwatched)?;
    let watch = move || {
        for signal in incoming.forever().filter(|&signal| signal != SIGXFSZ) {
            if seen.swap(signal, Ordering::SeqCst) != 0 {
                end(signal, &disks);
            }
            control.stop(signals::name(signal));
            let last = Arc::clone(&disks);
            let wait = move || {
                std::thread::sleep(GRACE);
                end(signal, &last);
            };
            if std::thread::Builder::new().spawn(wait).is_err() {
                end(signal, &disks);
            }
        }
    };
    std::thread::Builder::new().spawn(watch).map_err(signals::unwatched)?;
    Ok(caught)
}

fn end(signal: i32, disks: &RealDisks) -> ! {
    disks.remove_unfinished();
    scratch::remove_all();
    say::err(format!("gristmill: stopped by {}", signals::name(signal)));
    std::process::exit(signals::code(signal));
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
