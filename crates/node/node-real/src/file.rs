//! An open file of this machine.

use std::io::{self, IoSlice, IoSliceMut};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use node::backend::{Coded, Control, FileHandle, Request, set_chain_len};
use node::{Buffer, Compress, Decompression, FileKind, Metadata, Time};
use rustix::fs::{FallocateFlags, FileType, FlockOperation, OFlags, Stat};
use rustix::io::Errno;

use crate::access;
use crate::coded;
use crate::encoded;
use crate::io_threads::IoThreads;
use crate::retry::retried;
use crate::sys::residency;
use crate::sys::signals::without_signals;

const BLOCK_BYTES: usize = 4096;

/// A pipe holds this much, if the system allows it: as much as it allows any user. With its usual 64 KiB writer and
/// reader wait for each other sixteen times as often.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// The most slices that the system accepts in one call (IOV_MAX); a longer chain takes more calls.
const MOST_SLICES: usize = 1024;

/// An open file. Data requests run on the I/O threads; all other calls run at once.
pub(crate) struct RealFile {
    open: Arc<OpenFile>,
    threads: Arc<IoThreads>,
}

/// The descriptor of an open file, and how it is read.
pub(crate) struct OpenFile {
    pub(crate) fd: OwnedFd,
    direct: AtomicBool,
    front_to_back: bool,
}

impl RealFile {
    pub(crate) fn new(fd: OwnedFd, direct: bool, threads: Arc<IoThreads>) -> RealFile {
        widen(&fd);
        let open = OpenFile {
            fd,
            direct: AtomicBool::new(direct),
            front_to_back: false,
        };
        RealFile {
            open: Arc::new(open),
            threads,
        }
    }

    /// Treats the file as a stream, without offsets: another process may have read or written
    /// before.
    pub(crate) fn front_to_back(mut self) -> RealFile {
        let open = Arc::get_mut(&mut self.open).expect("the file is not shared yet");
        open.front_to_back = true;
        self
    }
}

pub(crate) fn metadata_of(stat: &Stat) -> Metadata {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::Regular,
        FileType::Directory => FileKind::Directory,
        _ => FileKind::Sequential,
    };
    Metadata {
        kind,
        device: stat.st_dev,
        identity: stat.st_ino,
        mode: stat.st_mode & 0o7777,
        length: stat.st_size as u64,
        modified_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
        changed_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
    }
}

/// A time of a file. It wraps far from now, and times are only compared for being equal.
fn nanoseconds(seconds: i64, rest: impl Into<i128>) -> i64 {
    (i128::from(seconds) * 1_000_000_000 + rest.into()) as i64
}

impl FileHandle for RealFile {
    fn metadata(&self) -> io::Result<Metadata> {
        self.open.metadata()
    }

    fn is_direct(&self) -> bool {
        self.open.is_direct()
    }

    fn submit(&self, _: Time, request: Request) {
        let open = Arc::clone(&self.open);
        self.threads.submit(Box::new(move || open.perform(request)));
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.open.control(control)
    }

    fn header_bytes(&self) -> usize {
        coded::HEADER_BYTES
    }

    fn decompressed(
        &self,
        begin: Option<(&[u8], u64)>,
        reading: Decompression,
    ) -> io::Result<Option<Coded>> {
        coded::decompressed(&self.open, &self.threads, begin, reading)
    }

    fn compressed(&self, how: Compress) -> io::Result<Coded> {
        encoded::compressed(&self.open, &self.threads, how)
    }
}

impl OpenFile {
    pub(crate) fn is_direct(&self) -> bool {
        self.direct.load(Ordering::Relaxed)
    }

    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        let mut metadata = metadata_of(&retried(|| rustix::fs::fstat(&self.fd))?);
        if self.front_to_back && metadata.kind == FileKind::Regular {
            metadata.kind = FileKind::Sequential;
        }
        Ok(metadata)
    }

    pub(crate) fn control(&self, control: Control) -> io::Result<u64> {
        let fd = &self.fd;
        match control {
            Control::Preallocate(range) => preallocate(fd, range)?,
            Control::Truncate(length) => {
                retried(|| without_signals(|| rustix::fs::ftruncate(fd, length)))?;
            }
            Control::Release(range) => release(fd, range)?,
            Control::Lock => return lock(fd),
            Control::Resident(range) => return Ok(residency::resident_bytes(fd, range)),
            Control::Access(access) => access::set(fd, access)?,
            Control::Appends => {
                let flags = rustix::fs::fcntl_getfl(fd)?;
                return Ok(flags.contains(OFlags::APPEND).into());
            }
        }
        Ok(0)
    }

    fn perform(&self, request: Request) {
        match request {
            Request::Read {
                offset,
                bytes,
                mut buffer,
                done,
            } => {
                let into = IoSliceMut::new(&mut buffer.bytes_mut()[..bytes]);
                let result = self.read(offset, &mut [into]);
                let result = result.map(|read| buffer.set_len(read));
                done.complete((buffer, result));
            }
            Request::Write {
                offset,
                range,
                buffer,
                done,
            } => {
                let from = IoSlice::new(&buffer.bytes()[range]);
                let result = self.write(offset, &mut [from]);
                done.complete((buffer, result));
            }
            Request::ReadChain {
                offset,
                mut buffers,
                done,
            } => {
                let result = self.read_chain(offset, &mut buffers);
                done.complete((buffers, result));
            }
            Request::WriteChain {
                offset,
                buffers,
                done,
            } => {
                let slice = |buffer| IoSlice::new(Buffer::bytes(buffer));
                let mut from: Vec<_> = buffers.iter().map(slice).collect();
                let result = self.write(Some(offset), &mut from);
                done.complete((buffers, result));
            }
            Request::Sync { done } => done.complete(sync(&self.fd)),
        }
    }

    fn read_chain(&self, offset: u64, buffers: &mut [Buffer]) -> io::Result<()> {
        let slice = |buffer| IoSliceMut::new(Buffer::bytes_mut(buffer));
        let mut into: Vec<_> = buffers.iter_mut().map(slice).collect();
        let read = self.read(Some(offset), &mut into)?;
        set_chain_len(buffers, read);
        Ok(())
    }

    /// Fills `out`, less only at the end of the file.
    pub(crate) fn read(
        &self,
        offset: Option<u64>,
        mut out: &mut [IoSliceMut<'_>],
    ) -> io::Result<usize> {
        let mut filled = 0;
        IoSliceMut::advance_slices(&mut out, 0); // Drops empty slices: a read of 0 is the end.
        while !out.is_empty() {
            let slices = out.len().min(MOST_SLICES);
            let next = &mut out[..slices];
            let direct = self.direct.load(Ordering::Acquire);
            let at = offset.map(|offset| offset + filled as u64);
            let read = retried(|| match at {
                Some(at) => rustix::io::preadv(&self.fd, next, at),
                None => rustix::io::readv(&self.fd, next),
            });
            match read {
                Ok(0) => break,
                Ok(read) => {
                    filled += read;
                    IoSliceMut::advance_slices(&mut out, read);
                }
                Err(Errno::INVAL) if direct && self.falls_back() => continue,
                Err(error) => return Err(error.into()),
            }
            // A direct read cannot go on from within a block, which is the end of the file, or else a
            // part of what there is.
            if self.is_direct() && !filled.is_multiple_of(BLOCK_BYTES) {
                let end = offset.unwrap_or(0) + filled as u64;
                if end >= self.metadata()?.length || !self.falls_back() {
                    break;
                }
            }
        }
        Ok(filled)
    }

    /// Turns direct I/O off, because some file systems accept the flag and refuse the requests.
    /// Several requests in flight may find that out at the same time; all of them try again.
    pub(crate) fn falls_back(&self) -> bool {
        let Ok(flags) = rustix::fs::fcntl_getfl(&self.fd) else {
            return false;
        };
        let cleared = rustix::fs::fcntl_setfl(&self.fd, flags - OFlags::DIRECT).is_ok();
        if cleared {
            // After the flag is cleared: a request that reads "not direct" must not be refused.
            self.direct.store(false, Ordering::Release);
        }
        cleared
    }

    pub(crate) fn write(
        &self,
        offset: Option<u64>,
        mut bytes: &mut [IoSlice<'_>],
    ) -> io::Result<()> {
        let mut written = 0;
        IoSlice::advance_slices(&mut bytes, 0); // Drops empty slices: a write of 0 is an error.
        while !bytes.is_empty() {
            let next = &bytes[..bytes.len().min(MOST_SLICES)];
            let direct = self.direct.load(Ordering::Acquire);
            let write = || match offset {
                Some(offset) => rustix::io::pwritev(&self.fd, next, offset + written),
                None => rustix::io::writev(&self.fd, next),
            };
            match retried(|| without_signals(write)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(wrote) => {
                    written += wrote as u64;
                    IoSlice::advance_slices(&mut bytes, wrote);
                }
                Err(Errno::INVAL) if direct && self.falls_back() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Reserves space and sets the length, because writes inside the length of a file need no lock of
/// the whole file, so several can be in flight. Where space cannot be reserved, sets only the
/// length.
fn preallocate(fd: &OwnedFd, range: Range<u64>) -> io::Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let length = range.end - range.start;
    let reserve = || rustix::fs::fallocate(fd, FallocateFlags::empty(), range.start, length);
    match retried(|| without_signals(reserve)) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let now = retried(|| rustix::fs::fstat(fd))?.st_size as u64;
            let extend = || rustix::fs::ftruncate(fd, now.max(range.end));
            Ok(retried(|| without_signals(extend))?)
        }
        reserved => Ok(reserved?),
    }
}

fn release(fd: &OwnedFd, range: Range<u64>) -> io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let length = range.end - range.start;
    Ok(retried(|| {
        rustix::fs::fallocate(fd, flags, range.start, length)
    })?)
}

fn lock(fd: &OwnedFd) -> io::Result<u64> {
    match retried(|| rustix::fs::flock(fd, FlockOperation::NonBlockingLockExclusive)) {
        Ok(()) => Ok(1),
        Err(Errno::WOULDBLOCK) => Ok(0),
        Err(Errno::NOSYS | Errno::NOTSUP | Errno::NOLCK) => Err(io::ErrorKind::Unsupported.into()),
        Err(error) => Err(error.into()),
    }
}

/// Lets a pipe hold more. Does nothing to other files.
fn widen(fd: &OwnedFd) {
    #[cfg(target_os = "linux")]
    if rustix::pipe::fcntl_getpipe_size(fd).is_ok_and(|bytes| bytes < PIPE_BYTES) {
        // It may have no right to more.
        let _ = rustix::pipe::fcntl_setpipe_size(fd, PIPE_BYTES);
    }
}

/// Makes writes durable. Does nothing on pipes and some devices, which cannot be synced.
pub(crate) fn sync(fd: &OwnedFd) -> io::Result<()> {
    match retried(|| rustix::fs::fsync(fd)) {
        Err(Errno::INVAL | Errno::ROFS | Errno::NOTSUP) => Ok(()),
        synced => Ok(synced?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A standard stream may be redirected to a regular file and begin anywhere in it.
    #[test]
    fn a_stream_is_sequential_even_on_a_regular_file() {
        let file = || {
            let fd = OwnedFd::from(tempfile::tempfile().unwrap());
            RealFile::new(fd, false, Arc::new(IoThreads::new()))
        };
        let kind = |file: RealFile| file.metadata().unwrap().kind;
        assert_eq!(kind(file()), FileKind::Regular);
        assert_eq!(kind(file().front_to_back()), FileKind::Sequential);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_holds_more_once_it_is_opened() {
        use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
        let size = |held: usize| {
            let (reader, _writer) = std::io::pipe().unwrap();
            fcntl_setpipe_size(&reader, held).unwrap();
            let file = RealFile::new(reader.into(), false, Arc::new(IoThreads::new()));
            fcntl_getpipe_size(&file.open.fd).unwrap()
        };
        let most = std::fs::read_to_string("/proc/sys/fs/pipe-max-size").unwrap();
        let most: usize = most.trim().parse().unwrap();
        if most >= PIPE_BYTES {
            assert_eq!(size(4096), PIPE_BYTES);
        }
        assert!(
            size(4096) >= 4096,
            "it is left as it is where it may not grow"
        );
    }

    /// A pipe transfers any number of bytes, so transfers end in the middle of slices.
    #[test]
    fn partial_transfers_continue_where_they_ended() {
        const BYTES: usize = 300_000;
        let open = |fd| OpenFile {
            fd,
            direct: AtomicBool::new(false),
            front_to_back: true,
        };
        let (reader, writer) = io::pipe().unwrap();
        let sent: Vec<u8> = (0..BYTES).map(|at| (at / 7) as u8).collect();
        let mut got = vec![0_u8; BYTES + 5000];
        let read = std::thread::scope(|scope| {
            scope.spawn(|| {
                let writer = open(writer.into());
                for part in sent.chunks(70_001) {
                    let mut slices: Vec<_> = part.chunks(61).map(IoSlice::new).collect();
                    slices.insert(0, IoSlice::new(&[]));
                    writer.write(None, &mut slices).unwrap();
                }
            });
            let mut slices: Vec<_> = got.chunks_mut(97).map(IoSliceMut::new).collect();
            slices.insert(1, IoSliceMut::new(&mut []));
            open(reader.into()).read(None, &mut slices).unwrap()
        });
        assert_eq!(read, BYTES);
        assert!(got[..BYTES] == sent);
    }
}
