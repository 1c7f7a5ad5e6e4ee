//! Paths of this machine, and the record of what the run has made but not finished.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use node::backend::{Disks, FileHandle, RenameError};
use node::{Access, Metadata, Open, Standard};
use rustix::fs::{Mode, OFlags};
use rustix::io::retry_on_intr;

use crate::access;
use crate::file::{self, RealFile, metadata_of};
use crate::io_threads::IoThreads;

/// The files of this machine.
///
/// A file that the run creates or joins counts as unfinished until it is renamed or removed; on a
/// signal
/// [`RealDisks::remove_unfinished`] takes them away.
pub struct RealDisks {
    threads: Arc<IoThreads>,
    unfinished: Mutex<BTreeSet<PathBuf>>,
}

impl RealDisks {
    pub(crate) fn new() -> RealDisks {
        RealDisks {
            threads: Arc::new(IoThreads::new()),
            unfinished: Mutex::default(),
        }
    }

    /// Removes every file that the run has created or joined and neither renamed nor removed, and
    /// makes none from now on.
    pub fn remove_unfinished(&self) {
        // The lock is kept: no task creates or renames a file any more, and the process ends.
        let unfinished = self.unfinished();
        for path in &*unfinished {
            let _ = fs::remove_file(path);
        }
        std::mem::forget(unfinished);
    }

    fn unfinished(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.unfinished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, fd: OwnedFd, direct: bool) -> Arc<dyn FileHandle> {
        Arc::new(RealFile::new(fd, direct, Arc::clone(&self.threads)))
    }

    fn join(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut unfinished = self.unfinished();
        let fd = access::open_unlinked(path, OFlags::RDWR, Mode::empty())?;
        unfinished.insert(path.to_owned());
        Ok(fd)
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<OwnedFd> {
        let mut unfinished = self.unfinished();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let fd = open(path, flags, Mode::from_raw_mode(mode))?;
        unfinished.insert(path.to_owned());
        Ok(fd)
    }
}

impl Disks for RealDisks {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn FileHandle>> {
        let (fd, direct) = match how {
            Open::Read { direct } => (
                open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?,
                direct,
            ),
            Open::Append => (
                open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?,
                false,
            ),
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
        Ok(self.handle(fd, direct))
    }

    fn standard(&self, which: Standard) -> io::Result<Arc<dyn FileHandle>> {
        let fd = match which {
            Standard::Input => rustix::io::dup(rustix::stdio::stdin())?,
            Standard::Output => rustix::io::dup(rustix::stdio::stdout())?,
        };
        let file = RealFile::new(fd, false, Arc::clone(&self.threads));
        Ok(Arc::new(file.front_to_back()))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        Ok(metadata_of(&rustix::fs::stat(path)?))
    }

    fn access(&self, path: &Path) -> io::Result<Access> {
        access::of(path)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        match fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => resolve_new(path),
            resolved => resolved,
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), RenameError> {
        // Opened first: a failure here leaves both names as they are.
        let directory = open_directory(directory_of(to))?;
        let mut unfinished = self.unfinished();
        fs::rename(from, to)?;
        unfinished.remove(from);
        drop(unfinished);
        let synced = directory.map_or(Ok(()), |directory| sync_directory(&directory));
        synced.map_err(RenameError::NotDurable)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut unfinished = self.unfinished();
        fs::remove_file(path)?;
        unfinished.remove(path);
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(directory)?;
        entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    fn space(&self, path: &Path) -> io::Result<u64> {
        let space = rustix::fs::statvfs(path)?;
        Ok(space.f_bavail * space.f_frsize)
    }
}

/// A signal may end the opening of a pipe or of a file on a network: it is tried again.
fn open(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    Ok(retry_on_intr(|| rustix::fs::open(path, flags, mode))?)
}

/// The directory to sync, or nothing where the caller may write it but not read it: names there are
/// as durable as the system makes them.
fn open_directory(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match open(path, flags, Mode::empty()) {
        Err(error) if is_no_matter(&error) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Some file systems cannot sync directories, and say so.
fn sync_directory(directory: &OwnedFd) -> io::Result<()> {
    match file::sync(directory) {
        Err(error) if is_no_matter(&error) => Ok(()),
        synced => synced,
    }
}

fn is_no_matter(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied
    )
}

/// Asks the open file for direct I/O; false where the file system refuses.
fn bypass_page_cache(fd: &OwnedFd) -> bool {
    let Ok(flags) = rustix::fs::fcntl_getfl(fd) else {
        return false;
    };
    rustix::fs::fcntl_setfl(fd, flags | OFlags::DIRECT).is_ok()
}

/// The resolved place of a file that is to be made: through links that lead to nothing yet.
fn resolve_new(path: &Path) -> io::Result<PathBuf> {
    if let Ok(target) = fs::read_link(path) {
        return resolve_new(&directory_of(path).join(target));
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(fs::canonicalize(directory_of(path))?.join(name))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str() != OsStr::from_bytes(b"") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_lies_in_the_directory_of_the_process() {
        for (path, directory) in [("a/b", "a"), ("/a", "/"), ("a", "."), ("./a", ".")] {
            assert_eq!(directory_of(Path::new(path)), Path::new(directory));
        }
    }

    #[test]
    fn a_file_is_direct_if_its_file_system_says_so() {
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
