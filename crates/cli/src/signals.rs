//! Signals that end a run: which are heard, what they do, and what the process exits with.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use node_mpi::exit_now;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::failure::CliFailure;
use crate::{say, scratch};

/// What a process that a signal ended exits with: this and the signal's number.
const SIGNAL_CODE: i32 = 128;

/// After a signal a run may end by itself for so long; then it is ended. Launchers of MPI jobs kill
/// what has not ended a second after SIGTERM.
pub const GRACE: Duration = Duration::from_millis(500);

/// What a process exits with whose reader has gone: what a shell says of one that SIGPIPE ended.
pub const READER_GONE_CODE: u8 = (SIGNAL_CODE + SIGPIPE) as u8;

/// The exit code of a run that `signal` ended.
pub fn code(signal: i32) -> i32 {
    SIGNAL_CODE + signal
}

/// What people call it.
pub fn name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        SIGQUIT => "SIGQUIT",
        _ => "SIGHUP",
    }
}

/// The signals that end a run; one that was ignored when the process began (`nohup`) stays ignored.
pub fn ending() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    let is_heard = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
        .into_iter()
        .filter(is_heard)
        .collect()
}

/// Signals could not be watched.
pub fn unwatched(cause: std::io::Error) -> CliFailure {
    CliFailure::new(
        "system",
        format!("cannot watch for signals: {cause}; raise ulimit -u and -n"),
    )
}

/// When the first signal came that ends a run.
static CAME: OnceLock<Instant> = OnceLock::new();

/// How long ago that was, if one came.
pub fn came() -> Option<Duration> {
    CAME.get().map(Instant::elapsed)
}

/// The first signal that came, if one did.
#[derive(Clone, Debug, Default)]
pub struct Caught(Arc<AtomicI32>);

impl Caught {
    /// As if that signal had come.
    #[cfg(test)]
    pub fn by(signal: i32) -> Caught {
        Caught(Arc::new(AtomicI32::new(signal)))
    }

    /// Which.
    pub fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// Why a run has no result, if a signal came.
    pub fn failure(&self) -> Option<CliFailure> {
        self.signal().map(|signal| {
            let message = format!("stopped by {}", name(signal));
            CliFailure::new("stopped", message).with_code(code(signal) as u8)
        })
    }
}

/// From here on a signal asks the run to `stop`. After the grace, or at another signal, `remove`
/// takes away what the run has made, and the process ends, whatever others do.
pub fn watch(
    grace: Duration,
    stop: impl Fn(i32) + Send + 'static,
    remove: impl Fn() + Send + Sync + 'static,
) -> Result<Caught, CliFailure> {
    let caught = Caught::default();
    let seen = caught.clone();
    // A file size limit's signal is heard too: then the write that was too long fails and is told.
    let mut heard = ending();
    heard.push(SIGXFSZ);
    let mut incoming = Signals::new(heard).map_err(unwatched)?;
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
        .map_err(unwatched)?;
    Ok(caught)
}

/// Whether there is nothing left to stop.
static DONE: AtomicBool = AtomicBool::new(false);

/// All is done: a signal that comes now ends a success.
pub fn come_too_late() {
    DONE.store(true, Ordering::SeqCst);
}

fn end(signal: i32, remove: &impl Fn()) -> ! {
    if DONE.load(Ordering::SeqCst) {
        exit_now(0);
    }
    remove();
    scratch::remove_all();
    say::last(format!("gristmill: stopped by {}", name(signal)));
    // Not by way of what libraries do at an exit: another thread may be at work in MPI.
    exit_now(code(signal))
}
