//! A pipeline: stages that are started, watched, stopped and awaited together.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use node::{Close, Mutex, Node, Panic, Rank, Ticket, catch, lock_waits};

use crate::clock::Doing;
use crate::failure::Failure;
use crate::meter::{Meter, StageReport};
use crate::worker::Worker;

/// Watches and stops a run, from any thread. Clones share it.
#[derive(Clone, Default)]
pub struct Control {
    shared: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    failure: Option<Failure>,
    ending: bool,
    /// The reason if it was stopped from outside, first or after another failure.
    stopped: Option<String>,
    /// Owned by the current pipeline.
    closables: Vec<Box<dyn Close>>,
    /// Owned by the run, over all of its pipelines.
    lasting: Vec<Box<dyn Close>>,
    phase: &'static str,
    total_bytes: u64,
    meters: Vec<Arc<Meter>>,
    others: BTreeMap<Rank, Heard>,
}

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The name of the current phase.
    pub phase: &'static str,
    /// Bytes that this phase will read; 0 if that is not known.
    pub total_bytes: u64,
    /// Stages of this phase with the bytes they have handled.
    pub stages: Vec<(&'static str, u64)>,
}

/// The progress that another node reports from time to time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The number of reports so far.
    pub times: u64,
    /// The latest report.
    pub progress: Progress,
}

impl Progress {
    /// Bytes that the stage of this name has handled.
    pub fn bytes_of(&self, stage: &str) -> u64 {
        self.stages
            .iter()
            .filter(|(name, _)| *name == stage)
            .map(|(_, bytes)| *bytes)
            .sum()
    }
}

impl Control {
    /// Stops the run: all of its waits end with [`node::Closed`].
    pub fn stop(&self, reason: &str) {
        self.fail(Failure::Stopped(reason.to_owned()));
    }

    /// The current progress of the run.
    pub fn progress(&self) -> Progress {
        let state = self.shared.lock();
        let bytes = |meter: &Arc<Meter>| (meter.name, meter.bytes());
        Progress {
            phase: state.phase,
            total_bytes: state.total_bytes,
            stages: state.meters.iter().map(bytes).collect(),
        }
    }

    /// Records a progress report of another node.
    pub fn hear(&self, rank: Rank, progress: Progress) {
        let mut state = self.shared.lock();
        let heard = state.others.entry(rank).or_default();
        heard.times += 1;
        heard.progress = progress;
    }

    /// The latest reports of the nodes that report to this one.
    pub fn others(&self) -> BTreeMap<Rank, Heard> {
        self.shared.lock().others.clone()
    }

    /// Begins a phase of the run; `total_bytes` is 0 if it is not known.
    pub fn enter(&self, phase: &'static str, total_bytes: u64) {
        let mut state = self.shared.lock();
        (state.phase, state.total_bytes) = (phase, total_bytes);
        state.meters.clear();
    }

    /// Makes something part of the run, over all of its pipelines: a failure closes it.
    pub fn owns(&self, closable: impl Close + 'static) {
        let mut state = self.shared.lock();
        if state.ending {
            closable.close();
        }
        state.lasting.push(Box::new(closable));
    }

    /// Whether the run has failed or was stopped, and is ending.
    pub fn is_ending(&self) -> bool {
        self.shared.lock().ending
    }

    /// The first failure, unless it was returned before (here or by [`Pipeline::join`]).
    pub fn take_failure(&self) -> Option<Failure> {
        self.shared.lock().failure.take()
    }

    /// Forgets a failure, after which the program begins again.
    ///
    /// # Errors
    /// When the run was stopped, also after it had failed.
    pub fn begin_again(&self) -> Result<(), Failure> {
        let mut state = self.shared.lock();
        if let Some(reason) = &state.stopped {
            return Err(Failure::Stopped(reason.clone()));
        }
        (state.ending, state.failure) = (false, None);
        state.closables.clear();
        state.lasting.clear();
        Ok(())
    }

    /// Records the failure if it is the first one, and closes everything.
    pub fn fail(&self, failure: Failure) {
        let mut state = self.shared.lock();
        if let Failure::Stopped(reason) = &failure {
            state.stopped.get_or_insert_with(|| reason.clone());
        }
        if !state.ending {
            state.ending = true;
            state.failure = Some(failure);
        }
        let all = state.closables.iter().chain(&state.lasting);
        all.for_each(|one| one.close());
    }
}

/// The body of a stage whose workers share `state`.
pub fn sharing<S, F>(
    state: S,
    work: F,
) -> impl AsyncFn(&Worker) -> Result<(), Failure> + Clone + Send + 'static
where
    S: Clone + Send + 'static,
    F: AsyncFn(&Worker, &S) -> Result<(), Failure> + Copy + Send + 'static,
{
    async move |worker: &Worker| work(worker, &state).await
}

/// The stages of one run.
pub struct Pipeline {
    control: Control,
    workers: Vec<Ticket<Result<(), Panic>>>,
    stages: Vec<Arc<Meter>>,
}

impl Pipeline {
    /// A pipeline without stages, as part of the run of `control`.
    pub fn new(control: &Control) -> Pipeline {
        Pipeline {
            control: control.clone(),
            workers: Vec::new(),
            stages: Vec::new(),
        }
    }

    /// Makes something part of the pipeline: a failure closes it.
    pub fn owns<C: Close + Clone + 'static>(&self, closable: C) -> C {
        let mut state = self.control.shared.lock();
        if state.ending {
            closable.close();
        }
        state.closables.push(Box::new(closable.clone()));
        closable
    }

    /// Starts `workers` workers of a stage. A worker that gets no thread fails the run, which
    /// [`Pipeline::join`] returns.
    pub fn stage<F>(&mut self, node: &Node, name: impl Into<&'static str>, workers: usize, body: F)
    where
        F: AsyncFn(&Worker) -> Result<(), Failure> + Clone + Send + 'static,
    {
        let bodies = (0..workers).map(|_| boxed(body.clone())).collect();
        self.start_workers(node, name.into(), bodies);
    }

    fn start_workers(&mut self, node: &Node, name: &'static str, bodies: Vec<Body>) {
        let meter = Arc::new(Meter::new(name, bodies.len()));
        self.stages.push(Arc::clone(&meter));
        self.control.shared.lock().meters.push(Arc::clone(&meter));
        for (index, body) in bodies.into_iter().enumerate() {
            let (meter, control) = (Arc::clone(&meter), self.control.clone());
            let run = async move |node: Node| {
                run_worker(&Worker::new(node, index, meter), body, &control).await;
            };
            match node.try_spawn(format!("{name}-{index}"), run) {
                Ok(worker) => self.workers.push(worker),
                Err(cause) => self.control.fail(Failure::NoThread { stage: name, cause }),
            }
        }
    }

    /// Waits for all workers to end, and returns a report of each stage.
    ///
    /// # Errors
    /// The first failure of the run; [`Failure::Closed`] if that was returned before.
    pub async fn join(self, node: &Node) -> Result<Vec<StageReport>, Failure> {
        for worker in self.workers {
            let end = worker.wait(node).await;
            end.expect("a worker's panic was caught before");
        }
        let mut state = self.control.shared.lock();
        state.closables.clear();
        if state.ending {
            return Err(state.failure.take().unwrap_or(Failure::Closed));
        }
        let meters = self.stages.iter();
        Ok(meters.map(|meter| meter.report(node)).collect())
    }
}

/// The work of one worker, behind a pointer: the code around it is compiled once, not per stage.
type Body = Box<dyn FnOnce(&Worker) -> Work<'_> + Send>;
type Work<'w> = Pin<Box<dyn Future<Output = Result<(), Failure>> + 'w>>;

fn boxed<F>(body: F) -> Body
where
    F: AsyncFn(&Worker) -> Result<(), Failure> + Send + 'static,
{
    Box::new(move |worker: &Worker| Box::pin(async move { body(worker).await }))
}

/// Runs one worker to its end, and tells the run of its failure or panic.
async fn run_worker(worker: &Worker, body: Body, control: &Control) {
    let waited = lock_waits();
    worker.turn_to(Doing::Busy);
    let end = catch(body(worker)).await;
    worker.node.reach().await;
    worker.add_locked(lock_waits() - waited);
    worker.turn_to(Doing::Away);
    match end {
        Ok(Ok(()) | Err(Failure::Closed)) => {}
        Ok(Err(failure)) => control.fail(failure),
        Err(panic) => control.fail(Failure::Panic {
            stage: worker.stage(),
            message: panic.0,
        }),
    }
}
