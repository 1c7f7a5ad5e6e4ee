//! Why an experiment has no result.

use std::fmt;
use std::path::PathBuf;

use machine::{ProfileError, RunError, SetupError};

/// Why an experiment has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabError {
    /// It was asked for something that cannot be.
    Usage(String),
    /// A file that says what to run cannot be read or understood.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// There is no such machine, or its file cannot be understood.
    Profile {
        /// Its name or file, as it was asked for.
        machine: PathBuf,
        /// What is wrong.
        error: ProfileError,
    },
    /// This computer has fewer threads to give than cores were asked for.
    NoThreads {
        /// How many were asked for.
        cores: u32,
        /// What the system said.
        cause: String,
    },
    /// One of many runs has no result.
    Among {
        /// Which: what it was told, and its seed.
        run: String,
        /// Why.
        error: Box<LabError>,
    },
    /// The machine cannot run it.
    Setup(SetupError),
    /// It ran and did not end.
    Run(RunError),
}

impl LabError {
    /// It was asked for something that cannot be.
    pub fn usage(message: impl Into<String>) -> LabError {
        LabError::Usage(message.into())
    }

    /// A word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            LabError::Usage(_) | LabError::Setup(_) => "usage",
            LabError::File { .. } => "file",
            LabError::Profile { .. } => "profile",
            LabError::NoThreads { .. } => "no_thread",
            LabError::Among { error, .. } => error.kind(),
            LabError::Run(RunError::Stuck(_)) => "stuck",
            LabError::Run(RunError::Panic(_)) => "bug",
            LabError::Run(RunError::Stopped) => "stopped",
        }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::Usage(message) => out.write_str(message),
            LabError::File { path, why } => write!(out, "{}: {why}", path.display()),
            LabError::Profile { error, .. } => error.fmt(out),
            LabError::NoThreads { cores, cause } => write!(
                out,
                "cannot start {cores} threads: {cause}; ask for fewer --cores or raise ulimit -u"
            ),
            LabError::Among { run, error } => write!(out, "{run}: {error}"),
            LabError::Setup(error) => error.fmt(out),
            LabError::Run(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for LabError {}

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
