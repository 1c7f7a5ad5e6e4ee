//! The state that all handles of some disks share.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, MutexGuard};

use node::backend::Request;
use node::{FileKind, Time};

use crate::content::{Content, Inode};
use crate::device::Clock;
use crate::journal::Entry;
use crate::{Shared, State};

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The device number of a path's disk.
    pub(super) fn device_of(&self, path: &Path) -> u64 {
        self.lock().disk_of(path) as u64
    }

    pub(super) fn clock(&self) -> Clock {
        Clock {
            now: self.timeline.now(),
            tick_fs: self.timeline.tick_fs(),
        }
    }

    /// Counts an operation, which may be one that fails.
    pub(super) fn count(&self, path: &Path) -> io::Result<()> {
        let fault = self.faults.next(path);
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }

    pub(super) fn sync(&self, inode: &Inode, host: u32) {
        if let Some(journal) = &mut self.lock().journal {
            journal.sync(inode.number, host);
        }
    }

    pub(super) fn note(&self, entry: impl FnOnce() -> Entry) {
        if let Some(journal) = &mut self.lock().journal {
            journal.note(entry());
        }
    }

    /// The end of a request that arrives now.
    pub(super) fn serve(&self, inode: &Inode, request: &Request) -> Time {
        let clock = self.clock();
        let mut state = self.lock();
        let State { disks, buses, .. } = &mut *state;
        disks[inode.disk()].serve(buses, inode.number, request, clock)
    }

    /// Whether the disk of a file serves requests of one moment in their order: no system sends a head back
    /// and forth over requests that lie behind each other.
    pub(super) fn keeps_order(&self, inode: &Inode) -> bool {
        self.lock().disks[inode.disk()].turns()
    }

    /// Gives the places of a range of a file back to its disk.
    pub(super) fn release(&self, inode: &Inode, range: Range<u64>) {
        self.lock().disks[inode.disk()].release(inode.number, range);
    }

    /// Gives a range of a file a place on its disk.
    pub(super) fn place(&self, inode: &Inode, range: Range<u64>) {
        self.lock().disks[inode.disk()].place(inode.number, range);
    }
}

impl State {
    /// The disk of a path: the last one that was mounted above it.
    pub(super) fn disk_of(&self, path: &Path) -> usize {
        self.disks
            .iter()
            .rposition(|disk| path.starts_with(disk.under()))
            .unwrap_or(0)
    }

    pub(super) fn add(&mut self, path: &Path, kind: FileKind, content: Content) -> Arc<Inode> {
        self.created += 1;
        let (disk, length) = (self.disk_of(path), content.length);
        let inode = Arc::new(Inode::new(self.created, kind, content, disk));
        self.disks[disk].place(inode.number, 0..length);
        self.files.insert(path.to_owned(), Arc::clone(&inode));
        self.peak = self.peak.max(self.used());
        inode
    }
}
