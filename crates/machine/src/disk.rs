//! Files in memory, behind a model of a disk.
//!
//! A disk serves one request at a time, in the order of arrival: a fixed time, and a time for each
//! KiB. A file holds bytes, or in a run over counts a length alone. What direct I/O refuses on a
//! real disk (requests that are not whole blocks) is refused here too.

mod handle;
mod holes;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use node::backend::{Disks, FileHandle, Request, chain_capacity};
use node::{FileKind, Metadata, Open, Standard, Time};

use crate::fault::{Fault, FaultPlan};
use crate::timeline::Timeline;
use handle::Handle;
use holes::Holes;

const KIB: u64 = 1024;

const FS_PER_NS: u64 = 1_000_000;

/// What requests cost, in nanoseconds; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskModel {
    /// Before the first byte of a request.
    pub latency_ns: u64,
    /// For each KiB read.
    pub read_ns_per_kib: u64,
    /// For each KiB written.
    pub write_ns_per_kib: u64,
}

impl DiskModel {
    fn service_ns(&self, request: &Request) -> u64 {
        let (bytes, rate) = match request {
            Request::Read { bytes, .. } => (*bytes, self.read_ns_per_kib),
            Request::Write { range, .. } => (range.len(), self.write_ns_per_kib),
            Request::ReadChain { buffers, .. } => (chain_capacity(buffers), self.read_ns_per_kib),
            Request::WriteChain { buffers, .. } => (chain_capacity(buffers), self.write_ns_per_kib),
            Request::Sync { .. } => (0, 0),
        };
        self.latency_ns + (bytes as u64).div_ceil(KIB) * rate
    }
}

/// The disks of one simulated node.
pub struct MemoryDisks {
    shared: Arc<Shared>,
}

struct Shared {
    timeline: Arc<dyn Timeline>,
    model: DiskModel,
    faults: FaultPlan,
    state: Mutex<State>,
}

struct State {
    files: BTreeMap<PathBuf, Arc<Inode>>,
    created: u64,
    capacity: u64,
    /// The most space that was ever taken.
    peak: u64,
    busy_until: Time,
}

struct Inode {
    number: u64,
    kind: FileKind,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    /// `None` when the file holds counts alone.
    bytes: Option<Vec<u8>>,
    length: u64,
    /// What of the length takes no space.
    holes: Holes,
    mode: u32,
    locked: bool,
    /// How far a sequential source has been read.
    read: u64,
}

impl Content {
    /// Cuts the file, or makes it longer by a hole.
    fn resize(&mut self, length: u64) {
        if let Some(bytes) = &mut self.bytes {
            bytes.resize(length as usize, 0);
        }
        self.holes.fill(length..self.length);
        self.holes.dig(self.length..length);
        self.length = length;
    }

    /// The space it takes.
    fn taken(&self) -> u64 {
        self.length - self.holes.bytes()
    }

    /// The space it takes once this range has its own.
    fn taken_with(&self, range: &Range<u64>) -> u64 {
        let behind = range.end.max(self.length) - range.start.max(self.length);
        self.taken() + behind + self.holes.inside(range)
    }
}

impl MemoryDisks {
    pub(crate) fn new(timeline: &Arc<dyn Timeline>, model: DiskModel) -> MemoryDisks {
        let state = State {
            files: BTreeMap::new(),
            created: 0,
            capacity: u64::MAX,
            peak: 0,
            busy_until: Time(0),
        };
        let shared = Shared {
            timeline: Arc::clone(timeline),
            model,
            faults: FaultPlan::default(),
            state: Mutex::new(state),
        };
        MemoryDisks { shared: Arc::new(shared) }
    }

    /// Puts a regular file there.
    pub fn put(&self, path: &Path, bytes: Vec<u8>) {
        self.add(
            path,
            FileKind::Regular,
            Content {
                length: bytes.len() as u64,
                bytes: Some(bytes),
                mode: 0o644,
                ..Content::default()
            },
        );
    }

    /// Puts a regular file there that holds `length` counted bytes; files that this node creates
    /// by writing counted buffers hold counts too.
    pub fn put_counted(&self, path: &Path, length: u64) {
        self.add(path, FileKind::Regular, Content { length, mode: 0o644, ..Content::default() });
    }

    /// Puts a pipe there that gives `bytes` and then ends, or takes what is written to it.
    pub fn put_pipe(&self, path: &Path, bytes: Vec<u8>) {
        self.add(
            path,
            FileKind::Sequential,
            Content { length: bytes.len() as u64, bytes: Some(bytes), ..Content::default() },
        );
    }

    /// The bytes of a file, if it is there and holds bytes.
    pub fn get(&self, path: &Path) -> Option<Vec<u8>> {
        let inode = self.shared.lock().files.get(path).cloned()?;
        inode.lock().bytes.clone()
    }

    /// The length of a file, if it is there.
    pub fn length(&self, path: &Path) -> Option<u64> {
        let inode = self.shared.lock().files.get(path).cloned()?;
        let length = inode.lock().length;
        Some(length)
    }

    /// All paths.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.shared.lock().files.keys().cloned().collect()
    }

    /// How many bytes fit in all.
    pub fn set_capacity(&self, bytes: u64) {
        self.shared.lock().capacity = bytes;
    }

    /// The most bytes that all files took at any time: written or reserved, and not released.
    pub fn peak_bytes(&self) -> u64 {
        self.shared.lock().peak
    }

    /// Lets the `nth` operation of the run fail (the first is 1).
    pub fn fail(&self, nth: u64, fault: Fault) {
        self.shared.faults.fail(nth, fault);
    }

    /// How many operations there were: opens, changes, reads, writes, syncs.
    pub fn operations(&self) -> u64 {
        self.shared.faults.operations()
    }

    fn add(&self, path: &Path, kind: FileKind, content: Content) -> Arc<Inode> {
        self.shared.lock().add(path, kind, content)
    }

    fn find(&self, path: &Path) -> io::Result<Arc<Inode>> {
        self.shared.lock().files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn handle(&self, inode: Arc<Inode>, direct: bool) -> Arc<dyn FileHandle> {
        Arc::new(Handle { shared: Arc::clone(&self.shared), inode, direct })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) -> io::Result<()> {
        self.faults.next().map_or(Ok(()), |fault| Err(fault.error()))
    }

    /// When a request that arrives now is done.
    fn serve(&self, request: &Request) -> Time {
        let mut state = self.lock();
        let begin = state.busy_until.max(self.timeline.now());
        let ticks = self.model.service_ns(request) * FS_PER_NS / self.timeline.tick_fs();
        state.busy_until = begin.after(ticks);
        state.busy_until
    }

    /// Whether that range of the file may have space of its own.
    fn check_room(&self, inode: &Inode, range: &Range<u64>) -> io::Result<()> {
        let mut state = self.lock();
        let others = state.files.values().filter(|file| file.number != inode.number);
        let others: u64 = others.map(|file| file.lock().taken()).sum();
        let used = others.saturating_add(inode.lock().taken_with(range));
        if used > state.capacity {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.peak = state.peak.max(used);
        Ok(())
    }
}

impl State {
    fn add(&mut self, path: &Path, kind: FileKind, content: Content) -> Arc<Inode> {
        self.created += 1;
        let inode = Arc::new(Inode { number: self.created, kind, content: Mutex::new(content) });
        self.files.insert(path.to_owned(), Arc::clone(&inode));
        self.peak = self.peak.max(self.used());
        inode
    }

    fn used(&self) -> u64 {
        self.files.values().map(|file| file.lock().taken()).sum()
    }
}

impl Inode {
    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn metadata(&self) -> Metadata {
        let content = self.lock();
        Metadata {
            kind: self.kind,
            device: 1,
            identity: self.number,
            mode: content.mode,
            length: content.length,
        }
    }
}

impl Disks for MemoryDisks {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn FileHandle>> {
        self.shared.count()?;
        match how {
            Open::Read { direct } => Ok(self.handle(self.find(path)?, direct)),
            Open::Append => Ok(self.handle(self.find(path)?, false)),
            Open::Create { direct, mode } => {
                if self.find(path).is_ok() {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                let content = Content { bytes: Some(Vec::new()), mode, ..Content::default() };
                Ok(self.handle(self.add(path, FileKind::Regular, content), direct))
            }
        }
    }

    fn standard(&self, which: Standard) -> io::Result<Arc<dyn FileHandle>> {
        self.open(Path::new(which.name()), Open::Append)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        Ok(self.find(path)?.metadata())
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.shared.count()?;
        let mut state = self.shared.lock();
        let inode = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.files.insert(to.to_owned(), inode);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = self.shared.lock().files.remove(path);
        removed.map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let state = self.shared.lock();
        let inside = state.files.keys().filter(|path| path.parent() == Some(directory));
        let names = inside.filter_map(|path| path.file_name());
        Ok(names.map(|name| name.to_string_lossy().into_owned()).collect())
    }

    fn space(&self, _: &Path) -> io::Result<u64> {
        let state = self.shared.lock();
        Ok(state.capacity.saturating_sub(state.used()))
    }
}
