//! Faults by number: the n-th operation of a disk fails, for n = 1, 2, 3 ... until no fault occurs
//! (SQLite's method of testing).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use node::Mutex;

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device reports an error (EIO).
    Device,
    /// The file system is full (ENOSPC).
    Full,
    /// A read ends early, as if the file had shrunk; other operations report an error.
    Short,
}

impl Fault {
    pub(crate) fn error(self) -> io::Error {
        match self {
            Fault::Full => io::ErrorKind::StorageFull.into(),
            Fault::Device | Fault::Short => io::Error::other("input/output error"),
        }
    }
}

/// Counts operations, of which one may fail.
#[derive(Debug, Default)]
pub(crate) struct FaultPlan {
    operations: AtomicU64,
    fails: Mutex<Option<(u64, Fault)>>,
    lost: Mutex<Option<(PathBuf, u64, Fault)>>,
}

impl FaultPlan {
    /// Makes the `nth` operation of the run fail (the first is 1).
    pub(crate) fn fail(&self, nth: u64, fault: Fault) {
        *self.fails.lock() = Some((nth, fault));
    }

    /// Makes all operations below a path fail, from the `nth` of the run on.
    pub(crate) fn lose(&self, under: &Path, nth: u64, fault: Fault) {
        *self.lost.lock() = Some((under.to_owned(), nth, fault));
    }

    pub(crate) fn mend(&self) {
        *self.fails.lock() = None;
        *self.lost.lock() = None;
    }

    pub(crate) fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    /// Counts an operation on a path; returns its fault if it fails.
    pub(crate) fn next(&self, path: &Path) -> Option<Fault> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed) + 1;
        let fails = *self.fails.lock();
        let once = fails.and_then(|(nth, fault)| (nth == number).then_some(fault));
        let is_lost = |(under, nth, fault): &(PathBuf, u64, Fault)| {
            (number >= *nth && path.starts_with(under)).then_some(*fault)
        };
        once.or_else(|| self.lost.lock().as_ref().and_then(is_lost))
    }
}
