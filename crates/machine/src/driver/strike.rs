//! Strikes by number: "a node dies, or a link is cut, after the n-th event", for n = 1, 2, 3 ...

use std::sync::{Mutex, MutexGuard};

use node::Time;

use super::Cut;

/// A disaster that strikes after an event.
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
    /// The strikes of the last run, each with its time.
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

    /// The strikes of the last run, each with its time.
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
