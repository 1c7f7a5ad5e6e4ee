//! Faults by number: "the n-th operation of a disk fails", "a node dies after the n-th event", for
//! n = 1, 2, 3 ... until none fires any more (SQLite's way of testing).

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

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

/// Counts events of a run, and lets a node die after one of them.
#[derive(Debug, Default)]
pub(crate) struct DeathPlan {
    state: Mutex<Deaths>,
}

#[derive(Debug, Default)]
struct Deaths {
    events: u64,
    /// After which event, and which node.
    next: Option<(u64, u32)>,
    fired: u64,
}

impl DeathPlan {
    /// Lets a node die after the `nth` event of the next run (the first is 1).
    pub(crate) fn kill(&self, nth: u64, rank: u32) {
        self.lock().next = Some((nth, rank));
    }

    /// A run begins.
    pub(crate) fn begin(&self) {
        self.lock().events = 0;
    }

    /// A run has ended: who did not die lives on.
    pub(crate) fn end(&self) {
        self.lock().next = None;
    }

    /// How many events the last run had.
    pub(crate) fn events(&self) -> u64 {
        self.lock().events
    }

    /// How many nodes have died.
    pub(crate) fn fired(&self) -> u64 {
        self.lock().fired
    }

    /// Counts an event: who dies after it.
    pub(crate) fn next(&self) -> Option<u32> {
        let mut deaths = self.lock();
        deaths.events += 1;
        let events = deaths.events;
        let (_, rank) = deaths.next.take_if(|(nth, _)| *nth == events)?;
        deaths.fired += 1;
        Some(rank)
    }

    fn lock(&self) -> MutexGuard<'_, Deaths> {
        self.state.lock().expect("no panic holds it")
    }
}
