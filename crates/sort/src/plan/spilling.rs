//! What a sort that may spill does with its memory: derived numbers, each with its reason.
//!
//! ```text
//! memory of records    open chunks of distributors | being written | held        (phase one)
//!                      partitions that are read back or sorted     | held        (phase two)
//! ```
//!
//! Partitions are many, so that each fits beside others when it is read back, and so few that a chain is
//! worth a write when memory is full.

use super::needs::RUN_BYTES;
use super::{BUCKET_BYTES, MIB, Plan, Shape, UNIT_BYTES, WRITERS, useful_workers};
use crate::block::{FOOTER_BYTES, MARK_BYTES};
use crate::contents::Workspace;
use crate::input::BLOCK_BYTES;
use crate::job::{Resources, Tuning};
use crate::stages::ChunkShape;

/// Read units take this part of memory at most; of them there are some eight.
const UNIT_SHARE: u64 = 64;
const SMALLEST_UNIT_BYTES: u64 = 64 << 10;

/// A chain of this size when memory is full makes writes that reach the disk's rate.
const CHAIN_BYTES: u64 = MIB;

const SMALLEST_CHUNK_BYTES: u64 = BLOCK_BYTES;
const LARGEST_CHUNK_BYTES: u64 = 64 << 10;

/// Distributors may have this part of memory open.
const OPEN_SHARE: u64 = 4;

/// Partitions come out so much larger than their mean, at times, as a sample divides them.
const UNEVEN_PERCENT: u64 = 150;

/// More partitions than that cost more to look through than they save.
const MOST_PARTITIONS: u64 = 4096;

/// A pipe is as long as it is: enough partitions for so many times the memory, before some of them must be
/// partitioned again.
const PIPE_TIMES_MEMORY: u64 = 32;

/// Lists of runs may take this part of the memory of records.
const RUNS_SHARE: u64 = 8;

/// More times nobody waits for.
const MOST_TIMES: u32 = 8;

/// Marks take this part of a chunk.
const MARKS_SHARE: u64 = 32;

/// How a plan spills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spilling {
    /// Chunks that may stay in memory while the input is read.
    pub held: usize,
    /// Chunks of one write at most.
    pub run: usize,
    /// Records of a chunk at most.
    pub chunk_records: u32,
    /// Marks of a chunk at most.
    pub chunk_marks: u32,
    /// Chunks of a partition that can be sorted in memory.
    pub partition_chunks: usize,
    /// Workers that spill.
    pub spillers: usize,
}

impl Spilling {
    /// How much goes into a chunk that may be spilled.
    pub(crate) fn chunk_shape(&self) -> ChunkShape {
        ChunkShape { records: self.chunk_records, marks: self.chunk_marks }
    }

    /// Chains that wait for a spiller.
    pub(crate) fn queue(&self) -> usize {
        self.spillers
    }
}

impl Plan {
    /// A plan for any input, if there is memory for one on so many cores.
    pub(super) fn spilling(shape: &Shape, given: &Resources, tuning: &Tuning) -> Option<Plan> {
        let (record, cores) = (shape.record_bytes as u64, given.cores as u64);
        let mut plan = Plan::derive(shape, given, tuning);
        let unit = (given.memory_bytes / UNIT_SHARE).clamp(SMALLEST_UNIT_BYTES, UNIT_BYTES);
        if tuning.unit_records.is_none() {
            plan.unit_records = plan.unit_records.min((unit / record).max(1) as usize);
        }
        let unit_bytes = plan.unit_records as u64 * record;
        plan.units =
            shape.records.map_or(u64::MAX, |all| all.div_ceil(plan.unit_records as u64)).max(1);
        plan.unit_bytes = unit_bytes.next_multiple_of(BLOCK_BYTES) as usize;
        plan.distributors = tuning.distributors.unwrap_or(useful_workers(plan.units, given.cores));
        plan.sorters = tuning.sorters.unwrap_or(given.cores);
        (plan.chunks, plan.buckets, plan.samples) = (0, 1, 0);
        plan.spilling = Some(Spilling {
            held: 0,
            run: 0,
            chunk_records: 1,
            chunk_marks: 0,
            partition_chunks: 0,
            spillers: tuning.writers.unwrap_or(WRITERS),
        });
        // Sorting takes a part of what the records do; a record's mark a part of that.
        let marks = if shape.stable { record / MARKS_SHARE } else { 0 };
        let each = record + Workspace::bytes(1).min(record * 4) * cores / (cores + 2) + marks;
        let free = given.memory_bytes.checked_sub(plan.needed())?;
        let pool = free / each * record;
        plan.buckets = tuning.buckets.unwrap_or_else(|| partitions(shape, pool, &plan) as usize);
        let open = pool / OPEN_SHARE / (2 * (plan.distributors * plan.buckets) as u64);
        let chunk = open.clamp(SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES);
        let chunk = tuning.chunk_bytes.map_or(chunk, |bytes| bytes as u64);
        let marks = if shape.stable { (chunk / MARKS_SHARE).max(MARK_BYTES as u64) } else { 0 };
        let beside = FOOTER_BYTES as u64 + marks;
        let chunk = chunk.max(record + beside).next_multiple_of(BLOCK_BYTES);
        plan.chunk_bytes = chunk as usize;
        plan.samples =
            super::samples(plan.input_bytes.unwrap_or(0), plan.buckets as u64, record) as usize;
        let spilling = plan.spilling.as_mut().expect("set above");
        spilling.chunk_records = ((chunk - beside) / record) as u32;
        spilling.chunk_marks =
            if shape.stable { marks as u32 / MARK_BYTES as u32 } else { u32::MAX };
        plan.fill(given.memory_bytes, tuning)
    }

    /// Takes as many chunks as there is memory for, and divides them.
    fn fill(self, limit: u64, tuning: &Tuning) -> Option<Plan> {
        let free = limit.checked_sub(self.needed())?;
        let (mut low, mut high) = (0, (free / self.chunk_bytes as u64) as usize + 1);
        while low + 1 < high {
            let chunks = low.midpoint(high);
            let fits = self.clone().divided(chunks).is_some_and(|plan| plan.needed() <= limit);
            (low, high) =
                if fits || chunks < self.least_chunks() { (chunks, high) } else { (low, chunks) };
        }
        self.divided(tuning.chunks.unwrap_or(low)).filter(|plan| plan.needed() <= limit)
    }

    /// Chunks that distributors may have at a time: two of each partition (one that becomes full and the
    /// next), one more if marks may end a chunk, and what a unit fills; and when a partition is partitioned
    /// again, chunks that wait or are looked at.
    fn open_chunks(&self) -> usize {
        let records = self.spilling.map_or(1, |spilling| spilling.chunk_records) as usize;
        let each = 2 + usize::from(self.stable);
        let input = self.read_queue() + self.distributors;
        self.distributors * (each * self.buckets + self.unit_records / records + 1) + input
    }

    /// Writes that wait or are in flight, and reads of a partition that is partitioned again.
    fn spills_under_way(&self) -> usize {
        let writes = |spilling: Spilling| spilling.queue() + spilling.spillers * self.depth + 1;
        self.spilling.map_or(0, writes) + self.depth + 1
    }

    fn least_chunks(&self) -> usize {
        self.open_chunks() + self.spills_under_way() + 1
    }

    /// Divides so many chunks, if they are enough.
    fn divided(mut self, chunks: usize) -> Option<Plan> {
        let (open, under_way) = (self.open_chunks(), self.spills_under_way());
        let left = chunks.checked_sub(open)?;
        let run = (UNIT_BYTES as usize / self.chunk_bytes).min(left / 4 / under_way).max(1);
        let held = left.checked_sub(run * under_way).filter(|held| *held > 0)?;
        let partition_chunks = (chunks / (self.sorters + 2)).max(1);
        self.chunks = chunks;
        let spilling = self.spilling.as_mut()?;
        (spilling.held, spilling.run) = (held, run);
        spilling.partition_chunks = partition_chunks;
        Some(self)
    }
}

/// How many partitions: enough for each to fit in memory, or if they would be too many, so many that those
/// of a second or third time do; more if chains are long enough.
fn partitions(shape: &Shape, pool: u64, plan: &Plan) -> u64 {
    let record = shape.record_bytes as u64;
    let bytes = shape.records.map_or(pool.saturating_mul(PIPE_TIMES_MEMORY), |all| all * record);
    let fits = pool / (plan.sorters as u64 + 2);
    let needed = (bytes.saturating_mul(UNEVEN_PERCENT) / 100).div_ceil(fits.max(1));
    let chains = (pool / CHAIN_BYTES).min(bytes / BUCKET_BYTES);
    let smallest =
        SMALLEST_CHUNK_BYTES.max(record + FOOTER_BYTES as u64).next_multiple_of(BLOCK_BYTES);
    let open = pool / OPEN_SHARE / (2 * plan.distributors as u64 * smallest);
    // Runs of twice a mean chain must not fill memory with their list.
    let runs = (pool / RUNS_SHARE / RUN_BYTES).max(1);
    let listed = pool / (bytes / runs).max(1);
    let most = open.min(listed).clamp(1, MOST_PARTITIONS);
    let at_once = needed.max(chains);
    if at_once <= most {
        return at_once.max(1);
    }
    // As few times as can be, with as many partitions each time.
    let root = |times: u32| (2..most).find(|root| root.saturating_pow(times) >= needed);
    (2..MOST_TIMES).find_map(root).unwrap_or(most)
}
