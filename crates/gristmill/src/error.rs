//! The errors of a sort.

use std::path::PathBuf;

use node::DiskError;
use pipeline::Failure;
use sort::SortError;
use thiserror::Error as ThisError;

/// The reason why a sort failed. No output has its name then, and no temporary file is left.
///
/// ```
/// use gristmill::{Error, Format, Sorter};
/// match Sorter::new(Format::lines()).sort_files(["no/such/file"], "out") {
///     Err(Error::File { file, .. }) => assert_eq!(file.to_str(), Some("no/such/file")),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A format, a key or another option has a mistake.
    #[error("{0}")]
    Options(String),
    /// The limit on memory is too low, or a record is longer than it allows.
    #[error("{0}")]
    Memory(String),
    /// An input is wrong: it ends within a record, is out of order, or changed while it was read.
    #[error("{what}")]
    Input {
        /// What is wrong, where, and what to do.
        what: String,
        /// The file, if the input is one.
        file: Option<PathBuf>,
        /// Bytes of the file before the mistake, if that is known.
        offset: Option<u64>,
    },
    /// A record that was pushed is none of the format.
    #[error("record {number}: {what}")]
    Record {
        /// Its number, from 1.
        number: u64,
        /// The mistake.
        what: &'static str,
    },
    /// A file could not be opened, read or written.
    #[error("{what}")]
    File {
        /// What failed, and what to do.
        what: String,
        /// The file.
        file: PathBuf,
        /// The system's error.
        #[source]
        cause: std::io::Error,
    },
    /// A reader or writer of the caller failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A [`Watch`](crate::Watch) stopped the sort.
    #[error("the sort was stopped")]
    Stopped,
    /// This process is a fork of the one that began the sort, which goes on there.
    #[error("this sort was begun before a fork, and belongs to the parent process")]
    Forked,
    /// Records were lost or changed, on a disk or in memory. The check of the output found it.
    #[error("{0}")]
    Damaged(String),
    /// Another failure: of the system, or a bug.
    #[error("{0}")]
    Other(String),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        let what = failure.to_string();
        match failure {
            Failure::Stopped(_) => Error::Stopped,
            Failure::Disk(DiskError { path, cause, .. }) => Error::File {
                what,
                file: path,
                cause,
            },
            Failure::Program(error) => match error.downcast::<SortError>() {
                Ok(error) => of_sort(&error, what),
                Err(_) => Error::Other(what),
            },
            Failure::Closed | Failure::NoThread { .. } | Failure::Panic { .. } => {
                Error::Other(what)
            }
        }
    }
}

fn of_sort(error: &SortError, what: String) -> Error {
    match error.kind() {
        "memory_limit" | "no_memory" => Error::Memory(what),
        "records_lost" | "disorder" | "read_back" | "garbled" => Error::Damaged(what),
        "truncated_record" | "bad_record" | "input_changed" | "header" | "unsorted_input"
        | "manifest" => Error::Input {
            what,
            file: error.file().cloned(),
            offset: error.offset(),
        },
        _ => Error::Other(what),
    }
}
