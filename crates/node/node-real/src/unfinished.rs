//! The unfinished files of a run, each by its directory and its name there.
//!
//! While a run goes on, another program may rename the directory or change the process's own one, and
//! a path no longer leads to the file. The open directory does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatVfs, Statx, StatxAttributes, StatxFlags};
use rustix::fs::{fstat, fstatvfs, openat, renameat, stat, statvfs, statx, unlinkat};
use rustix::io::{Errno, Result};

use crate::disks::directory_of;
use crate::retry::retried;

/// A name in a directory; without a directory the name is a path.
#[derive(Clone)]
pub(crate) struct NameInDirectory {
    directory: Option<Arc<OwnedFd>>,
    name: OsString,
}

#[derive(Default)]
pub(crate) struct Unfinished {
    pub(crate) files: BTreeMap<PathBuf, NameInDirectory>,
    /// By device and number. Files in one directory share its descriptor.
    directories: BTreeMap<(u64, u64), Weak<OwnedFd>>,
}

impl Unfinished {
    /// The place of a path now. A directory that cannot be opened is reached by its path.
    pub(crate) fn place(&mut self, path: &Path) -> NameInDirectory {
        match (self.directory(directory_of(path)), path.file_name()) {
            (Ok(directory), Some(name)) => NameInDirectory {
                directory: Some(directory),
                name: name.to_owned(),
            },
            _ => NameInDirectory::at(path),
        }
    }

    fn directory(&mut self, path: &Path) -> Result<Arc<OwnedFd>> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = Arc::new(NameInDirectory::at(path).open(flags, Mode::empty())?);
        let found = retried(|| fstat(&opened))?;
        let place = (found.st_dev, found.st_ino);
        let shared = self.directories.get(&place).and_then(Weak::upgrade);
        Ok(shared.unwrap_or_else(|| {
            self.directories.insert(place, Arc::downgrade(&opened));
            opened
        }))
    }

    /// The place of a file: where it was made, if the run has made it.
    pub(crate) fn of(&self, path: &Path) -> NameInDirectory {
        let made = self.files.get(path).cloned();
        made.unwrap_or_else(|| NameInDirectory::at(path))
    }
}

impl NameInDirectory {
    pub(crate) fn at(path: &Path) -> NameInDirectory {
        NameInDirectory {
            directory: None,
            name: path.as_os_str().to_owned(),
        }
    }

    fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_ref().map_or(CWD, |open| open.as_fd())
    }

    pub(crate) fn open(&self, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        retried(|| openat(self.directory(), &self.name, flags, mode))
    }

    pub(crate) fn remove(&self) -> Result<()> {
        retried(|| unlinkat(self.directory(), &self.name, AtFlags::empty()))
    }

    pub(crate) fn rename(&self, to: &NameInDirectory) -> Result<()> {
        retried(|| renameat(self.directory(), &self.name, to.directory(), &to.name))
    }

    /// Refuses a directory that only takes names: a new file there could be neither renamed nor
    /// removed.
    pub(crate) fn check_new(&self) -> io::Result<()> {
        let (flags, mask) = (AtFlags::empty(), StatxFlags::empty());
        let found = retried(|| statx(self.directory(), &self.name, flags, mask));
        let keeps_names = |found: Statx| found.stx_attributes.contains(StatxAttributes::APPEND);
        if found.is_ok_and(keeps_names) {
            Err(io::Error::other(
                "no file there can be renamed or removed, since its directory is append-only (chattr +a); \
             name another place",
            ))
        } else {
            Ok(())
        }
    }

    pub(crate) fn space(&self) -> Result<StatVfs> {
        retried(|| match &self.directory {
            Some(directory) => fstatvfs(directory),
            None => statvfs(Path::new(&self.name)),
        })
    }

    /// The place of `to`: beside this one, which was made as `from`, if both are in one directory.
    pub(crate) fn beside(&self, from: &Path, to: &Path) -> NameInDirectory {
        match (&self.directory, to.file_name()) {
            (Some(directory), Some(name)) if directory_of(from) == directory_of(to) => {
                NameInDirectory {
                    directory: Some(Arc::clone(directory)),
                    name: name.to_owned(),
                }
            }
            _ => NameInDirectory::at(to),
        }
    }

    /// The directory; `path` led to it when the file was made.
    pub(crate) fn directory_by(&self, path: &Path) -> NameInDirectory {
        match &self.directory {
            None => NameInDirectory::at(directory_of(path)),
            directory => NameInDirectory {
                directory: directory.clone(),
                name: ".".into(),
            },
        }
    }

    /// Whether `path` leads there no longer.
    pub(crate) fn has_moved(&self, path: &Path) -> bool {
        let Some(Ok(then)) = self.directory.as_ref().map(|open| retried(|| fstat(open))) else {
            return false;
        };
        match retried(|| stat(directory_of(path))) {
            Ok(now) => (now.st_dev, now.st_ino) != (then.st_dev, then.st_ino),
            Err(cause) => cause == Errno::NOENT,
        }
    }
}
