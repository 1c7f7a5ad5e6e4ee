//! Why a pipeline ended early.

use std::error::Error;
use std::{fmt, io};

use node::{Closed, DiskError, Undelivered};

/// Why a worker or its pipeline ended early.
#[derive(Debug)]
pub enum Failure {
    /// Another worker failed first; this is not the cause.
    Closed,
    /// Somebody outside stopped the run.
    Stopped(String),
    /// An operation on a file failed.
    Disk(DiskError),
    /// What the stages' program found wrong.
    Program(Box<dyn Error + Send + Sync>),
    /// The system has no thread for a worker.
    NoThread {
        /// The worker's stage.
        stage: &'static str,
        /// What the system said.
        cause: io::Error,
    },
    /// A bug: a worker panicked.
    Panic {
        /// The worker's stage.
        stage: &'static str,
        /// What it said.
        message: String,
    },
}

impl From<Closed> for Failure {
    fn from(_: Closed) -> Failure {
        Failure::Closed
    }
}

impl From<Undelivered> for Failure {
    fn from(undelivered: Undelivered) -> Failure {
        match undelivered {
            Undelivered::Closed => Failure::Closed,
            foreign @ Undelivered::Foreign { .. } => Failure::Program(Box::new(foreign)),
        }
    }
}

impl From<DiskError> for Failure {
    fn from(error: DiskError) -> Failure {
        Failure::Disk(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Closed => write!(out, "the pipeline was closed"),
            Failure::Stopped(reason) => write!(out, "stopped by {reason}"),
            Failure::Disk(error) => write!(out, "{error}"),
            Failure::Program(error) => write!(out, "{error}"),
            Failure::NoThread { stage, cause } => write!(
                out,
                "cannot start a thread for the {stage} stage: {cause}; give a smaller --parallel, \
                 or raise the limit on processes (ulimit -u)"
            ),
            Failure::Panic { stage, message } => {
                write!(
                    out,
                    "a bug in the {stage} stage: {message}; please report it"
                )
            }
        }
    }
}

impl Error for Failure {}
