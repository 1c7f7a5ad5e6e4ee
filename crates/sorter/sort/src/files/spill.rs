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

mod kept;
mod log;
pub(crate) mod packing;
mod place;

use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::block_crc;
use node::{Buffer, Close, Closed, DiskError, File, Guarded, Node, Open};
use pipeline::Failure;

use crate::files::sweep::sweep;
use crate::files::temporary::Temporary;
use crate::files::text_file::PRIVATE;
use crate::job::{IoChoice, Pack};
use crate::records::block::{BLOCK_BYTES, Chunk, Stamp};
pub(crate) use kept::{is_kind, kept_paths};
use log::{LogRoom, Logs};
use packing::{ChunkPacking, Form};
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
            packing: ChunkPacking::new(Pack::Never),
            shared,
        }
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
                remove_all(node, &std::mem::take(&mut files)).await;
                break;
            }
        }
        self.shared
            .change(node, |state| {
                state.logs = Logs::new(&kinds, self.expected).with_limit(self.limit);
                (state.files, state.kinds, state.making) = (files, kinds, false);
            })
            .await;
        Ok(made?)
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
        let count = if holes { 1 } else { FILES_WITHOUT_HOLES };
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

    /// Space for `bytes` bytes.
    ///
    /// # Errors
    /// When every directory is full, with the error of the last one, or the limit is reached.
    pub(crate) async fn extent(
        &self,
        node: &Node,
        to: Slot,
        bytes: u64,
    ) -> Result<Extent, Failure> {
        self.make(node).await?;
        loop {
            let step = |state: &mut State| {
                if state.closed {
                    Some(Err(Closed))
                } else {
                    state.logs.take(to.directory, to.position, bytes).map(Ok)
                }
            };
            match self.shared.wait_for(node, step).await? {
                LogRoom::Now(extent) => return Ok(extent),
                LogRoom::Full => return Err(self.all_full()),
                LogRoom::Beyond(limit) => return Err(limit.into()),
                LogRoom::Reserve(extent, range) => match self.reserve(node, extent, range).await {
                    Ok(()) => return Ok(extent),
                    Err(error) => self.is_full(node, extent, error).await?,
                },
            }
        }
    }

    /// Reserves a range of the file. If the disk has less space, halves the part behind the extent
    /// until it fits.
    async fn reserve(
        &self,
        node: &Node,
        extent: Extent,
        Range {
            start,
            end: mut upto,
        }: Range<u64>,
    ) -> Result<(), DiskError> {
        let (file, end) = (self.file(extent), extent.offset + extent.bytes);
        loop {
            match file.preallocate(node, start..upto).await {
                Err(error) if is_full(&error) && upto > end => {
                    upto = end + (upto - end) / 2 / BLOCK_BYTES * BLOCK_BYTES;
                    let step = upto - end;
                    self.shared
                        .change(node, |state| state.logs.is_tight(extent.file, step))
                        .await;
                }
                reserved => {
                    reserved?;
                    break;
                }
            }
        }
        self.shared
            .change(node, |state| state.logs.reserved(extent.file, upto))
            .await;
        Ok(())
    }

    /// Gives back reserved space that is not used, once no more runs are expected.
    pub(crate) async fn trim(&self, node: &Node) {
        for (file, end) in self.shared.change(node, |state| state.logs.spare()).await {
            let file = self.shared.look(|state| state.files[file].file.clone());
            // If this fails, the space comes back with the file.
            let _ = file.truncate(node, end).await;
        }
    }

    /// Notes that there was no space for an extent, so that the next one goes elsewhere. Returns
    /// any other error, and that of the last directory.
    pub(crate) async fn is_full(
        &self,
        node: &Node,
        extent: Extent,
        error: DiskError,
    ) -> Result<(), Failure> {
        if !is_full(&error) {
            return Err(error.into());
        }
        let others = self
            .shared
            .change(node, |state| state.logs.is_full(extent))
            .await;
        if others { Ok(()) } else { Err(error.into()) }
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

    /// Bytes written to each directory, in proportion to the rates of their disks.
    pub(crate) fn rates(&self) -> Vec<(PathBuf, u64)> {
        let written = self.shared.look(|state| state.logs.written());
        self.directories.iter().cloned().zip(written).collect()
    }

    pub(crate) async fn remove(self, node: &Node) {
        let files = self
            .shared
            .change(node, |state| std::mem::take(&mut state.files))
            .await;
        remove_all(node, &files).await;
    }

    fn all_full(&self) -> Failure {
        let path = self
            .directories
            .last()
            .expect("there is a temporary directory");
        DiskError::new("write", path, ErrorKind::StorageFull.into()).into()
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

fn is_full(error: &DiskError) -> bool {
    matches!(
        error.cause.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

async fn remove_all(node: &Node, files: &[Temporary]) {
    for file in files {
        file.remove(node).await;
    }
}
