//! Many runs at once: each on a thread of its own, as far as memory goes.
//!
//! ```text
//!   jobs x seeds --> tasks, the most expensive first --> workers --> reports, by job and seed
//!                                   |                       |
//!                       fits in the memory that is left? ---'
//! ```
//!
//! Runs do not know each other, so nothing of a report depends on how many go on beside it. What is
//! expensive comes first: else the longest run might begin when all others have ended. A run that
//! does not fit beside those that go on is passed over until one of them ends; alone, every run may
//! try.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use machine::RunError;

use crate::error::LabError;
use crate::job::Job;
use crate::observer::Observer;
use crate::place::Place;
use crate::report::RunReport;
use crate::room;

/// A run that is to come.
#[derive(Clone, Copy, Debug)]
struct Task {
    job: usize,
    run: u64,
    /// Memory that it holds, which is also the measure of what it costs: who holds more has more to
    /// do.
    bytes: u64,
}

/// Who works on which tasks.
struct Desk<'a> {
    jobs: &'a [Job],
    observer: &'a Observer,
    state: Mutex<State>,
    /// A task has ended.
    ended: Condvar,
}

struct State {
    /// The cheapest first: they are taken from the end.
    left: Vec<Task>,
    going: usize,
    /// Memory that nobody holds.
    room: u64,
    reports: Vec<Vec<Option<RunReport>>>,
    /// What went wrong, and in which task.
    errors: Vec<(usize, u64, LabError)>,
}

/// Runs each job from the first of its seeds, so often, with at most so many workers.
///
/// # Errors
/// When a run does not end: of the first job, and of that the first seed, that does not.
pub(crate) fn run(
    jobs: &[Job],
    runs: &[u64],
    observer: &Observer,
    workers: usize,
) -> Result<Vec<Vec<RunReport>>, LabError> {
    jobs.iter().try_for_each(Job::check_room)?;
    let count: u64 = runs.iter().sum();
    // A single run has all threads; of several each has one.
    let alone: Option<Vec<Job>> = (count == 1).then(|| {
        jobs.iter()
            .map(|job| job.clone().on_threads(workers.max(1)))
            .collect()
    });
    let jobs = alone.as_deref().unwrap_or(jobs);
    let left = tasks(jobs, runs);
    observer.expect(count, left.iter().map(|task| task.bytes).sum());
    let reports = runs.iter().map(|runs| vec![None; *runs as usize]).collect();
    let room = room::bytes().unwrap_or(u64::MAX);
    let state = State {
        left,
        going: 0,
        room,
        reports,
        errors: Vec::new(),
    };
    let (state, ended) = (Mutex::new(state), Condvar::new());
    let desk = Desk {
        jobs,
        observer,
        state,
        ended,
    };
    // Threads of this computer that are cores are timed: nothing goes on beside them.
    let is_real = jobs.iter().any(|job| matches!(job.place(), Place::Threads));
    let most = if is_real { 1 } else { workers.max(1) };
    std::thread::scope(|scope| {
        for _ in 1..most.min(count as usize) {
            // With fewer workers than asked for it only takes longer.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || desk.work());
        }
        desk.work();
    });
    desk.close()
}

/// All runs, the most expensive last.
fn tasks(jobs: &[Job], runs: &[u64]) -> Vec<Task> {
    let of_job = |(job, (told, runs)): (usize, (&Job, &u64))| {
        let bytes = told.bytes();
        (0..*runs).map(move |run| Task { job, run, bytes })
    };
    let mut tasks: Vec<_> = jobs.iter().zip(runs).enumerate().flat_map(of_job).collect();
    tasks.reverse();
    tasks.sort_by_key(|task| task.bytes);
    tasks
}

impl Desk<'_> {
    fn work(&self) {
        while let Some(task) = self.take() {
            self.observer.started();
            // Unwind safe: nothing of a run that panicked is used again. Others wait for its
            // memory.
            let run = || self.jobs[task.job].run_once(task.run, self.observer);
            let ended = catch_unwind(AssertUnwindSafe(run))
                .unwrap_or_else(|panic| Err(RunError::Panic(crate::run::said(&*panic)).into()));
            self.observer.ended(task.bytes);
            self.give_back(task, ended);
        }
    }

    /// The next task; nothing when there is none to come.
    fn take(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            if state.left.is_empty() || !state.errors.is_empty() || self.observer.is_stopped() {
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
            state = self
                .ended
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
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

    /// All reports, or the first error.
    fn close(self) -> Result<Vec<Vec<RunReport>>, LabError> {
        let State {
            reports,
            mut errors,
            ..
        } = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        errors.sort_by_key(|(job, run, _)| (*job, *run));
        if let Some((job, run, error)) = errors.into_iter().next() {
            let (job, seed) = (self.jobs[job].told(), self.jobs[job].seeds().first + run);
            let run = format!("{job}, seed {seed}");
            return Err(LabError::Among {
                run,
                error: Box::new(error),
            });
        }
        let all = reports
            .into_iter()
            .map(|of_job| of_job.into_iter().collect::<Option<Vec<_>>>());
        // What is left out was not begun, since somebody asked for the end.
        all.collect::<Option<Vec<_>>>()
            .ok_or(LabError::Run(machine::RunError::Stopped))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changes, Parameters, Seeds};

    fn jobs() -> Vec<Job> {
        let job = |cores| {
            let asked = Parameters::of("merge-min", [("cores", cores)]).unwrap();
            let place = Place::named("nanopu", &Changes::default()).unwrap();
            Job::new(asked, place, Seeds { first: 4, runs: 3 }).unwrap()
        };
        [16, 64, 8].map(job).to_vec()
    }

    #[test]
    fn reports_are_where_their_job_and_seed_are() {
        let jobs = jobs();
        for workers in [0, 1, 4] {
            let observer = Observer::default();
            let reports = run(&jobs, &[3, 1, 2], &observer, workers).unwrap();
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
        let jobs = jobs();
        let order: Vec<_> = tasks(&jobs, &[2, 2, 1])
            .iter()
            .rev()
            .map(|task| (task.job, task.run))
            .collect();
        assert_eq!(order, [(1, 0), (1, 1), (0, 0), (0, 1), (2, 0)]);
    }

    #[test]
    fn after_a_stop_nothing_begins() {
        let observer = Observer::default();
        observer.stop();
        let error = run(&jobs(), &[1, 1, 1], &observer, 2).unwrap_err();
        assert_eq!(error.kind(), "stopped");
        assert_eq!(observer.tally().unwrap().done, 0);
    }

    #[test]
    fn the_first_run_that_does_not_end_is_named() {
        let (jobs, observer) = (jobs(), &Observer::default());
        let error = || LabError::Run(machine::RunError::Panic("so".to_owned()));
        let errors = vec![(2, 0, error()), (1, 2, error()), (1, 1, error())];
        let left = tasks(&jobs, &[1, 1, 1]);
        let state = State {
            left,
            going: 0,
            room: 0,
            reports: Vec::new(),
            errors,
        };
        let (state, ended) = (Mutex::new(state), Condvar::new());
        let desk = Desk {
            jobs: &jobs,
            observer,
            state,
            ended,
        };
        assert!(desk.take().is_none(), "nothing begins after an error");
        let error = desk.close().unwrap_err();
        assert_eq!(error.kind(), "bug");
        let told = error.to_string();
        let run =
            "merge-min on nanopu with cores 64, keys-per-core 128, incast 8, reorder software";
        assert!(told.starts_with(&format!("{run}, seed 5: ")), "{told}");
    }

    #[test]
    fn who_does_not_fit_waits_until_he_is_alone() {
        let jobs = jobs();
        let left = tasks(&jobs, &[1, 1, 1]);
        let state = State {
            left,
            going: 1,
            room: 0,
            reports: Vec::new(),
            errors: Vec::new(),
        };
        let (state, ended, observer) = (Mutex::new(state), Condvar::new(), &Observer::default());
        let desk = Desk {
            jobs: &jobs,
            observer,
            state,
            ended,
        };
        desk.state().room = jobs[2].bytes();
        assert_eq!(desk.take().unwrap().job, 2, "the only one that fits");
        desk.state().going = 0;
        assert_eq!(desk.take().unwrap().job, 1, "alone the largest may try");
    }
}
