//! Words to people and programs. Failing to write to standard output is a failure; failing to write
//! to standard error goes unnoticed. A reader that has gone (`| head`) has what it wanted: then the
//! command exits with 141, as if SIGPIPE had ended it, and says nothing.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::codes::READER_GONE_CODE;
use super::failure::{CliFailure, READER_GONE, TOLD};

/// Prints a line on standard output.
///
/// # Errors
/// When standard output cannot be written, or its reader has gone.
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

/// Handles the last words of this process: a rank of a job adds what it knows, or leaves them to
/// another rank.
type Voice = Box<dyn Fn(String) -> Option<String> + Send>;

/// The last words of this process.
struct LastWords {
    were_said: bool,
    voice: Option<Voice>,
}

static LAST_WORDS: Mutex<LastWords> = Mutex::new(LastWords {
    were_said: false,
    voice: None,
});

/// How long another thread may take for its last words: it may listen to other ranks first, and its
/// output may block.
const LISTENING: Duration = Duration::from_millis(500);

/// Says how this process ends, unless that was said or is left to another rank. Returns whether it
/// was said now.
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

/// The last words, when no other thread is saying them.
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

/// Sends last words through `voice` from now on.
pub fn through(voice: impl Fn(String) -> Option<String> + Send + 'static) {
    let mut words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    words.voice = Some(Box::new(voice));
}

impl CliFailure {
    /// Tells the failure, and returns the exit code.
    pub fn tell(&self) -> ExitCode {
        if self.kind == READER_GONE || self.kind == TOLD {
            return ExitCode::from(self.code);
        }
        if last(format!("gristmill: {}", self.message)) && self.json {
            // When that fails too, the line above and the exit code are all that can be told.
            let _ = out(self.to_json());
        }
        ExitCode::from(self.code)
    }
}
