//! Stripes of spill files: their blocks, and the memory for parity.

use super::Plan;
use super::needs::Need;
use crate::records::block::BLOCK_BYTES;

/// Blocks of xFS's prototype (SOSP 1995); parity that lies together is written in one request anyway.
const MOST_BLOCK_BYTES: u64 = 64 << 10;

/// Rows that are begun at both ends of what directories are apart, and one whose parity is being written.
const MORE_ROWS: usize = 3;

/// A directory may be ahead of another by so many of the longest runs: with one alone, a disk waits for each run
/// of another.
pub(crate) const RUNS_AHEAD: u64 = 2;

/// The form of stripes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StripeForm {
    /// Blocks of data in a stripe.
    pub blocks: usize,
    /// Bytes of a block, whole disk blocks.
    pub block_bytes: u64,
}

/// Stripes, and the memory for their parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Striping {
    pub form: StripeForm,
    /// Blocks of memory.
    pub buffers: usize,
}

impl Plan {
    /// The stripes of spill files, if there are some.
    pub(crate) fn striping(&self) -> Option<Striping> {
        let (blocks, run) = (self.stripe?, self.run_chunks()?);
        Some(self.striping_of(blocks, run))
    }

    /// Parity that is in memory: of runs that directories are apart, and of one that is being written.
    fn striping_of(&self, blocks: usize, run: usize) -> Striping {
        let chunk = self.chunk_bytes as u64;
        let block_bytes = (chunk / BLOCK_BYTES * BLOCK_BYTES).clamp(BLOCK_BYTES, MOST_BLOCK_BYTES);
        let data = (RUNS_AHEAD + 1) * run as u64 * chunk;
        let of_data = data.div_ceil(blocks as u64 * block_bytes) as usize;
        let buffers = (of_data + MORE_ROWS) * (blocks + 1);
        let form = StripeForm {
            blocks,
            block_bytes,
        };
        Striping { form, buffers }
    }

    /// Chunks of the longest run of spill files.
    fn run_chunks(&self) -> Option<usize> {
        let merging = self.merging.map(|merging| merging.chain);
        merging.or(self.spilling.map(|spilling| spilling.run))
    }

    pub(super) fn parity(&self) -> Need {
        let bytes = |striping: Striping| striping.buffers as u64 * striping.form.block_bytes;
        let (now, least) = match self.stripe {
            Some(blocks) => (
                self.striping().map_or(0, bytes),
                bytes(self.striping_of(blocks, 1)),
            ),
            None => (0, 0),
        };
        Need::new("parity of stripes", now).at_least(least.min(now))
    }

    /// Bytes of spilled data with their parity. What is partitioned again is in stripes with the rest, whose
    /// space stays.
    pub(super) fn with_parity(&self, bytes: u64) -> u64 {
        let Some(blocks) = self.stripe else {
            return bytes;
        };
        let all = bytes.saturating_add(bytes.div_ceil(blocks as u64));
        let times = self.spilling.map_or(1, |_| self.times_spilled().max(1));
        all.saturating_mul(times.into())
    }
}
