//! Plans of one worker, for a few very large records that fill the memory.
//!
//! Most plans keep several requests of each disk in flight, and have a buffer for each of them. With
//! records of many MiB, each such buffer costs more than all else. One worker of each stage, with one
//! request in flight, does with two buffers of units: one is filled and one is on its way. And the
//! records that it moves can be counted, so that pools may be larger than what they touch.
//!
//! ```text
//! one pass, n records of b bytes     n b records | 4 b units | 3 b ends of sorted buckets
//! ```
//!
//! Pools have the size that excludes deadlocks, but only touched buffers take memory. A pool gives
//! out the buffer that came back last. So a sort of n records touches n chunks, however large the
//! pool is.

use crate::job::Tuning;
use crate::plan::search::Given;
use crate::plan::{Merging, Plan, SMALLEST_UNIT_BYTES, Shape};

/// Buffers of units: one is read or filled, the other is distributed or written.
///
/// No deadlock: the holder of one buffer waits for nothing that the holder of the other must do
/// first.
pub(super) const UNITS_OF_ONE: usize = 2;

/// Ends of loads that wait for their neighbours to be sorted: two each of those being sorted, and
/// of the loads before and after; and the records that the merge carries.
const ENDS: u64 = 4;

/// The first and the last record of the output twice each, as they are handed on. While loads are
/// sorted, there are no units of the output yet, which take more than the ends of loads.
const ENDS_OF_OUTPUT: u64 = 4;

impl Shape {
    /// Whether records are so large that the smallest unit is one of them, and may be counted. Below that
    /// a plan needs little more than fixed sizes.
    pub(super) fn may_have_one_worker(&self) -> bool {
        self.framing.longest() as u64 > SMALLEST_UNIT_BYTES && !self.is_about
    }
}

impl Given<'_> {
    /// One worker of each stage, and one request of each in flight, unless other numbers are asked for.
    pub(super) fn of_one_worker(mut self) -> Self {
        let Tuning {
            readers,
            distributors,
            sorters,
            writers,
            depth,
            ..
        } = &mut self.tuning;
        for number in [readers, distributors, sorters, writers, depth] {
            number.get_or_insert(1);
        }
        (self.cores, self.is_of_one_worker) = (1, true);
        self
    }
}

impl Plan {
    /// Whether each stage has one worker, with one request in flight.
    pub(super) fn has_one_worker(&self) -> bool {
        [
            self.readers,
            self.distributors,
            self.sorters,
            self.writers,
            self.depth,
        ] == [1; 5]
    }

    /// Records of the input, where one worker counts on their number.
    pub(super) fn counted(&self) -> Option<u64> {
        // Lines are not counted in advance.
        let is_counted = !self.is_about && self.has_one_worker() && self.framing.is_fixed();
        let bytes = self.input_bytes.filter(|_| is_counted)?;
        Some(self.framing.most_in(bytes))
    }

    /// Chunks that take memory, of a pool of `chunks`: each record lies in one chunk.
    pub(super) fn touched(&self, chunks: usize) -> u64 {
        // A record that is partitioned again lies in two chunks for a while.
        let once = self.spilling.is_none() || self.is_one_partition();
        let most = self.counted().filter(|_| once).unwrap_or(u64::MAX);
        most.min(chunks as u64)
    }

    /// The chunks that a merge touches, and the ends of loads and of the output that it keeps. A
    /// record that stays in memory is gathered into a second chunk.
    pub(super) fn touched_by_merge(&self, merging: &Merging) -> (u64, u64) {
        match self.counted().filter(|_| merging.fits(self.units)) {
            Some(records) => {
                let loaded = self.chunks_loaded() as u64;
                (loaded.min(2 * records), ENDS_OF_OUTPUT)
            }
            None => (self.chunks as u64, 2 * self.sorters as u64 + ENDS),
        }
    }

    /// Whether all records are one partition, which is never divided again.
    pub(super) fn is_one_partition(&self) -> bool {
        let Some(records) = self.counted().filter(|_| self.buckets == 1) else {
            return false;
        };
        self.spilling
            .is_none_or(|spilling| records <= spilling.partition_chunks as u64)
    }
}
