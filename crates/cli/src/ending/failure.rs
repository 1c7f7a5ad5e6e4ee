//! Failures of the command: one line for people, a word for programs, an exit code.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::lab::LabError;
use ::sort::SortError;
use node::DiskError;
use node::backend::NetworkError;
use pipeline::Failure;
use serde_json::{Value, json};

use super::codes::{FAILED, READER_GONE_CODE};
use crate::files::is_standard_output;

/// How a command that did its work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Done, and what was checked is not as it should be.
    CheckFailed,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> ExitCode {
        match self {
            Exit::Done => ExitCode::SUCCESS,
            Exit::CheckFailed => ExitCode::from(1),
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub struct CliFailure {
    /// A word for programs.
    pub kind: &'static str,
    /// The file it is about.
    pub file: Option<PathBuf>,
    /// Where in that file.
    pub offset: Option<u64>,
    /// One line for people.
    pub message: String,
    /// The exit code.
    pub code: u8,
    /// Whether to tell it as JSON on standard output.
    pub json: bool,
}

/// The kind of a failure that was told already, by this process or another one.
pub const TOLD: &str = "told";

/// The kind of a failure that is not told: the reader of standard output has gone.
pub const READER_GONE: &str = "reader_gone";

impl CliFailure {
    /// A command line that cannot be carried out.
    pub fn usage(message: impl Into<String>) -> CliFailure {
        CliFailure::new("usage", message)
    }

    /// A failure without a file.
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

    /// Signals could not be watched.
    pub fn unwatched(cause: io::Error) -> CliFailure {
        CliFailure::new(
            "system",
            format!("cannot watch for signals: {cause}; raise ulimit -u and -n"),
        )
    }

    /// The failure as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "error": {
                "kind": self.kind,
                "file": self.file.as_ref().map(|file| file.display().to_string()),
                "offset": self.offset,
                "message": self.message,
            }
        })
    }

    /// The same failure, told as JSON if asked for.
    pub fn with_json(self, json: bool) -> CliFailure {
        CliFailure { json, ..self }
    }

    /// The same failure with another exit code.
    pub fn with_code(self, code: u8) -> CliFailure {
        CliFailure { code, ..self }
    }
}

impl From<Failure> for CliFailure {
    fn from(failure: Failure) -> CliFailure {
        let message = failure.to_string();
        match failure {
            Failure::Disk(error) if is_reader_gone(&error) => {
                CliFailure::new(READER_GONE, message).with_code(READER_GONE_CODE)
            }
            Failure::Disk(error) => CliFailure {
                file: Some(error.path),
                offset: error.offset,
                ..CliFailure::new("io", message)
            },
            Failure::Program(error) => match error.downcast::<SortError>() {
                Ok(error) => CliFailure {
                    file: error.file().cloned(),
                    offset: error.offset(),
                    ..CliFailure::new(error.kind(), message)
                },
                Err(error) if error.is::<NetworkError>() => CliFailure::new("network", message),
                Err(_) => CliFailure::new("program", message),
            },
            Failure::Stopped(_) => CliFailure::new("stopped", message),
            Failure::Closed => CliFailure::new("stopped", message),
            Failure::NoThread { .. } => CliFailure::new("no_thread", message),
            Failure::Panic { .. } => CliFailure::new("bug", message),
        }
    }
}

/// Whether the reader of standard output has what it wanted, as in `sort | head`.
fn is_reader_gone(error: &DiskError) -> bool {
    let is_stdout = error.path == Path::new("standard output") || is_standard_output(&error.path);
    error.cause.kind() == io::ErrorKind::BrokenPipe && is_stdout
}

impl From<LabError> for CliFailure {
    fn from(error: LabError) -> CliFailure {
        let file = match &error {
            LabError::File { path: file, .. } | LabError::Profile { machine: file, .. } => {
                Some(file.clone())
            }
            _ => None,
        };
        CliFailure {
            file,
            ..CliFailure::new(error.kind(), error.to_string())
        }
    }
}
