//! The mergers of a plan, and the memory of slices (docs/decisions/0030).

use super::Merging;
use crate::plan::Plan;
use crate::plan::one_worker::UNITS_OF_ONE;
use crate::plan::search::Given;

/// A run in the lists of a merge: its state, the chunks read, its place in the tree, its request
/// for more.
pub(super) const SOURCE_BYTES: u64 = 640;

/// Slices that are cut, and that no merger has: one that waits, and the one that is handed on.
const WAITING_SLICES: usize = 2;

/// Units of the output may take this part of memory before there are fewer mergers than cores.
const MERGER_SHARE: u64 = 6;

/// A run in a slice: its parts there.
const SLICE_OF_RUN_BYTES: u64 = 160;

impl Merging {
    /// A run in the lists of a merge, and in the slices that are merged, are cut, or wait.
    pub(super) fn source_bytes(&self) -> u64 {
        let slices = match self.mergers {
            1 => 0,
            mergers => mergers + WAITING_SLICES,
        };
        SOURCE_BYTES + slices as u64 * SLICE_OF_RUN_BYTES
    }
}

impl Plan {
    /// One on each core, as far as a part of memory has units for them.
    pub(super) fn mergers(&self, given: &Given) -> usize {
        if self.has_one_worker() {
            return 1;
        }
        let units = given.memory_bytes / MERGER_SHARE / self.buffer_bytes() as u64;
        let most = usize::try_from(units).unwrap_or(usize::MAX);
        let others = WAITING_SLICES + self.writers * self.depth;
        let fit = most.saturating_sub(others).max(1);
        given.tuning.mergers.unwrap_or(given.cores.min(fit))
    }

    /// Write units: one that each merger fills, those of slices that wait, and each writer's in flight.
    ///
    /// No deadlock: a merger holds one, and waits for writers, which return units that are
    /// written before they wait for a new piece. A slice that needs more than its unit takes those that
    /// writers have returned, which are no slice's.
    pub(crate) fn write_units(&self) -> usize {
        if self.has_one_worker() {
            return UNITS_OF_ONE;
        }
        let mergers = self.merging.map_or(1, |merging| merging.mergers);
        let filled = if mergers > 1 {
            mergers + WAITING_SLICES
        } else {
            2
        };
        filled + self.writers * self.depth
    }

    /// Buffers for disk blocks in which slices meet.
    ///
    /// No deadlock: slices are begun in their order, so an incomplete block touches one that is merged (two
    /// ends each), or waits. In addition each merger holds one that it may not need.
    pub(crate) fn merge_seams(&self) -> usize {
        let mergers = self.merging.map_or(1, |merging| merging.mergers);
        3 * mergers + 2 * WAITING_SLICES + self.writers * self.depth
    }
}
