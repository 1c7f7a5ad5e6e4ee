//! Failures of the command: one line for people, a kind for programs, an exit code.

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
use crate::glance;
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
    /// Lines below the message, one per mistake.
    pub details: Vec<String>,
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
            details: Vec::new(),
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
        let mut error = json!({
            "kind": self.kind,
            "file": self.file.as_ref().map(|file| file.display().to_string()),
            "offset": self.offset,
            "message": self.line(),
        });
        if !self.details.is_empty() {
            error["mistakes"] = self.details.clone().into();
        }
        json!({ "error": error })
    }

    /// The message and the lines below it.
    pub fn lines(&self) -> String {
        let details = self.details.iter().map(|detail| printable(detail));
        let lines: Vec<_> = [self.line()].into_iter().chain(details).collect();
        lines.join("\n  ")
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
                    ..CliFailure::new(error.kind(), glance::truncated(&error).unwrap_or(message))
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

/// Whether the reader of standard output went away, as in `sort | head`.
fn is_reader_gone(error: &DiskError) -> bool {
    let is_stdout = error.path == Path::new("standard output") || is_standard_output(&error.path);
    error.cause.kind() == io::ErrorKind::BrokenPipe && is_stdout
}

impl From<LabError> for CliFailure {
    fn from(error: LabError) -> CliFailure {
        let file = match &error {
            LabError::Mistakes { path, mistakes } if mistakes.len() > 1 => {
                let message = format!("{}: {} mistakes", path.display(), mistakes.len());
                return CliFailure {
                    file: Some(path.clone()),
                    details: mistakes.iter().map(ToString::to_string).collect(),
                    ..CliFailure::new(error.kind(), message)
                };
            }
            LabError::Mistakes { path: file, .. } => Some(file.clone()),
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
