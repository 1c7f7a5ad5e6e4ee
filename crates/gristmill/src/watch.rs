//! Watching and stopping a sort, from any thread.

use pipeline::Control;

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
#[derive(Clone, Default)]
pub struct Watch {
    control: Control,
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
    /// Bytes that were read in this phase.
    pub read: u64,
    /// Bytes that were written in this phase.
    pub written: u64,
    /// Bytes of all records; 0 if that is not known.
    pub total: u64,
}

impl Watch {
    /// A watch of one sort, which takes it by [`Sorter::watch`](crate::Sorter::watch).
    pub fn new() -> Watch {
        Watch::default()
    }

    /// Stops the sort: it removes its files, and whoever waits for it gets
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub fn stop(&self) {
        self.control.stop("its watch");
    }

    /// How far the sort has come.
    pub fn progress(&self) -> Progress {
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
