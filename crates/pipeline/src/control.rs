//! A pipeline: stages that are started, watched, stopped and awaited together.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use node::{Close, Node, Panic, Rank, Ticket, catch};

use crate::clock::Doing;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::meter::{Meter, StageReport};
use crate::stage::Stage;
use crate::tuner::{Tuner, Watch};
use crate::worker::Worker;

/// A run as others see it: to watch and to stop it from any thread. Clones share it.
#[derive(Clone, Default)]
pub struct Control {
    shared: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    failure: Option<Failure>,
    ending: bool,
    closables: Vec<Box<dyn Close>>,
    /// Those that outlast a pipeline.
    lasting: Vec<Box<dyn Close>>,
    phase: &'static str,
    total_bytes: u64,
    meters: Vec<Arc<Meter>>,
    /// How far other nodes are, as they told.
    others: BTreeMap<Rank, Heard>,
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub phase: &'static str,
    /// Bytes it will read in this phase, where that is known.
    pub total_bytes: u64,
    /// Stages with the bytes they have handled.
    pub stages: Vec<(&'static str, u64)>,
}

/// What another node tells again and again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// How often it has.
    pub times: u64,
    /// How far it is.
    pub progress: Progress,
}

impl Progress {
    /// Bytes that a stage has handled.
    pub fn bytes_of(&self, stage: &str) -> u64 {
        self.stages
            .iter()
            .filter(|(name, _)| *name == stage)
            .map(|(_, bytes)| *bytes)
            .sum()
    }
}

impl Control {
    /// Stops the run: everything that waits is sent home.
    pub fn stop(&self, reason: &str) {
        self.fail(Failure::Stopped(reason.to_owned()));
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        let state = self.lock();
        let bytes = |meter: &Meter| meter.bytes.load(Ordering::Relaxed);
        let stages = state
            .meters
            .iter()
            .map(|meter| (meter.name, bytes(meter)))
            .collect();
        Progress {
            phase: state.phase,
            total_bytes: state.total_bytes,
            stages,
        }
    }

    /// Another node has told how far it is.
    pub fn hear(&self, rank: Rank, progress: Progress) {
        let mut state = self.lock();
        let heard = state.others.entry(rank).or_default();
        *heard = Heard {
            times: heard.times + 1,
            progress,
        };
    }

    /// How far other nodes of the run are, where they tell this one.
    pub fn others(&self) -> BTreeMap<Rank, Heard> {
        self.lock().others.clone()
    }

    /// Names what the run does now; `total_bytes` is 0 where it is not known.
    pub fn enter(&self, phase: &'static str, total_bytes: u64) {
        let mut state = self.lock();
        (state.phase, state.total_bytes) = (phase, total_bytes);
        state.meters.clear();
    }

    /// Makes something part of the run, whatever pipeline runs: a failure closes it.
    pub fn owns(&self, closable: impl Close + 'static) {
        let mut state = self.lock();
        if state.ending {
            closable.close();
        }
        state.lasting.push(Box::new(closable));
    }

    /// Whether it has failed or was stopped, and winds up.
    pub fn is_ending(&self) -> bool {
        self.lock().ending
    }

    /// The first failure, if nobody was told of it yet.
    pub fn take_failure(&self) -> Option<Failure> {
        self.lock().failure.take()
    }

    /// Records the first failure and closes everything.
    pub fn fail(&self, failure: Failure) {
        let mut state = self.lock();
        if !state.ending {
            state.ending = true;
            state.failure = Some(failure);
        }
        state
            .closables
            .iter()
            .chain(&state.lasting)
            .for_each(|one| one.close());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stages of one run.
pub struct Pipeline {
    control: Control,
    workers: Vec<Ticket<Result<(), Panic>>>,
    stages: Vec<(Stage, Arc<Meter>)>,
    tuner: Tuner,
}

impl Pipeline {
    /// A pipeline without stages, that `control` watches.
    pub fn new(control: &Control) -> Pipeline {
        let control = control.clone();
        Pipeline {
            control,
            workers: Vec::new(),
            stages: Vec::new(),
            tuner: Tuner::off(),
        }
    }

    /// The same, tuned while it is awaited.
    #[must_use]
    pub fn tuned(self, tuner: &Tuner) -> Pipeline {
        Pipeline {
            tuner: tuner.clone(),
            ..self
        }
    }

    /// Makes something part of the pipeline: a failure closes it.
    pub fn owns<C: Close + Clone + 'static>(&self, closable: C) -> C {
        let mut state = self.control.lock();
        if state.ending {
            closable.close();
        }
        state.closables.push(Box::new(closable.clone()));
        closable
    }

    /// Starts `workers` workers of a stage.
    pub fn stage<F>(&mut self, node: &Node, name: &'static str, workers: usize, body: F)
    where
        F: AsyncFn(&Worker) -> Result<(), Failure> + Clone + Send + 'static,
    {
        self.start(node, Stage::new(name, workers), body);
    }

    /// Starts a stage of which not all workers need be called.
    pub fn start<F>(&mut self, node: &Node, stage: Stage, body: F)
    where
        F: AsyncFn(&Worker) -> Result<(), Failure> + Clone + Send + 'static,
    {
        let (name, workers) = (stage.name, stage.workers);
        let gate = self.owns(Gate::new(node, stage.called.clamp(1, workers.max(1))));
        let meter = Arc::new(Meter::new(name, workers, gate));
        self.stages.push((stage, Arc::clone(&meter)));
        self.control.lock().meters.push(Arc::clone(&meter));
        for index in 0..workers {
            let (body, meter, control) = (body.clone(), Arc::clone(&meter), self.control.clone());
            let run = async move |node: Node| {
                run_worker(&Worker::new(node, index, meter), body, &control).await;
            };
            match node.try_spawn(format!("{name}-{index}"), run) {
                Ok(worker) => self.workers.push(worker),
                Err(cause) => self.control.fail(Failure::NoThread { stage: name, cause }),
            }
        }
    }

    /// Waits for all workers to end: what each stage did, or the first failure.
    pub async fn join(self, node: &Node) -> Result<Vec<StageReport>, Failure> {
        let mut watch = Watch::new(&self.tuner, self.stages.clone(), node);
        for worker in self.workers {
            if let Some(watch) = &mut watch {
                watch.until_done(node, &worker).await;
            }
            worker
                .wait(node)
                .await
                .expect("a worker's panic was caught before");
        }
        let mut state = self.control.lock();
        state.closables.clear();
        match state.failure.take() {
            Some(failure) => Err(failure),
            None if state.ending => Err(Failure::Closed),
            None => Ok(self
                .stages
                .iter()
                .map(|(_, meter)| meter.report(node))
                .collect()),
        }
    }
}

/// Runs one worker to its end, however it ends.
async fn run_worker<F>(worker: &Worker, body: F, control: &Control)
where
    F: AsyncFn(&Worker) -> Result<(), Failure>,
{
    worker.turn_to(Doing::Busy);
    let end = catch(body(worker)).await;
    worker.node.reach().await;
    worker.turn_to(Doing::Away);
    match end {
        Ok(Ok(())) => worker.ends().await,
        Ok(Err(Failure::Closed)) => {}
        Ok(Err(failure)) => control.fail(failure),
        Err(panic) => control.fail(Failure::Panic {
            stage: worker.stage(),
            message: panic.0,
        }),
    }
}
