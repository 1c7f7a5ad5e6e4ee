//! What the exchange between nodes does with memory: derived numbers, each with its reason.
//!
//! ```text
//! chunks to send      open: of each rank, of each distributor | on their way to each rank
//! chunks to receive   on their way from each rank             | waiting for a distributor
//! ```

use crate::error::SortError;
use crate::job::ExchangeKind;
use crate::plan::{BLOCK_BYTES, KIB, MIB, Plan};
use crate::records::block::ChunkShape;
use crate::records::block::{FOOTER_BYTES, MARK_BYTES};

/// The exchange takes this part of memory, as long as that makes chunks of a useful size.
const SHARE: u64 = 4;

/// From this size on a link is near its best rate, and a few in flight hide an answer's way.
const LARGEST_CHUNK_BYTES: u64 = MIB;

/// Smaller ones cost more to look after than to carry.
const SMALLEST_CHUNK_BYTES: u64 = 16 * KIB;

/// A rank sends at least so many chunks to each.
const CHUNKS_AT_LEAST: u64 = 8;

/// Chunks on their way to each rank, for which there is memory: one that is sent, one that waits
/// for its turn.
const WINDOW: usize = 2;

/// How many of one rank may be on their way to another. In rounds it is the turn of one at a time,
/// which may have more of what there is for all.
pub fn window(kind: ExchangeKind) -> usize {
    match kind {
        ExchangeKind::Streams => WINDOW,
        ExchangeKind::Rounds => 2 * WINDOW,
    }
}

/// Marks take this part of a chunk.
const MARKS_SHARE: u64 = 32;

/// How a plan exchanges records with other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exchanging {
    /// Bytes of a chunk.
    pub chunk_bytes: usize,
    /// How much goes into one.
    pub shape: ChunkShape,
    /// Chunks of what is sent.
    pub sent: usize,
    /// Of them of each rank, open, waiting or on their way: its fair share.
    pub share: usize,
    /// Chunks of what is received.
    pub received: usize,
    /// Records of a read unit, at most: what a distributor fills chunks from at a time.
    pub unit_records: usize,
    /// Distributors for which that is enough.
    pub distributors: usize,
}

impl Exchanging {
    /// What of so much memory is left beside it.
    pub(crate) fn rest(memory_bytes: u64) -> u64 {
        memory_bytes - memory_bytes / SHARE
    }

    /// Memory of which so much is left beside it.
    pub(crate) fn with_rest(rest: u64) -> u64 {
        (rest * SHARE).div_ceil(SHARE - 1)
    }

    /// # Errors
    /// When it takes more than its part of so much memory: with large records, or very many ranks.
    pub(crate) fn fits(&self, limit: u64) -> Result<(), SortError> {
        let needed = self.bytes() * SHARE;
        let too_little = SortError::TooLittleMemory {
            bytes: None,
            needed,
            limit,
            passes: "an exchange",
        };
        if needed <= limit {
            Ok(())
        } else {
            Err(too_little)
        }
    }

    /// For so many ranks, beside a plan of what each does with its own records.
    pub(crate) fn new(plan: &Plan, ranks: u32, memory_bytes: u64) -> Exchanging {
        // Of a small input every rank gets some chunks all the same, so that all stages work at
        // once.
        let parts = u64::from(ranks) * plan.distributors as u64 * CHUNKS_AT_LEAST;
        // What comes is for a distributor as large as what is read.
        let largest = (plan.unit_bytes as u64).clamp(SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES);
        let few = plan.input_bytes.map_or(u64::MAX, |bytes| bytes / parts);
        let few = few
            .next_multiple_of(BLOCK_BYTES)
            .clamp(SMALLEST_CHUNK_BYTES, largest);
        let halves = |bytes: &u64| {
            let half = (bytes / 2).next_multiple_of(BLOCK_BYTES);
            Some(half).filter(|half| *half >= SMALLEST_CHUNK_BYTES && half < bytes)
        };
        let sizes = std::iter::successors(Some(few), halves);
        let mut all = sizes.map(|bytes| Exchanging::with(plan, ranks as usize, bytes));
        let smallest = Exchanging::with(plan, ranks as usize, SMALLEST_CHUNK_BYTES);
        all.find(|exchanging| exchanging.fits(memory_bytes).is_ok())
            .unwrap_or(smallest)
    }

    /// The same with chunks of a size that suits all ranks.
    pub(crate) fn with_chunks(self, plan: &Plan, ranks: u32, bytes: u64) -> Exchanging {
        Exchanging::with(plan, ranks as usize, bytes)
    }

    fn with(plan: &Plan, ranks: usize, wanted: u64) -> Exchanging {
        let record = plan.record_bytes as u64;
        let marks = if plan.stable {
            (wanted / MARKS_SHARE).max(MARK_BYTES as u64)
        } else {
            0
        };
        let beside = FOOTER_BYTES as u64 + marks;
        let chunk = wanted.max((record + beside).next_multiple_of(BLOCK_BYTES));
        let records = ((chunk - beside) / record) as u32;
        let marks = if plan.stable {
            marks as u32 / MARK_BYTES as u32
        } else {
            u32::MAX
        };
        // As of partitions: one that becomes full and the next, one more if marks may end a chunk,
        // and what a unit fills.
        let each = 2 + usize::from(plan.stable);
        let unit = plan.unit_records / records as usize;
        let open = plan.distributors * (each * ranks + unit + 1);
        // Distributors that wait for one rank hold less of it than that, so some of it is on its
        // way and comes back.
        let share = plan.distributors * (unit + 2) + WINDOW;
        Exchanging {
            chunk_bytes: chunk as usize,
            shape: ChunkShape { records, marks },
            sent: open + WINDOW * ranks,
            share,
            received: WINDOW * ranks + plan.read_queue() + plan.distributors,
            unit_records: plan.unit_records,
            distributors: plan.distributors,
        }
    }

    /// For an exchange alone, of chunks that are full already: as beside one distributor, whose
    /// units fill a chunk.
    pub(crate) fn alone(ranks: u32, chunk_bytes: usize, record_bytes: usize) -> Exchanging {
        let ranks = ranks as usize;
        let records = chunk_bytes.saturating_sub(FOOTER_BYTES) / record_bytes;
        let on_their_way = WINDOW * ranks;
        Exchanging {
            chunk_bytes,
            shape: ChunkShape {
                records: records as u32,
                marks: u32::MAX,
            },
            sent: 2 * ranks + 2 + on_their_way,
            share: 3 + WINDOW,
            received: on_their_way + 3,
            unit_records: records,
            distributors: 1,
        }
    }

    /// Memory of all chunks.
    fn bytes(&self) -> u64 {
        ((self.sent + self.received) * self.chunk_bytes) as u64
    }
}
