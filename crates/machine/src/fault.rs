//! Faults by number: "the n-th operation of a disk fails", "a node dies, or a link is cut, after
//! the n-th event", for n = 1, 2, 3 ... until none fires any more (SQLite's way of testing).

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use node::Time;

use crate::driver::Cut;

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device reports an error (EIO).
    Device,
    /// The file system is full (ENOSPC).
    Full,
    /// A read ends early, as if the file had shrunk; other operations report an error.
    Short,
}

impl Fault {
    pub(crate) fn error(self) -> io::Error {
        match self {
            Fault::Full => io::ErrorKind::StorageFull.into(),
            Fault::Device | Fault::Short => io::Error::other("input/output error"),
        }
    }
}

/// Counts operations, and lets one of them fail.
#[derive(Debug, Default)]
pub(crate) struct FaultPlan {
    operations: AtomicU64,
    fails: Mutex<Option<(u64, Fault)>>,
}

impl FaultPlan {
    /// Lets the `nth` operation from the start of the run fail (the first is 1).
    pub(crate) fn fail(&self, nth: u64, fault: Fault) {
        *self.fails.lock().expect("no panic holds it") = Some((nth, fault));
    }

    /// Lets none fail any more.
    pub(crate) fn mend(&self) {
        *self.fails.lock().expect("no panic holds it") = None;
    }

    /// How many operations there were.
    pub(crate) fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    /// Counts an operation: its fault, if it is the one to fail.
    pub(crate) fn next(&self) -> Option<Fault> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed) + 1;
        let fails = self.fails.lock().expect("no panic holds it");
        fails.and_then(|(nth, fault)| (nth == number).then_some(fault))
    }
}

/// What happens to the world after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// A node dies.
    Death(u32),
    /// Links are cut.
    Cut(Cut),
}

/// Counts events of a run, and strikes after some of them.
#[derive(Debug, Default)]
pub(crate) struct StrikePlan {
    state: Mutex<Strikes>,
}

#[derive(Debug, Default)]
struct Strikes {
    events: u64,
    /// After which event, and what.
    to_come: Vec<(u64, Strike)>,
    /// What has struck in the last run, and when.
    struck: Vec<(Time, Strike)>,
    deaths: u64,
}

impl StrikePlan {
    /// Strikes after the `nth` event of the next run (the first is 1).
    pub(crate) fn after(&self, nth: u64, strike: Strike) {
        self.lock().to_come.push((nth, strike));
    }

    /// A run begins.
    pub(crate) fn begin(&self) {
        let mut state = self.lock();
        state.events = 0;
        state.struck.clear();
    }

    /// A run has ended: what did not strike does not strike the next.
    pub(crate) fn end(&self) {
        self.lock().to_come.clear();
    }

    /// How many events the last run had.
    pub(crate) fn events(&self) -> u64 {
        self.lock().events
    }

    /// How many nodes have died, in all runs.
    pub(crate) fn deaths(&self) -> u64 {
        self.lock().deaths
    }

    /// What has struck in the last run, and when.
    pub(crate) fn struck(&self) -> Vec<(Time, Strike)> {
        self.lock().struck.clone()
    }

    /// Counts an event: what strikes after it.
    pub(crate) fn next(&self, now: impl FnOnce() -> Time) -> Vec<Strike> {
        let mut state = self.lock();
        state.events += 1;
        let events = state.events;
        if state.to_come.iter().all(|(nth, _)| *nth != events) {
            return Vec::new();
        }
        let now = now();
        let (due, to_come) = state.to_come.iter().partition(|(nth, _)| *nth == events);
        state.to_come = to_come;
        let due: Vec<(u64, Strike)> = due;
        let due: Vec<Strike> = due.into_iter().map(|(_, strike)| strike).collect();
        let deaths = due
            .iter()
            .filter(|strike| matches!(strike, Strike::Death(_)));
        state.deaths += deaths.count() as u64;
        state.struck.extend(due.iter().map(|strike| (now, *strike)));
        due
    }

    fn lock(&self) -> MutexGuard<'_, Strikes> {
        self.state.lock().expect("no panic holds it")
    }
}
