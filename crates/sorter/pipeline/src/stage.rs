//! The description of a stage that is to be started: its workers and its dials.

use crate::dial::Dial;

/// A stage to be started, for [`Pipeline::start`](crate::Pipeline::start).
#[derive(Clone, Debug)]
pub struct Stage {
    pub(crate) name: &'static str,
    pub(crate) workers: usize,
    pub(crate) derived: usize,
    pub(crate) called: usize,
    pub(crate) dials: Vec<(&'static str, Dial)>,
}

impl Stage {
    /// A stage of `workers` workers, all of which are called.
    pub fn new(name: impl Into<&'static str>, workers: usize) -> Stage {
        Stage {
            name: name.into(),
            workers,
            derived: workers,
            called: workers,
            dials: Vec::new(),
        }
    }

    /// Sets how many workers should be enough according to the plan. The others begin parked, for
    /// the tuner to call.
    #[must_use]
    pub fn derived(self, workers: usize) -> Stage {
        Stage {
            derived: workers,
            called: workers,
            ..self
        }
    }

    /// Sets how many workers are called at the start.
    #[must_use]
    pub fn called(self, workers: usize) -> Stage {
        Stage {
            called: workers,
            ..self
        }
    }

    /// Adds a dial that affects the stage's speed, for the tuner; `what` names it in moves. The
    /// plan expects the dial's most to be right. Two stages may have the same dial.
    #[must_use]
    pub fn dial(mut self, what: &'static str, dial: &Dial) -> Stage {
        self.dials.push((what, dial.clone()));
        self
    }
}
