//! A look at runs while they go on, and a way to end them, from another thread.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use machine::Watch;

/// Looks at runs, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    run: u64,
    tick_fs: u64,
    watch: Option<Arc<Watch>>,
    stopped: bool,
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

impl Observer {
    /// How far the run is that goes on now; nothing on real nodes.
    pub fn look(&self) -> Option<Seen> {
        let state = self.state();
        let watch = state.watch.as_ref()?;
        let ticks = watch.ticks.load(Ordering::Relaxed);
        Some(Seen {
            run: state.run,
            virtual_us: crate::report::microseconds(ticks, state.tick_fs),
            messages: watch.received.load(Ordering::Relaxed),
        })
    }

    /// Ends the run that goes on now, and those to come.
    pub fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        state.stop_watched();
    }

    /// Whether somebody asked for the end.
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// A run begins that `watch` looks at.
    pub(crate) fn begin(&self, run: u64, tick_fs: u64, watch: Arc<Watch>) {
        let mut state = self.state();
        (state.run, state.tick_fs, state.watch) = (run, tick_fs, Some(watch));
        if state.stopped {
            state.stop_watched();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn stop_watched(&self) {
        if let Some(watch) = &self.watch {
            watch.stop.store(true, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_ends_this_run_and_the_next() {
        let observer = Observer::default();
        assert_eq!(observer.look(), None);
        let watch = Arc::new(Watch::default());
        watch.ticks.store(16, Ordering::Relaxed);
        observer.begin(0, 312_500, Arc::clone(&watch));
        assert_eq!(observer.look(), Some(Seen { run: 0, virtual_us: 0.005, messages: 0 }));
        observer.stop();
        assert!(watch.stop.load(Ordering::SeqCst) && observer.is_stopped());
        let next = Arc::new(Watch::default());
        observer.begin(1, 312_500, Arc::clone(&next));
        assert!(next.stop.load(Ordering::SeqCst));
    }
}
