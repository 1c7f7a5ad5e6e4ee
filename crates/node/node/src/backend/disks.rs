//! Disks as a backend provides them: paths, open files, and requests for data.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::compression::{CodingMemory, Compress, Decompression};
use crate::opening::{Access, Metadata, Open, Standard};
use crate::sync::Completer;
use crate::{Buffer, Time};

/// Paths of a node. Calls happen at the world's time and may block on a real node.
pub trait Disks: Send + Sync + 'static {
    /// Opens or creates a file.
    ///
    /// # Errors
    /// When the system or `how` refuses the file.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn FileHandle>>;
    /// Standard input or output.
    ///
    /// # Errors
    /// When there is no such stream.
    fn standard(&self, which: Standard) -> io::Result<Arc<dyn FileHandle>>;
    /// The metadata of a path, links followed.
    ///
    /// # Errors
    /// When the path leads to nothing, or the system refuses to say.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;
    /// The metadata of a path that will be written. An open descriptor of the process counts as
    /// sequential, whatever it leads to.
    ///
    /// # Errors
    /// As [`Disks::metadata`].
    fn sink(&self, path: &Path) -> io::Result<Metadata> {
        self.metadata(path)
    }
    /// Owner, group and permissions of the file at a path, links followed.
    ///
    /// # Errors
    /// As [`Disks::metadata`].
    fn access(&self, path: &Path) -> io::Result<Access>;
    /// The path with all links followed; its last part need not exist.
    ///
    /// # Errors
    /// When a directory of the path does not exist or cannot be read.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
    /// Replaces `to` by `from` in one step, and makes that durable.
    ///
    /// # Errors
    /// As the variants of [`RenameError`] say.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), RenameError>;
    /// Why no file can be renamed over the regular file at `path`, which is no link; none if one
    /// can, and for anything else.
    fn obstacle(&self, path: &Path) -> Option<String>;
    /// Removes a file.
    ///
    /// # Errors
    /// When the file does not exist, or the directory refuses.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Names in a directory, in any order.
    ///
    /// # Errors
    /// When the directory does not exist or cannot be read.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;
    /// Free bytes of the file system that holds `path`.
    ///
    /// # Errors
    /// When the path leads to nothing.
    fn space(&self, path: &Path) -> io::Result<u64>;
    /// The directory for temporary files if the program has no other.
    fn temporary(&self) -> PathBuf;
    /// Whether files below `path` survive a power failure: those in memory do not.
    ///
    /// # Errors
    /// When the path leads to nothing.
    fn is_lasting(&self, path: &Path) -> io::Result<bool>;
    /// Files that may be opened beside those that are open now.
    fn spare(&self) -> usize {
        usize::MAX
    }
    /// Tells people something before the next step, in which the process may die.
    fn tell(&self, text: &str);
}

/// A failed rename, and the state that it left.
#[derive(Debug)]
pub enum RenameError {
    /// Both names are unchanged.
    NotRenamed(io::Error),
    /// The file has its new name, but a crash may undo that.
    NotDurable(io::Error),
    /// The file has its new name, in a directory to which the path leads no longer.
    Moved,
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
    /// The current metadata of the file.
    ///
    /// # Errors
    /// When the system refuses to say.
    fn metadata(&self) -> io::Result<Metadata>;
    /// Whether requests bypass the page cache and need whole blocks.
    fn is_direct(&self) -> bool;
    /// Starts a data request at the task's clock `at`.
    fn submit(&self, at: Time, request: Request);
    /// Changes the file at once. The number is the answer of [`Control::Lock`],
    /// [`Control::Resident`] and [`Control::Appends`].
    ///
    /// # Errors
    /// When the system refuses the change.
    fn control(&self, control: Control) -> io::Result<u64>;
    /// The first bytes that tell whether the file is compressed; 0 if this backend does not know
    /// compressed files.
    fn header_bytes(&self) -> usize {
        0
    }
    /// The contents of this file, which begins with those bytes, had that length when it was opened, and has not been
    /// read but for that; of a stream nothing was read. None if they are the file's own bytes, at their offsets.
    ///
    /// # Errors
    /// When the system refuses. Damaged data is an error of a later read, and so are bytes that have no such view.
    fn decompressed(
        &self,
        begin: Option<(&[u8], u64)>,
        reading: Decompression,
    ) -> io::Result<Option<Coded>> {
        let _ = (begin, reading);
        Ok(None)
    }
    /// This file, which is empty, as one that compresses what is written to it front to back. Its
    /// first [`Request::Sync`] ends the data.
    ///
    /// # Errors
    /// When this backend does not know compressed files, or there is no memory.
    fn compressed(&self, how: Compress) -> io::Result<Coded> {
        let _ = how;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A file that is decompressed or compressed on the way.
pub struct Coded {
    /// The contents: a sequential file, or one that is seen otherwise.
    pub handle: Arc<dyn FileHandle>,
    /// Whether the contents can be read or written only from front to back, as far as that is known.
    pub is_coded: bool,
    /// Memory that this takes.
    pub memory: CodingMemory,
}

/// The result of a data request: the buffer or the chain in any case, and whether it succeeded.
pub type Done<Held = Buffer> = (Held, io::Result<()>);

/// A data request; its completer gives the buffer back.
pub enum Request {
    /// Fill the buffer's first `bytes`, short only at the end of the file, and set its length.
    Read {
        /// The offset in the file; `None` continues a sequential source.
        offset: Option<u64>,
        /// The number of bytes to read.
        bytes: usize,
        /// The buffer to fill.
        buffer: Buffer,
        /// Receives the result.
        done: Completer<Done>,
    },
    /// Write a range of the buffer, all of it.
    Write {
        /// The offset in the file; `None` appends to a sequential sink.
        offset: Option<u64>,
        /// The bytes of the buffer to write.
        range: Range<usize>,
        /// The buffer to write from.
        buffer: Buffer,
        /// Receives the result.
        done: Completer<Done>,
    },
    /// Fill the whole memory of each buffer, one after the other, short only at the end of the
    /// file, and set their lengths.
    ReadChain {
        /// The offset in the file.
        offset: u64,
        /// The buffers to fill.
        buffers: Vec<Buffer>,
        /// Receives the result.
        done: Completer<Done<Vec<Buffer>>>,
    },
    /// Write the whole memory of each buffer, one after the other.
    WriteChain {
        /// The offset in the file.
        offset: u64,
        /// The buffers to write.
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

/// Bytes that a chain of buffers can hold.
pub fn chain_capacity(buffers: &[Buffer]) -> usize {
    buffers.iter().map(Buffer::capacity).sum()
}

/// Marks the first `len` bytes of a chain's memory as filled.
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
    /// Reserve the space of a range, and extend the file to its end if it is shorter.
    Preallocate(Range<u64>),
    /// Set the file's length in bytes.
    Truncate(u64),
    /// Give the space of a range back; it reads as zeros.
    Release(Range<u64>),
    /// Lock the file for this run; answers 1, or 0 when another run holds the lock.
    Lock,
    /// Count the bytes of the range that are in the page cache.
    Resident(Range<u64>),
    /// Set owner, group and permission bits, as far as the caller may.
    Access(Access),
    /// Tell whether every write goes to the end of the file; answers 1 or 0.
    Appends,
}
