//! The changes that a crash may lose, by the guarantees of file systems or worse.
//!
//! ```text
//! base      the safe state of the disk
//! entries   create a | write a 0 | reserve a | write a 1 | rename a to b | remove c | write b 2
//!                          a was synced here ^           metadata in order, up to a random cut ^
//! ```
//!
//! The guarantees of ext4 and xfs, and the random choices here:
//!
//! - *Metadata* (names, lengths, released ranges, modes) are logged in order, so a crash leaves a
//!   prefix of them. Syncing a file makes its last metadata and all earlier ones durable; syncing a
//!   directory, which is part of [`node::Node::rename`], makes the rename durable. A rename is
//!   atomic: the name leads to the old file or to the new one. The end of the prefix is random.
//! - *Data* reach the disk in any order, at the latest when a sync of their file ends. Each sector
//!   (or block) of each unsynced write survives or not, by itself, so a sector may also have bytes
//!   from before its last write. Unlike with ext4's `data=ordered`, a name may survive without its
//!   data.
//! - *Lengths* that a write adds may survive without the data, which then read as zeros.
//!
//! A request in flight leaves nothing. On a real disk it may leave a part, as a crash one event
//! later does here, when the request has ended but is not synced. A rename and the sync of its
//! directory are one step: a crash between them equals one just before or just after.
//!
//! Not modelled are file systems that reorder metadata (as btrfs may for unrelated files), and
//! disks that lose data long after a sync. Everything written until the next crash is kept in
//! memory, so this is for files of tests.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::{FileKind, Random};

use super::Files;
use super::content::{Change, Content, Inode};

/// Bytes that are written atomically: a sector of a disk, and a block of a file system.
const UNITS: [u64; 2] = [512, 4096];

/// The changes that survive a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// All changes, as when a process is killed and the system lives. Costs no memory.
    #[default]
    Always,
    /// Synced changes, and a random part of the others.
    Synced,
    /// A random part of all changes since this was set, as on a disk that ignores syncs. A useful
    /// test of crashes must fail with it.
    Never,
}

/// A change. Files are identified by their numbers.
#[derive(Debug)]
pub(super) enum Entry {
    Create {
        path: PathBuf,
        file: u64,
        mode: u32,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
        file: u64,
    },
    Remove {
        path: PathBuf,
        file: u64,
    },
    Change {
        file: u64,
        change: Change,
    },
    Write {
        file: u64,
        host: u32,
        offset: u64,
        data: Data,
    },
}

#[derive(Debug)]
pub(super) enum Data {
    Bytes(Vec<u8>),
    Counted(u64),
}

/// The changes since the last safe state.
pub(super) struct Journal {
    ignores_syncs: bool,
    base: Files,
    entries: Vec<Entry>,
    /// The metadata of entries before this one are safe.
    forced: usize,
    /// The writes of a host to a file in entries before this one are safe.
    synced: BTreeMap<(u64, u32), usize>,
}

/// The random choices of a crash.
struct Fate {
    /// The metadata of entries before this one survive.
    cut: usize,
    /// Bytes that survive or not as a whole.
    unit: u64,
    /// How many in four such units survive.
    in_four: usize,
}

/// An independent copy of all files, not locked.
pub(super) fn copy(files: &Files) -> Files {
    files
        .iter()
        .map(|(path, inode)| (path.clone(), Arc::new(inode.copy())))
        .collect()
}

impl Journal {
    /// A journal of changes to these files; `None` if a crash loses nothing.
    pub fn new(durability: Durability, files: &Files) -> Option<Journal> {
        (durability != Durability::Always).then(|| Journal {
            ignores_syncs: durability == Durability::Never,
            base: copy(files),
            entries: Vec::new(),
            forced: 0,
            synced: BTreeMap::new(),
        })
    }

    /// Adds a file that is safe.
    pub fn put(&mut self, path: &Path, inode: &Inode) {
        self.base.insert(path.to_owned(), Arc::new(inode.copy()));
    }

    pub fn note(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Notes that a file is synced by a host. What other hosts have written may still be in their
    /// memory, as on a network file system.
    pub fn sync(&mut self, file: u64, host: u32) {
        if self.ignores_syncs {
            return;
        }
        self.synced.insert((file, host), self.entries.len());
        let concerns = |entry: &Entry| !entry.is_write() && entry.file() == file;
        let last = self.entries.iter().rposition(concerns);
        self.forced = self.forced.max(last.map_or(0, |at| at + 1));
    }

    /// Notes that the directory of the last change is synced.
    pub fn sync_directory(&mut self) {
        if !self.ignores_syncs {
            self.forced = self.entries.len();
        }
    }

    /// Returns the files after a crash, which are then the safe state.
    pub fn crash(&mut self, random: &mut Random) -> Files {
        let entries = std::mem::take(&mut self.entries);
        let fate = Fate::draw(random, self.forced..=entries.len());
        let mut left = copy(&self.base);
        let mut inodes: BTreeMap<u64, Arc<Inode>> = left
            .values()
            .map(|inode| (inode.number, Arc::clone(inode)))
            .collect();
        for (at, entry) in entries.into_iter().enumerate() {
            match entry {
                Entry::Write {
                    file,
                    host,
                    offset,
                    data,
                } => {
                    // A file whose creation is lost has no data.
                    let Some(inode) = inodes.get(&file) else {
                        continue;
                    };
                    let is_synced = self.synced.get(&(file, host)).is_some_and(|&end| at < end);
                    let torn = (!is_synced).then_some((&fate, &mut *random));
                    data.write(&mut inode.lock(), offset, torn);
                }
                metadata if at < fate.cut => metadata.replay(&mut left, &mut inodes),
                _ => {}
            }
        }
        (self.base, self.forced) = (copy(&left), 0);
        self.synced.clear();
        left
    }
}

impl Entry {
    fn is_write(&self) -> bool {
        matches!(self, Entry::Write { .. })
    }

    fn file(&self) -> u64 {
        match self {
            Entry::Create { file, .. }
            | Entry::Rename { file, .. }
            | Entry::Remove { file, .. }
            | Entry::Change { file, .. }
            | Entry::Write { file, .. } => *file,
        }
    }

    /// Repeats a change of metadata.
    fn replay(self, files: &mut Files, inodes: &mut BTreeMap<u64, Arc<Inode>>) {
        match self {
            Entry::Create { path, file, mode } => {
                let content = Content::new(Vec::new(), mode);
                let inode = Arc::new(Inode::new(file, FileKind::Regular, content, 0));
                inodes.insert(file, Arc::clone(&inode));
                files.insert(path, inode);
            }
            Entry::Rename { from, to, .. } => {
                let inode = files.remove(&from).expect("earlier changes are repeated");
                files.insert(to, inode);
            }
            Entry::Remove { path, .. } => drop(files.remove(&path)),
            Entry::Change { file, change } => inodes[&file].lock().change(&change),
            Entry::Write { .. } => unreachable!("a write is no metadata"),
        }
    }
}

impl Data {
    fn len(&self) -> u64 {
        match self {
            Data::Bytes(bytes) => bytes.len() as u64,
            Data::Counted(bytes) => *bytes,
        }
    }

    /// Writes all bytes, or with a torn write the surviving ones.
    fn write(&self, content: &mut Content, offset: u64, torn: Option<(&Fate, &mut Random)>) {
        let end = offset + self.len();
        let Some((fate, random)) = torn else {
            return self.write_part(content, offset, offset..end);
        };
        if end > content.length && random.below(2) == 0 {
            content.resize(end);
        }
        let mut at = offset;
        while at < end {
            let next = (at + 1).next_multiple_of(fate.unit).min(end);
            if random.below(4) < fate.in_four {
                self.write_part(content, offset, at..next);
            }
            at = next;
        }
    }

    fn write_part(&self, content: &mut Content, offset: u64, part: std::ops::Range<u64>) {
        match self {
            Data::Bytes(bytes) => {
                let from = (part.start - offset) as usize..(part.end - offset) as usize;
                content.write(part.start, &bytes[from]);
            }
            Data::Counted(_) => content.count(&part),
        }
    }
}

impl Fate {
    /// Chooses the extremes often, since most real crashes lose nothing or everything unsynced.
    fn draw(random: &mut Random, cuts: RangeInclusive<usize>) -> Fate {
        let (first, last) = cuts.into_inner();
        let cut = match random.below(3) {
            0 => first,
            1 => last,
            _ => first + random.below(last - first + 1),
        };
        Fate {
            cut,
            unit: UNITS[random.below(UNITS.len())],
            in_four: random.below(5),
        }
    }
}
