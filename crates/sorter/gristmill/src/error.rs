//! The errors of a sort.

mod words;

use std::io;
use std::path::{Path, PathBuf};

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
        /// Bytes before the mistake, of the file or of all that was pushed, if that is known.
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
        cause: io::Error,
    },
    /// A reader or writer of the caller failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A [`Watch`](crate::Watch) stopped the sort.
    #[error("the sort was stopped")]
    Stopped,
    /// This process is a fork of the one that began the sort, which goes on there.
    #[error("this sort was begun before a fork, and belongs to the parent process")]
    Forked,
    /// Records were lost or changed, on a disk or in memory. The check of the output found it.
    #[error("{0}")]
    Damaged(String),
    /// A mistake in Gristmill itself. Please report it.
    #[error("{0}")]
    Bug(String),
    /// Another failure of the system.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// The same error, for the next call: a sort that has failed stays so.
    pub(crate) fn again(&self) -> Error {
        let same = |cause: &io::Error| match cause.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(cause.kind(), cause.to_string()),
        };
        match self {
            Error::Options(what) => Error::Options(what.clone()),
            Error::Memory(what) => Error::Memory(what.clone()),
            Error::Input { what, file, offset } => Error::Input {
                what: what.clone(),
                file: file.clone(),
                offset: *offset,
            },
            Error::Record { number, what } => Error::Record {
                number: *number,
                what,
            },
            Error::File { what, file, cause } => Error::File {
                what: what.clone(),
                file: file.clone(),
                cause: same(cause),
            },
            Error::Io(cause) => Error::Io(same(cause)),
            Error::Stopped => Error::Stopped,
            Error::Forked => Error::Forked,
            Error::Damaged(what) => Error::Damaged(what.clone()),
            Error::Bug(what) => Error::Bug(what.clone()),
            Error::Other(what) => Error::Other(what.clone()),
        }
    }

    /// An error about records that were pushed: the engine takes them for a file.
    pub(crate) fn of_pushed(mut self) -> Error {
        if let Error::Input { what, file, .. } = &mut self
            && let Some(stream) = file.take()
            && let Some(rest) = what.strip_prefix(&stream.display().to_string())
        {
            *what = format!("the pushed records{rest}");
        }
        self
    }

    /// An error about records that come from a file.
    pub(crate) fn in_file(self, file: &Path) -> Error {
        match self {
            Error::Io(cause) => Error::File {
                what: format!("cannot read {}: {cause}", file.display()),
                file: file.to_owned(),
                cause,
            },
            Error::Record { .. } => Error::Input {
                what: format!("{}: {self}", file.display()),
                file: Some(file.to_owned()),
                offset: None,
            },
            other => other,
        }
    }
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
                Ok(error) => of_sort(&error),
                Err(_) => Error::Other(what),
            },
            Failure::Panic { .. } => Error::Bug(what),
            Failure::Closed | Failure::NoThread { .. } => Error::Other(what),
        }
    }
}

fn of_sort(error: &SortError) -> Error {
    let what = words::message(error);
    let of_input = |what| Error::Input {
        what,
        file: error.file().cloned(),
        offset: error.offset(),
    };
    let of_file = |what, kind: io::ErrorKind| match error.file() {
        Some(file) => Error::File {
            what,
            file: file.clone(),
            cause: kind.into(),
        },
        None => Error::Other(what),
    };
    match error {
        SortError::TooLittleMemory { .. }
        | SortError::PipeTooLong { .. }
        | SortError::LongLine { .. }
        | SortError::NoMemory { .. } => Error::Memory(what),
        SortError::Lost { .. }
        | SortError::Disorder { .. }
        | SortError::ReadBack { .. }
        | SortError::Spoilt { .. }
        | SortError::Garbled { .. } => Error::Damaged(what),
        SortError::TruncatedRecord { .. }
        | SortError::BadRecord { .. }
        | SortError::BadRow { .. }
        | SortError::Shrunk { .. }
        | SortError::Replaced { .. }
        | SortError::Header { .. }
        | SortError::Unsorted { .. }
        | SortError::Manifest { .. } => of_input(what),
        SortError::NotStriped { .. } => Error::Options(what),
        SortError::Directory { .. } => of_file(what, io::ErrorKind::IsADirectory),
        SortError::NoRoom { .. } | SortError::NoTemporaryRoom { .. } => {
            of_file(what, io::ErrorKind::StorageFull)
        }
        _ => Error::Other(what),
    }
}
