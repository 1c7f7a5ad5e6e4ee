//! Failures of the command: one line for people, a kind for programs, an exit code.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use node::DiskError;
use serde_json::{Value, json};

use super::codes::FAILED;
use crate::files::is_standard_output;
use crate::text::printable;

/// How a command ends that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done,
    /// The command worked, and its check found something wrong.
    CheckFailed,
}

impl Exit {
    /// The exit code of the process.
    pub fn code(self) -> ExitCode {
        match self {
            Exit::Done => ExitCode::SUCCESS,
            Exit::CheckFailed => ExitCode::from(1),
        }
    }
}

/// A command that could not do its work.
#[derive(Debug)]
pub struct CliFailure {
    /// The kind of the failure, for programs.
    pub kind: &'static str,
    /// The file that failed.
    pub file: Option<PathBuf>,
    /// The byte offset in that file.
    pub offset: Option<u64>,
    /// One line for people: what happened and what to do.
    pub message: String,
    /// The exit code of the process.
    pub code: u8,
    /// Whether to print it as JSON on standard output, too.
    pub json: bool,
}

/// The kind of a failure that this process or another rank has already reported.
pub const TOLD: &str = "told";

/// The kind of a failure that is not reported: the reader of standard output went away.
pub const READER_GONE: &str = "reader_gone";

impl CliFailure {
    /// A failure of the kind `usage`.
    pub fn usage(message: impl Into<String>) -> CliFailure {
        CliFailure::new("usage", message)
    }

    /// A failure that is not about a file.
    pub fn new(kind: &'static str, message: impl Into<String>) -> CliFailure {
        let message = message.into();
        CliFailure {
            kind,
            file: None,
            offset: None,
            message,
            code: FAILED,
            json: false,
        }
    }

    /// A failure to watch for signals.
    pub fn unwatched(cause: io::Error) -> CliFailure {
        CliFailure::new(
            "system",
            format!("cannot watch for signals: {cause}; raise ulimit -u and -n"),
        )
    }

    /// The message as one line, whatever the names of files in it are.
    pub fn line(&self) -> String {
        printable(&self.message)
    }

    /// The failure as a JSON object with the key `error`.
    pub fn to_json(&self) -> Value {
        json!({ "error": {
            "kind": self.kind,
            "file": self.file.as_ref().map(|file| file.display().to_string()),
            "offset": self.offset,
            "message": self.line(),
        } })
    }

    /// Sets whether the failure is also printed as JSON.
    pub fn with_json(self, json: bool) -> CliFailure {
        CliFailure { json, ..self }
    }

    /// Replaces the exit code.
    pub fn with_code(self, code: u8) -> CliFailure {
        CliFailure { code, ..self }
    }
}

/// Whether the reader of standard output went away, as in `sort | head`.
pub fn is_reader_gone(error: &DiskError) -> bool {
    let is_stdout = error.path == Path::new("standard output") || is_standard_output(&error.path);
    error.cause.kind() == io::ErrorKind::BrokenPipe && is_stdout
}
