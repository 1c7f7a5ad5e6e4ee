//! Many runs in parallel, one per thread, as far as memory allows.
//!
//! ```text
//!   jobs x seeds --> tasks, the most expensive first --> workers --> reports, by job and seed
//!                                   |                       |
//!                       fits in the memory that is left? ---'
//! ```
//!
//! Runs are independent, so a report does not depend on how many run at once. Expensive runs come
//! first, or the longest one might begin when all others have ended. A run that does not fit in the
//! memory that is left is passed over until another one ends; any run may try alone.

use std::sync::{Condvar, MutexGuard, PoisonError};

use machine::RunError;

use crate::error::LabError;
use crate::job::Job;
use crate::memory;
use crate::observer::Observer;
use crate::place::Place;
use crate::report::RunReport;
use node::Mutex;

/// A run to be done.
#[derive(Clone, Copy, Debug)]
struct Task {
    job: usize,
    run: u64,
    bytes: u64,
    /// Its expected cost, in messages.
    cost: u64,
}

/// The work of all threads.
struct RunQueue<'a> {
    jobs: &'a [Job],
    observer: &'a Observer,
    /// Whether runs begin after one had an error.
    goes_on: bool,
    state: Mutex<State>,
    /// Notified when a task ends.
    ended: Condvar,
}

struct State {
    /// Tasks to be done, the cheapest first: they are taken from the end.
    left: Vec<Task>,
    going: usize,
    /// Memory that no task holds.
    room: u64,
    reports: Vec<Vec<Option<RunReport>>>,
    /// Job, run and error.
    errors: Vec<(usize, u64, LabError)>,
}

/// Runs each job with all its seeds, on at most `workers` threads.
///
/// # Errors
/// The error of the first job, and of its first seed, that has one.
pub(crate) fn run(
    jobs: &[Job],
    observer: &Observer,
    workers: usize,
) -> Result<Vec<Vec<RunReport>>, LabError> {
    jobs.iter().try_for_each(Job::check_room)?;
    let jobs = on_threads(jobs, workers);
    let queue = RunQueue::new(&jobs, observer, tasks(&jobs));
    queue.work_off(workers);
    queue.close()
}

/// As [`run`], but when a run has an error the other jobs go on: a result for each job.
///
/// # Errors
/// That it was stopped.
pub(crate) fn each(
    jobs: &[Job],
    observer: &Observer,
    workers: usize,
) -> Result<Vec<Result<Vec<RunReport>, LabError>>, LabError> {
    let jobs = on_threads(jobs, workers);
    let queue = RunQueue {
        goes_on: true,
        ..RunQueue::new(&jobs, observer, tasks(&jobs))
    };
    queue.work_off(workers);
    queue.close_each()
}

/// The jobs with the threads of a run: a single run has all, each of several runs has one.
fn on_threads(jobs: &[Job], workers: usize) -> Vec<Job> {
    let threads = if runs_of(jobs) == 1 {
        workers.max(1)
    } else {
        1
    };
    let all = jobs.iter().cloned();
    all.map(|job| job.on_threads(threads)).collect()
}

fn runs_of(jobs: &[Job]) -> u64 {
    jobs.iter().map(|job| job.seeds().runs).sum()
}

/// All runs, the cheapest first.
fn tasks(jobs: &[Job]) -> Vec<Task> {
    let of_job = |(number, job): (usize, &Job)| {
        let (bytes, cost) = (job.bytes(), job.cost());
        (0..job.seeds().runs).map(move |run| Task {
            job: number,
            run,
            bytes,
            cost,
        })
    };
    let mut tasks: Vec<_> = jobs.iter().enumerate().flat_map(of_job).collect();
    tasks.reverse();
    tasks.sort_by_key(|task| (task.cost, task.bytes));
    tasks
}

impl<'a> RunQueue<'a> {
    fn new(jobs: &'a [Job], observer: &'a Observer, left: Vec<Task>) -> RunQueue<'a> {
        let runs = jobs.iter().map(|job| job.seeds().runs as usize);
        let reports = runs.map(|runs| vec![None; runs]).collect();
        let state = State {
            left,
            going: 0,
            room: memory::bytes().unwrap_or(u64::MAX),
            reports,
            errors: Vec::new(),
        };
        RunQueue {
            jobs,
            observer,
            goes_on: false,
            state: Mutex::new(state),
            ended: Condvar::new(),
        }
    }

    /// Does all tasks on at most `workers` threads.
    fn work_off(&self, workers: usize) {
        let count = runs_of(self.jobs);
        let cost = self.state().left.iter().map(|task| task.cost).sum();
        self.observer.expect(count, cost);
        // Real nodes are timed, so they run alone.
        let is_real = |job: &Job| matches!(job.place(), Place::Threads);
        let most = if self.jobs.iter().any(is_real) {
            1
        } else {
            workers.max(1)
        };
        std::thread::scope(|scope| {
            for _ in 1..most.min(count as usize) {
                // Without this worker it only takes longer.
                let _ = std::thread::Builder::new().spawn_scoped(scope, || self.work());
            }
            self.work();
        });
    }

    fn work(&self) {
        while let Some(task) = self.take() {
            self.observer.started();
            // A panic must not end the worker: others wait for the memory of its task.
            let run = || self.jobs[task.job].run_once(task.run, self.observer);
            let ended =
                node::caught(run).unwrap_or_else(|panic| Err(RunError::Panic(panic.0).into()));
            self.observer.ended(task.cost);
            self.give_back(task, ended);
        }
    }

    /// The next task; `None` after the last one, an error or a stop.
    fn take(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            let has_failed = !self.goes_on && !state.errors.is_empty();
            if state.left.is_empty() || has_failed || self.observer.is_stopped() {
                return None;
            }
            let (alone, room) = (state.going == 0, state.room);
            let place = state
                .left
                .iter()
                .rposition(|task| alone || task.bytes <= room);
            if let Some(place) = place {
                let task = state.left.remove(place);
                state.going += 1;
                state.room = state.room.saturating_sub(task.bytes);
                return Some(task);
            }
            let woken = self.ended.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give_back(&self, task: Task, ended: Result<RunReport, LabError>) {
        let mut state = self.state();
        state.going -= 1;
        state.room = state.room.saturating_add(task.bytes);
        match ended {
            Ok(report) => state.reports[task.job][task.run as usize] = Some(report),
            Err(error) => state.errors.push((task.job, task.run, error)),
        }
        self.ended.notify_all();
    }

    /// The reports by job and run, or the first error.
    fn close(self) -> Result<Vec<Vec<RunReport>>, LabError> {
        let State {
            reports,
            mut errors,
            ..
        } = self.state.into_inner();
        errors.sort_by_key(|(job, run, _)| (*job, *run));
        if let Some((job, run, error)) = errors.into_iter().next() {
            let (job, seed) = (self.jobs[job].told(), self.jobs[job].seeds().first + run);
            let run = format!("{job}, seed {seed}");
            let error = Box::new(error);
            return Err(LabError::Among { run, error });
        }
        let all = reports
            .into_iter()
            .map(|of_job| of_job.into_iter().collect());
        // A report is missing if its run was stopped before it began.
        all.collect::<Option<Vec<_>>>()
            .ok_or(LabError::Run(RunError::Stopped))
    }

    /// The reports of each job, or the error of its first seed that has one.
    fn close_each(self) -> Result<Vec<Result<Vec<RunReport>, LabError>>, LabError> {
        let State {
            reports,
            mut errors,
            ..
        } = self.state.into_inner();
        let is_stop = |error: &LabError| error.kind() == "stopped";
        if self.observer.is_stopped() || errors.iter().any(|(.., error)| is_stop(error)) {
            return Err(LabError::Run(RunError::Stopped));
        }
        errors.sort_by_key(|(job, run, _)| (*job, *run));
        let of_job = |(number, reports): (usize, Vec<Option<RunReport>>)| {
            let error = errors.iter().find(|(job, ..)| *job == number);
            match error {
                Some((.., error)) => Err(error.clone()),
                None => Ok(reports.into_iter().flatten().collect()),
            }
        };
        Ok(reports.into_iter().enumerate().map(of_job).collect())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changes, Parameters, Seeds};

    fn jobs(runs: [u64; 3]) -> Vec<Job> {
        let job = |(cores, runs)| {
            let asked = Parameters::of("merge-min", [("cores", cores)]).unwrap();
            let place = Place::named("nanopu", &Changes::default()).unwrap();
            Job::new(asked, place, Seeds { first: 4, runs }).unwrap()
        };
        [16, 64, 8].into_iter().zip(runs).map(job).collect()
    }

    #[test]
    fn reports_are_where_their_job_and_seed_are() {
        let jobs = jobs([3, 1, 2]);
        for workers in [0, 1, 4] {
            let observer = Observer::default();
            let reports = run(&jobs, &observer, workers).unwrap();
            assert_eq!(reports.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1, 2]);
            for (job, reports) in jobs.iter().zip(reports) {
                for (place, report) in (0..).zip(reports) {
                    let alone = job.run_once(place, &Observer::default()).unwrap();
                    assert_eq!((report.seed, report.ticks), (4 + place, alone.ticks));
                    assert_eq!(report.stages, alone.stages);
                }
            }
            let tally = observer.tally().unwrap();
            assert_eq!((tally.all, tally.done, tally.going), (6, 6, 0));
            assert_eq!(tally.done_cost, tally.cost);
            assert!(tally.messages > 0);
        }
    }

    #[test]
    fn the_most_expensive_are_taken_first() {
        let order: Vec<_> = tasks(&jobs([2, 2, 1]))
            .iter()
            .rev()
            .map(|task| (task.job, task.run))
            .collect();
        assert_eq!(order, [(1, 0), (1, 1), (0, 0), (0, 1), (2, 0)]);
    }

    #[test]
    fn after_a_stop_no_run_begins() {
        let observer = Observer::default();
        observer.stop();
        let error = run(&jobs([1; 3]), &observer, 2).unwrap_err();
        assert_eq!(error.kind(), "stopped");
        assert_eq!(observer.tally().unwrap().done, 0);
    }

    #[test]
    fn the_first_run_that_does_not_end_is_named() {
        let (jobs, observer) = (jobs([1; 3]), &Observer::default());
        let error = || LabError::Run(RunError::Panic("so".to_owned()));
        let queue = RunQueue::new(&jobs, observer, tasks(&jobs));
        queue.state().errors = vec![(2, 0, error()), (1, 2, error()), (1, 1, error())];
        assert!(queue.take().is_none(), "no run begins after an error");
        let error = queue.close().unwrap_err();
        assert_eq!(error.kind(), "bug");
        let told = error.to_string();
        let run =
            "merge-min on nanopu with cores 64, keys-per-core 128, incast 8, reorder software";
        assert!(told.starts_with(&format!("{run}, seed 5: ")), "{told}");
    }

    #[test]
    fn other_jobs_go_on_after_an_error() {
        let jobs = jobs([1; 3]);
        let observer = Observer::default();
        let queue = RunQueue {
            goes_on: true,
            ..RunQueue::new(&jobs, &observer, tasks(&jobs))
        };
        let task = queue.take().unwrap();
        let error = LabError::Run(RunError::Panic("so".to_owned()));
        queue.give_back(task, Err(error));
        observer.started();
        queue.work();
        let ended = queue.close_each().unwrap();
        let runs: Vec<_> = ended.iter().map(|ended| ended.as_ref().ok()).collect();
        let runs: Vec<_> = runs.iter().map(|runs| runs.map(Vec::len)).collect();
        assert_eq!(runs, [Some(1), None, Some(1)]);
        observer.stop();
        let error = each(&jobs, &observer, 2).unwrap_err();
        assert_eq!(error.kind(), "stopped");
    }

    #[test]
    fn a_run_that_does_not_fit_waits_until_it_is_alone() {
        let jobs = jobs([1; 3]);
        let observer = Observer::default();
        let queue = RunQueue::new(&jobs, &observer, tasks(&jobs));
        queue.state().going = 1;
        queue.state().room = jobs[2].bytes();
        assert_eq!(queue.take().unwrap().job, 2, "the only one that fits");
        queue.state().going = 0;
        assert_eq!(queue.take().unwrap().job, 1, "alone the largest may try");
    }
}
