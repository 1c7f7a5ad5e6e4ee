//! What a sort that may spill does with its memory: derived numbers, each with its reason.
//!
//! ```text
//! memory of records    open chunks of distributors | being written | held        (phase one)
//!                      partitions that are read back or sorted     | held        (phase two)
//! ```
//!
//! Partitions are many, so that each fits beside others when it is read back, and so few that a
//! chain is worth a write when memory is full.

use crate::job::{Resources, Tuning};
use crate::plan::tight::tight;
use crate::plan::{
    BUCKET_BYTES, LARGEST_OF_MEAN, MIB, Plan, Shape, UNIT_BYTES, WRITERS, useful_workers,
};
use crate::records::block::BLOCK_BYTES;
use crate::records::block::ChunkShape;
use crate::records::block::{FOOTER_BYTES, MARK_BYTES};
use crate::records::contents::Workspace;

/// Read units take this part of memory at most; of them there are some eight.
const UNIT_SHARE: u64 = 64;
const SMALLEST_UNIT_BYTES: u64 = 64 << 10;

/// A chain of this size when memory is full makes writes that reach the disk's rate.
pub(super) const CHAIN_BYTES: u64 = MIB;

const SMALLEST_CHUNK_BYTES: u64 = BLOCK_BYTES;
const LARGEST_CHUNK_BYTES: u64 = 64 << 10;

/// Shorter chains than this cost more than writing all records once more: a disk that moves 1.8
/// GB/s moves 0.1 in writes of 4 KiB, four in flight, and 0.3 in writes of 16 KiB (`gristmill-bench
/// disk`).
pub(super) const CRUMB_BYTES: usize = 16 << 10;

/// Shorter chains take longer on their way than on the disk: of them more are in flight.
const SMALL_CHAIN_BYTES: usize = 256 << 10;
const SMALL_CHAINS: usize = 6;

/// Distributors may have this part of memory open: it is kept for the case that all chunks become
/// full at once, so it should be small; but smaller chunks cost more to look after.
const OPEN_SHARE: u64 = 8;

/// Partitions come out so much larger than their mean, at times, as a sample divides them. Of some
/// hundreds with 64 samples each, the largest is larger by a third, and in one sort of a thousand
/// by more than this.
pub(super) const UNEVEN_PERCENT: u64 = 160;

/// More partitions than that cost more to look through than they save.
const MOST_PARTITIONS: usize = 4096;

/// A pipe is as long as it is: enough partitions for so many times the memory, before some of them
/// must be partitioned again.
const PIPE_TIMES_MEMORY: u64 = 32;

/// More times nobody waits for.
pub(super) const MOST_TIMES: u32 = 8;

/// Sizes of the pool that are tried before it is known to a chunk.
const STEPS: usize = 64;

/// The sample of a partition takes this part of the chunks' memory, and no more than that.
const RESAMPLE_SHARE: u64 = 8;
const MOST_RESAMPLED_BYTES: u64 = 4 * MIB;

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
    /// Temporary directories.
    pub directories: usize,
    /// Workers of each directory that spill.
    pub spillers: usize,
    /// Writes in flight of each.
    pub depth: usize,
}

impl Spilling {
    /// How much goes into a chunk that may be spilled.
    pub(crate) fn chunk_shape(&self) -> ChunkShape {
        ChunkShape {
            records: self.chunk_records,
            marks: self.chunk_marks,
        }
    }

    /// Write tokens of each directory: of its writes in flight, and of one that waits for each
    /// spiller.
    pub(crate) fn tokens(&self) -> usize {
        self.spillers * (self.depth + 1)
    }
}

impl Plan {
    /// A plan for any input, if there is memory for one on so many cores; and how many times of
    /// spilling what memory does not hold it is worth.
    pub(super) fn spilling(
        shape: &Shape,
        given: &Resources,
        (tuning, is_tight): (&Tuning, bool),
    ) -> Option<(u32, Plan)> {
        let (record, cores) = (shape.record_bytes as u64, given.cores as u64);
        let tuning = &if is_tight { tight(tuning) } else { *tuning };
        let plan = Plan {
            tight: is_tight,
            ..Plan::before_spilling(shape, given, tuning)
        };
        // Sorting takes a part of what the records do; a record's mark a part of that.
        let marks = if shape.stable {
            record / MARKS_SHARE
        } else {
            0
        };
        let each = record + Workspace::bytes(1).min(record * 4) * cores / (cores + 2) + marks;
        let free = match given.memory_bytes.checked_sub(plan.needed()) {
            // One partition needs less than is needed before that is known.
            None if is_tight => 0,
            free => free?,
        };
        let pool = free / each * record;
        let bytes = plan
            .input_bytes
            .unwrap_or(pool.saturating_mul(PIPE_TIMES_MEMORY));
        let with = |partitions| {
            let plan = plan.clone().with_partitions(partitions, pool, tuning);
            let plan = plan.fill(given.memory_bytes, tuning)?;
            Some((plan.times(bytes) + u32::from(plan.writes_crumbs()), plan))
        };
        if let Some(partitions) = tuning.buckets {
            return with(partitions);
        }
        // A chain should be worth a write when memory is full, a partition fit a core's cache.
        let wanted = (pool / CHAIN_BYTES).min(bytes / BUCKET_BYTES) as usize;
        let tried = numbers_of_partitions().filter_map(with);
        let tried = tried.filter(|(times, _)| *times < MOST_TIMES);
        tried.min_by_key(|(times, plan)| {
            let (short, more) = (
                wanted.saturating_sub(plan.buckets),
                plan.buckets.saturating_sub(wanted),
            );
            (*times, short, more)
        })
    }

    /// The plan but for its partitions and chunks.
    fn before_spilling(shape: &Shape, given: &Resources, tuning: &Tuning) -> Plan {
        let record = shape.record_bytes as u64;
        let mut plan = Plan::derive(shape, given, tuning);
        let unit = (given.memory_bytes / UNIT_SHARE).clamp(SMALLEST_UNIT_BYTES, UNIT_BYTES);
        if tuning.unit_records.is_none() {
            plan.unit_records = plan.unit_records.min((unit / record).max(1) as usize);
        }
        let unit_bytes = plan.unit_records as u64 * record;
        plan.units = shape.units(plan.unit_records);
        plan.unit_bytes = unit_bytes.next_multiple_of(BLOCK_BYTES) as usize;
        plan.distributors = tuning
            .distributors
            .unwrap_or(useful_workers(plan.units, given.cores));
        plan.sorters = tuning.sorters.unwrap_or(given.cores);
        (plan.chunks, plan.buckets, plan.samples) = (0, 1, 0);
        plan.spilling = Some(Spilling {
            held: 0,
            run: 0,
            chunk_records: 1,
            chunk_marks: 0,
            partition_chunks: 0,
            directories: shape.temporary.max(1),
            // Several directories are several disks, which work at once.
            spillers: tuning
                .writers
                .unwrap_or(if shape.temporary > 1 { 1 } else { WRITERS }),
            depth: plan.depth,
        });
        plan
    }

    /// So many partitions, and chunks as for a pool of about that size.
    fn with_partitions(mut self, partitions: usize, pool: u64, tuning: &Tuning) -> Plan {
        let record = self.record_bytes as u64;
        self.buckets = partitions;
        let open = pool / OPEN_SHARE / (2 * (self.distributors * self.buckets) as u64);
        let chunk = open.clamp(SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES);
        let chunk = tuning
            .chunk_bytes
            .map_or(chunk, |bytes| (bytes as u64).next_multiple_of(BLOCK_BYTES));
        let marks = if self.stable {
            (chunk / MARKS_SHARE).max(MARK_BYTES as u64)
        } else {
            0
        };
        let beside = FOOTER_BYTES as u64 + marks;
        let least = (record + beside).next_multiple_of(BLOCK_BYTES);
        let chunk = (chunk - chunk % BLOCK_BYTES).max(least);
        self.chunk_bytes = chunk as usize;
        self.samples =
            super::samples(self.input_bytes.unwrap_or(0), self.buckets as u64, record) as usize;
        let spilling = self.spilling.as_mut().expect("the plan is one that spills");
        spilling.chunk_records = ((chunk - beside) / record) as u32;
        spilling.chunk_marks = if self.stable {
            marks as u32 / MARK_BYTES as u32
        } else {
            u32::MAX
        };
        self
    }

    /// Takes as many chunks as there is memory for, and divides them.
    fn fill(self, limit: u64, tuning: &Tuning) -> Option<Plan> {
        if let Some(chunks) = tuning.chunks {
            return self
                .divided(chunks, tuning)
                .filter(|plan| plan.needed() <= limit);
        }
        let beside = self.open_chunks() + self.spills_under_way() + 1;
        let most = self.enough_for_all(beside).unwrap_or_else(|| {
            ((limit / self.chunk_bytes as u64) as usize + 1).min(self.enough_chunks())
        });
        let with = |chunks| {
            self.clone()
                .divided(chunks, tuning)
                .filter(|plan| plan.needed() <= limit)
        };
        // Very few chunks make so many runs that their lists take more than the chunks give.
        let step = most.div_ceil(STEPS);
        let mut chunks = (0..STEPS).map(|number| most.saturating_sub(number * step));
        let mut best = chunks.find_map(with)?;
        let (mut low, mut high) = (best.chunks, best.chunks + step);
        while low + 1 < high {
            let middle = low.midpoint(high);
            match with(middle) {
                Some(better) => (low, best) = (middle, better),
                None => high = middle,
            }
        }
        Some(best)
    }

    /// More chunks than that would never be used, were the input twice as long as it is said to be:
    /// of one node of several its length is an estimate.
    fn enough_chunks(&self) -> usize {
        let records = self
            .spilling
            .map_or(1, |spilling| u64::from(spilling.chunk_records));
        let Some(input) = self.input_bytes else {
            return usize::MAX;
        };
        let full = (input / self.record_bytes as u64).div_ceil(records);
        let beside = 2 * (self.open_chunks() + self.spills_under_way());
        usize::try_from(4 * full)
            .unwrap_or(usize::MAX)
            .saturating_add(beside + STEPS)
    }

    /// Chunks that distributors may have at a time: two of each partition (one that becomes full
    /// and the next), one more if marks may end a chunk, and what a unit fills; and when a
    /// partition is partitioned again, chunks that wait or are looked at.
    fn open_chunks(&self) -> usize {
        let records = self.spilling.map_or(1, |spilling| spilling.chunk_records) as usize;
        let each = 2 + usize::from(self.stable);
        let input = self.read_queue() + self.distributors;
        self.distributors * (each * self.buckets + self.unit_records / records + 1) + input
    }

    /// Writes that wait or are in flight, and reads of a partition that is partitioned again.
    fn spills_under_way(&self) -> usize {
        let writes = |spilling: Spilling| spilling.directories * spilling.tokens();
        self.spilling.map_or(0, writes) + self.depth + 1
    }

    /// Bytes of the sample of a partition that is partitioned again.
    pub(super) fn resample_bytes(&self) -> u64 {
        if self.is_one_partition() {
            return 0;
        }
        let share = (self.chunks * self.chunk_bytes) as u64 / RESAMPLE_SHARE;
        let two = 2 * self.record_bytes as u64;
        self.spilling
            .map_or(0, |_| share.min(MOST_RESAMPLED_BYTES).max(two))
    }

    /// Records of that sample, at most.
    pub(crate) fn most_resampled(&self) -> usize {
        self.resample_bytes() as usize / self.record_bytes
    }

    /// Chunks of a partition that is as large as they come, as far as that is known: room to sort a
    /// larger one would hardly ever be used.
    fn largest_partition(&self) -> usize {
        let records = self
            .spilling
            .map_or(1, |spilling| u64::from(spilling.chunk_records));
        let Some(input) = self.input_bytes else {
            return usize::MAX;
        };
        let mean = (input / self.record_bytes as u64).div_ceil(records * self.buckets as u64);
        // Small ones differ by more.
        let least = BUCKET_BYTES / self.chunk_bytes as u64;
        usize::try_from((LARGEST_OF_MEAN * mean).max(least)).unwrap_or(usize::MAX)
    }

    /// Divides so many chunks, if they are enough.
    fn divided(mut self, chunks: usize, tuning: &Tuning) -> Option<Plan> {
        let left = chunks.checked_sub(self.open_chunks())?;
        let (chain, depth) = (2 * left / self.buckets * self.chunk_bytes, self.depth);
        let spilling = self.spilling.as_mut()?;
        let is_small = tuning.depth.is_none() && chain < SMALL_CHAIN_BYTES;
        spilling.depth = if is_small {
            depth.max(SMALL_CHAINS)
        } else {
            depth
        };
        let under_way = self.spills_under_way();
        let run = (UNIT_BYTES as usize / self.chunk_bytes)
            .min(left / 4 / under_way)
            .max(1);
        let held = left.checked_sub(run * under_way).filter(|held| *held > 0)?;
        // Beside the only partition no other is read back or sorted.
        let at_once = if self.tight && self.buckets == 1 {
            1
        } else {
            self.sorters + 2
        };
        let partition_chunks = (chunks / at_once).min(self.largest_partition()).max(1);
        self.chunks = chunks;
        let spilling = self.spilling.as_mut()?;
        (spilling.held, spilling.run) = (held, run);
        spilling.partition_chunks = partition_chunks;
        Some(self)
    }
}

/// Numbers of partitions to choose from: each about a quarter more than the one before.
fn numbers_of_partitions() -> impl Iterator<Item = usize> {
    let next = |&number: &usize| Some(number + (number / 4).max(1));
    std::iter::successors(Some(1), next).take_while(|&number| number <= MOST_PARTITIONS)
}
