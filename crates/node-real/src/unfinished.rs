//! The unfinished files of a run, each by its directory and its name there.
//!
//! While a run goes on, another program may rename the directory or change the process's own one, and
//! a path no longer leads to the file. The open directory does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::disks::directory_of;
use crate::retry::retried;

/// A directory and a name there; without a directory the name is a path.
#[derive(Clone)]
pub(crate) struct Place {
    directory: Option<Arc<OwnedFd>>,
    name: OsString,
}

#[derive(Default)]
pub(crate) struct Unfinished {
    files: BTreeMap<PathBuf, Place>,
    /// By device and number. Files in one directory share its descriptor.
    directories: BTreeMap<(u64, u64), Weak<OwnedFd>>,
}

impl Unfinished {
    /// The place of a path now. A directory that cannot be opened is reached by its path.
    pub(crate) fn place(&mut self, path: &Path) -> Place {
        let directory = self.directory(directory_of(path)).ok();
        match (directory, path.file_name()) {
            (Some(directory), Some(name)) => Place {
                directory: Some(directory),
                name: name.to_owned(),
            },
            _ => Place::at(path),
        }
    }

    fn directory(&mut self, path: &Path) -> rustix::io::Result<Arc<OwnedFd>> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = retried(|| rustix::fs::open(path, flags, Mode::empty()))?;
        let found = retried(|| rustix::fs::fstat(&opened))?;
        let place = self.directories.entry((found.st_dev, found.st_ino));
        let place = place.or_default();
        if let Some(held) = place.upgrade() {
            return Ok(held);
        }
        let opened = Arc::new(opened);
        *place = Arc::downgrade(&opened);
        Ok(opened)
    }

    pub(crate) fn add(&mut self, path: &Path, place: Place) {
        self.files.insert(path.to_owned(), place);
    }

    /// The place of a file: where it was made, if the run has made it.
    pub(crate) fn of(&self, path: &Path) -> Place {
        let made = self.files.get(path).cloned();
        made.unwrap_or_else(|| Place::at(path))
    }

    /// Notes that a file has its name, or is gone.
    pub(crate) fn end(&mut self, path: &Path) {
        self.files.remove(path);
    }

    pub(crate) fn remove_all(&self) {
        for place in self.files.values() {
            let _ = place.remove();
        }
    }
}

impl Place {
    fn at(path: &Path) -> Place {
        Place {
            directory: None,
            name: path.as_os_str().to_owned(),
        }
    }

    pub(crate) fn open(&self, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        retried(|| match &self.directory {
            Some(directory) => rustix::fs::openat(directory, &self.name, flags, mode),
            None => rustix::fs::openat(CWD, &self.name, flags, mode),
        })
    }

    pub(crate) fn remove(&self) -> rustix::io::Result<()> {
        retried(|| match &self.directory {
            Some(directory) => rustix::fs::unlinkat(directory, &self.name, AtFlags::empty()),
            None => rustix::fs::unlinkat(CWD, &self.name, AtFlags::empty()),
        })
    }

    /// The place `to` beside it, if `to` was in the same directory when the file was made.
    pub(crate) fn beside(&self, from: &Path, to: &Path) -> Place {
        match (&self.directory, to.file_name()) {
            (Some(directory), Some(name)) if directory_of(from) == directory_of(to) => Place {
                directory: Some(Arc::clone(directory)),
                name: name.to_owned(),
            },
            _ => Place::at(to),
        }
    }

    pub(crate) fn rename(&self, to: &Place) -> rustix::io::Result<()> {
        let (old, new) = (&self.name, &to.name);
        retried(|| match (&self.directory, &to.directory) {
            (Some(from), Some(to)) => rustix::fs::renameat(from, old, to, new),
            (Some(from), None) => rustix::fs::renameat(from, old, CWD, new),
            _ => rustix::fs::renameat(CWD, old, CWD, new),
        })
    }

    /// Opens its directory; `path` led to it when the file was made.
    pub(crate) fn open_directory(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        retried(|| match &self.directory {
            Some(directory) => rustix::fs::openat(directory, ".", flags, Mode::empty()),
            None => rustix::fs::open(directory_of(path), flags, Mode::empty()),
        })
    }

    /// Whether `path` leads there no longer.
    pub(crate) fn has_moved(&self, path: &Path) -> bool {
        let Some(directory) = &self.directory else {
            return false;
        };
        let now = retried(|| rustix::fs::stat(directory_of(path)));
        let then = retried(|| rustix::fs::fstat(directory));
        let place = |found: rustix::fs::Stat| (found.st_dev, found.st_ino);
        match (now, then) {
            (Ok(now), Ok(then)) => place(now) != place(then),
            (now, _) => now.is_err_and(|cause| cause == Errno::NOENT),
        }
    }
}

/// The complaint about a file whose directory was moved.
pub(crate) fn moved() -> io::Error {
    io::Error::other(
        "its directory was renamed or replaced while the file was written; the whole file has that \
         name in the renamed directory",
    )
}
