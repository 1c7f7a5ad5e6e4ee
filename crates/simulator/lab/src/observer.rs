//! Progress of runs, and a way to stop them, from another thread.
//!
//! Runs can be in parallel, each from its begin until its mark is dropped. For a single job there
//! is the newest run; for an experiment there is the tally of all runs.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use machine::Watch;

use crate::spread::microseconds;
use node::Mutex;

/// Watches runs and can stop them.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Runs in progress, the newest last.
    going: Vec<Going>,
    /// The run that ended last.
    last: Option<Going>,
    /// Progress of all runs, once their number is known.
    tally: Option<Tally>,
    /// Progress of a search, whose batches have a tally each.
    searched: Option<Searched>,
    stopped: bool,
}

/// A run that can be watched.
#[derive(Clone, Debug)]
pub(crate) struct Going {
    /// Its number, from 0.
    pub run: u64,
    /// The number of all runs of its job.
    pub runs: u64,
    pub tick_fs: u64,
    /// Messages until its end, if the program knows.
    pub expected: Option<u64>,
    pub watch: Arc<Watch>,
}

impl Going {
    /// The part that is done, of 1. The estimate is rough, and after the last message there is a
    /// check, so a run is never done before it ends.
    fn share(&self) -> Option<f64> {
        const MOST: f64 = 0.99;
        let expected = self.expected.filter(|expected| *expected > 0)?;
        Some((received(&self.watch) as f64 / expected as f64).min(MOST))
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Number of the run, from 0.
    pub run: u64,
    /// Virtual time, in microseconds.
    pub virtual_us: f64,
    /// Messages received so far.
    pub messages: u64,
    /// The part of all runs of the job that is done, of 1; `None` if the program does not know its
    /// messages.
    pub share: Option<f64>,
}

/// Progress of many runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of announced runs.
    pub all: u64,
    /// Number of runs that have ended.
    pub done: u64,
    /// Number of runs in progress.
    pub going: u64,
    /// Expected cost of all runs, without a unit: runs are not equally long.
    pub cost: u64,
    /// Cost of the runs that have ended, and of the done part of others.
    pub done_cost: u64,
    /// Messages received so far, in all runs.
    pub messages: u64,
}

/// Progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Searched {
    /// Readings that have been measured.
    pub readings: u64,
    /// The most readings.
    pub most: u64,
    /// The shortest mean time so far, in microseconds.
    pub best_us: Option<f64>,
}

/// A run in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct Mark<'a> {
    observer: &'a Observer,
    watch: Arc<Watch>,
}

impl Observer {
    /// The newest run in progress, or else the last one; `None` on real nodes.
    pub fn look(&self) -> Option<Seen> {
        let state = self.state();
        let going = state.going.last().or(state.last.as_ref())?;
        let Going {
            run,
            runs,
            tick_fs,
            watch,
            ..
        } = going;
        let share = going.share();
        let ticks = watch.ticks.load(Ordering::Relaxed);
        Some(Seen {
            run: *run,
            virtual_us: microseconds(ticks, *tick_fs),
            messages: received(watch),
            share: share.map(|share| (*run as f64 + share) / *runs as f64),
        })
    }

    /// Progress of all runs, if their number is known.
    pub fn tally(&self) -> Option<Tally> {
        let state = self.state();
        let tally = state.tally?;
        let messages = state
            .going
            .iter()
            .map(|going| received(&going.watch))
            .sum::<u64>();
        let within = |going: &Going| {
            let expected = going.expected?;
            Some(received(&going.watch).min(expected))
        };
        let partly = state.going.iter().filter_map(within).sum::<u64>();
        Some(Tally {
            messages: tally.messages + messages,
            done_cost: (tally.done_cost + partly).min(tally.cost),
            ..tally
        })
    }

    /// Progress of the search, if there is one.
    pub fn searched(&self) -> Option<Searched> {
        self.state().searched
    }

    /// Stops the runs in progress and all later ones.
    pub fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        state.going.iter().for_each(|going| end(&going.watch));
    }

    /// Whether [`Observer::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Announces the number of runs and their expected cost.
    pub(crate) fn expect(&self, all: u64, cost: u64) {
        self.state().tally = Some(Tally {
            all,
            cost,
            ..Tally::default()
        });
    }

    /// Tells how far a search is.
    pub(crate) fn search(&self, searched: Searched) {
        self.state().searched = Some(searched);
    }

    /// One of the announced runs has begun.
    pub(crate) fn started(&self) {
        if let Some(tally) = &mut self.state().tally {
            tally.going += 1;
        }
    }

    /// One of the announced runs, of that cost, has ended.
    pub(crate) fn ended(&self, cost: u64) {
        if let Some(tally) = &mut self.state().tally {
            tally.going -= 1;
            tally.done += 1;
            tally.done_cost += cost;
        }
    }

    /// Begins to watch a run.
    pub(crate) fn begin(&self, going: Going) -> Mark<'_> {
        let mut state = self.state();
        let watch = Arc::clone(&going.watch);
        if state.stopped {
            end(&watch);
        }
        state.going.push(going);
        Mark {
            observer: self,
            watch,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        let mut state = self.observer.state();
        let is_mine = |going: &Going| Arc::ptr_eq(&going.watch, &self.watch);
        if let Some(place) = state.going.iter().position(is_mine) {
            state.last = Some(state.going.remove(place));
        }
        if let Some(tally) = &mut state.tally {
            tally.messages += received(&self.watch);
        }
    }
}

fn received(watch: &Watch) -> u64 {
    watch.received.load(Ordering::Relaxed)
}

fn end(watch: &Watch) {
    watch.stop.store(true, Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn going(run: u64, watch: &Arc<Watch>) -> Going {
        Going {
            run,
            runs: 2,
            tick_fs: 312_500,
            expected: None,
            watch: Arc::clone(watch),
        }
    }

    #[test]
    fn the_share_is_of_all_runs_and_never_whole() {
        let observer = Observer::default();
        let of = |run, received, expected| Going {
            expected,
            ..going(run, &watch(0, received))
        };
        let share = || observer.look().unwrap().share;
        let _first = observer.begin(of(0, 3, Some(4)));
        assert_eq!(share(), Some(0.375));
        let _second = observer.begin(of(1, 9, Some(4)));
        assert_eq!(share(), Some(0.995));
        let _third = observer.begin(of(1, 9, None));
        assert_eq!(share(), None);
        observer.expect(3, 20);
        assert_eq!(observer.tally().unwrap().done_cost, 3 + 4);
    }

    fn watch(ticks: u64, received: u64) -> Arc<Watch> {
        let watch = Watch::default();
        watch.ticks.store(ticks, Ordering::Relaxed);
        watch.received.store(received, Ordering::Relaxed);
        Arc::new(watch)
    }

    #[test]
    fn a_stop_ends_runs_in_progress_and_later_ones() {
        let observer = Observer::default();
        assert_eq!(observer.look(), None);
        let (first, second, next) = (watch(16, 0), watch(32, 0), watch(0, 0));
        let _first = observer.begin(going(0, &first));
        assert_eq!(
            observer.look(),
            Some(Seen {
                run: 0,
                virtual_us: 0.005,
                messages: 0,
                share: None
            })
        );
        let _second = observer.begin(going(1, &second));
        observer.stop();
        let _next = observer.begin(going(2, &next));
        assert!(observer.is_stopped());
        for watch in [first, second, next] {
            assert!(watch.stop.load(Ordering::SeqCst));
        }
    }

    #[test]
    fn the_last_run_is_seen_after_its_end() {
        let observer = Observer::default();
        let first = observer.begin(going(0, &watch(16, 3)));
        let second = observer.begin(going(1, &watch(32, 4)));
        assert_eq!(observer.look().unwrap().run, 1);
        drop(second);
        assert_eq!(observer.look().unwrap().run, 0);
        drop(first);
        assert_eq!(observer.look().unwrap().messages, 3);
    }

    #[test]
    fn the_tally_counts_all_runs() {
        let observer = Observer::default();
        assert_eq!(observer.tally(), None);
        observer.expect(3, 10);
        observer.started();
        observer.started();
        let first = observer.begin(going(0, &watch(0, 3)));
        let _second = observer.begin(going(0, &watch(0, 4)));
        drop(first);
        observer.ended(6);
        let tally = Tally {
            all: 3,
            done: 1,
            going: 1,
            cost: 10,
            done_cost: 6,
            messages: 7,
        };
        assert_eq!(observer.tally(), Some(tally));
    }
}
