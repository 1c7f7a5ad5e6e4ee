//! Words to people and programs. Standard output that cannot be written is a failure; standard error
//! that cannot be written is nobody to tell. A reader that has gone (`| head`) has what it wanted:
//! there the command ends as one does that SIGPIPE ends, with 141, and says nothing.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::CliFailure;
use crate::signals::READER_GONE_CODE;

/// The kind of a failure that was told already, by this process or another one.
pub const TOLD: &str = "told";

/// The kind of failure that is not told: who reads standard output has gone.
pub const READER_GONE: &str = "reader_gone";

/// Whether it was told how this process ends, or another one tells it.
static ENDED: AtomicBool = AtomicBool::new(false);

/// From here on another process of the job tells how it ends, unless this one knows better.
pub fn leave_it_to_another() {
    ENDED.store(true, Ordering::SeqCst);
}

/// Prints the line that tells how this process ends.
pub fn end(text: impl std::fmt::Display) {
    ENDED.store(true, Ordering::SeqCst);
    err(text);
}

/// The same, unless it was told.
pub fn end_if_untold(text: impl std::fmt::Display) {
    if !ENDED.swap(true, Ordering::SeqCst) {
        err(text);
    }
}

/// Prints a line on standard output.
pub fn out(text: impl std::fmt::Display) -> Result<(), CliFailure> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush()).map_err(|cause| {
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
