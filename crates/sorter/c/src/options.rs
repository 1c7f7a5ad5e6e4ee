//! Options of a sort that has not begun.

use gristmill::{Format, Sorter, Watch};

type Change = Box<dyn FnOnce(Sorter) -> Sorter + Send>;

/// The options so far.
pub struct Options {
    format: Format,
    changes: Vec<Change>,
}

impl Options {
    pub fn new(format: &str) -> Options {
        Options {
            format: Format::named(format),
            changes: Vec::new(),
        }
    }

    /// Changes the format.
    pub fn format(&mut self, change: impl FnOnce(Format) -> Format) {
        let unchanged = Format::named("");
        self.format = change(std::mem::replace(&mut self.format, unchanged));
    }

    /// Changes the sort.
    pub fn sorter(&mut self, change: impl FnOnce(Sorter) -> Sorter + Send + 'static) {
        self.changes.push(Box::new(change));
    }

    /// The sort that they describe.
    pub fn build(self, watch: &Watch) -> Sorter {
        let sorter = Sorter::new(self.format).watch(watch);
        self.changes
            .into_iter()
            .fold(sorter, |sorter, change| change(sorter))
    }
}
