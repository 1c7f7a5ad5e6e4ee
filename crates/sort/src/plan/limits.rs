//! The bounds of the partition buffers.

use super::Plan;
use super::spilling::CHAIN_BYTES;

/// How many chunks may be where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// That may stay while the input is read.
    pub held: usize,
    /// Of one write at most.
    pub run: usize,
    /// Of one write that is not forced, to begin with.
    pub least_run: usize,
    /// Of the pool: what stays must leave room to read any partition back.
    pub pool: usize,
    /// Of a partition that can be sorted in memory: of a larger one nothing stays, since it will be
    /// partitioned again.
    pub partition: usize,
    /// That memory cannot hold for sure, as far as that is known.
    pub excess: usize,
}

impl Limits {
    /// For a sort in one pass: all chunks stay.
    const NOTHING_SPILLS: Limits = Limits {
        held: usize::MAX,
        run: usize::MAX,
        least_run: usize::MAX,
        pool: usize::MAX,
        partition: usize::MAX,
        excess: 0,
    };

    /// Chunks that may stay while a partition is partitioned again.
    pub(crate) fn stays_beside(&self) -> usize {
        self.held / 2
    }

    /// Those of a partition that is partitioned again, while so many chunks stay beside it.
    pub(crate) fn beside(self, staying: usize) -> Limits {
        // All of it is written, so nothing waits for more memory to be needed.
        Limits {
            held: self.held - staying,
            excess: usize::MAX,
            ..self
        }
    }
}

impl Plan {
    /// The bounds of the partition buffers.
    pub(crate) fn limits(&self) -> Limits {
        let Some(spilling) = self.spilling else {
            return Limits::NOTHING_SPILLS;
        };
        let input = self.input_bytes.unwrap_or(0) / self.record_bytes as u64;
        let chunks = input / u64::from(spilling.chunk_records.max(1));
        Limits {
            held: spilling.held,
            run: spilling.run,
            least_run: CHAIN_BYTES as usize / self.chunk_bytes,
            pool: self.chunks,
            partition: spilling.partition_chunks,
            excess: usize::try_from(chunks)
                .unwrap_or(usize::MAX)
                .saturating_sub(self.chunks),
        }
    }
}
