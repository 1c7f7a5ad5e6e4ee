//! The sizes of pools and queues, and why none of them deadlocks.

use node::Filled;

use crate::plan::Plan;
use crate::plan::one_worker::UNITS_OF_ONE;
use crate::records::block::BLOCK_BYTES;

/// Bytes that a loader has in flight per directory, and the most requests for them.
const LOADED_BYTES: usize = 32 << 20;
const MOST_LOADS: usize = 16;

impl Plan {
    /// How often the buffers of a pool of that size are filled. In a sort that memory holds, the
    /// chunks are filled once, and units a few times if the input is small.
    pub(crate) fn filled(&self, pool_bytes: usize) -> Filled {
        // Units of 1M records are filled 7 times, and huge pages for them would not pay; those of
        // 100M are filled 667 times, and small pages cost 5 % (docs/decisions/0022).
        const FEW: u64 = 32;
        let memory = (self.chunks * self.chunk_bytes) as u64;
        let most = memory.min(FEW * pool_bytes as u64);
        match self.input_bytes {
            Some(input) if self.merging.is_none() && input <= most => Filled::Once,
            _ => Filled::Often,
        }
    }

    /// Bytes of a unit's buffer: a unit, the disk blocks around it when it is read, the record that
    /// reaches beyond it when it is written.
    pub fn buffer_bytes(&self) -> usize {
        let block = BLOCK_BYTES as usize;
        let record = self.framing.longest().next_multiple_of(block);
        self.unit_bytes + record.max(2 * block)
    }

    /// Buffers of units: first the input's, then, after all of it has been read, the output's.
    ///
    /// Reading takes each reader's requests in flight, one that each distributor works on, and as
    /// many that wait. No deadlock: readers hold buffers only while their requests run, and
    /// distributors return theirs without waiting for anything but the partition buffers. Those
    /// wait for write tokens alone, which spillers return when their disks have written.
    ///
    /// Writing takes one that each sorter fills, one that waits, and each writer's in flight. No
    /// deadlock: a sorter that waits for one holds none; a sorter that holds one waits for nothing
    /// but seam buffers and the writers, and a writer waits for a new piece only when it has
    /// returned every buffer that has been written.
    ///
    /// Parked workers hold none, and fewer requests in flight need fewer.
    pub fn buffers(&self) -> usize {
        if self.has_one_worker() {
            return UNITS_OF_ONE;
        }
        let distributors = self.distributors.max(self.node_distributors);
        let reading = self.readers * self.depth + 2 * distributors;
        let writing = 2 * self.sorters + self.writers * self.depth;
        // More than the input has units would never be used; one more is enough for the output.
        let units = usize::try_from(self.units).unwrap_or(usize::MAX);
        let buffers = reading.max(writing).min(units.saturating_add(1));
        assert!(
            buffers >= 2,
            "a pipe's first blocks are held while the next one is read"
        );
        buffers
    }

    /// Buffers for disk blocks in which buckets meet.
    ///
    /// No deadlock: the buckets of each file that is written are begun in order. So an incomplete
    /// block touches a bucket in work (two ends each), or lies before the first bucket of its file
    /// that is not begun, or is the first of a part of a file, which another rank completes. Several
    /// loaders begin buckets in any order: then each of as many as are planned may have one before it.
    /// In addition each sorter holds one that it may not need, and the rest are with the writers, who
    /// return them.
    pub fn seam_buffers(&self) -> usize {
        let open = 2 * self.sorters + self.outputs + 1 + self.out_of_order();
        let writing = self.writers * self.depth;
        let buffers = open + self.sorters + self.write_queue() + writing;
        assert!(buffers > open, "a seam can always be begun");
        buffers
    }

    /// Buckets that may be begun before others of their file.
    pub(super) fn out_of_order(&self) -> usize {
        let several = self.spilling.is_some_and(|spilling| spilling.loaders > 1);
        if several { self.buckets } else { 0 }
    }

    /// Blocks that wait for a distributor.
    pub fn read_queue(&self) -> usize {
        self.distributors
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

    /// Pieces that wait for a writer.
    pub fn write_queue(&self) -> usize {
        2 * self.sorters
    }
}
