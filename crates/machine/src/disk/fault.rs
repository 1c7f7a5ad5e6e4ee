//! Faults by number: "the n-th operation of a disk fails", for n = 1, 2, 3 ... until none occurs
//! any more (SQLite's way of testing).

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Counts operations, and lets one of them fail.
#[derive(Debug, Default)]
pub(crate) struct FaultPlan {
    operations: AtomicU64,
    fails: Mutex<Option<(u64, Fault)>>,
}

impl FaultPlan {
    /// Lets the `nth` operation from the start of the run fail (the first is 1).
    pub(crate) fn fail(&self, nth: u64, fault: Fault) {
        *self.fails.lock().expect("no panic holds it") = Some((nth, fault));
    }

    /// Lets none fail any more.
    pub(crate) fn mend(&self) {
        *self.fails.lock().expect("no panic holds it") = None;
    }

    /// How many operations there were.
    pub(crate) fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    /// Counts an operation: its fault, if it is the one to fail.
    pub(crate) fn next(&self) -> Option<Fault> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed) + 1;
        let fails = self.fails.lock().expect("no panic holds it");
        fails.and_then(|(nth, fault)| (nth == number).then_some(fault))
    }
}
