//! Spill files: where partitions wait on disk between two phases (TritonSort 4.3).
//!
//! ```text
//! file 0   |run of 7|run of 2|run of 7|...|  reserved  |     one file in each temporary directory
//! file 1   |run of 3|run of 7|...
//! ```
//!
//! Each file is a log: whatever is written next lies behind what was written before, whose partition it
//! may be of, so all writing is sequential. A run goes to the file that has the least. What has been read
//! again is given back to the file system. A directory that is full gets no more; the others go on.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use node::{DiskError, File, Guarded, Node, Open};
use pipeline::Failure;

use crate::job::IoChoice;
use crate::temporary::Temporary;

/// Nobody else reads what is spilled.
const MODE: u32 = 0o600;

/// Space is reserved in steps of an eighth of what the file has, at least of this: writes inside the
/// length of a file need no lock of all of it, so several are in flight.
const LEAST_STEP_BYTES: u64 = 4 << 20;
const MOST_STEP_BYTES: u64 = 256 << 20;

/// The spill files of a run, which are made when the first bytes go there; clones share them.
#[derive(Clone)]
pub(crate) struct Spill {
    directories: Arc<Vec<PathBuf>>,
    how: Open,
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

#[derive(Default)]
struct State {
    /// One in each directory, once they are made.
    files: Vec<Temporary>,
    making: bool,
    logs: Vec<Log>,
    /// Bytes that were given out and not released.
    live_bytes: u64,
    peak_bytes: u64,
}

#[derive(Clone, Copy, Default)]
struct Log {
    /// Where the next run goes.
    end: u64,
    /// Up to where there is space for sure.
    reserved: u64,
    full: bool,
}

impl Log {
    /// Takes the next bytes; up to where space must be reserved first, if it must.
    fn take(&mut self, bytes: u64) -> (u64, Option<u64>) {
        let offset = self.end;
        self.end += bytes;
        let step = (self.end / 8).clamp(LEAST_STEP_BYTES, MOST_STEP_BYTES);
        (offset, (self.end > self.reserved).then(|| self.end + step))
    }
}

impl Spill {
    /// Nothing is spilled yet.
    pub(crate) fn new(node: &Node, directories: Vec<PathBuf>, io: IoChoice) -> Spill {
        let how = Open::Create { direct: io != IoChoice::Buffered, mode: MODE };
        let shared = Arc::new(Guarded::new(node, "spill files", State::default()));
        Spill { directories: Arc::new(directories), how, shared }
    }

    /// Makes a file in each directory, if nobody has: others wait until they are there.
    async fn make(&self, node: &Node) -> Result<(), Failure> {
        let step = |state: &mut State| match (state.making, state.files.is_empty()) {
            (true, _) => None,
            (false, made) => {
                state.making = made;
                Some(made)
            }
        };
        if !self.shared.wait_for(node, step).await {
            return Ok(());
        }
        let (files, made) = self.make_all(node).await;
        self.shared
            .change(node, |state| {
                state.logs = vec![Log::default(); files.len()];
                (state.files, state.making) = (files, false);
            })
            .await;
        Ok(made?)
    }

    /// All files, or none and why.
    async fn make_all(&self, node: &Node) -> (Vec<Temporary>, Result<(), DiskError>) {
        let mut files = Vec::new();
        for directory in self.directories.iter() {
            match Temporary::create(node, directory, self.how).await {
                Ok(file) => files.push(file),
                Err(error) => {
                    remove_all(node, &files).await;
                    return (Vec::new(), Err(DiskError { path: directory.clone(), ..error }));
                }
            }
        }
        (files, Ok(()))
    }

    /// Room for so many bytes.
    ///
    /// # Errors
    /// When every directory is full: what the last of them said.
    pub(crate) async fn extent(&self, node: &Node, bytes: u64) -> Result<Extent, Failure> {
        self.make(node).await?;
        loop {
            let taken = self.shared.change(node, |state| state.take(bytes)).await;
            let Some((extent, reserve)) = taken else { return Err(self.all_full()) };
            let Some(length) = reserve else { return Ok(extent) };
            match self.file(extent).preallocate(node, length).await {
                Ok(()) => {
                    self.shared.change(node, |state| state.reserved(extent, length)).await;
                    return Ok(extent);
                }
                Err(error) => self.is_full(node, extent, error).await?,
            }
        }
    }

    /// Notes that there was no room for an extent: the next one lies elsewhere. Any other error comes
    /// back.
    pub(crate) async fn is_full(
        &self,
        node: &Node,
        extent: Extent,
        error: DiskError,
    ) -> Result<(), Failure> {
        if !matches!(error.cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
            return Err(error.into());
        }
        let others = self
            .shared
            .change(node, |state| {
                state.logs[extent.file].full = true;
                state.live_bytes -= extent.bytes;
                state.logs.iter().any(|log| !log.full)
            })
            .await;
        if others { Ok(()) } else { Err(error.into()) }
    }

    /// The file that an extent is in.
    pub(crate) fn file(&self, extent: Extent) -> File {
        self.shared.look(|state| state.files[extent.file].file.clone())
    }

    /// Gives the space of an extent back, where the file system can.
    pub(crate) async fn release(&self, node: &Node, extent: Extent) {
        let Extent { offset, bytes, .. } = extent;
        let range: Range<u64> = offset..offset + bytes;
        // Where holes cannot be made, the space comes back with the file.
        let _ = self.file(extent).release(node, range).await;
        self.shared.change(node, |state| state.live_bytes -= bytes).await;
    }

    /// The most bytes that it held.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.shared.look(|state| state.peak_bytes)
    }

    /// Removes all files.
    pub(crate) async fn remove(self, node: &Node) {
        let files = self.shared.change(node, |state| std::mem::take(&mut state.files)).await;
        remove_all(node, &files).await;
    }

    fn all_full(&self) -> Failure {
        let path = self.directories.last().expect("there is a temporary directory");
        DiskError::new("write", path, ErrorKind::StorageFull.into()).into()
    }
}

impl State {
    fn take(&mut self, bytes: u64) -> Option<(Extent, Option<u64>)> {
        let least = |(_, log): &(usize, &mut Log)| log.end;
        let open = self.logs.iter_mut().enumerate().filter(|(_, log)| !log.full);
        let (file, log) = open.min_by_key(least)?;
        let (offset, reserve) = log.take(bytes);
        self.live_bytes += bytes;
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
        Some((Extent { file, offset, bytes }, reserve))
    }

    fn reserved(&mut self, extent: Extent, length: u64) {
        let log = &mut self.logs[extent.file];
        log.reserved = log.reserved.max(length);
    }
}

async fn remove_all(node: &Node, files: &[Temporary]) {
    for file in files {
        file.remove(node).await;
    }
}
