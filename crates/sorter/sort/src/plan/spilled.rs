//! How often records are expected to be spilled, and the space that they take on disk.

use super::Plan;
use super::spilling::{CRUMB_BYTES, MOST_TIMES, Spilling, UNEVEN_PERCENT};
use crate::job::SpillLayout;

/// The area of a partition is this part larger than the mean: samples do not divide evenly.
const MORE: u64 = 8;

impl Plan {
    /// How often a record is written before its partition fits in memory, of an input of `bytes`; 0 if
    /// all records stay in memory.
    pub(super) fn times(&self, bytes: u64) -> u32 {
        let Some(spilling) = self.spilling else {
            return 0;
        };
        let fits = spilling.partition_chunks as u128 * u128::from(spilling.chunk_room);
        let largest = |bytes| bytes * u128::from(UNEVEN_PERCENT) / (100 * self.buckets as u128);
        let (mut left, mut times) = (largest(u128::from(bytes)), 1);
        while left > fits && times < MOST_TIMES && !self.is_one_partition() {
            (left, times) = (largest(left), times + 1);
        }
        // Every distributor ends with a chunk of every partition that is not full.
        let full = bytes.div_ceil(spilling.chunk_room.max(1).into());
        let sealed = full.saturating_add((self.distributors * self.buckets) as u64);
        let stays = times == 1 && sealed <= spilling.held as u64;
        if stays { 0 } else { times }
    }

    /// Whether chains are too short to be worth a write when memory is full. The longest goes
    /// first: it is about twice as long as the mean.
    pub(super) fn writes_crumbs(&self) -> bool {
        let chain = |spilling: Spilling| 2 * spilling.held * self.chunk_bytes / self.buckets;
        self.spilling
            .is_some_and(|spilling| chain(spilling) < CRUMB_BYTES)
    }

    /// Whether some partitions will be too large for memory, as far as that is known.
    pub fn divides_again(&self) -> bool {
        self.times_spilled() > 1
    }

    /// How often a record is spilled, in partitions or in runs, as far as that is known.
    pub(crate) fn times_spilled(&self) -> u32 {
        match (self.input_bytes, &self.merging) {
            (None, _) => 1,
            (Some(_), Some(merging)) => self.merges(merging),
            (Some(bytes), None) => self.times(bytes),
        }
    }

    /// Bytes of spill files at most, about; 0 for a pipe, whose length is not known.
    pub(crate) fn temporary_bytes(&self) -> u64 {
        self.with_parity(self.spilled_bytes())
    }

    fn spilled_bytes(&self) -> u64 {
        let Some(input) = self.input_bytes else {
            return 0;
        };
        if let Some(merging) = &self.merging {
            return self.spilled_by_merge(merging, input);
        }
        let Some(spilling) = self.spilling else {
            return 0;
        };
        let full = input.div_ceil(spilling.chunk_room.max(1).into());
        // A chunk of each partition may be half empty for each distributor, and two partitions are
        // read back while others stay.
        let chunks = full + (self.distributors * self.buckets / 2) as u64;
        // While a partition is partitioned again, half of the held chunks may stay.
        let kept = (self.chunks as u64).saturating_sub(2 * full / self.buckets as u64);
        let again = if self.divides_again() { 2 } else { 1 };
        let kept = kept.min(spilling.held as u64 / again);
        if full <= kept {
            return 0;
        }
        let written = (chunks - kept) * self.chunk_bytes as u64;
        let areas = self.area_bytes().unwrap_or(0);
        written.max(areas.saturating_mul(self.buckets as u64))
    }

    /// Bytes of the area of each partition, if they have areas.
    pub(crate) fn area_bytes(&self) -> Option<u64> {
        let spilling = self.spilling?;
        let mean = self.input_bytes.unwrap_or(0) / self.buckets as u64;
        let derived = mean + mean / MORE;
        let is_preallocated = spilling.layout == SpillLayout::Preallocated;
        is_preallocated.then(|| spilling.area_bytes.unwrap_or(derived))
    }
}
