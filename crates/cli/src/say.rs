//! Words to people and programs. Standard output that cannot be written is a failure; standard error
//! that cannot be written is nobody to tell.

use std::io::Write;

use crate::failure::CliFailure;

/// Prints a line on standard output.
pub fn out(text: impl std::fmt::Display) -> Result<(), CliFailure> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush()).map_err(|cause| {
        CliFailure::new(
            "io",
            format!("cannot write to standard output: {cause}; look where it goes"),
        )
    })
}

/// Prints a line on standard error.
pub fn err(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
