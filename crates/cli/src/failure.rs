//! How the command ends: exit codes, and one line for each failure.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::lab::LabError;
use ::sort::SortError;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use node::DiskError;
use node_mpi::NetworkError;
use pipeline::Failure;

use crate::files::is_standard_output;
use crate::signals::READER_GONE_CODE;
use crate::{job, json, say};

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

/// Usage, input and I/O errors.
const FAILED: u8 = 2;

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

    /// The same, told as JSON if asked for.
    pub fn with_json(self, json: bool) -> CliFailure {
        CliFailure { json, ..self }
    }

    /// The same with another exit code.
    pub fn with_code(self, code: u8) -> CliFailure {
        CliFailure { code, ..self }
    }

    /// Tells it, and gives the exit code.
    pub fn tell(&self) -> ExitCode {
        if self.kind == say::READER_GONE || self.kind == say::TOLD {
            return ExitCode::from(self.code);
        }
        if say::last(format!("gristmill: {}", self.message)) && self.json {
            // When that fails too, the line above and the exit code are all that can be told.
            let _ = say::out(json::error(self));
        }
        ExitCode::from(self.code)
    }
}

impl From<Failure> for CliFailure {
    fn from(failure: Failure) -> CliFailure {
        let message = failure.to_string();
        match failure {
            Failure::Disk(error) if is_reader_gone(&error) => {
                CliFailure::new(say::READER_GONE, message).with_code(READER_GONE_CODE)
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

/// Who read the records from standard output has what it wanted, as of `sort | head`.
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

/// Tells what is wrong with the command line. The reference's gensort and valsort exit 1 then, and
/// so do ours.
pub fn usage(mut error: clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if job::leaves_usage_to_another() {
        return ExitCode::from(FAILED);
    }
    without_far_guess(&mut error);
    say::err(told(&error));
    if std::env::args_os().any(|argument| argument == "--json") {
        let text = error.render().to_string();
        // Its first paragraph says what is wrong, in one line or in several.
        let lines = text
            .lines()
            .take_while(|line| !line.is_empty())
            .map(str::trim);
        let message = lines.collect::<Vec<_>>().join(" ");
        let message = message.trim_start_matches("error: ");
        let _ = say::out(json::error(&CliFailure::usage(message)));
    }
    ExitCode::from(if is_of_reference() { 1 } else { FAILED })
}

/// Whether the command is one of the reference's, which show how they are used on any mistake.
fn is_of_reference() -> bool {
    let command = std::env::args_os().nth(1).unwrap_or_default();
    command == "gensort" || command == "valsort"
}

/// What is wrong in the words of every failure. A wrong value is told in one line, which names its
/// option; what is not understood at all, with the usage.
fn told(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.trim_end();
    let Some(told) = text.strip_prefix("error: ") else {
        return text.to_owned();
    };
    let told = match error.kind() {
        ErrorKind::ValueValidation if !is_of_reference() => told.lines().next().unwrap_or(told),
        _ => told,
    };
    format!("gristmill: {told}")
}

/// Takes a guess at another option away that begins with another letter: `--incast` for `--list`
/// helps nobody.
fn without_far_guess(error: &mut clap::Error) {
    let first_letter = |kind| match error.get(kind) {
        Some(ContextValue::String(option)) => option.trim_start_matches('-').chars().next(),
        _ => None,
    };
    let given = first_letter(ContextKind::InvalidArg);
    let guessed = first_letter(ContextKind::SuggestedArg);
    if guessed.is_some() && guessed != given {
        error.remove(ContextKind::SuggestedArg);
    }
}
