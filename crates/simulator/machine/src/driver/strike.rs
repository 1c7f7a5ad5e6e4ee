//! Strikes by number: a node dies, or a link is cut, after the n-th event.

use std::sync::MutexGuard;

use node::{Mutex, Time};

use super::Cut;

/// A failure that strikes after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// The node of this rank dies.
    Death(u32),
    /// Links are cut.
    Cut(Cut),
}

/// Counts the events of a run, and the strikes after them.
#[derive(Debug, Default)]
pub(crate) struct StrikePlan {
    state: Mutex<Strikes>,
}

#[derive(Debug, Default)]
struct Strikes {
    events: u64,
    /// The strikes of the next run, with the numbers of their events.
    to_come: Vec<(u64, Strike)>,
    /// The strikes of the last run, with their times.
    struck: Vec<(Time, Strike)>,
    deaths: u64,
}

impl StrikePlan {
    /// Strikes after the `nth` event of the next run (the first is 1).
    pub(crate) fn after(&self, nth: u64, strike: Strike) {
        self.lock().to_come.push((nth, strike));
    }

    pub(crate) fn begin(&self) {
        let mut state = self.lock();
        state.events = 0;
        state.struck.clear();
    }

    /// Ends a run, and forgets strikes that did not happen.
    pub(crate) fn end(&self) {
        self.lock().to_come.clear();
    }

    pub(crate) fn events(&self) -> u64 {
        self.lock().events
    }

    /// Number of nodes that have died in all runs.
    pub(crate) fn deaths(&self) -> u64 {
        self.lock().deaths
    }

    pub(crate) fn struck(&self) -> Vec<(Time, Strike)> {
        self.lock().struck.clone()
    }

    /// Counts an event; returns the strikes after it.
    pub(crate) fn next(&self, now: impl FnOnce() -> Time) -> Vec<Strike> {
        let mut state = self.lock();
        state.events += 1;
        let events = state.events;
        if state.to_come.iter().all(|(nth, _)| *nth != events) {
            return Vec::new();
        }
        let now = now();
        let is_due = |(nth, _): &(u64, Strike)| *nth == events;
        let due: Vec<_> = state
            .to_come
            .extract_if(.., |strike| is_due(strike))
            .collect();
        let due: Vec<Strike> = due.into_iter().map(|(_, strike)| strike).collect();
        let is_death = |strike: &&Strike| matches!(strike, Strike::Death(_));
        state.deaths += due.iter().filter(is_death).count() as u64;
        state.struck.extend(due.iter().map(|strike| (now, *strike)));
        due
    }

    fn lock(&self) -> MutexGuard<'_, Strikes> {
        self.state.lock()
    }
}
