//! Paths of this machine, and the record of the run's unfinished files.

use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use node::backend::{Disks, FileHandle, RenameError};
use node::{Access, FileKind, Metadata, Mutex, Open, Standard};
use rustix::fs::{Mode, OFlags};

use crate::access;
use crate::descriptor::open_descriptor;
use crate::facts::spare_descriptors;
use crate::file::{self, RealFile, metadata_of};
use crate::io_threads::IoThreads;
use crate::names;
use crate::retry::{retried, retried_std};
use crate::unfinished::{NameInDirectory, Unfinished};

/// The kinds of file systems that are in memory (linux/magic.h): tmpfs and ramfs.
const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6];

/// The files of this machine.
///
/// A file that the run creates or joins is unfinished until it is renamed or removed. On a signal,
/// [`RealDisks::remove_unfinished`] removes these files.
pub struct RealDisks {
    threads: Arc<IoThreads>,
    unfinished: Mutex<Unfinished>,
    /// In the place of those of the process. They stay until the run ends, however often it opens them.
    streams: Mutex<Streams>,
}

/// Standard input and output in memory.
#[derive(Default)]
pub(crate) struct Streams {
    pub(crate) input: Option<Arc<dyn FileHandle>>,
    pub(crate) output: Option<Arc<dyn FileHandle>>,
}

impl RealDisks {
    pub(crate) fn new() -> RealDisks {
        RealDisks {
            threads: Arc::new(IoThreads::new()),
            unfinished: Mutex::default(),
            streams: Mutex::default(),
        }
    }

    pub(crate) fn set_streams(&self, streams: Streams) {
        *self.streams.lock() = streams;
    }

    /// Removes every file that the run has created or joined and neither renamed nor removed. From
    /// then on, a task that creates, renames or removes a file blocks: the process is about to end.
    pub fn remove_unfinished(&self) {
        let unfinished = self.unfinished.lock();
        for place in unfinished.files.values() {
            let _ = place.remove();
        }
        std::mem::forget(unfinished);
    }

    fn join(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut unfinished = self.unfinished.lock();
        let place = unfinished.place(path);
        let fd = access::open_unlinked(path, OFlags::RDWR, Mode::empty())?;
        unfinished.files.insert(path.to_owned(), place);
        Ok(fd)
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<OwnedFd> {
        let mut unfinished = self.unfinished.lock();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let place = unfinished.place(path);
        place.directory_by(path).check_new()?;
        let fd = place.open(flags, Mode::from_raw_mode(mode))?;
        unfinished.files.insert(path.to_owned(), place);
        Ok(fd)
    }
}

impl Disks for RealDisks {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn FileHandle>> {
        let existing = |flags| open(path, flags | OFlags::CLOEXEC, Mode::empty());
        let (fd, direct) = match how {
            Open::Read { direct } => (existing(OFlags::RDONLY)?, direct),
            Open::Append => match open_descriptor(path)? {
                Some(fd) => (fd, false),
                None => (existing(OFlags::WRONLY)?, false),
            },
            Open::Join { direct } => (self.join(path)?, direct),
            Open::Create { direct, mode } => (self.create(path, mode)?, direct),
            Open::Regular { direct } => (access::open_regular(path)?, direct),
            Open::Own => (access::open_own(path, OFlags::RDONLY)?, false),
            Open::Again { direct } => (access::open_again(path)?, direct),
            Open::Keep { direct, mode } => {
                let flags = OFlags::RDWR | OFlags::CREATE;
                let fd = access::open_unlinked(path, flags, Mode::from_raw_mode(mode))?;
                access::check_own(&fd)?;
                (fd, direct)
            }
        };
        let direct = direct && bypass_page_cache(&fd);
        let threads = Arc::clone(&self.threads);
        Ok(Arc::new(RealFile::new(fd, direct, threads)))
    }

    fn standard(&self, which: Standard) -> io::Result<Arc<dyn FileHandle>> {
        let streams = self.streams.lock();
        let stream = match which {
            Standard::Input => streams.input.clone(),
            Standard::Output => streams.output.clone(),
        };
        if let Some(stream) = stream {
            return Ok(stream);
        }
        let fd = match which {
            Standard::Input => retried(|| rustix::io::dup(rustix::stdio::stdin()))?,
            Standard::Output => retried(|| rustix::io::dup(rustix::stdio::stdout()))?,
        };
        let file = RealFile::new(fd, false, Arc::clone(&self.threads));
        Ok(Arc::new(file.front_to_back()))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        Ok(metadata_of(&retried(|| rustix::fs::stat(path))?))
    }

    fn sink(&self, path: &Path) -> io::Result<Metadata> {
        let Some(fd) = open_descriptor(path)? else {
            return self.metadata(path);
        };
        let found = metadata_of(&retried(|| rustix::fs::fstat(&fd))?);
        Ok(Metadata {
            kind: FileKind::Sequential,
            ..found
        })
    }

    fn access(&self, path: &Path) -> io::Result<Access> {
        access::of(path)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        match retried_std(|| fs::canonicalize(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => resolve_new(path),
            resolved => resolved,
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), RenameError> {
        let mut unfinished = self.unfinished.lock();
        let place = unfinished.of(from);
        let named = place.beside(from, to);
        // Opened first, so that a failure leaves both names unchanged.
        let directory = open_directory(&named.directory_by(to))?;
        place.rename(&named).map_err(io::Error::from)?;
        unfinished.files.remove(from);
        drop(unfinished);
        let synced = directory.map_or(Ok(()), |directory| sync_directory(&directory));
        synced.map_err(RenameError::NotDurable)?;
        if named.has_moved(to) {
            return Err(RenameError::Moved);
        }
        Ok(())
    }

    fn obstacle(&self, path: &Path) -> Option<String> {
        names::obstacle(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut unfinished = self.unfinished.lock();
        unfinished.of(path).remove()?;
        unfinished.files.remove(path);
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let name =
            |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        retried_std(|| fs::read_dir(directory)?.map(name).collect())
    }

    fn space(&self, path: &Path) -> io::Result<u64> {
        let place = self.unfinished.lock().of(path);
        let space = place.space()?;
        Ok(space.f_bavail * space.f_frsize)
    }

    fn temporary(&self) -> PathBuf {
        let named = std::env::var_os("TMPDIR").filter(|named| !named.is_empty());
        named.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
    }

    fn is_lasting(&self, path: &Path) -> io::Result<bool> {
        let kind = retried(|| rustix::fs::statfs(path))?.f_type;
        Ok(!IN_MEMORY.contains(&(kind as u32)))
    }

    fn spare(&self) -> usize {
        spare_descriptors()
    }

    fn tell(&self, text: &str) {
        let mut stderr = io::stderr();
        // A bar of progress may be there.
        let clear = ["", "\r\x1b[K"][usize::from(stderr.is_terminal())];
        let text = text.replace(char::is_control, "?");
        let _ = writeln!(stderr, "{clear}gristmill: WARNING {text}");
    }
}

/// Opens a file, again if a signal interrupts the call (on a pipe or a network file system).
fn open(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    Ok(retried(|| rustix::fs::open(path, flags, mode))?)
}

/// Opens a directory that is to be synced. Returns `None` if the caller may write but not read it;
/// then the system decides when its names become durable.
fn open_directory(place: &NameInDirectory) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match place.open(flags, Mode::empty()).map_err(io::Error::from) {
        Err(error) if is_not_supported(&error) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Syncs a directory. Some file systems cannot do that and say so, which is no error.
fn sync_directory(directory: &OwnedFd) -> io::Result<()> {
    match file::sync(directory) {
        Err(error) if is_not_supported(&error) => Ok(()),
        synced => synced,
    }
}

fn is_not_supported(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied
    )
}

/// Switches an open file to direct I/O; false if the file system refuses. A pipe would accept the flag,
/// which means another thing there.
fn bypass_page_cache(fd: &OwnedFd) -> bool {
    let found = retried(|| rustix::fs::fstat(fd));
    let is_regular = found.is_ok_and(|found| metadata_of(&found).kind == FileKind::Regular);
    let (true, Ok(flags)) = (is_regular, rustix::fs::fcntl_getfl(fd)) else {
        return false;
    };
    rustix::fs::fcntl_setfl(fd, flags | OFlags::DIRECT).is_ok()
}

/// Resolves the path of a file that does not exist yet, through dangling links.
fn resolve_new(path: &Path) -> io::Result<PathBuf> {
    if let Ok(target) = retried_std(|| fs::read_link(path)) {
        return resolve_new(&directory_of(path).join(target));
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(retried_std(|| fs::canonicalize(directory_of(path)))?.join(name))
}

pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str() != OsStr::from_bytes(b"") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_in_the_current_directory() {
        for (path, directory) in [("a/b", "a"), ("/a", "/"), ("a", "."), ("./a", ".")] {
            assert_eq!(directory_of(Path::new(path)), Path::new(directory));
        }
    }

    #[test]
    fn a_file_is_direct_if_its_file_system_allows_it() {
        for place in [".".into(), std::env::temp_dir(), "/proc/self".into()] {
            let fd = match tempfile::tempfile_in(&place) {
                Ok(file) => OwnedFd::from(file),
                Err(_) => open(&place.join("maps"), OFlags::RDONLY, Mode::empty()).unwrap(),
            };
            let before = rustix::fs::fcntl_getfl(&fd).unwrap();
            let is_direct = bypass_page_cache(&fd);
            let after = rustix::fs::fcntl_getfl(&fd).unwrap();
            let direct = if is_direct {
                OFlags::DIRECT
            } else {
                OFlags::empty()
            };
            assert_eq!(after, before | direct, "{place:?}");
        }
    }
}
