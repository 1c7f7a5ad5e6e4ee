//! What is said of a stage when it is started: its workers, and its dials.

use crate::dial::Dial;

/// A stage to be started.
#[derive(Clone, Debug)]
pub struct Stage {
    pub(crate) name: &'static str,
    pub(crate) workers: usize,
    pub(crate) derived: usize,
    pub(crate) called: usize,
    pub(crate) dials: Vec<(&'static str, Dial)>,
}

impl Stage {
    /// A stage of so many workers, all of which are called.
    pub fn new(name: &'static str, workers: usize) -> Stage {
        Stage {
            name,
            workers,
            derived: workers,
            called: workers,
            dials: Vec::new(),
        }
    }

    /// How many workers ought to be enough; the others are for when they are not, and begin parked.
    #[must_use]
    pub fn derived(self, workers: usize) -> Stage {
        Stage {
            derived: workers,
            called: workers,
            ..self
        }
    }

    /// How many workers are called at the start.
    #[must_use]
    pub fn called(self, workers: usize) -> Stage {
        Stage {
            called: workers,
            ..self
        }
    }

    /// A dial that the stage's time depends on: its most ought to be right. What two stages depend
    /// on may be named for both.
    #[must_use]
    pub fn dial(mut self, what: &'static str, dial: &Dial) -> Stage {
        self.dials.push((what, dial.clone()));
        self
    }
}
