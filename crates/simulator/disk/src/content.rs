//! The content of a file, and how it changes.

use std::ops::Range;
use std::sync::MutexGuard;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use node::{Access, FileKind, Metadata, Mutex, PERMISSION_BITS};

use super::holes::Holes;

pub(super) const BLOCK_BYTES: u64 = 4096;

/// A file without its name.
pub(super) struct Inode {
    pub number: u64,
    pub kind: FileKind,
    pub content: Mutex<Content>,
    /// The number of its disk.
    disk: AtomicUsize,
}

#[derive(Clone, Default)]
pub(super) struct Content {
    /// The bytes up to the last written one; zeros follow. `None` for a file of counts.
    bytes: Option<Vec<u8>>,
    pub length: u64,
    /// The ranges that use no space.
    pub holes: Holes,
    pub mode: u32,
    /// User number of the owner.
    pub owner: u32,
    pub locked: bool,
    /// Bytes that were read from a sequential source.
    pub has_read: u64,
    /// Changes of the content, which stand for the time of its last one.
    modified: i64,
    /// Changes of content, owner and rights.
    changed: i64,
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Gives a range space, and the file at least this length.
    Reserve(Range<u64>),
    /// Sets the length.
    Resize(u64),
    /// Zeros a range, which then uses no space.
    Release(Range<u64>),
    /// Sets owner and permission bits.
    Access(Access),
}

impl Inode {
    pub fn new(number: u64, kind: FileKind, content: Content, disk: usize) -> Inode {
        Inode {
            number,
            kind,
            content: Mutex::new(content),
            disk: AtomicUsize::new(disk),
        }
    }

    pub fn disk(&self) -> usize {
        self.disk.load(Relaxed)
    }

    /// Says that it has another name, on this disk.
    pub fn is_on(&self, disk: usize) {
        self.disk.store(disk, Relaxed);
    }

    pub fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock()
    }

    pub fn metadata(&self) -> Metadata {
        let content = self.lock();
        Metadata {
            kind: self.kind,
            device: 1,
            identity: self.number,
            mode: content.mode,
            length: content.length,
            modified_ns: content.modified,
            changed_ns: content.changed,
        }
    }

    /// A copy of the file, not locked.
    pub fn copy(&self) -> Inode {
        let content = Content {
            locked: false,
            ..self.lock().clone()
        };
        Inode::new(self.number, self.kind, content, self.disk())
    }
}

impl Content {
    pub fn new(bytes: Vec<u8>, mode: u32) -> Content {
        Content {
            length: bytes.len() as u64,
            bytes: Some(bytes),
            mode,
            ..Content::default()
        }
    }

    /// A file of counts.
    pub fn counted(length: u64, mode: u32) -> Content {
        Content {
            length,
            mode,
            ..Content::default()
        }
    }

    /// All bytes; `None` for a file of counts.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        self.bytes.as_ref()?;
        let mut all = vec![0; self.length as usize];
        self.read(0, &mut all);
        Some(all)
    }

    /// Fills `out` from `offset` on, which must be in the file. With counts it does nothing.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        let Some(bytes) = &self.bytes else { return };
        let there = bytes.get(offset as usize..).unwrap_or_default();
        let (written, zeros) = out.split_at_mut(there.len().min(out.len()));
        written.copy_from_slice(&there[..written.len()]);
        zeros.fill(0);
    }

    pub fn change(&mut self, change: &Change) {
        let keeps_content = match change {
            Change::Access(_) => true,
            Change::Resize(length) => *length == self.length,
            Change::Reserve(_) | Change::Release(_) => false,
        };
        self.changed += 1;
        self.modified += i64::from(!keeps_content);
        match change {
            Change::Reserve(range) => {
                self.resize(self.length.max(range.end));
                self.holes.fill(range.clone());
            }
            Change::Resize(length) => self.resize(*length),
            Change::Release(range) => self.release(range),
            Change::Access(access) => {
                (self.owner, self.mode) = (access.owner, access.mode & PERMISSION_BITS);
            }
        }
    }

    /// Writes bytes, beyond the end if necessary.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let range = offset..offset + bytes.len() as u64;
        self.cover(&range);
        if let Some(all) = &mut self.bytes {
            all.resize(all.len().max(range.end as usize), 0);
            all[range.start as usize..range.end as usize].copy_from_slice(bytes);
        }
    }

    /// Writes counted bytes; the file has only counts from then on.
    pub fn count(&mut self, range: &Range<u64>) {
        self.bytes = None;
        self.cover(range);
    }

    /// The bytes that it uses on the disk.
    pub fn taken(&self) -> u64 {
        self.length - self.holes.bytes()
    }

    /// The bytes that it will use when this range has space.
    pub fn taken_with(&self, range: &Range<u64>) -> u64 {
        let behind = range.end.max(self.length) - range.start.max(self.length);
        self.taken() + behind + self.holes.inside(range)
    }

    fn cover(&mut self, range: &Range<u64>) {
        self.changed += 1;
        self.modified += 1;
        self.resize(range.end.max(self.length));
        self.holes.fill(range.clone());
    }

    /// Truncates the file, or extends it by a hole.
    pub fn resize(&mut self, length: u64) {
        if let Some(bytes) = &mut self.bytes {
            bytes.truncate(length as usize);
        }
        self.holes.fill(length..self.length);
        self.holes.dig(self.length..length);
        self.length = length;
    }

    /// Zeros a range, and releases its whole blocks; the last block of a file may be shorter.
    fn release(&mut self, range: &Range<u64>) {
        if let Some(bytes) = &mut self.bytes {
            let end = bytes.len().min(range.end as usize);
            bytes[end.min(range.start as usize)..end].fill(0);
        }
        let blocks_end = range.end - range.end % BLOCK_BYTES;
        self.holes
            .dig(range.start.next_multiple_of(BLOCK_BYTES)..blocks_end.min(self.length));
    }
}
