//! Files in memory, behind a model of a disk.
//!
//! A disk serves one request at a time, in the order of arrival: a fixed time, and a time for each
//! KiB. A file holds bytes, or in a run over counts a length alone. What direct I/O refuses on a
//! real disk (requests that are not whole blocks) is refused here too. What a crash leaves is the
//! [`journal`]'s to say.

mod content;
mod fault;
mod handle;
mod holes;
mod journal;
mod paths;
mod room;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use node::backend::{FileHandle, Request, chain_capacity};
use node::{FileKind, Random, Time};

use crate::schedule::Timeline;
use content::{Content, Inode};
pub use fault::Fault;
use fault::FaultPlan;
use handle::Handle;
pub use journal::Durability;
use journal::{Entry, Journal};

const KIB: u64 = 1024;

const FS_PER_NS: u64 = 1_000_000;

/// The cost of requests in nanoseconds; nothing by default.
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
    faults: FaultPlan,
    state: Mutex<State>,
}

type Files = BTreeMap<PathBuf, Arc<Inode>>;

/// Sees what is written to a file and where, and may change it.
type Spoiler = Box<dyn FnMut(&Path, u64, &mut [u8]) + Send>;

struct State {
    files: Files,
    /// Directories that are reported as such; files may lie in any directory.
    directories: BTreeSet<PathBuf>,
    /// Where a crash may lose something, what changed since that is on the disk for sure.
    journal: Option<Journal>,
    /// How often the power has failed: what was begun before does not end.
    life: u64,
    spoiler: Option<Spoiler>,
    /// Whether a range of a file can be given back, as not every file system can.
    has_holes: bool,
    created: u64,
    /// Bytes that fit on all disks together.
    capacity: u64,
    /// The most space that was ever taken.
    peak: u64,
    /// The one that everything is on, and those that are mounted.
    disks: Vec<Disk>,
}

/// A disk, which serves one request at a time.
struct Disk {
    under: PathBuf,
    model: DiskModel,
    busy_until: Time,
    written: u64,
    /// Bytes that fit on it.
    capacity: u64,
}

impl Disk {
    fn new(under: &Path, model: DiskModel) -> Disk {
        let (busy_until, capacity) = (Time(0), u64::MAX);
        Disk {
            under: under.to_owned(),
            model,
            busy_until,
            written: 0,
            capacity,
        }
    }
}

impl MemoryDisks {
    pub(crate) fn new(timeline: &Arc<dyn Timeline>, model: DiskModel) -> MemoryDisks {
        let state = State {
            files: Files::new(),
            directories: BTreeSet::new(),
            journal: None,
            life: 0,
            spoiler: None,
            has_holes: true,
            created: 0,
            capacity: u64::MAX,
            peak: 0,
            disks: vec![Disk::new(Path::new("/"), model)],
        };
        let shared = Shared {
            timeline: Arc::clone(timeline),
            faults: FaultPlan::default(),
            state: Mutex::new(state),
        };
        MemoryDisks {
            shared: Arc::new(shared),
        }
    }

    /// Puts a regular file there.
    pub fn put(&self, path: &Path, bytes: Vec<u8>) {
        self.add(path, FileKind::Regular, Content::new(bytes, 0o644));
    }

    /// Takes over a file of other disks, as when a disk is moved to another machine: the same file,
    /// by its number, too.
    ///
    /// # Panics
    /// When there is no such file.
    pub fn move_here(&self, from: &MemoryDisks, path: &Path) {
        let inode = Arc::new(from.find(path).expect("a file that is there").copy());
        let mut state = self.shared.lock();
        state.created = state.created.max(inode.number);
        if let Some(journal) = &mut state.journal {
            journal.put(path, &inode);
        }
        state.files.insert(path.to_owned(), inode);
    }

    /// Puts a regular file there that holds `length` counted bytes; files that this node creates
    /// by writing counted buffers hold counts too.
    pub fn put_counted(&self, path: &Path, length: u64) {
        self.add(path, FileKind::Regular, Content::counted(length, 0o644));
    }

    /// From now on no range of a file can be given back, as on file systems without holes.
    pub fn refuse_holes(&self) {
        self.shared.lock().has_holes = false;
    }

    /// Puts a pipe there that gives `bytes` and then ends, or takes what is written to it.
    pub fn put_pipe(&self, path: &Path, bytes: Vec<u8>) {
        self.add(path, FileKind::Sequential, Content::new(bytes, 0));
    }

    /// Gives the file away: from now on it belongs to another user.
    ///
    /// # Panics
    /// When there is no such file.
    pub fn give(&self, path: &Path, owner: u32) {
        self.find(path).expect("a file that is there").lock().owner = owner;
    }

    /// The user that a file belongs to.
    ///
    /// # Panics
    /// When there is no such file.
    pub fn owner(&self, path: &Path) -> u32 {
        self.find(path).expect("a file that is there").lock().owner
    }

    /// Mounts another disk there: files below it are served beside all others, by this model.
    pub fn mount(&self, under: &Path, model: DiskModel) {
        let mut state = self.shared.lock();
        state.disks.push(Disk::new(under, model));
        state.directories.insert(under.to_owned());
    }

    /// How many bytes were written to the disk that is mounted there.
    pub fn written_bytes(&self, under: &Path) -> u64 {
        let state = self.shared.lock();
        state.disks[state.disk_of(under)].written
    }

    /// Makes a path a directory.
    pub fn put_directory(&self, path: &Path) {
        self.shared.lock().directories.insert(path.to_owned());
    }

    /// The bytes of a file, if it exists and holds bytes.
    pub fn get(&self, path: &Path) -> Option<Vec<u8>> {
        let inode = self.shared.lock().files.get(path).cloned()?;
        inode.lock().bytes()
    }

    /// The length of a file, if it exists.
    pub fn length(&self, path: &Path) -> Option<u64> {
        let inode = self.shared.lock().files.get(path).cloned()?;
        let length = inode.lock().length;
        Some(length)
    }

    /// All paths.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.shared.lock().files.keys().cloned().collect()
    }

    /// Lets the `nth` operation of the run fail (the first is 1).
    pub fn fail(&self, nth: u64, fault: Fault) {
        self.shared.faults.fail(nth, fault);
    }

    /// Prepares the next run: no operation fails any more, and no file is locked, since all
    /// processes have ended.
    pub fn mend(&self) {
        self.shared.faults.mend();
        self.shared
            .lock()
            .files
            .values()
            .for_each(|inode| inode.lock().locked = false);
    }

    /// Sets what a crash leaves of changes from now on; older changes are safe.
    pub fn set_durability(&self, durability: Durability) {
        let mut state = self.shared.lock();
        state.journal = Journal::new(durability, &state.files);
    }

    /// The power fails: no request ends that has not ended, locks are gone, and files are what the
    /// seed draws from all that the [`Durability`] allows.
    pub fn crash(&self, seed: u64) {
        let mut state = self.shared.lock();
        state.life += 1;
        state
            .disks
            .iter_mut()
            .for_each(|disk| disk.busy_until = Time(0));
        let left = match &mut state.journal {
            Some(journal) => journal.crash(&mut Random::new(seed)),
            None => journal::copy(&state.files),
        };
        state.files = left;
    }

    /// Shows every write to this function, each buffer with its file and offset, before it is on
    /// the disk: what the function changes there, the disk has not kept.
    pub fn spoil(&self, spoiler: impl FnMut(&Path, u64, &mut [u8]) + Send + 'static) {
        self.shared.lock().spoiler = Some(Box::new(spoiler));
    }

    /// How many operations there were: opens, changes, reads, writes, syncs.
    pub fn operations(&self) -> u64 {
        self.shared.faults.operations()
    }

    fn add(&self, path: &Path, kind: FileKind, content: Content) {
        let mut state = self.shared.lock();
        let inode = state.add(path, kind, content);
        if let Some(journal) = &mut state.journal {
            journal.put(path, &inode);
        }
    }

    fn find(&self, path: &Path) -> io::Result<Arc<Inode>> {
        self.shared
            .lock()
            .files
            .get(path)
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn handle(&self, path: &Path, inode: Arc<Inode>, direct: bool) -> Arc<dyn FileHandle> {
        let shared = Arc::clone(&self.shared);
        let life = shared.lock().life;
        Arc::new(Handle {
            shared,
            path: path.into(),
            inode,
            direct,
            life,
        })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number by which people know the disk of a path.
    fn device_of(&self, path: &Path) -> u64 {
        1 + self.lock().disk_of(path) as u64
    }

    fn count(&self) -> io::Result<()> {
        self.faults
            .next()
            .map_or(Ok(()), |fault| Err(fault.error()))
    }

    fn sync(&self, inode: &Inode) {
        if let Some(journal) = &mut self.lock().journal {
            journal.sync(inode.number);
        }
    }

    fn note(&self, entry: impl FnOnce() -> Entry) {
        if let Some(journal) = &mut self.lock().journal {
            journal.note(entry());
        }
    }

    /// When a request for that file that arrives now is done.
    fn serve(&self, path: &Path, request: &Request) -> Time {
        let mut state = self.lock();
        let disk = state.disk_of(path);
        let disk = &mut state.disks[disk];
        let begin = disk.busy_until.max(self.timeline.now());
        let ticks = disk.model.service_ns(request) * FS_PER_NS / self.timeline.tick_fs();
        disk.written += written_by(request);
        disk.busy_until = begin.after(ticks);
        disk.busy_until
    }
}

/// The bytes that a request writes.
fn written_by(request: &Request) -> u64 {
    match request {
        Request::Write { range, .. } => range.len() as u64,
        Request::WriteChain { buffers, .. } => chain_capacity(buffers) as u64,
        _ => 0,
    }
}

impl State {
    /// The disk that a path is on: of those above it, the one mounted last.
    fn disk_of(&self, path: &Path) -> usize {
        self.disks
            .iter()
            .rposition(|disk| path.starts_with(&disk.under))
            .unwrap_or(0)
    }

    fn add(&mut self, path: &Path, kind: FileKind, content: Content) -> Arc<Inode> {
        self.created += 1;
        let inode = Arc::new(Inode {
            number: self.created,
            kind,
            content: Mutex::new(content),
        });
        self.files.insert(path.to_owned(), Arc::clone(&inode));
        self.peak = self.peak.max(self.used());
        inode
    }
}
