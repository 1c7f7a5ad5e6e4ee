//! What a plan has to spare for a tuner: workers that begin parked, where memory is plentiful.

use crate::job::{Tune, Tuning};
use crate::plan::{Plan, Shape};

/// Inputs of fewer units are read before a tuner has seen what one more worker brings.
const UNITS_FOR_SPARE: u64 = 256;

/// What a loader has in flight from a disk, unless that is more than so many requests.
const LOADED_BYTES: usize = 32 << 20;
const MOST_LOADS: usize = 16;

impl Plan {
    /// The same with one worker more at each end, where nobody insists on a number and there is
    /// time to learn what it brings: several disks, or one behind a network, may want more requests
    /// than the plan believes. Each costs as many units of memory as it has requests in flight.
    pub(super) fn with_spare(&self, shape: &Shape, tuning: &Tuning) -> Plan {
        let is_long = self.units >= UNITS_FOR_SPARE && shape.records.is_some();
        let is_tuned = is_long && tuning.tune == Tune::Auto;
        let spare = |asked: Option<usize>| usize::from(is_tuned && asked.is_none());
        let spare_writers = if shape.sequential_output {
            0
        } else {
            spare(tuning.writers)
        };
        Plan {
            spare_readers: spare(tuning.readers),
            spare_writers,
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
        small.clamp(self.readers * self.depth, MOST_LOADS) * spilling.directories
    }
}
