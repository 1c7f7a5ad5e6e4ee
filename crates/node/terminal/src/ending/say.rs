//! Output to people and programs. An error of standard output is a failure; an error of standard
//! error is ignored. If the reader of standard output goes away (`| head`), the command exits with
//! 141, as if SIGPIPE had ended it, and says nothing.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::codes::READER_GONE_CODE;
use super::failure::{CliFailure, READER_GONE, TOLD};
use crate::text::printable;

/// Prints a line on standard output.
///
/// # Errors
/// When standard output cannot be written.
pub fn out(text: impl std::fmt::Display) -> Result<(), CliFailure> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}")
        .and_then(|()| stdout.flush())
        .map_err(|cause| unwritten(&cause))
}

/// The failure to write to standard output.
pub fn unwritten(cause: &std::io::Error) -> CliFailure {
    if cause.kind() == ErrorKind::BrokenPipe {
        return CliFailure::new(READER_GONE, "the reader of standard output went away")
            .with_code(READER_GONE_CODE);
    }
    let message = format!("cannot write to standard output: {cause}; check where it goes");
    CliFailure::new("io", message)
}

/// Prints a line on standard error.
pub fn err(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a warning on standard error.
pub fn warn(text: impl std::fmt::Display) {
    err(format!("WARNING {}", printable(&text.to_string())));
}

/// Completes the last line of this process. A rank of a job adds the silent rank, or leaves the
/// line to another rank (`None`).
type Voice = Box<dyn Fn(String) -> Option<String> + Send>;

/// The last line of this process.
struct LastWords {
    were_said: bool,
    voice: Option<Voice>,
}

static LAST_WORDS: Mutex<LastWords> = Mutex::new(LastWords {
    were_said: false,
    voice: None,
});

/// How long another thread may take for the last line: it may listen to other ranks first, and its
/// output may block.
const LISTENING: Duration = Duration::from_millis(500);

/// Prints how this process ends, unless that is done or is left to another rank. Returns whether it
/// was printed now.
pub fn last(text: impl std::fmt::Display) -> bool {
    let Some(mut words) = last_words() else {
        return false;
    };
    if std::mem::replace(&mut words.were_said, true) {
        return false;
    }
    let text = text.to_string();
    let said = match &words.voice {
        Some(voice) => voice(text),
        None => Some(text),
    };
    said.inspect(|text| err(text)).is_some()
}

/// The last line, once no other thread is printing it.
fn last_words() -> Option<MutexGuard<'static, LastWords>> {
    let begin = Instant::now();
    loop {
        match LAST_WORDS.try_lock() {
            Ok(words) => return Some(words),
            Err(TryLockError::Poisoned(words)) => return Some(words.into_inner()),
            Err(TryLockError::WouldBlock) if begin.elapsed() > LISTENING => return None,
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(1)),
        }
    }
}

/// Passes the last line through `voice` from now on.
pub fn through(voice: impl Fn(String) -> Option<String> + Send + 'static) {
    let mut words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    words.voice = Some(Box::new(voice));
}

impl CliFailure {
    /// Reports the failure, and returns its exit code.
    pub fn tell(&self) -> ExitCode {
        if self.kind == READER_GONE || self.kind == TOLD {
            return ExitCode::from(self.code);
        }
        if last(format!("gristmill: {}", self.line())) && self.json {
            // If that fails, too, the line above and the exit code must do.
            let _ = out(self.to_json());
        }
        ExitCode::from(self.code)
    }
}
