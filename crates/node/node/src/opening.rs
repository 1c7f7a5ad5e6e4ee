//! Ways to open a file, the files that are trusted, and the metadata of a file.

use std::fmt;
use std::io;

/// The ways to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// An existing file or pipe, for reading.
    Read {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
    },
    /// An existing regular file, for reading; links are followed. Anything else is refused without
    /// being opened, so that a pipe without a writer does not hang the caller and a device is not
    /// read forever.
    Regular {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
    },
    /// A file that an earlier run of the same user wrote: regular, owned by the caller, without
    /// other names, and not reached through a link. Anything else is refused, since another user
    /// may have written it.
    Own,
    /// A file of an earlier run whose identity the caller checks afterwards, for reading and
    /// writing: regular, and not reached through a link.
    Again {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
    },
    /// An existing file or device, for writing front to back.
    Append,
    /// A new file, for reading and writing; an existing name is refused.
    Create {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
        /// Permission bits, before the process's mask.
        mode: u32,
    },
    /// A file that another node has made and will rename, for reading and writing: a node that
    /// fails removes it. Only a regular file that is not reached through a link is accepted.
    Join {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
    },
    /// A file that outlives its run, for reading and writing: the existing file, if
    /// [`Open::Own`] accepts it, or a new one.
    Keep {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
        /// Permission bits of a new file, before the process's mask.
        mode: u32,
    },
}

impl Open {
    /// Whether this is [`Open::Create`].
    pub fn is_create(self) -> bool {
        matches!(self, Open::Create { .. })
    }
}

/// The standard streams of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// The stream that the process reads.
    Input,
    /// The stream that the process writes.
    Output,
}

impl Standard {
    /// The stream's name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Standard::Input => "standard input",
            Standard::Output => "standard output",
        }
    }
}

/// The kinds of file that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file: it has a length and can be read and written anywhere.
    Regular,
    /// A directory, whose names [`Node::list`](crate::Node::list) gives.
    Directory,
    /// A pipe, terminal, socket or device: front to back only.
    Sequential,
}

/// The system's description of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Regular file, directory, or stream.
    pub kind: FileKind,
    /// The number of the device that holds the file.
    pub device: u64,
    /// The file's number on the device. Device and number identify a file by any of its names.
    pub identity: u64,
    /// Permission bits, with the set-id and sticky bits.
    pub mode: u32,
    /// The length in bytes.
    pub length: u64,
    /// The time of the last change of the content, in nanoseconds since 1970. Programs can set it.
    pub modified_ns: i64,
    /// The time of the last change of content, names or rights. No program can set it.
    pub changed_ns: i64,
}

/// The reason why [`Open::Own`] refused a file, as the cause of a [`DiskError`](crate::DiskError).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotBelieved(pub String);

impl NotBelieved {
    /// The refusal as an error of the system.
    pub fn error(why: impl Into<String>) -> io::Error {
        io::Error::other(NotBelieved(why.into()))
    }

    /// The refusal that caused an error, if one did.
    pub fn of(cause: &io::Error) -> Option<&NotBelieved> {
        cause.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for NotBelieved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for NotBelieved {}

/// Owner, group and permissions of a file. It never grants more than the file that it was read
/// from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The owner's user number.
    pub owner: u32,
    /// The group's number.
    pub group: u32,
    /// Permission bits of owner, group and others, without set-user-id, set-group-id and sticky
    /// bits. An access control list counts as the least that it grants.
    pub mode: u32,
}

/// Permission bits of owner, group and others.
pub const PERMISSION_BITS: u32 = 0o777;

/// `mode` for a file whose group has changed: the group gets no more rights than others.
pub fn of_another_group(mode: u32) -> u32 {
    mode & (0o707 | (mode & 0o007) << 3)
}
