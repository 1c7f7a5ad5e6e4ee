//! Files in memory, behind a model of a disk.
//!
//! A disk serves requests in order of arrival: a fixed time, and a time per KiB ([`device`]); turning
//! platters add seeks and zones ([`platter`]), and need places for the bytes ([`placement`]). A file has
//! bytes, or in a run over counts only a length. As on a real disk, direct I/O must be in whole blocks. The
//! [`journal`] decides what a crash leaves.

mod bus;
mod cache;
mod capacity;
mod content;
mod device;
mod fault;
mod handle;
mod holes;
mod journal;
mod limit;
mod paths;
mod placement;
mod platter;
mod state;
mod timeline;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::backend::FileHandle;
use node::{FileKind, Mutex, Random, Time};

use bus::{Buses, Crossing};
pub use cache::WriteCache;
use content::{Content, Inode};
use device::Disk;
pub use device::{Device, DiskModel, Rates, Traffic, Usage};
pub use fault::Fault;
use fault::FaultPlan;
use handle::Handle;
pub use journal::Durability;
use journal::Journal;
pub use limit::Limit;
use platter::Transfer;
pub use platter::{Platter, Seek};
pub use timeline::{Call, Timeline};

/// The disks of one simulated node. Nodes that share a file system have the same disks.
pub struct MemoryDisks {
    shared: Arc<Shared>,
    /// The number of the node among those: it syncs its own writes alone.
    host: u32,
}

struct Shared {
    timeline: Arc<dyn Timeline>,
    faults: FaultPlan,
    state: Mutex<State>,
}

type Files = BTreeMap<PathBuf, Arc<Inode>>;

/// Receives each write to a file, with its offset, and may change the bytes.
type Spoiler = Box<dyn FnMut(&Path, u64, &mut [u8]) + Send>;

struct State {
    files: Files,
    /// Paths that are directories; files may be anywhere.
    directories: BTreeSet<PathBuf>,
    /// Files that keep their names, as mount points do.
    fixed: BTreeSet<PathBuf>,
    /// The messages to people.
    told: Vec<String>,
    /// Changes that a crash may lose, unless it loses none.
    journal: Option<Journal>,
    /// Number of power failures, which end the requests that began before.
    life: u64,
    spoiler: Option<Spoiler>,
    /// Whether the file system can release a range of a file.
    has_holes: bool,
    created: u64,
    /// Bytes that fit on all disks together.
    capacity: u64,
    /// The most bytes that were ever in use.
    peak: u64,
    /// The root disk and the mounted ones.
    disks: Vec<Disk>,
    buses: Buses,
}

impl MemoryDisks {
    /// Empty disks whose requests take the time of `model`.
    pub fn new(timeline: &Arc<dyn Timeline>, model: DiskModel) -> MemoryDisks {
        let state = State {
            files: Files::new(),
            directories: BTreeSet::new(),
            fixed: BTreeSet::new(),
            told: Vec::new(),
            journal: None,
            life: 0,
            spoiler: None,
            has_holes: true,
            created: 0,
            capacity: u64::MAX,
            peak: 0,
            disks: vec![Disk::new(Path::new("/"), Device::from(model), 0)],
            buses: Buses::default(),
        };
        let shared = Shared {
            timeline: Arc::clone(timeline),
            faults: FaultPlan::default(),
            state: Mutex::new(state),
        };
        MemoryDisks {
            shared: Arc::new(shared),
            host: 0,
        }
    }

    /// These disks, as another node has them.
    pub fn at(&self, host: u32) -> MemoryDisks {
        let shared = Arc::clone(&self.shared);
        MemoryDisks { shared, host }
    }

    /// Creates a regular file.
    pub fn put(&self, path: &Path, bytes: Vec<u8>) {
        self.add(path, FileKind::Regular, Content::new(bytes, 0o644));
    }

    /// Copies a file of other disks with its number, as when a disk is moved to another machine.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn move_here(&self, from: &MemoryDisks, path: &Path) {
        let inode = Arc::new(from.find(path).expect("a file that is there").copy());
        let mut state = self.shared.lock();
        state.created = state.created.max(inode.number);
        if let Some(journal) = &mut state.journal {
            journal.put(path, &inode);
        }
        state.files.insert(path.to_owned(), inode);
    }

    /// Creates a regular file of `length` counted bytes, like the files that counted buffers are
    /// written to.
    pub fn put_counted(&self, path: &Path, length: u64) {
        self.add(path, FileKind::Regular, Content::counted(length, 0o644));
    }

    /// Lets files that are made from now on lie where this one does, as if it were deleted before they are
    /// written. It is still read there.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn give_way(&self, path: &Path) {
        let inode = self.find(path).expect("a file that is there");
        self.shared.lock().disks[inode.disk()].share(inode.number);
    }

    /// Makes files without holes: no range can be released from now on.
    pub fn refuse_holes(&self) {
        self.shared.lock().has_holes = false;
    }

    /// Creates a pipe from which `bytes` can be read, or that takes the bytes that are written to
    /// it.
    pub fn put_pipe(&self, path: &Path, bytes: Vec<u8>) {
        self.add(path, FileKind::Sequential, Content::new(bytes, 0));
    }

    /// Overwrites bytes of a file in place, as another program may at any moment.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn edit(&self, path: &Path, offset: u64, bytes: &[u8]) {
        let inode = self.find(path).expect("a file that is there");
        inode.lock().write(offset, bytes);
    }

    /// Changes the owner of a file to another user.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn give(&self, path: &Path, owner: u32) {
        self.find(path).expect("a file that is there").lock().owner = owner;
    }

    /// The user number of a file's owner.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn owner(&self, path: &Path) -> u32 {
        self.find(path).expect("a file that is there").lock().owner
    }

    /// Mounts a disk at a path: requests for files below it do not wait for other disks.
    pub fn mount(&self, under: &Path, device: impl Into<Device>) {
        let mut state = self.shared.lock();
        let number = state.disks.len() as u64;
        state.disks.push(Disk::new(under, device.into(), number));
        state.directories.insert(under.to_owned());
    }

    /// Adds a bus that disks may share, to mount them at; what passes it passes the bus that it hangs on, too.
    /// Returns its number.
    pub fn add_bus(&self, bus: Rates, on: Option<usize>) -> usize {
        let mut state = self.shared.lock();
        state.buses.add(bus, on)
    }

    /// When bytes that come now have passed a bus, beside those of its disks.
    pub fn pass_bus(&self, bus: usize, bytes: u64) -> Time {
        let clock = self.shared.clock();
        let mut state = self.shared.lock();
        let crossing = Crossing {
            transfer: Transfer::Read,
            bytes,
            begin: clock.now,
        };
        state.buses.pass(bus, crossing, clock)
    }

    /// The use of each disk so far, the root disk first.
    pub fn usage(&self) -> Vec<Usage> {
        self.shared.lock().disks.iter().map(Disk::usage).collect()
    }

    /// Bytes written to the disk of a path.
    pub fn written_bytes(&self, under: &Path) -> u64 {
        let state = self.shared.lock();
        state.disks[state.disk_of(under)].usage().written.bytes
    }

    /// Creates a regular file of `length` counted bytes whose place lies inside of that many bytes from the
    /// outermost track, if these are free.
    pub fn put_counted_behind(&self, outside: u64, path: &Path, length: u64) {
        let before = path.with_extension("before");
        self.put_counted(&before, outside);
        self.put_counted(path, length);
        let mut state = self.shared.lock();
        if let Some(inode) = state.files.remove(&before) {
            state.disks[inode.disk()].release(inode.number, 0..u64::MAX);
        }
    }

    /// The bytes of a file, if it exists and has bytes.
    pub fn get(&self, path: &Path) -> Option<Vec<u8>> {
        let inode = self.shared.lock().files.get(path).cloned()?;
        inode.lock().bytes()
    }

    /// The length of a file in bytes, if it exists.
    pub fn length(&self, path: &Path) -> Option<u64> {
        let inode = self.shared.lock().files.get(path).cloned()?;
        let length = inode.lock().length;
        Some(length)
    }

    /// The paths of all files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.shared.lock().files.keys().cloned().collect()
    }

    /// Makes the `nth` operation of the run fail (the first is 1).
    pub fn fail(&self, nth: u64, fault: Fault) {
        self.shared.faults.fail(nth, fault);
    }

    /// Loses the device under a path: from the `nth` operation of the run on, those there fail.
    pub fn lose(&self, under: &Path, nth: u64, fault: Fault) {
        self.shared.faults.lose(under, nth, fault);
    }

    /// Prepares the next run: no operation fails, and no file is locked, since all processes have
    /// ended.
    pub fn mend(&self) {
        self.shared.faults.mend();
        self.shared
            .lock()
            .files
            .values()
            .for_each(|inode| inode.lock().locked = false);
    }

    /// Sets what a crash may lose of later changes; earlier changes are safe.
    pub fn set_durability(&self, durability: Durability) {
        let mut state = self.shared.lock();
        state.journal = Journal::new(durability, &state.files);
    }

    /// Fails the power: pending requests never end, locks are released, and the seed decides what
    /// is left of the files, within the [`Durability`].
    pub fn crash(&self, seed: u64) {
        let mut state = self.shared.lock();
        state.life += 1;
        state.disks.iter_mut().for_each(Disk::fail);
        state.buses.fail();
        let left = match &mut state.journal {
            Some(journal) => journal.crash(&mut Random::new(seed)),
            None => journal::copy(&state.files),
        };
        left.iter()
            .for_each(|(path, inode)| inode.is_on(state.disk_of(path)));
        state.files = left;
    }

    /// Calls a function with every write, buffer by buffer, with file and offset. It can change the
    /// bytes, as a bad disk would.
    pub fn spoil(&self, spoiler: impl FnMut(&Path, u64, &mut [u8]) + Send + 'static) {
        self.shared.lock().spoiler = Some(Box::new(spoiler));
    }

    /// Number of operations so far: opens, changes, reads, writes, syncs.
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
            host: self.host,
        })
    }
}
