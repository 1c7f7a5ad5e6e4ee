//! Watching and stopping a sort, from any thread.

use std::process::id;
use std::sync::{Arc, Weak};

use node::Mutex;
use node_real::RealDisks;
use pipeline::{Control, Failure};

const STOPPED: &str = "its watch";

/// Watches a sort and stops it. Clones watch the same one.
///
/// ```
/// use gristmill::{Error, Format, Sorter, Watch};
/// let watch = Watch::new();
/// let feed = Sorter::new(Format::lines()).watch(&watch).start()?;
/// watch.stop();
/// assert!(matches!(feed.finish()?.read_to_vec(), Err(Error::Stopped)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Watch {
    control: Control,
    runs: Arc<Mutex<Runs>>,
    /// In a fork of this process its locks may be held by threads that are not there.
    process: u32,
}

impl Default for Watch {
    fn default() -> Watch {
        Watch {
            control: Control::default(),
            runs: Arc::default(),
            process: id(),
        }
    }
}

/// The runs of a sort: itself, and the writing of its records to a file.
#[derive(Default)]
struct Runs {
    /// Their files, as long as they go on.
    disks: Vec<Weak<RealDisks>>,
    /// Whether no other one may begin.
    over: bool,
}

/// How far a sort has come.
///
/// ```
/// use gristmill::{Format, Sorter, Watch};
/// let watch = Watch::new();
/// let mut feed = Sorter::new(Format::lines()).watch(&watch).start()?;
/// feed.push(b"a")?;
/// feed.finish()?.read_to_vec()?;
/// assert_eq!(watch.progress().written, 2);
/// # Ok::<(), gristmill::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The phase: empty before the sort begins, then such as `sort` and `merge`.
    pub phase: &'static str,
    /// Bytes of the input that were read in this phase.
    pub read: u64,
    /// Bytes of the output that were written in this phase.
    pub written: u64,
    /// Bytes of all records; 0 if that is not known.
    pub total: u64,
}

impl Watch {
    /// A watch of one sort, which takes it by [`Sorter::watch`](crate::Sorter::watch).
    pub fn new() -> Watch {
        Watch::default()
    }

    /// Stops the sort: it removes its files, and calls that wait for it get
    /// [`Error::Stopped`](crate::Error::Stopped). If no call waits, the files go with the next one, or
    /// when the `Feed` or `Sorted` is dropped. A fork of the process that made the watch stops
    /// nothing.
    pub fn stop(&self) {
        if !self.is_forked() {
            self.control.stop(STOPPED);
        }
    }

    /// Removes the files of the sort, which goes no further: for the end of a program that does not wait
    /// for its threads. Calls that use the sort, drops among them, may not return.
    ///
    /// ```
    /// use gristmill::{Format, Sorter, Watch};
    /// let watch = Watch::new();
    /// let feed = Sorter::new(Format::lines()).watch(&watch).start()?;
    /// watch.abandon();
    /// assert!(feed.finish()?.next().is_err());
    /// # Ok::<(), gristmill::Error>(())
    /// ```
    pub fn abandon(&self) {
        if !self.is_forked() {
            let mut runs = self.runs.lock();
            runs.over = true;
            for disks in runs.disks.drain(..).filter_map(|disks| disks.upgrade()) {
                disks.remove_unfinished();
            }
        }
    }

    /// Begins a run with these files.
    pub(crate) fn begin(&self, disks: &Arc<RealDisks>) -> Result<(), Failure> {
        let mut runs = self.runs.lock();
        if runs.over {
            return Err(Failure::Stopped(STOPPED.to_owned()));
        }
        runs.disks.retain(|disks| disks.strong_count() > 0);
        runs.disks.push(Arc::downgrade(disks));
        Ok(())
    }

    pub(crate) fn is_stopped(&self) -> bool {
        !self.is_forked() && self.control.is_ending()
    }

    fn is_forked(&self) -> bool {
        self.process != id()
    }

    /// How far the sort has come.
    pub fn progress(&self) -> Progress {
        if self.is_forked() {
            return Progress::default();
        }
        let progress = self.control.progress();
        Progress {
            phase: progress.phase,
            read: progress.bytes_of(sort::StageName::Reader.name()),
            written: progress.bytes_of(sort::StageName::Writer.name()),
            total: progress.total_bytes,
        }
    }

    pub(crate) fn control(&self) -> Control {
        self.control.clone()
    }
}
