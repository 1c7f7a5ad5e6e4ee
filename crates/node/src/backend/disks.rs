//! Disks as a backend provides them: paths, open files, and requests for data.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::opening::{Access, Metadata, Open, Standard};
use crate::sync::Completer;
use crate::{Buffer, Time};

/// Paths of a node. Calls happen at the world's time and may block on a real node.
pub trait Disks: Send + Sync + 'static {
    /// Opens or creates a file.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn FileHandle>>;
    /// Standard input or output.
    fn standard(&self, which: Standard) -> io::Result<Arc<dyn FileHandle>>;
    /// The metadata of a path, links followed.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;
    /// The access that the file at a path gives, links followed.
    fn access(&self, path: &Path) -> io::Result<Access>;
    /// The path with all links followed; its last part need not exist.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
    /// Replaces `to` by `from` in one step, and makes that durable.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), RenameError>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Names in a directory.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;
    /// Free bytes of the file system that holds `path`.
    fn space(&self, path: &Path) -> io::Result<u64>;
}

/// How a rename failed.
#[derive(Debug)]
pub enum RenameError {
    /// Both names are as they were.
    NotRenamed(io::Error),
    /// The file has its new name, but a crash may take it back.
    NotDurable(io::Error),
}

impl From<io::Error> for RenameError {
    fn from(cause: io::Error) -> RenameError {
        RenameError::NotRenamed(cause)
    }
}

impl From<io::ErrorKind> for RenameError {
    fn from(kind: io::ErrorKind) -> RenameError {
        RenameError::NotRenamed(kind.into())
    }
}

/// An open file of a backend.
pub trait FileHandle: Send + Sync + 'static {
    /// The metadata of the file.
    fn metadata(&self) -> io::Result<Metadata>;
    /// Whether requests bypass the page cache and need whole blocks.
    fn is_direct(&self) -> bool;
    /// Starts a data request at the task's clock `at`.
    fn submit(&self, at: Time, request: Request);
    /// Changes the file, at once.
    fn control(&self, control: Control) -> io::Result<u64>;
}

/// The result of a data request: always the buffer (or the chain), and whether it succeeded.
pub type Done<Held = Buffer> = (Held, io::Result<()>);

/// A data request; its completer gives the buffer back.
pub enum Request {
    /// Fill the buffer's first `bytes` from `offset` (`None`: the next ones of a sequential
    /// source), short only at the end of the file; sets the buffer's length.
    Read {
        /// The offset in the file.
        offset: Option<u64>,
        /// The bytes to read.
        bytes: usize,
        /// The buffer, or the buffers, to fill.
        buffer: Buffer,
        /// Receives the result.
        done: Completer<Done>,
    },
    /// Write that range of the buffer, all of it, at `offset` (`None`: behind what was written).
    Write {
        /// The offset in the file.
        offset: Option<u64>,
        /// The part of the buffer.
        range: Range<usize>,
        /// The buffer, or the buffers, to write.
        buffer: Buffer,
        /// Receives the result.
        done: Completer<Done>,
    },
    /// Fill the whole memory of each buffer, one behind the other, from `offset` on, short only at
    /// the end of the file; sets the lengths.
    ReadChain {
        /// The offset in the file.
        offset: u64,
        /// The buffer, or the buffers, to fill.
        buffers: Vec<Buffer>,
        /// Receives the result.
        done: Completer<Done<Vec<Buffer>>>,
    },
    /// Write the whole memory of each buffer, one behind the other, from `offset` on.
    WriteChain {
        /// The offset in the file.
        offset: u64,
        /// The buffer, or the buffers, to write.
        buffers: Vec<Buffer>,
        /// Receives the result.
        done: Completer<Done<Vec<Buffer>>>,
    },
    /// Make all completed writes durable.
    Sync {
        /// Receives the result.
        done: Completer<io::Result<()>>,
    },
}

/// How much a chain of buffers holds.
pub fn chain_capacity(buffers: &[Buffer]) -> usize {
    buffers.iter().map(Buffer::capacity).sum()
}

/// Says that the first `len` bytes of a chain's memory are filled.
pub fn set_chain_len(buffers: &mut [Buffer], len: usize) {
    let mut rest = len;
    for buffer in buffers {
        buffer.set_len(rest.min(buffer.capacity()));
        rest -= buffer.len();
    }
}

/// A change of a file that moves no data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Reserve a range's space; make the file at least so long.
    Preallocate(Range<u64>),
    /// Make the file this long.
    Truncate(u64),
    /// Give a range's space back; it reads as zeros.
    Release(Range<u64>),
    /// Lock the file for this run; answers 1, or 0 when another run holds it.
    Lock,
    /// How many bytes of the range lie in the page cache.
    Resident(Range<u64>),
    /// Set owner, group and permission bits, as far as the caller may.
    Access(Access),
}
