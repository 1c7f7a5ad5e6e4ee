//! Disk space: the capacity of all disks together, and of each disk.

use std::io;
use std::ops::Range;
use std::path::Path;

use super::content::Inode;
use super::{MemoryDisks, Shared, State};

impl MemoryDisks {
    /// Sets the bytes that fit on all disks together.
    pub fn set_capacity(&self, bytes: u64) {
        self.shared.lock().capacity = bytes;
    }

    /// Sets the bytes that fit on the disk of a path.
    pub fn set_capacity_of(&self, under: &Path, bytes: u64) {
        let mut state = self.shared.lock();
        let disk = state.disk_of(under);
        state.disks[disk].capacity = bytes;
    }

    /// The most bytes that were in use at any time: written or reserved, and not released.
    pub fn peak_bytes(&self) -> u64 {
        self.shared.lock().peak
    }
}

impl Shared {
    /// Fails if there is no space for a range of a file.
    pub(super) fn check_room(&self, inode: &Inode, range: &Range<u64>) -> io::Result<()> {
        let mut state = self.lock();
        let own = inode.lock().taken_with(range);
        let with = |others: u64| others.saturating_add(own);
        let used = with(state.used_but(inode.number, None));
        let disk = inode.disk();
        let is_full_there = |limit| with(state.used_but(inode.number, Some(disk))) > limit;
        let limit = state.disks[disk].capacity;
        if used > state.capacity || limit < u64::MAX && is_full_there(limit) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.peak = state.peak.max(used);
        Ok(())
    }
}

impl State {
    /// The bytes that all files use.
    pub(super) fn used(&self) -> u64 {
        self.used_but(0, None)
    }

    /// The free bytes for files at a path.
    pub(super) fn free(&self, path: &Path) -> u64 {
        let disk = self.disk_of(path);
        let there = self.disks[disk]
            .capacity
            .saturating_sub(self.used_but(0, Some(disk)));
        there.min(self.capacity.saturating_sub(self.used()))
    }

    /// The bytes that files other than `inode` use, on one disk or on all. No file has number 0.
    fn used_but(&self, inode: u64, disk: Option<usize>) -> u64 {
        let files = self.files.values().filter(|file| file.number != inode);
        let there = files.filter(|file| disk.is_none_or(|disk| file.disk() == disk));
        there.map(|file| file.lock().taken()).sum()
    }
}
