//! A snapshot of a tree of files, to be compared with another one.
//!
//! It leaves out access times, and the times and link counts of directories, which change when a
//! file in them is replaced.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The longest file of a case, except files that are far too long on purpose, which are not read.
const LOOKED_INTO: u64 = 64 << 20;

/// The facts about one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub kind: Kind,
    pub mode: u32,
    pub owner: (u32, u32),
    /// 0 for directories, and for names that begin with `linked`, whose links the cases change.
    links: u64,
    /// Seconds and nanoseconds; 0 for a directory.
    modified: (i64, i64),
    length: u64,
    /// The checksum of a file's content or of a link's target.
    content: u32,
}

/// The kind of file that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// All names below a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub entries: BTreeMap<PathBuf, Entry>,
}

#[derive(Debug)]
pub(crate) struct Change {
    pub path: PathBuf,
    pub how: &'static str,
}

impl Tree {
    /// Takes a snapshot of these directories and everything below.
    pub(crate) fn of(roots: &[&Path]) -> io::Result<Tree> {
        let mut tree = Tree::default();
        let mut waiting: Vec<PathBuf> = roots.iter().map(|root| root.to_path_buf()).collect();
        while let Some(path) = waiting.pop() {
            let entry = look(&path)?;
            if entry.kind == Kind::Directory {
                for inside in fs::read_dir(&path)? {
                    waiting.push(inside?.path());
                }
            }
            tree.entries.insert(path, entry);
        }
        Ok(tree)
    }

    /// The names that differ from an earlier snapshot.
    pub(crate) fn changes_since(&self, before: &Tree) -> Vec<Change> {
        let mut all = Vec::new();
        for (path, old) in &before.entries {
            if let Some(how) = self
                .entries
                .get(path)
                .map_or(Some("removed"), |new| old.differs(new))
            {
                all.push(Change {
                    path: path.clone(),
                    how,
                });
            }
        }
        let added = self
            .entries
            .keys()
            .filter(|path| !before.entries.contains_key(*path));
        all.extend(added.map(|path| Change {
            path: path.clone(),
            how: "added",
        }));
        all
    }
}

impl Entry {
    fn differs(&self, new: &Entry) -> Option<&'static str> {
        let parts = [
            (self.kind != new.kind, "of another kind"),
            (self.length != new.length, "of another length"),
            (self.content != new.content, "of other content"),
            (self.mode != new.mode, "of another mode"),
            (self.owner != new.owner, "of another owner"),
            (self.links != new.links, "of another link count"),
            (self.modified != new.modified, "written again"),
        ];
        parts
            .into_iter()
            .find_map(|(differs, how)| differs.then_some(how))
    }
}

fn look(path: &Path) -> io::Result<Entry> {
    let seen = fs::symlink_metadata(path)?;
    let kind = kind(&seen);
    let content = match kind {
        Kind::File if seen.len() > LOOKED_INTO => 0,
        Kind::File => kernel::block_crc(&fs::read(path)?),
        Kind::Link => kernel::block_crc(fs::read_link(path)?.as_os_str().as_encoded_bytes()),
        Kind::Directory | Kind::Other => 0,
    };
    let is_directory = kind == Kind::Directory;
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let links = if is_directory || name.starts_with(b"linked") {
        0
    } else {
        seen.nlink()
    };
    Ok(Entry {
        kind,
        mode: seen.mode() & 0o7777,
        owner: (seen.uid(), seen.gid()),
        links,
        modified: if is_directory {
            (0, 0)
        } else {
            (seen.mtime(), seen.mtime_nsec())
        },
        length: if is_directory { 0 } else { seen.len() },
        content,
    })
}

fn kind(seen: &Metadata) -> Kind {
    let kind = seen.file_type();
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Directory
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        debug_assert!(
            kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device()
        );
        Kind::Other
    }
}
