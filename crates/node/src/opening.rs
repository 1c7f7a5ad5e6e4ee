//! How a file is opened, which files are believed, and the facts that are known of a file.

use std::fmt;
use std::io;

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// An existing file, to read. `direct` asks to bypass the page cache.
    Read {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
    },
    /// An existing regular file, to read; links are followed. Anything else is refused without
    /// being opened, so a pipe without a writer does not hang the caller and a device is not read
    /// for ever.
    Regular {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
    },
    /// A file that an earlier run of the same user wrote: regular, owned by the caller, without
    /// other names, and not reached through a link. Anything else is refused, since its content may
    /// be somebody else's.
    Own,
    /// A file of an earlier run whose identity the caller checks afterwards, to read and write:
    /// regular, and not reached through a link.
    Again {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
    },
    /// An existing file or device, to write front to back.
    Append,
    /// A new file, to read and write; a name that is taken is refused.
    Create {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
        /// Permission bits, before the process's mask.
        mode: u32,
    },
    /// A file that another node has made and will rename, to read and write: this one takes it
    /// away, too, if it fails. A link is refused, and so is what is not a regular file.
    Join {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
    },
    /// A file that outlives its run, to read and write: what is there, if it could be opened as
    /// [`Open::Own`], or a new one.
    Keep {
        /// Bypass the page cache where the file system allows it.
        direct: bool,
        /// Permission bits of a new one, before the process's mask.
        mode: u32,
    },
}

impl Open {
    /// Whether it makes a new file.
    pub fn is_create(self) -> bool {
        matches!(self, Open::Create { .. })
    }
}

/// The standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
}

impl Standard {
    /// Its name in messages.
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
    /// A regular file: has a length, can be read and written anywhere.
    Regular,
    /// A directory.
    Directory,
    /// A pipe, terminal, socket or device: front to back only.
    Sequential,
}

/// The facts that are known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The kind of file.
    pub kind: FileKind,
    /// The device it lies on.
    pub device: u64,
    /// Its number there: with `device`, the same for every name of the same file.
    pub identity: u64,
    /// Permission bits.
    pub mode: u32,
    /// Length in bytes.
    pub length: u64,
}

/// Why a file is not believed that [`Open::Own`] should have opened, as the cause of a
/// [`DiskError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotBelieved(pub String);

impl NotBelieved {
    /// The refusal as the cause of an error.
    pub fn error(why: impl Into<String>) -> io::Error {
        io::Error::other(NotBelieved(why.into()))
    }

    /// The refusal, if that is the cause of an error.
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

/// The access that a file gives: its owner, its group, and their rights and those of others. It
/// never grants more than the file that it was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// User number of the owner.
    pub owner: u32,
    /// Group number.
    pub group: u32,
    /// Permission bits of owner, group and others. Set-user-id, set-group-id and sticky bits are
    /// never among them, and an access control list counts with the least that it gives.
    pub mode: u32,
}

/// Permission bits of owner, group and others.
pub const PERMISSION_BITS: u32 = 0o777;

/// The permission bits with which members of another group get no more than others.
pub fn of_another_group(mode: u32) -> u32 {
    mode & (0o707 | (mode & 0o007) << 3)
}
