//! Spill files: where partitions wait on disk between two phases (TritonSort 4.3).
//!
//! ```text
//! file 0   |run of 7|run of 2|run of 7|...|  reserved  |     one file in each temporary directory
//! file 1   |run of 3|run of 7|...
//! ```
//!
//! Each file is a log: whatever is written next lies behind what was written before, whose
//! partition it may be of, so all writing is sequential. What has been read again is given back to
//! the file system, unless it is very little. Where that cannot make holes, a directory has a few
//! files instead, each for a range of keys, and each gives its space back when everything in it has
//! been read. A directory that is full gets no more; the others go on. What is divided again goes
//! to new files, the next generation.

mod kept;
mod log;

use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::block_crc;
use node::{Close, Closed, DiskError, File, Guarded, Node, Open};
use pipeline::Failure;

use crate::files::temporary::Temporary;
use crate::job::IoChoice;
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Stamp;
pub(crate) use kept::{is_kind, kept_paths};
use log::{Logs, Taken};

/// Nobody else reads what is spilled.
const MODE: u32 = 0o600;

/// Files of a directory that cannot have holes: an eighth of what was spilled takes space longer
/// than it should, and eight places to write to are still few.
const FILES_WITHOUT_HOLES: usize = 8;

/// The spill files of a run, which are made when the first bytes go there; clones share them.
#[derive(Clone)]
pub(crate) struct Spill {
    directories: Arc<Vec<PathBuf>>,
    how: Open,
    /// Bytes that will be spilled, about.
    expected: u64,
    shared: Arc<Guarded<State>>,
}

/// Some bytes of a spill file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Which file.
    pub file: usize,
    /// Where in it.
    pub offset: u64,
    /// How many bytes: whole disk blocks.
    pub bytes: u64,
}

/// The stamps of a file's chunks. A stamp is made of the file's name, which no other spill file
/// has, and of the offset. A resumed sort finds its files under the same names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    file: u32,
}

impl Stamps {
    /// The stamp of the chunk that begins at `offset`. Within 16 TiB of a file no two stamps are
    /// equal.
    pub(crate) fn at(self, offset: u64) -> Stamp {
        let block = offset / BLOCK_BYTES;
        Stamp(self.file ^ block as u32 ^ (block >> 32) as u32)
    }
}

/// Where a run should go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Number of the temporary directory.
    pub directory: usize,
    /// How far along the output its records will be, from 0 to 1.
    pub position: f64,
}

#[derive(Default)]
struct State {
    /// Those of each directory in turn, once they are made; then those of the next generation.
    files: Vec<Temporary>,
    /// How many files each directory has, and whether they can have holes.
    kinds: Vec<(usize, bool)>,
    making: bool,
    logs: Logs,
    /// Files that outlive the run: as many of the first ones.
    kept: usize,
    closed: bool,
}

impl Spill {
    /// Nothing is spilled yet; so many bytes will be, about.
    pub(crate) fn new(
        node: &Node,
        directories: Vec<PathBuf>,
        io: IoChoice,
        expected: u64,
    ) -> Spill {
        let how = Open::Create {
            direct: io != IoChoice::Buffered,
            mode: MODE,
        };
        let shared = Arc::new(Guarded::new(node, "spill files", State::default()));
        Spill {
            directories: Arc::new(directories),
            how,
            expected,
            shared,
        }
    }

    /// How many directories there are.
    pub(crate) fn directories(&self) -> usize {
        self.directories.len()
    }

    /// Makes the files, if nobody has: others wait until they are there.
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
                state.logs = Logs::new(&kinds, self.expected);
                (state.files, state.kinds, state.making) = (files, kinds, false);
            })
            .await;
        Ok(made?)
    }

    /// The files of one directory, and how many they are.
    async fn make_in(
        &self,
        node: &Node,
        directory: &Path,
        files: &mut Vec<Temporary>,
        kinds: &mut Vec<(usize, bool)>,
    ) -> Result<(), DiskError> {
        let first = Temporary::create(node, directory, self.how).await;
        let first = first.map_err(|error| cannot_make(directory, error))?;
        // There is nothing to give back yet, but it shows whether that can be done.
        let holes = first.file.release(node, 0..BLOCK_BYTES).await.is_ok();
        files.push(first);
        let count = if holes { 1 } else { FILES_WITHOUT_HOLES };
        for _ in 1..count {
            let another = Temporary::another(node, directory, self.how).await;
            files.push(another.map_err(|error| cannot_make(directory, error))?);
        }
        kinds.push((count, holes));
        Ok(())
    }

    /// What is spilled from now on goes to other files: a hole waits until no request for its file
    /// is in flight, so what is read and given back must not lie where others write.
    pub(crate) async fn next_generation(&self, node: &Node) -> Result<(), Failure> {
        let kinds = self.shared.look(|state| state.kinds.clone());
        let mut files = Vec::new();
        for (directory, (count, _)) in self.directories.iter().zip(kinds) {
            for _ in 0..count {
                match Temporary::another(node, directory, self.how).await {
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

    /// Room for so many bytes.
    ///
    /// # Errors
    /// When every directory is full: what the last of them said.
    pub(crate) async fn extent(
        &self,
        node: &Node,
        to: Slot,
        bytes: u64,
    ) -> Result<Extent, Failure> {
        self.make(node).await?;
        loop {
            let step = |state: &mut State| match state.closed {
                true => Some(Err(Closed)),
                false => state.logs.take(to.directory, to.position, bytes).map(Ok),
            };
            match self.shared.wait_for(node, step).await? {
                Taken::Now(extent) => return Ok(extent),
                Taken::Full => return Err(self.all_full()),
                Taken::Reserve(extent, range) => match self.reserve(node, extent, range).await {
                    Ok(()) => return Ok(extent),
                    Err(error) => self.is_full(node, extent, error).await?,
                },
            }
        }
    }

    /// Reserves that range of the file, or if there is not so much, of what goes beyond the
    /// extent's end half as much, and half of that.
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

    /// Gives back what was reserved and is not needed: no more is expected.
    pub(crate) async fn trim(&self, node: &Node) {
        for (file, end) in self.shared.change(node, |state| state.logs.spare()).await {
            let file = self.shared.look(|state| state.files[file].file.clone());
            // It comes back with the file in any case.
            let _ = file.truncate(node, end).await;
        }
    }

    /// Notes that there was no room for an extent: the next one lies elsewhere. Any other error
    /// comes back.
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

    /// The file that an extent is in.
    pub(crate) fn file(&self, extent: Extent) -> File {
        self.shared
            .look(|state| state.files[extent.file].file.clone())
    }

    /// The stamps for the chunks of an extent.
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

    /// Gives the space of an extent that was read back: at once, or with that of its file. Who goes
    /// on with a file that is kept reads it again, up to [`Spill::give_back`].
    pub(crate) async fn release(&self, node: &Node, extent: Extent) {
        if self.shared.look(|state| extent.file >= state.kept) {
            self.give_back(node, extent).await;
        }
    }

    /// Gives the space of an extent back that nobody reads again.
    pub(crate) async fn give_back(&self, node: &Node, extent: Extent) {
        let file = self.file(extent);
        // What cannot be given back now comes back when the file is removed.
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

    /// The bytes that are in use.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.shared.look(|state| state.logs.live_bytes())
    }

    /// The most bytes that it took.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.shared.look(|state| state.logs.peak_bytes())
    }

    /// The directories, and how many bytes went to each: what their disks do, measured.
    pub(crate) fn rates(&self) -> Vec<(PathBuf, u64)> {
        let written = self.shared.look(|state| state.logs.written());
        self.directories.iter().cloned().zip(written).collect()
    }

    /// Removes all files.
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

/// The files have names that say nothing to anybody.
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
