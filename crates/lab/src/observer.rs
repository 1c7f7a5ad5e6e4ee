//! A look at runs while they go on, and a way to end them, from another thread.
//!
//! Runs may go on side by side, each from when it begins until its mark is dropped. Who follows one
//! run looks at the newest; who waits for many looks at the tally of all.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use machine::Watch;

/// Looks at runs.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Those that go on, the newest last.
    going: Vec<Going>,
    /// The one that ended last.
    last: Option<Going>,
    /// What is known of all runs, once somebody says how many are to come.
    tally: Option<Tally>,
    stopped: bool,
}

#[derive(Clone, Debug)]
struct Going {
    run: u64,
    tick_fs: u64,
    watch: Arc<Watch>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Which run, from zero.
    pub run: u64,
    /// How far its virtual time is.
    pub virtual_us: f64,
    /// Messages received so far.
    pub messages: u64,
}

/// How far many runs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there are in all.
    pub all: u64,
    /// How many have ended.
    pub done: u64,
    /// How many go on now.
    pub going: u64,
    /// What all are expected to cost, in no unit: runs are not equally long.
    pub cost: u64,
    /// What of it has been done.
    pub done_cost: u64,
    /// Messages received so far, in all of them.
    pub messages: u64,
}

/// A run goes on until this is dropped.
#[derive(Debug)]
pub(crate) struct Mark<'a> {
    observer: &'a Observer,
    watch: Arc<Watch>,
}

impl Observer {
    /// How far the newest run is that goes on now, or else the last was; nothing on real nodes.
    pub fn look(&self) -> Option<Seen> {
        let state = self.state();
        let Going {
            run,
            tick_fs,
            watch,
        } = state.going.last().or(state.last.as_ref())?;
        let ticks = watch.ticks.load(Ordering::Relaxed);
        Some(Seen {
            run: *run,
            virtual_us: crate::report::microseconds(ticks, *tick_fs),
            messages: received(watch),
        })
    }

    /// How far all runs are, if it was said how many are to come.
    pub fn tally(&self) -> Option<Tally> {
        let state = self.state();
        let tally = state.tally?;
        let messages = state
            .going
            .iter()
            .map(|going| received(&going.watch))
            .sum::<u64>();
        Some(Tally {
            messages: tally.messages + messages,
            ..tally
        })
    }

    /// Ends the runs that go on now, and those to come.
    pub fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        state.going.iter().for_each(|going| end(&going.watch));
    }

    /// Whether somebody asked for the end.
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// So many runs are to come, and this is what they are expected to cost.
    pub(crate) fn expect(&self, all: u64, cost: u64) {
        self.state().tally = Some(Tally {
            all,
            cost,
            ..Tally::default()
        });
    }

    /// One of the expected runs goes on.
    pub(crate) fn started(&self) {
        if let Some(tally) = &mut self.state().tally {
            tally.going += 1;
        }
    }

    /// One of the expected runs has ended, which cost so much.
    pub(crate) fn ended(&self, cost: u64) {
        if let Some(tally) = &mut self.state().tally {
            tally.going -= 1;
            tally.done += 1;
            tally.done_cost += cost;
        }
    }

    /// A run begins that `watch` looks at.
    pub(crate) fn begin(&self, run: u64, tick_fs: u64, watch: Arc<Watch>) -> Mark<'_> {
        let mut state = self.state();
        if state.stopped {
            end(&watch);
        }
        state.going.push(Going {
            run,
            tick_fs,
            watch: Arc::clone(&watch),
        });
        Mark {
            observer: self,
            watch,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn watch(ticks: u64, received: u64) -> Arc<Watch> {
        let watch = Watch::default();
        watch.ticks.store(ticks, Ordering::Relaxed);
        watch.received.store(received, Ordering::Relaxed);
        Arc::new(watch)
    }

    #[test]
    fn a_stop_ends_the_runs_that_go_on_and_the_next() {
        let observer = Observer::default();
        assert_eq!(observer.look(), None);
        let (first, second, next) = (watch(16, 0), watch(32, 0), watch(0, 0));
        let _first = observer.begin(0, 312_500, Arc::clone(&first));
        assert_eq!(
            observer.look(),
            Some(Seen {
                run: 0,
                virtual_us: 0.005,
                messages: 0
            })
        );
        let _second = observer.begin(1, 312_500, Arc::clone(&second));
        observer.stop();
        let _next = observer.begin(2, 312_500, Arc::clone(&next));
        assert!(observer.is_stopped());
        for watch in [first, second, next] {
            assert!(watch.stop.load(Ordering::SeqCst));
        }
    }

    #[test]
    fn a_run_that_has_ended_is_still_seen() {
        let observer = Observer::default();
        let first = observer.begin(0, 312_500, watch(16, 3));
        let second = observer.begin(1, 312_500, watch(32, 4));
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
        let first = observer.begin(0, 312_500, watch(0, 3));
        let _second = observer.begin(0, 312_500, watch(0, 4));
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
