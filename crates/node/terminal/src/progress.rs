//! A thread that shows progress, for people on a terminal or for programs, and the terminal.

mod terminal;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::ValueEnum;

pub use terminal::Terminal;

/// Whether and how to show progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// A bar if standard error is a terminal.
    #[default]
    Auto,
    /// No progress.
    Never,
    /// JSON lines on standard error.
    Json,
}

/// The time between updates: short enough to look alive, long enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// A run that is shorter shows no bar.
pub const DELAY: Duration = Duration::from_millis(300);

/// A thread that shows progress until it is stopped.
pub struct Progress {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Calls `show` on a new thread; `show` returns when [`wait`] returns `false`.
    pub fn with(show: impl FnOnce(&AtomicBool) + Send + 'static) -> Progress {
        let ended = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ended);
        // Without a thread the run goes on without progress.
        let thread = std::thread::Builder::new().spawn(move || show(&seen)).ok();
        Progress { ended, thread }
    }

    /// Stops the thread, and clears the bar.
    pub fn stop(mut self) {
        self.ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Waits until the next update; `false` when progress has ended.
pub fn wait(ended: &AtomicBool) -> bool {
    if !ended.load(Ordering::SeqCst) {
        std::thread::park_timeout(INTERVAL);
    }
    !ended.load(Ordering::SeqCst)
}
