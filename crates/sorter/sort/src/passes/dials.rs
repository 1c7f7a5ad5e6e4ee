//! The dials of a plan: numbers that the tuner may change while the sort runs, and their start.
//!
//! The plan's numbers are the maximum: buffers and queues are made for them, so no change needs
//! more memory.

use pipeline::{Dial, Stage};

use crate::job::Start;
use crate::names::StageName;
use crate::plan::{Plan, WORST_UNIT_BYTES};

/// The dials of a sort, which keep their settings from one pipeline to the next.
#[derive(Clone)]
pub(crate) struct Dials {
    start: Start,
    /// Bytes of a read unit.
    pub unit_bytes: Dial,
    /// Requests in flight of each worker of a stage.
    pub readers: Dial,
    pub writers: Dial,
    pub spillers: Dial,
    pub loader: Dial,
}

impl Dials {
    pub(crate) fn new(plan: &Plan, start: Start) -> Dials {
        let dial = |least: usize, most: usize| {
            let least = least.min(most);
            Dial::new(
                least..=most,
                if start == Start::Worst { least } else { most },
            )
        };
        let longest = plan.framing.longest();
        Dials {
            start,
            unit_bytes: dial(WORST_UNIT_BYTES.max(longest), plan.read_bytes),
            readers: dial(1, plan.depth),
            writers: dial(1, plan.depth),
            spillers: dial(
                1,
                plan.spilling.map_or(plan.depth, |spilling| spilling.depth),
            ),
            loader: dial(1, plan.loads()),
        }
    }

    /// A stage of `derived` workers, and `spare` ones that the tuner may add.
    pub(crate) fn stage(&self, name: StageName, derived: usize, spare: usize) -> Stage {
        let stage = Stage::new(name, derived + spare).derived(derived);
        match self.start {
            Start::Derived => stage,
            Start::Worst => stage.called(1),
        }
    }
}
