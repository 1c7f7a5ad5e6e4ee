//! Plans of the exchange between nodes: its chunks, which take a part of each rank's memory.
//!
//! ```text
//! chunks to send      open: of each rank, of each distributor | on their way to each rank
//! chunks to receive   on their way from each rank             | waiting for a distributor
//! ```

use crate::error::SortError;
use crate::job::ExchangeKind;
use crate::plan::{BLOCK_BYTES, KIB, MIB, Plan};
use crate::records::block::{ChunkShape, FOOTER_BYTES};
use crate::records::framing::Framing;

/// The exchange takes this part of memory, as long as that makes chunks of a useful size.
const SHARE: u64 = 4;

/// From this size on a link is near its best rate, and a few in flight hide the time of an answer.
const LARGEST_SENT_CHUNK_BYTES: u64 = MIB;

/// Smaller chunks cost more to look after than to send.
const SMALLEST_SENT_CHUNK_BYTES: u64 = 16 * KIB;

/// Chunks that a rank sends to each rank at least, so that all stages work at once.
const CHUNKS_AT_LEAST: u64 = 8;

/// Chunks on their way to each rank: one is sent, one waits for its turn.
const WINDOW: usize = 2;

/// Chunks that may be on their way from one rank to another. In rounds a rank sends to one at a
/// time, which may have more of the chunks of all.
pub fn window(kind: ExchangeKind) -> usize {
    match kind {
        ExchangeKind::Streams => WINDOW,
        ExchangeKind::Rounds => 2 * WINDOW,
    }
}

/// Numbers of an exchange of records between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exchanging {
    pub chunk_bytes: usize,
    /// Capacity of a chunk.
    pub shape: ChunkShape,
    /// Chunks of the pool for sending.
    pub sent: usize,
    /// Chunks of that pool that one rank may have open, waiting or on their way.
    pub share: usize,
    /// Chunks of the pool for receiving.
    pub received: usize,
    /// Bytes of a read unit at most, from which a distributor fills chunks at a time.
    pub read_bytes: usize,
    /// Distributors to partitions that the pools suffice for.
    pub distributors: usize,
    /// Distributors to ranks, likewise.
    pub node_distributors: usize,
    /// Bytes of the notes of each.
    pub classifying: u64,
}

impl Exchanging {
    /// Bytes of that much memory that an exchange leaves to the rest of the sort.
    pub(crate) fn rest(memory_bytes: u64) -> u64 {
        memory_bytes - memory_bytes / SHARE
    }

    /// The memory limit with which an exchange leaves `rest` bytes.
    pub(crate) fn with_rest(rest: u64) -> u64 {
        (rest * SHARE).div_ceil(SHARE - 1)
    }

    /// Bytes of its chunks.
    fn bytes(&self) -> u64 {
        ((self.sent + self.received) * self.chunk_bytes) as u64
    }

    /// Bytes of all that it takes.
    pub(crate) fn all_bytes(&self) -> u64 {
        self.bytes() + self.node_distributors as u64 * self.classifying
    }

    /// # Errors
    /// `TooLittleMemory` if its chunks take more than its part of `limit` bytes, with large records
    /// or very many ranks.
    pub(crate) fn fits(&self, limit: u64) -> Result<(), SortError> {
        let needed = self.bytes() * SHARE;
        if needed <= limit {
            return Ok(());
        }
        Err(SortError::TooLittleMemory {
            bytes: None,
            needed,
            limit,
            passes: "an exchange",
        })
    }

    /// An exchange among that many ranks, each of which sorts its own range by `plan`.
    pub(crate) fn new(plan: &Plan, ranks: u32, memory_bytes: u64) -> Exchanging {
        let parts = u64::from(ranks) * plan.node_distributors as u64 * CHUNKS_AT_LEAST;
        // A received chunk is a unit of a distributor, like one that is read.
        let largest =
            (plan.unit_bytes as u64).clamp(SMALLEST_SENT_CHUNK_BYTES, LARGEST_SENT_CHUNK_BYTES);
        let few = plan.input_bytes.map_or(u64::MAX, |bytes| bytes / parts);
        let few = few
            .next_multiple_of(BLOCK_BYTES)
            .clamp(SMALLEST_SENT_CHUNK_BYTES, largest);
        let few = plan.sent_bytes.map_or(few, |bytes| bytes as u64);
        let halves = |bytes: &u64| {
            let half = (bytes / 2).next_multiple_of(BLOCK_BYTES);
            Some(half).filter(|half| *half >= SMALLEST_SENT_CHUNK_BYTES && half < bytes)
        };
        let sizes = std::iter::successors(Some(few), halves);
        let mut all = sizes.map(|bytes| Exchanging::with(plan, ranks as usize, bytes));
        let smallest = Exchanging::with(plan, ranks as usize, SMALLEST_SENT_CHUNK_BYTES);
        all.find(|exchanging| exchanging.fits(memory_bytes).is_ok())
            .unwrap_or(smallest)
    }

    /// This exchange with chunks of a size that suits all ranks.
    pub(crate) fn with_chunks(self, plan: &Plan, ranks: u32, bytes: u64) -> Exchanging {
        Exchanging::with(plan, ranks as usize, bytes)
    }

    fn with(plan: &Plan, ranks: usize, wanted: u64) -> Exchanging {
        let (chunk, shape) = plan.sealed(wanted);
        // Distributors that wait for one rank hold fewer of its chunks than that, so some are on
        // their way and come back.
        let share = plan.node_distributors * (plan.unit_chunks(shape) + 2) + WINDOW;
        Exchanging {
            chunk_bytes: chunk as usize,
            shape,
            sent: plan.open_chunks((ranks, plan.node_distributors), shape) + WINDOW * ranks,
            share,
            received: WINDOW * ranks + plan.read_queue() + plan.distributors,
            read_bytes: plan.read_bytes,
            distributors: plan.distributors,
            node_distributors: plan.node_distributors,
            classifying: plan.classifying(),
        }
    }

    /// An exchange alone, of chunks that are full already, as if one distributor had units that
    /// fill a chunk.
    pub(crate) fn alone(ranks: u32, chunk_bytes: usize, framing: Framing) -> Exchanging {
        let ranks = ranks as usize;
        let room = framing.whole(chunk_bytes.saturating_sub(FOOTER_BYTES) as u64);
        let on_their_way = WINDOW * ranks;
        Exchanging {
            chunk_bytes,
            shape: ChunkShape {
                room: room as u32,
                marks: u32::MAX,
            },
            sent: 2 * ranks + 2 + on_their_way,
            share: 3 + WINDOW,
            received: on_their_way + 3,
            read_bytes: room as usize,
            distributors: 1,
            node_distributors: 1,
            classifying: 0,
        }
    }
}
