//! The bounds of the partition buffers.

use super::Plan;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Chunks that may stay while the input is read.
    pub held: usize,
    /// Chunks of one write at most.
    pub run: usize,
    /// Chunks of a write that is not forced at least: to begin with, and after all growth.
    pub least_run: [usize; 2],
    /// Chunks of the pool: the chunks that stay must leave room to read any partition back.
    pub pool: usize,
    /// Chunks of a partition that can be sorted in memory. None of a larger one stay, since it will
    /// be partitioned again.
    pub partition: usize,
    /// Chunks of the input that exceed the pool, as far as that is known.
    pub excess: usize,
}

impl Limits {
    /// All chunks stay, as in one pass.
    const NOTHING_SPILLS: Limits = Limits {
        held: usize::MAX,
        run: usize::MAX,
        least_run: [usize::MAX; 2],
        pool: usize::MAX,
        partition: usize::MAX,
        excess: 0,
    };

    /// Chunks that may stay while a partition is partitioned again.
    pub(crate) fn stays_beside(&self) -> usize {
        self.held / 2
    }

    /// The bounds of a partition that is partitioned again while `staying` chunks of others stay.
    pub(crate) fn beside(self, staying: usize) -> Limits {
        // All of it is written, so no write waits until memory is full.
        Limits {
            held: self.held - staying,
            excess: usize::MAX,
            ..self
        }
    }
}

impl Plan {
    pub(crate) fn limits(&self) -> Limits {
        let Some(spilling) = self.spilling else {
            return Limits::NOTHING_SPILLS;
        };
        let least = spilling.least_write_bytes / self.chunk_bytes;
        let most = if spilling.grows { spilling.run } else { least };
        let chunks = self.input_bytes.unwrap_or(0) / u64::from(spilling.chunk_room.max(1));
        Limits {
            held: spilling.held,
            run: spilling.run,
            least_run: [least, most],
            pool: self.chunks,
            partition: spilling.partition_chunks,
            excess: usize::try_from(chunks)
                .unwrap_or(usize::MAX)
                .saturating_sub(self.chunks),
        }
    }
}
