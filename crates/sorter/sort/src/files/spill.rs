//! Spill files: the partitions' records on disk between two phases (TritonSort 4.3).
//!
//! ```text
//! file 0   |run of 7|run of 2|run of 7|...|  reserved  |     one file in each temporary directory
//! file 1   |run of 3|run of 7|...
//! ```
//!
//! Each file is a log: every run is appended, whatever its partition, so all
//! writing is sequential. Space that was read again is given back to the file system, unless it is
//! very little. If the file system cannot make holes, a directory has a few files instead, each for
//! a range of keys, and each gives its space back once everything in it has been read. A full
//! directory gets no more runs; the others do. Partitions that are divided again go to new files,
//! the next generation.
//!
//! With stripes, logs of k + 1 directories have a parity, from which those of one come back.
//!
//! With [`SpillLayout::Preallocated`](crate::SpillLayout) each partition has areas of its own, which are
//! reserved: then reads do not seek, and writes do.

mod areas;
mod kept;
mod log;
pub(crate) mod packing;
mod parity;
mod place;
mod rebuilding;
mod space;
mod stripes;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::block_crc;
use node::{Buffer, Close, Closed, DiskError, File, Guarded, Node, Open};
use pipeline::Failure;

use crate::files::sweep::sweep;
use crate::files::temporary::Temporary;
use crate::files::text_file::PRIVATE;
use crate::job::{IoChoice, Pack};
use crate::plan::Striping;
use crate::records::block::{BLOCK_BYTES, Chunk, Stamp};
pub(crate) use kept::{is_kind, kept_paths};
use log::Logs;
use packing::{ChunkPacking, Form};
use parity::Parity;
pub(crate) use place::{BLOCK_BITS, Extent, FILE_BITS, Slot, Stamps, packed_unit};

/// Number of files in a directory that cannot have holes: an eighth of the spilled data takes space
/// longer than necessary, and eight places to write to are still few.
const FILES_WITHOUT_HOLES: usize = 8;

/// The spill files of a run, which are made for the first bytes; clones share them.
#[derive(Clone)]
pub(crate) struct Spill {
    directories: Arc<Vec<PathBuf>>,
    how: Open,
    /// Bytes that will be spilled, estimated.
    expected: u64,
    /// The most bytes on disk at any time.
    pub(crate) limit: Option<u64>,
    /// Bytes of the area of each partition in the first generation, if they have areas.
    area_bytes: Option<u64>,
    striping: Option<Striping>,
    packing: ChunkPacking,
    shared: Arc<Guarded<State>>,
}

#[derive(Default)]
struct State {
    /// The files of each directory in turn, once they are made, then those of the next generation.
    files: Vec<Temporary>,
    /// Number of files in each directory, and whether they can have holes.
    kinds: Vec<(usize, bool)>,
    making: bool,
    logs: Logs,
    parity: Parity,
    /// Number of files, at the front, that outlive the run.
    kept: usize,
    closed: bool,
}

impl Spill {
    /// No files yet, for about `expected` bytes.
    pub(crate) fn new(
        node: &Node,
        directories: Vec<PathBuf>,
        io: IoChoice,
        expected: u64,
    ) -> Spill {
        let (direct, mode) = (io != IoChoice::Buffered, PRIVATE);
        let shared = Arc::new(Guarded::new(node, "spill files", State::default()));
        Spill {
            directories: Arc::new(directories),
            how: Open::Create { direct, mode },
            expected,
            limit: None,
            area_bytes: None,
            striping: None,
            packing: ChunkPacking::new(Pack::Never),
            shared,
        }
    }

    /// With an area of about so many bytes for each partition.
    pub(crate) fn with_areas(self, area_bytes: u64) -> Spill {
        let area_bytes = Some(area_bytes);
        Spill { area_bytes, ..self }
    }

    /// With chunks that are packed so.
    pub(crate) fn packed(self, pack: Pack) -> Spill {
        let packing = ChunkPacking::new(pack);
        Spill { packing, ..self }
    }

    /// Packs the sealed chunks of a run, or leaves them as they are.
    pub(crate) fn pack(&self, node: &Node, chunks: &mut [Chunk]) -> Form {
        self.packing.pack(node, chunks)
    }

    /// Notes that a run of `bytes` bytes in memory was written, for which a worker waited.
    pub(crate) fn wrote(&self, form: Form, bytes: u64, waited: u64) {
        self.packing.wrote(form, bytes, waited);
    }

    /// Unpacks a chunk that was read from `place` to its buffer. `None` if it is not as written.
    pub(crate) fn unpack(&self, buffer: &mut Buffer, place: Stamp) -> Option<()> {
        self.packing.unpack(buffer, place)
    }

    pub(crate) fn directories(&self) -> usize {
        self.directories.len()
    }

    /// Makes the files, unless they exist; concurrent callers wait.
    async fn make(&self, node: &Node) -> Result<(), Failure> {
        let step = |state: &mut State| match (state.closed, state.making, state.files.is_empty()) {
            (true, ..) => Some(Err(Closed)),
            (_, true, _) => None,
            (_, false, missing) => {
                state.making = missing;
                Some(Ok(missing))
            }
        };
        if !self.shared.wait_for(node, step).await? {
            return Ok(());
        }
        let (mut files, mut kinds) = (Vec::new(), Vec::new());
        let mut made = Ok(());
        for directory in self.directories.iter() {
            made = self.make_in(node, directory, &mut files, &mut kinds).await;
            if made.is_err() {
                break;
            }
        }
        let parity = match made {
            Ok(()) => self.make_parity(node).await,
            Err(error) => Err(error.into()),
        };
        if parity.is_err() {
            remove_all(node, &std::mem::take(&mut files)).await;
        }
        self.shared
            .change(node, |state| {
                let logs = Logs::new(&kinds, self.expected).with_areas(self.area_bytes);
                state.logs = logs.with_limit(self.limit);
                (state.files, state.kinds, state.making) = (files, kinds, false);
                state.parity = parity?;
                state.begin_stripes(self.striping);
                Ok(())
            })
            .await
    }

    async fn make_in(
        &self,
        node: &Node,
        directory: &Path,
        files: &mut Vec<Temporary>,
        kinds: &mut Vec<(usize, bool)>,
    ) -> Result<(), DiskError> {
        sweep(node, directory, &[]).await;
        let first = Temporary::create(node, directory, self.how).await;
        let first = first.map_err(|error| cannot_make(directory, error))?;
        // The file is empty yet, but this shows whether it can have holes.
        let holes = first.file.release(node, 0..BLOCK_BYTES).await.is_ok();
        files.push(first);
        let is_one = holes || self.striping.is_some();
        let count = if is_one { 1 } else { FILES_WITHOUT_HOLES };
        for _ in 1..count {
            let another = Temporary::create(node, directory, self.how).await;
            files.push(another.map_err(|error| cannot_make(directory, error))?);
        }
        kinds.push((count, holes));
        Ok(())
    }

    /// Sends later runs to new files: a hole waits until no request for its file is in flight, so
    /// files that are read and given back must not be written as well.
    pub(crate) async fn next_generation(&self, node: &Node) -> Result<(), Failure> {
        let (kinds, all) = self
            .shared
            .look(|state| (state.kinds.clone(), state.files.len()));
        let more: usize = kinds.iter().map(|(count, _)| count).sum();
        if all + more > 1 << FILE_BITS {
            // Runs could not be numbered any more.
            let directory = self.directories.first().expect("files are in directories");
            let cause = ErrorKind::QuotaExceeded.into();
            return Err(cannot_make(directory, DiskError::new("make", directory, cause)).into());
        }
        if self.striping.is_some() {
            return self.next_stripes(node).await;
        }
        let mut files = Vec::new();
        for (directory, (count, _)) in self.directories.iter().zip(kinds) {
            for _ in 0..count {
                match Temporary::create(node, directory, self.how).await {
                    Ok(file) => files.push(file),
                    Err(error) => {
                        remove_all(node, &files).await;
                        return Err(cannot_make(directory, error).into());
                    }
                }
            }
        }
        self.shared
            .change(node, |state| {
                state.files.append(&mut files);
                let State { logs, kinds, .. } = state;
                logs.next_generation(kinds);
            })
            .await;
        Ok(())
    }

    pub(crate) fn file(&self, extent: Extent) -> File {
        self.shared
            .look(|state| state.files[extent.file].file.clone())
    }

    pub(crate) fn stamps(&self, extent: Extent) -> Stamps {
        self.shared.look(|state| {
            let name = state.files[extent.file]
                .path
                .file_name()
                .unwrap_or_default();
            Stamps {
                file: block_crc(name.as_encoded_bytes()),
            }
        })
    }

    /// Gives back the space of an extent that was read. A resumed sort reads files that are kept
    /// once more, so their space stays until [`Spill::give_back`].
    pub(crate) async fn release(&self, node: &Node, extent: Extent) {
        if self.shared.look(|state| extent.file >= state.kept) {
            self.give_back(node, extent).await;
        }
    }

    /// Gives back the space of an extent that will not be read again: at once, or with that of its
    /// file.
    pub(crate) async fn give_back(&self, node: &Node, extent: Extent) {
        if self.striping.is_some() {
            return self.give_back_stripes(node, extent).await;
        }
        let file = self.file(extent);
        // If this fails, the space comes back with the file.
        if self.shared.look(|state| state.logs.has_holes(extent.file)) {
            let _ = file
                .release(node, extent.offset..extent.offset + extent.bytes)
                .await;
        }
        if self
            .shared
            .change(node, |state| state.logs.release(extent))
            .await
        {
            let _ = file.truncate(node, 0).await;
            self.shared
                .change(node, |state| state.logs.emptied(extent.file))
                .await;
        }
    }

    pub(crate) fn live_bytes(&self) -> u64 {
        self.shared.look(|state| state.logs.live_bytes())
    }

    pub(crate) fn peak_bytes(&self) -> u64 {
        self.shared.look(|state| state.logs.peak_bytes())
    }

    /// Bytes written to each directory, in proportion to the rates of their disks; none if partitions have
    /// areas, which are as many in each directory.
    pub(crate) fn rates(&self) -> Vec<(PathBuf, u64)> {
        if self.area_bytes.is_some() {
            return Vec::new();
        }
        let written = self.shared.look(|state| state.logs.written());
        self.directories.iter().cloned().zip(written).collect()
    }

    pub(crate) async fn remove(self, node: &Node) {
        let files = self
            .shared
            .change(node, |state| {
                let mut files = std::mem::take(&mut state.files);
                files.append(&mut state.parity.files);
                files
            })
            .await;
        remove_all(node, &files).await;
    }
}

impl Close for Spill {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}

/// Names the directory in an error: the files have random names.
fn cannot_make(directory: &Path, error: DiskError) -> DiskError {
    DiskError {
        verb: "make temporary files in",
        path: directory.to_owned(),
        ..error
    }
}

async fn remove_all(node: &Node, files: &[Temporary]) {
    for file in files {
        file.remove(node).await;
    }
}
