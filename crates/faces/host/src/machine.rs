//! Runs a program on this machine until it ends or a signal ends it.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};

use node::Node;
use node_real::Cluster;
use pipeline::{Control, Failure};

use terminal::ending::codes;
use terminal::ending::failure::CliFailure;
use terminal::ending::signals::{self, GRACE};
use terminal::progress::Mode;

use crate::failure;
use crate::job::RankJob;
use crate::progress;

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
    let shown = progress::start(control.clone(), progress, ranks);
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
        let failure = failure::ended(failure);
        match caught.signal() {
            Some(signal) if stopped => failure.with_code(codes::of_signal(signal) as u8),
            _ => failure,
        }
    })
}
