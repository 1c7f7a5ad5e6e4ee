//! Signals that end a run.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGXFSZ;
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::failure::CliFailure;
use super::{codes, say, scratch};

/// How long a run may take to end by itself after a signal. Launchers of MPI jobs kill a process
/// that has not ended a second after SIGTERM.
pub const GRACE: Duration = Duration::from_millis(500);

/// When the first ending signal came.
static CAME: OnceLock<Instant> = OnceLock::new();

/// How long ago the first ending signal came.
pub fn came() -> Option<Duration> {
    CAME.get().map(Instant::elapsed)
}

/// The first signal that came, if any.
#[derive(Clone, Debug, Default)]
pub struct Caught(Arc<AtomicI32>);

impl Caught {
    /// A signal that has come, for tests of callers.
    pub fn by(signal: i32) -> Caught {
        Caught(Arc::new(AtomicI32::new(signal)))
    }

    /// The signal, if one has come.
    pub fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// The failure of a run that a signal has ended.
    pub fn failure(&self) -> Option<CliFailure> {
        self.signal().map(|signal| {
            let message = format!("stopped by {}", codes::name(signal));
            CliFailure::new("stopped", message).with_code(codes::of_signal(signal) as u8)
        })
    }
}

/// Watches for signals from now on. The first asks the run to `stop`. After the grace, or at
/// another signal, `remove` removes what the run has made, and the process ends.
///
/// # Errors
/// When the system has no more threads or file descriptors.
pub fn watch(
    grace: Duration,
    stop: impl Fn(i32) + Send + 'static,
    remove: impl Fn() + Send + Sync + 'static,
) -> Result<Caught, CliFailure> {
    let caught = Caught::default();
    let seen = caught.clone();
    // SIGXFSZ is caught, too: then the write beyond the file size limit fails and is reported.
    let mut heard = codes::ending();
    heard.push(SIGXFSZ);
    let mut incoming = Signals::new(heard).map_err(CliFailure::unwatched)?;
    let remove = Arc::new(remove);
    let watching = move || {
        for signal in incoming.forever().filter(|&signal| signal != SIGXFSZ) {
            if seen.0.swap(signal, Ordering::SeqCst) != 0 {
                end(signal, &*remove);
            }
            CAME.get_or_init(Instant::now);
            stop(signal);
            let last = Arc::clone(&remove);
            let wait = move || {
                std::thread::sleep(grace);
                end(signal, &*last);
            };
            if std::thread::Builder::new().spawn(wait).is_err() {
                end(signal, &*remove);
            }
        }
    };
    std::thread::Builder::new()
        .spawn(watching)
        .map_err(CliFailure::unwatched)?;
    Ok(caught)
}

/// Whether the run is complete.
static DONE: AtomicBool = AtomicBool::new(false);

/// Marks the run as complete: a signal that comes now ends a success.
pub fn come_too_late() {
    DONE.store(true, Ordering::SeqCst);
}

fn end(signal: i32, remove: &impl Fn()) -> ! {
    if DONE.load(Ordering::SeqCst) {
        low_level::exit(0);
    }
    remove();
    scratch::remove_all();
    say::last(format!("gristmill: stopped by {}", codes::name(signal)));
    // Without the exit handlers of libraries: another thread may be at work in MPI.
    low_level::exit(codes::of_signal(signal))
}
