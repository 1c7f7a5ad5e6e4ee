//! Errors of jobs and experiments.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use terminal::ending::failure::CliFailure;

use machine::{ProfileError, RunError, SetupError};
use node::Undelivered;

/// Why a job or an experiment has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabError {
    /// An option is wrong.
    Usage(String),
    /// A file cannot be read, written or understood.
    File {
        /// Its path, or the name of the experiment.
        path: PathBuf,
        /// The cause, for people.
        why: String,
    },
    /// A file of an experiment has a mistake.
    Mistake {
        /// Its path, or the name of the experiment.
        path: PathBuf,
        /// The first one.
        mistake: Mistake,
    },
    /// A machine does not exist, or its file is wrong.
    Profile {
        /// Its name or file as given.
        machine: PathBuf,
        /// The error in its file or in its changes.
        error: ProfileError,
    },
    /// This computer cannot start a thread per core.
    NoThreads {
        /// Number of threads that were asked for.
        cores: u32,
        /// The error of the system.
        cause: String,
    },
    /// One of many runs has failed.
    Among {
        /// Its program, options and seed.
        run: String,
        /// The error of that run.
        error: Box<LabError>,
    },
    /// The machine cannot run the program.
    Setup(SetupError),
    /// Other ranks cannot be understood.
    Network(Undelivered),
    /// A run has begun and did not end.
    Run(RunError),
}

impl fmt::Display for LabError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::Usage(message) => out.write_str(message),
            LabError::File { path, why } => write!(out, "{}: {why}", path.display()),
            LabError::Mistake { path, mistake } => write!(out, "{}: {mistake}", path.display()),
            LabError::Profile { error, .. } => error.fmt(out),
            LabError::NoThreads { cores, cause } => write!(
                out,
                "cannot start {cores} threads: {cause}; ask for fewer --cores or raise ulimit -u"
            ),
            LabError::Among { run, error } => write!(out, "{run}: {error}"),
            LabError::Setup(error) => error.fmt(out),
            LabError::Network(error) => write!(out, "network: {error}"),
            LabError::Run(error) => error.fmt(out),
        }
    }
}

impl Error for LabError {}

impl From<SetupError> for LabError {
    fn from(error: SetupError) -> LabError {
        LabError::Setup(error)
    }
}

impl From<RunError> for LabError {
    fn from(error: RunError) -> LabError {
        LabError::Run(error)
    }
}

impl From<Undelivered> for LabError {
    fn from(error: Undelivered) -> LabError {
        LabError::Network(error)
    }
}

impl LabError {
    /// An error about a wrong option.
    pub fn usage(message: impl Into<String>) -> LabError {
        LabError::Usage(message.into())
    }

    pub(crate) fn file(path: &Path, why: String) -> LabError {
        LabError::File {
            path: path.to_owned(),
            why,
        }
    }

    pub(crate) fn mistake(path: &Path, mistake: Mistake) -> LabError {
        LabError::Mistake {
            path: path.to_owned(),
            mistake,
        }
    }

    /// The kind of the error in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            LabError::Usage(_) | LabError::Setup(_) => "usage",
            LabError::File { .. } | LabError::Mistake { .. } => "file",
            LabError::Profile { .. } => "profile",
            LabError::NoThreads { .. } => "no_thread",
            LabError::Among { error, .. } => error.kind(),
            LabError::Network(_) => "network",
            LabError::Run(RunError::Stuck(_)) => "stuck",
            LabError::Run(RunError::Panic(_)) => "bug",
            LabError::Run(RunError::Stopped) => "stopped",
        }
    }
}

impl From<LabError> for CliFailure {
    fn from(error: LabError) -> CliFailure {
        let file = match &error {
            LabError::Mistake { path: file, .. }
            | LabError::File { path: file, .. }
            | LabError::Profile { machine: file, .. } => Some(file.clone()),
            _ => None,
        };
        CliFailure {
            file,
            ..CliFailure::new(error.kind(), error.to_string())
        }
    }
}

/// A mistake of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Its line, from 1, where it has one.
    pub line: Option<usize>,
    /// The table, as in `[[series]] 'incast'`; empty at the top of the file.
    pub table: String,
    /// The key, with its value and what is expected.
    pub why: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.table.as_str()) {
            (Some(line), "") => write!(out, "line {line}: ")?,
            (Some(line), table) => write!(out, "line {line}, {table}: ")?,
            (None, "") => {}
            (None, table) => write!(out, "{table}: ")?,
        }
        out.write_str(&self.why)
    }
}
