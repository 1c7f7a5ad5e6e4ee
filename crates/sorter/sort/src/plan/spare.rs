//! Spare workers of a plan, for the tuner: they begin parked, where memory is plentiful.

use crate::job::Tune;
use crate::plan::Plan;
use crate::plan::search::Given;

/// Inputs of fewer units are read before a tuner has seen what one more worker brings.
const UNITS_FOR_SPARE: u64 = 256;

/// Bytes that a loader has in flight per directory, and the most requests for them.
const LOADED_BYTES: usize = 32 << 20;
const MOST_LOADS: usize = 16;

impl Plan {
    /// Adds a worker at each end, unless the tuning gives a number or the input is too short to
    /// learn what it brings. Several disks, or one behind a network, may want more requests than
    /// the plan assumes. Each worker costs as many units of memory as it has requests in flight.
    pub(super) fn with_spare(&self, given: &Given) -> Plan {
        let (shape, tuning) = (given.shape, &given.tuning);
        let is_long = self.units >= UNITS_FOR_SPARE && shape.bytes.is_some();
        let is_tuned = is_long && tuning.tune == Tune::Auto;
        let spare = |asked: Option<usize>| usize::from(is_tuned && asked.is_none());
        Plan {
            spare_readers: spare(tuning.readers),
            spare_writers: if shape.sequential_output {
                0
            } else {
                spare(tuning.writers)
            },
            ..self.clone()
        }
    }

    /// Requests in flight of a loader, which alone does what readers do, from every directory. With
    /// little memory they are small, and more of them keep a disk busy.
    pub(crate) fn loads(&self) -> usize {
        let Some(spilling) = self.spilling else {
            return self.readers * self.depth;
        };
        let request = (spilling.run * self.chunk_bytes).max(1);
        let small = LOADED_BYTES / request;
        let least = MOST_LOADS.min(self.readers * self.depth);
        small.clamp(least, MOST_LOADS) * spilling.directories
    }
}
