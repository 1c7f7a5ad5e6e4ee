//! Files of a node, and errors that say what to do.
//!
//! A data request takes a buffer and returns a ticket; several may be in flight. All other verbs
//! take effect at once, when the world has reached the task's clock.

mod coded;
mod collecting;
mod hiding;
mod paths;

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::CodingMemory;
use crate::backend::{Control, Done, FileHandle, Request};
use crate::opening::{Access, FileKind, Metadata};
use crate::sync::{Ticket, ticket};
use crate::{Buffer, Node};

/// EMFILE, which has no name in the standard library; 24 on every Unix.
const TOO_MANY_OPEN_FILES: i32 = 24;

/// The verb of the error for a file that has its new name in a directory that cannot be synced.
const KEEP_THE_NAME: &str = "make durable the name of";

/// A failed operation on a file: what, where, why, and what to do.
#[derive(Debug)]
pub struct DiskError {
    /// The operation, as a verb for the message: `read`, `write`, `open` ...
    pub verb: &'static str,
    /// The file that it failed on.
    pub path: PathBuf,
    /// The first byte of the request, for reads and writes.
    pub offset: Option<u64>,
    /// The system's error.
    pub cause: io::Error,
}

impl DiskError {
    /// A failure without an offset.
    pub fn new(verb: &'static str, path: &Path, cause: io::Error) -> DiskError {
        DiskError {
            verb,
            path: path.to_owned(),
            offset: None,
            cause,
        }
    }

    fn advice(&self) -> Option<&'static str> {
        use io::ErrorKind::{
            FileTooLarge, IsADirectory, NotADirectory, NotFound, PermissionDenied, QuotaExceeded,
            ReadOnlyFilesystem, StorageFull,
        };
        if self.cause.raw_os_error() == Some(TOO_MANY_OPEN_FILES) {
            return Some("raise the limit on open files (ulimit -n)");
        }
        if self.verb == KEEP_THE_NAME {
            return Some(
                "the file has its new name, but a power failure may undo that; check the disk",
            );
        }
        Some(match self.cause.kind() {
            StorageFull | QuotaExceeded => "free some space there or name another place",
            FileTooLarge => "raise the file size limit (ulimit -f) or name another place",
            NotFound if self.verb == "create" => "make the directory first",
            NotFound => "check the name",
            NotADirectory => "check the path",
            IsADirectory => "name a file",
            PermissionDenied => "change its permissions or name another place",
            ReadOnlyFilesystem => "name a place that can be written",
            _ => return None,
        })
    }
}

impl fmt::Display for DiskError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot {} {}", self.verb, self.path.display())?;
        if let Some(offset) = self.offset {
            write!(out, " at byte {offset}")?;
        }
        write!(out, ": {}", self.cause)?;
        match self.advice() {
            Some(advice) => write!(out, "; {advice}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for DiskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// An open file; clones share it. Several tasks of one node may use it at the same time.
#[derive(Clone)]
pub struct File {
    handle: Arc<dyn FileHandle>,
    path: Arc<Path>,
    metadata: Metadata,
    is_coded: bool,
    coding_memory: CodingMemory,
}

/// A data request in flight, which holds a buffer (or a chain of buffers).
#[must_use = "a dropped request loses its buffer"]
pub struct DiskTicket<Held = Buffer> {
    ticket: Ticket<Done<Held>>,
    verb: &'static str,
    path: Arc<Path>,
    offset: u64,
}

/// A data request in flight, which holds a chain of buffers.
pub type ChainTicket = DiskTicket<Vec<Buffer>>;

impl<Held> DiskTicket<Held> {
    /// Waits for the end of the request: the buffer (of a chain all, in their order), and the
    /// failure if there was one.
    pub async fn wait(self, node: &Node) -> (Held, Result<(), DiskError>) {
        let (held, result) = self.ticket.wait(node).await;
        let failed = |cause: io::Error| {
            // The data of a compressed file. Offsets in its contents lead nowhere.
            let is_damaged = cause.kind() == io::ErrorKind::InvalidData;
            // Bytes that have no view: the cause tells where.
            let is_unseen =
                cause.kind() == io::ErrorKind::InvalidInput && cause.raw_os_error().is_none();
            DiskError {
                verb: if is_damaged { "decompress" } else { self.verb },
                path: self.path.to_path_buf(),
                offset: (!is_damaged && !is_unseen).then_some(self.offset),
                cause,
            }
        };
        (held, result.map_err(failed))
    }

    /// Whether the request has ended.
    pub fn is_done(&self) -> bool {
        self.ticket.is_done()
    }
}

impl File {
    pub(crate) fn new(handle: Arc<dyn FileHandle>, path: &Path) -> io::Result<File> {
        let metadata = handle.metadata()?;
        Ok(File {
            handle,
            path: path.into(),
            metadata,
            is_coded: false,
            coding_memory: CodingMemory::default(),
        })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The metadata at the time of opening.
    pub fn metadata(&self) -> Metadata {
        self.metadata
    }

    /// Whether it can only be read and written front to back.
    pub fn is_sequential(&self) -> bool {
        self.metadata.kind == FileKind::Sequential
    }

    /// Treats the file as sequential, because its length says nothing about its content.
    pub fn front_to_back(mut self) -> File {
        self.metadata.kind = FileKind::Sequential;
        self
    }

    /// Whether requests bypass the page cache: offsets, lengths and addresses must be multiples of
    /// 4,096 bytes then.
    pub fn is_direct(&self) -> bool {
        self.handle.is_direct()
    }

    /// Reads `bytes` bytes from `offset` into `buffer`, fewer only at the end of the file. A
    /// sequential file continues where it is; `offset` then only appears in errors.
    pub fn read(&self, node: &Node, offset: u64, bytes: usize, buffer: Buffer) -> DiskTicket {
        assert!(bytes <= buffer.capacity());
        let (ticket, done) = ticket(node, "disk read");
        let at = (!self.is_sequential()).then_some(offset);
        self.handle.submit(
            node.now(),
            Request::Read {
                offset: at,
                bytes,
                buffer,
                done,
            },
        );
        self.in_flight(ticket, "read", offset)
    }

    /// Writes that range of `buffer` at `offset`, all of it. A sequential file continues where it
    /// is; `offset` then only appears in errors.
    pub fn write(
        &self,
        node: &Node,
        offset: u64,
        buffer: Buffer,
        range: Range<usize>,
    ) -> DiskTicket {
        assert!(range.end <= buffer.capacity());
        let (ticket, done) = ticket(node, "disk write");
        let at = (!self.is_sequential()).then_some(offset);
        self.handle.submit(
            node.now(),
            Request::Write {
                offset: at,
                range,
                buffer,
                done,
            },
        );
        self.in_flight(ticket, "write", offset)
    }

    /// Fills the whole memory of each buffer, one after the other, from `offset` on; at the end of
    /// the file less, as the buffers' lengths then say. It is one request to the disk, so that
    /// small buffers are as fast as large ones.
    ///
    /// # Panics
    /// On a sequential file.
    pub fn read_chain(&self, node: &Node, offset: u64, buffers: Vec<Buffer>) -> ChainTicket {
        self.check_chain();
        let (ticket, done) = ticket(node, "disk read");
        self.handle.submit(
            node.now(),
            Request::ReadChain {
                offset,
                buffers,
                done,
            },
        );
        self.in_flight(ticket, "read", offset)
    }

    /// Writes the whole memory of each buffer, filled or not, one after the other, from `offset`
    /// on. It is one request to the disk.
    ///
    /// # Panics
    /// On a sequential file.
    pub fn write_chain(&self, node: &Node, offset: u64, buffers: Vec<Buffer>) -> ChainTicket {
        self.check_chain();
        let (ticket, done) = ticket(node, "disk write");
        self.handle.submit(
            node.now(),
            Request::WriteChain {
                offset,
                buffers,
                done,
            },
        );
        self.in_flight(ticket, "write", offset)
    }

    fn check_chain(&self) {
        assert!(
            !self.is_sequential(),
            "a chain is for a file that is read and written anywhere"
        );
    }

    fn in_flight<Held>(
        &self,
        ticket: Ticket<Done<Held>>,
        verb: &'static str,
        offset: u64,
    ) -> DiskTicket<Held> {
        DiskTicket {
            ticket,
            verb,
            path: Arc::clone(&self.path),
            offset,
        }
    }

    /// Makes all completed writes durable.
    ///
    /// # Errors
    /// When the disk refuses it.
    pub async fn sync(&self, node: &Node) -> Result<(), DiskError> {
        let (ticket, done) = ticket(node, "disk sync");
        self.handle.submit(node.now(), Request::Sync { done });
        ticket
            .wait(node)
            .await
            .map_err(|cause| self.failed("sync", cause))
    }

    /// Reserves the space of a range, and extends the file to its end if it is shorter. Released
    /// parts of the range take space again.
    ///
    /// # Errors
    /// When the disk refuses it.
    pub async fn preallocate(&self, node: &Node, range: Range<u64>) -> Result<(), DiskError> {
        self.control(node, "reserve space for", Control::Preallocate(range))
            .await
            .map(drop)
    }

    /// Sets the length of the file in bytes.
    ///
    /// # Errors
    /// When the disk refuses it.
    pub async fn truncate(&self, node: &Node, length: u64) -> Result<(), DiskError> {
        self.control(node, "set the length of", Control::Truncate(length))
            .await
            .map(drop)
    }

    /// Gives the space of a range back to the file system; it reads as zeros.
    ///
    /// # Errors
    /// When the disk refuses it.
    pub async fn release(&self, node: &Node, range: Range<u64>) -> Result<(), DiskError> {
        self.control(node, "release space of", Control::Release(range))
            .await
            .map(drop)
    }

    /// Locks the file for this run; false when another run holds the lock. The system unlocks it
    /// when the process ends.
    ///
    /// # Errors
    /// When the disk refuses it.
    pub async fn lock(&self, node: &Node) -> Result<bool, DiskError> {
        Ok(self.control(node, "lock", Control::Lock).await? == 1)
    }

    /// The bytes of the range that are in the page cache.
    ///
    /// # Errors
    /// When the disk refuses it.
    pub async fn resident(&self, node: &Node, range: Range<u64>) -> Result<u64, DiskError> {
        self.control(node, "look at", Control::Resident(range))
            .await
    }

    /// Whether every write goes to the end of the file.
    ///
    /// # Errors
    /// When the system does not say.
    pub async fn appends(&self, node: &Node) -> Result<bool, DiskError> {
        Ok(self.control(node, "look at", Control::Appends).await? == 1)
    }

    /// Sets owner, group and permissions as far as the caller may. If the group cannot be set, its
    /// members get only the rights of others; if the owner cannot be set, it stays the caller.
    ///
    /// # Errors
    /// When the disk refuses it.
    pub async fn set_access(&self, node: &Node, access: Access) -> Result<(), DiskError> {
        self.control(node, "set permissions of", Control::Access(access))
            .await
            .map(drop)
    }

    async fn control(
        &self,
        node: &Node,
        verb: &'static str,
        control: Control,
    ) -> Result<u64, DiskError> {
        node.reach().await;
        self.handle
            .control(control)
            .map_err(|cause| self.failed(verb, cause))
    }

    fn failed(&self, verb: &'static str, cause: io::Error) -> DiskError {
        DiskError::new(verb, &self.path, cause)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "File({})", self.path.display())
    }
}
