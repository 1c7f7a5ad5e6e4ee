//! A sort on a thread of its own.

use std::io;
use std::mem::forget;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::id;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, scope};

use node::backend::FileHandle;
use node::{Compress, Compression, Node};
use node_real::{Cluster, Feed, Gone};
use pipeline::Failure;
use sort::{CheckResult, Checked, Job};

use crate::error::Error;
use crate::report::Report;
use crate::watch::Watch;

/// The node draws where to sample. Any number will do; one that is always the same makes a sort
/// repeat itself.
const SEED: u64 = 1;

/// The limit that a compressor takes its part of when records of a sort are written to a file: some
/// MiB beside the sort.
const COMPRESSOR_BYTES: u64 = 64 << 20;

type Ended = Result<sort::Report, Failure>;

/// A sort that runs.
pub(crate) struct Running {
    /// None once its end was waited for.
    thread: Option<JoinHandle<Ended>>,
    pub(crate) watch: Watch,
    /// Whether its records are pushed.
    is_fed: bool,
    /// A fork of this process has no such thread.
    process: u32,
}

impl Running {
    /// Starts a sort, with streams as its standard input and output.
    pub(crate) fn start(
        job: Job,
        watch: &Watch,
        input: Option<Arc<dyn FileHandle>>,
        output: Arc<dyn FileHandle>,
    ) -> Result<Running, Error> {
        let (is_fed, own) = (input.is_some(), watch.clone());
        let thread = Builder::new()
            .name("gristmill".to_owned())
            .spawn(move || run(job, &own, input, Some(output)))
            .map_err(no_thread)?;
        Ok(Running {
            thread: Some(thread),
            watch: watch.clone(),
            is_fed,
            process: id(),
        })
    }

    /// Waits for its end.
    pub(crate) fn join(mut self) -> Result<Report, Error> {
        let thread = self.thread.take().expect("it is waited for once");
        if self.process != id() {
            forget(thread);
            return Err(Error::Forked);
        }
        match thread.join() {
            Ok(Ok(report)) => Ok(Report::of(&report)),
            Ok(Err(failure)) if self.is_fed => Err(Error::from(failure).of_pushed()),
            Ok(Err(failure)) => Err(failure.into()),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Ends the sort, and waits until its files are gone.
impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            if self.process != id() {
                return forget(thread);
            }
            self.watch.control().stop("a drop");
            // Its failure has no reader.
            let _ = thread.join();
        }
    }
}

/// Runs a sort on this thread.
pub(crate) fn run(
    job: Job,
    watch: &Watch,
    input: Option<Arc<dyn FileHandle>>,
    output: Option<Arc<dyn FileHandle>>,
) -> Ended {
    let cluster = Cluster::alone(SEED, input, output);
    watch.begin(&cluster.disks())?;
    run_on(&cluster, move |node| {
        let job = job.clone();
        async move { sort::run(&node, &job).await }
    })
}

/// Checks a file on this thread.
pub(crate) fn check(job: Checked) -> Result<CheckResult, Failure> {
    let cluster = Cluster::alone(SEED, None, None);
    run_on(&cluster, move |node| {
        let job = job.clone();
        async move { sort::check(&node, &job).await }
    })
}

/// Stores in a file the bytes that `fill` pushes. The file gets its name if all of them come. Also
/// returns whether it was written in place.
pub(crate) fn store<T>(
    path: &Path,
    watch: &Watch,
    fill: impl FnOnce(&mut Feed) -> Result<Result<T, Error>, Gone>,
) -> Result<(T, bool), Error> {
    let (mut feed, input) = Feed::new();
    scope(|scope| {
        let target = path.to_owned();
        let compress = Compression::of_name(path).map(|format| Compress {
            format,
            cores: 1,
            memory_bytes: COMPRESSOR_BYTES,
        });
        let store = move || {
            let cluster = Cluster::alone(SEED, Some(input), None);
            watch.begin(&cluster.disks())?;
            run_on(&cluster, move |node| {
                let target = target.clone();
                async move { sort::store(&node, target, compress).await }
            })
        };
        let storing = Builder::new()
            .name("gristmill".to_owned())
            .spawn_scoped(scope, store)
            .map_err(no_thread)?;
        let filled = fill(&mut feed);
        match &filled {
            Ok(Ok(_)) => feed.finish(),
            _ => drop(feed),
        }
        let stored = storing.join().unwrap_or_else(|panic| resume_unwind(panic));
        match (filled, stored) {
            (Ok(Err(error)), _) => Err(error),
            (_, Err(failure)) => Err(failure.into()),
            (Ok(filled), Ok(warning)) => Ok((filled?, warning.is_some())),
            (Err(Gone), Ok(_)) => unreachable!("an input that was cut is an error"),
        }
    })
}

fn run_on<T, P, Task>(cluster: &Cluster, program: P) -> Result<T, Failure>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = Result<T, Failure>> + 'static,
{
    let ends = cluster.try_run(program).map_err(no_thread)?;
    ends.into_iter().next().expect("one node")
}

fn no_thread(cause: io::Error) -> Failure {
    let stage = "first";
    Failure::NoThread { stage, cause }
}
