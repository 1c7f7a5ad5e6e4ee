//! What a crash leaves: durability as file systems have it, or worse.
//!
//! ```text
//! base      what is on the disk for sure
//! entries   create a | write a 0 | reserve a | write a 1 | rename a to b | remove c | write b 2
//!                          a was synced here ^           metadata in order, up to a drawn cut ^
//! ```
//!
//! What ext4 and xfs promise, and what is drawn here:
//!
//! - *Metadata* (names, lengths, released ranges, modes) go to a log in order, so a crash leaves a
//!   prefix of them. The sync of a file makes durable what concerned it last and all before that;
//!   the sync of a directory, which is a part of [`node::Node::rename`], the rename. A rename over
//!   a name is one step: the name leads to the old file or to the new one. Here too; where the
//!   prefix ends is drawn.
//! - *Data* go to the disk in any order, and no sooner than a sync of their file has ended. Here
//!   each sector (or block) of each write that was not synced survives or does not, by itself, so a
//!   sector may also hold what was written there before its last write. Only ext4's `data=ordered`
//!   would write data before the names and lengths that show them; here a name may survive whose
//!   data do not.
//! - *Length* that a write adds may survive without the data, which then read as zeros, or not at
//!   all.
//!
//! A request in flight leaves nothing. On a real disk it may leave a part; such a part is what a
//! crash one event later leaves, when the request has ended and was not synced. A rename and the
//! sync of its directory are one step: a crash between them leaves what one just before or just
//! after leaves.
//!
//! What it refuses: file systems that reorder metadata (btrfs may, of files that have nothing to do
//! with each other), and disks that lose what was synced long ago. It keeps what was written until
//! the next crash, so it is for files of tests.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use node::{FileKind, Random};

use super::Files;
use super::content::{Change, Content, Inode};

/// A sector of a disk, and a block of a file system: what is written as a whole or not at all.
const UNITS: [u64; 2] = [512, 4096];

/// What a crash leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// All that was done, as when a process is killed and the system lives. Costs no memory.
    #[default]
    Always,
    /// What was synced, and any of the rest.
    Synced,
    /// Any of all that was done since this was set: a disk that says it has synced and has not. A
    /// test of crashes that finds nothing wrong with it finds nothing.
    Never,
}

/// Something that was done. Files are named by their numbers.
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
        offset: u64,
        data: Data,
    },
}

/// What was written.
#[derive(Debug)]
pub(super) enum Data {
    Bytes(Vec<u8>),
    Counted(u64),
}

/// What was done since everything was on the disk for sure.
pub(super) struct Journal {
    forgets: bool,
    base: Files,
    entries: Vec<Entry>,
    /// Metadata of entries before this one are on the disk for sure.
    forced: usize,
    /// So are a file's writes of entries before its last sync.
    synced: BTreeMap<u64, usize>,
}

/// How a crash goes.
struct Fate {
    /// Metadata of entries before this one survive.
    cut: usize,
    /// What survives as a whole: bytes.
    unit: u64,
    /// How many in four such units survive.
    in_four: usize,
}

/// The files as they are, locked by nobody; changes of one side do not show on the other.
pub(super) fn copy(files: &Files) -> Files {
    files
        .iter()
        .map(|(path, inode)| (path.clone(), Arc::new(inode.copy())))
        .collect()
}

impl Journal {
    /// One that begins with these files, where a crash may lose something.
    pub fn new(durability: Durability, files: &Files) -> Option<Journal> {
        (durability != Durability::Always).then(|| Journal {
            forgets: durability == Durability::Never,
            base: copy(files),
            entries: Vec::new(),
            forced: 0,
            synced: BTreeMap::new(),
        })
    }

    /// Notes what has always been there.
    pub fn put(&mut self, path: &Path, inode: &Inode) {
        self.base.insert(path.to_owned(), Arc::new(inode.copy()));
    }

    /// Notes what was done.
    pub fn note(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// A file was synced.
    pub fn sync(&mut self, file: u64) {
        if self.forgets {
            return;
        }
        self.synced.insert(file, self.entries.len());
        let concerns = |entry: &Entry| !entry.is_write() && entry.file() == file;
        let last = self.entries.iter().rposition(concerns);
        self.forced = self.forced.max(last.map_or(0, |at| at + 1));
    }

    /// The directory of what was done last was synced.
    pub fn sync_directory(&mut self) {
        if !self.forgets {
            self.forced = self.entries.len();
        }
    }

    /// Draws what is left, which is on the disk for sure from then on.
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
                Entry::Write { file, offset, data } => {
                    // A file whose creation is lost has no data.
                    let Some(inode) = inodes.get(&file) else {
                        continue;
                    };
                    let is_synced = self.synced.get(&file).is_some_and(|&end| at < end);
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

    /// Does once more what was done to metadata.
    fn replay(self, files: &mut Files, inodes: &mut BTreeMap<u64, Arc<Inode>>) {
        match self {
            Entry::Create { path, file, mode } => {
                let content = Mutex::new(Content::new(Vec::new(), mode));
                let inode = Arc::new(Inode {
                    number: file,
                    kind: FileKind::Regular,
                    content,
                });
                inodes.insert(file, Arc::clone(&inode));
                files.insert(path, inode);
            }
            Entry::Rename { from, to, .. } => {
                let inode = files
                    .remove(&from)
                    .expect("what was done before was done again");
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

    /// Writes all of it, or what is left of it when it is torn.
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
    /// Everything and nothing are drawn often: most crashes are one or the other.
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
