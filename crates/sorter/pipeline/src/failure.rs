//! The failures of a pipeline.

use std::error::Error;
use std::{fmt, io};

use node::{Closed, DiskError, Undelivered};

/// The reason why a worker or its pipeline ended early.
#[derive(Debug)]
pub enum Failure {
    /// Another worker failed first; this is not the cause.
    Closed,
    /// The run was stopped from outside, for this reason (a signal).
    Stopped(String),
    /// An operation on a file failed.
    Disk(DiskError),
    /// The program of the stages found an error.
    Program(Box<dyn Error + Send + Sync>),
    /// The system has no thread for a worker.
    NoThread {
        /// The stage of the worker.
        stage: &'static str,
        /// The system's error.
        cause: io::Error,
    },
    /// A bug: a worker panicked.
    Panic {
        /// The stage of the worker.
        stage: &'static str,
        /// The message of the panic.
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
                "cannot start a thread for the {stage} stage: {cause}; allow fewer threads, or \
                 raise the limit on processes (ulimit -u)"
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
