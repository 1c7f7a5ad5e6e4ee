//! Words to people and programs. Standard output that cannot be written is a failure; standard
//! error that cannot be written is nobody to tell. A reader that has gone (`| head`) has what it
//! wanted: there the command ends as one does that SIGPIPE ends, with 141, and says nothing.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::failure::CliFailure;
use crate::signals::READER_GONE_CODE;

/// The kind of a failure that was told already, by this process or another one.
pub const TOLD: &str = "told";

/// The kind of failure that is not told: who reads standard output has gone.
pub const READER_GONE: &str = "reader_gone";

/// Prints a line on standard output.
///
/// # Errors
/// Standard output that cannot be written.
pub fn out(text: impl std::fmt::Display) -> Result<(), CliFailure> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}")
        .and_then(|()| stdout.flush())
        .map_err(|cause| {
            if cause.kind() == ErrorKind::BrokenPipe {
                return CliFailure::new(READER_GONE, "nobody reads standard output")
                    .with_code(READER_GONE_CODE);
            }
            let message = format!("cannot write to standard output: {cause}; look where it goes");
            CliFailure::new("io", message)
        })
}

/// Prints a line on standard error.
pub fn err(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether this process has said how it ends.
static ENDED: AtomicBool = AtomicBool::new(false);

/// What becomes of such words: a rank of a job adds what it knows, or leaves them to another rank.
type Voice = Box<dyn Fn(String) -> Option<String> + Send>;
static VOICE: Mutex<Option<Voice>> = Mutex::new(None);

/// Another thread that is about to say it has so long: it may listen to other ranks first, and
/// nobody may read what it writes.
const LISTENING: Duration = Duration::from_millis(500);

/// Says how this process ends, unless that was said, or is for another rank to say: whether it was
/// said now.
pub fn last(text: impl std::fmt::Display) -> bool {
    let Some(voice) = voice() else { return false };
    if ENDED.swap(true, Ordering::SeqCst) {
        return false;
    }
    let text = text.to_string();
    let said = match &*voice {
        Some(voice) => voice(text),
        None => Some(text),
    };
    said.inspect(|text| err(text)).is_some()
}

/// The voice, when no other thread speaks any more.
fn voice() -> Option<MutexGuard<'static, Option<Voice>>> {
    let begin = Instant::now();
    loop {
        match VOICE.try_lock() {
            Ok(voice) => return Some(voice),
            Err(TryLockError::Poisoned(voice)) => return Some(voice.into_inner()),
            Err(TryLockError::WouldBlock) if begin.elapsed() > LISTENING => return None,
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(1)),
        }
    }
}

/// From here on last words go through this.
pub fn through(voice: impl Fn(String) -> Option<String> + Send + 'static) {
    *VOICE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(voice));
}
