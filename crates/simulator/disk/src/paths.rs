//! The paths of a simulated node, and the checks when a file is opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::backend::{Disks, FileHandle, RenameError};
use node::{Access, FileKind, Metadata, NotBelieved, Open, PERMISSION_BITS, Standard};

use super::MemoryDisks;
use super::content::{Content, Inode};
use super::journal::Entry;

/// The user number of programs.
pub(super) const CALLER: u32 = 0;

impl MemoryDisks {
    /// Creates a directory.
    pub fn put_directory(&self, path: &Path) {
        self.shared.lock().directories.insert(path.to_owned());
    }

    /// Lets no file be renamed over this one from now on, as if it were a mount point.
    pub fn fix(&self, path: &Path) {
        self.shared.lock().fixed.insert(path.to_owned());
    }

    /// The messages to people.
    pub fn told(&self) -> Vec<String> {
        self.shared.lock().told.clone()
    }
}

impl Disks for MemoryDisks {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn FileHandle>> {
        self.shared.count(path)?;
        match how {
            Open::Read { direct } | Open::Join { direct } => {
                Ok(self.handle(path, self.find(path)?, direct))
            }
            Open::Regular { direct } | Open::Again { direct } => {
                let inode = self.find(path)?;
                check_regular(&inode)?;
                Ok(self.handle(path, inode, direct))
            }
            Open::Own => {
                let inode = self.find(path)?;
                check_own(&inode)?;
                Ok(self.handle(path, inode, false))
            }
            Open::Append => Ok(self.handle(path, self.find(path)?, false)),
            Open::Create { direct, mode } | Open::Keep { direct, mode } => {
                match self.find(path) {
                    Ok(_) if how.is_create() => return Err(io::ErrorKind::AlreadyExists.into()),
                    Ok(inode) => {
                        check_own(&inode)?;
                        return Ok(self.handle(path, inode, direct));
                    }
                    Err(_) => {}
                }
                let content = Content::new(Vec::new(), mode);
                let inode = self.shared.lock().add(path, FileKind::Regular, content);
                let file = inode.number;
                self.shared.note(|| Entry::Create {
                    path: path.to_owned(),
                    file,
                    mode,
                });
                Ok(self.handle(path, inode, direct))
            }
        }
    }

    fn standard(&self, which: Standard) -> io::Result<Arc<dyn FileHandle>> {
        self.open(Path::new(which.name()), Open::Append)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        if self.shared.lock().directories.contains(path) {
            let (kind, device) = (FileKind::Directory, self.shared.device_of(path));
            return Ok(Metadata {
                kind,
                device,
                identity: 0,
                mode: 0o755,
                length: 0,
                modified_ns: 0,
                changed_ns: 0,
            });
        }
        Ok(Metadata {
            device: self.shared.device_of(path),
            ..self.find(path)?.metadata()
        })
    }

    fn access(&self, path: &Path) -> io::Result<Access> {
        if self.shared.lock().directories.contains(path) {
            return Ok(Access {
                owner: CALLER,
                group: CALLER,
                mode: 0o755,
            });
        }
        let inode = self.find(path)?;
        let content = inode.lock();
        Ok(Access {
            owner: content.owner,
            group: CALLER,
            mode: content.mode & PERMISSION_BITS,
        })
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), RenameError> {
        self.shared.count(from)?;
        let mut state = self.shared.lock();
        if state.fixed.contains(to) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let inode = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        let file = inode.number;
        inode.is_on(state.disk_of(to));
        if let Some(old) = state.files.insert(to.to_owned(), inode) {
            state.disks[old.disk()].release(old.number, 0..u64::MAX);
        }
        if let Some(journal) = &mut state.journal {
            journal.note(Entry::Rename {
                from: from.to_owned(),
                to: to.to_owned(),
                file,
            });
            journal.sync_directory();
        }
        Ok(())
    }

    fn obstacle(&self, path: &Path) -> Option<String> {
        let is_fixed = self.shared.lock().fixed.contains(path);
        is_fixed.then(|| "it is a mount point".to_owned())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let inode = self
            .shared
            .lock()
            .files
            .remove(path)
            .ok_or(io::ErrorKind::NotFound)?;
        let file = inode.number;
        self.shared.release(&inode, 0..u64::MAX);
        self.shared.note(|| Entry::Remove {
            path: path.to_owned(),
            file,
        });
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let state = self.shared.lock();
        let inside = state
            .files
            .keys()
            .filter(|path| path.parent() == Some(directory));
        let names = inside.filter_map(|path| path.file_name());
        Ok(names
            .map(|name| name.to_string_lossy().into_owned())
            .collect())
    }

    fn space(&self, path: &Path) -> io::Result<u64> {
        Ok(self.shared.lock().free(path))
    }

    fn temporary(&self) -> PathBuf {
        PathBuf::from("/tmp")
    }

    fn is_lasting(&self, _: &Path) -> io::Result<bool> {
        Ok(true)
    }

    fn tell(&self, text: &str) {
        self.shared.lock().told.push(text.to_owned());
    }
}

/// Refuses files of other users, as a real node does.
fn check_own(inode: &Inode) -> io::Result<()> {
    check_regular(inode)?;
    match inode.lock().owner {
        CALLER => Ok(()),
        owner => {
            let why = format!("it belongs to user {owner}, not to user {CALLER}");
            Err(NotBelieved::error(why))
        }
    }
}

fn check_regular(inode: &Inode) -> io::Result<()> {
    match inode.kind {
        FileKind::Regular => Ok(()),
        _ => Err(NotBelieved::error("it is not a regular file")),
    }
}
