//! Plans of two passes: partitions, which are spilled when memory is full.
//!
//! ```text
//! memory of records    open chunks of distributors | being written | held        (phase one)
//!                      partitions that are read back or sorted     | held        (phase two)
//! ```
//!
//! There are enough partitions for several to fit in memory when they are read back, and few enough
//! for a chain to be worth a write when memory is full. Their number is chosen from a short list: with each,
//! the needs say how many chunks fit, and those say how often a record is spilled.

use std::iter::successors;

use crate::job::SpillLayout;
use crate::plan::needs::filled;
use crate::plan::one_pass::{samples, wanted_buckets};
use crate::plan::sealed::MARKS_SHARE;
use crate::plan::search::Given;
use crate::plan::{BUCKET_BYTES, LARGEST_OF_MEAN, MIB, Plan, UNIT_BYTES};
use crate::records::block::{BLOCK_BYTES, ChunkShape, MOST_CHUNKS_OF_RUN};
use crate::records::contents::Workspace;

/// A chain of this size when memory is full makes writes that reach the disk's rate.
pub(super) const CHAIN_BYTES: u64 = MIB;

const SMALLEST_SPILLED_CHUNK_BYTES: u64 = BLOCK_BYTES;
const LARGEST_SPILLED_CHUNK_BYTES: u64 = 64 << 10;

/// Shorter chains than this cost more than writing all records once more: a disk that moves 1.8
/// GB/s moves 0.1 in writes of 4 KiB, four in flight, and 0.3 in writes of 16 KiB (`gristmill-bench
/// disk`).
pub(super) const CRUMB_BYTES: usize = 16 << 10;

/// A write of a shorter chain takes longer on its way than on the disk, so more are in flight.
const SMALL_CHAIN_BYTES: usize = 256 << 10;
const SMALL_CHAINS: usize = 6;

/// Distributors may have this part of memory open. It is kept for the case that all chunks become
/// full at once, so it should be small; but smaller chunks cost more to look after.
const OPEN_SHARE: u64 = 8;

/// The largest partition in percent of the mean, as a sample divides them. Of some hundreds with 64
/// samples each, the largest is larger by a third, and in one sort of a thousand by more than this.
pub(super) const UNEVEN_PERCENT: u64 = 160;

/// More partitions cost more to look through than they save.
const MOST_PARTITIONS: usize = 4096;

/// A pipe's length is not known: there are enough partitions for this many times the memory, before
/// some must be partitioned again.
const PIPE_TIMES_MEMORY: u64 = 32;

/// A plan that writes records more often than this is refused.
pub(super) const MOST_TIMES: u32 = 8;

/// The sample of a partition has at most that many bytes.
const MOST_RESAMPLED_BYTES: u64 = 4 * MIB;

/// Numbers of a sort that may spill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spilling {
    /// Chunks that may stay in memory while the input is read.
    pub held: usize,
    /// Chunks of one write at most.
    pub run: usize,
    /// Bytes of records of a chunk at most.
    pub chunk_room: u32,
    /// Marks of a chunk at most.
    pub chunk_marks: u32,
    /// Chunks of a partition that can be sorted in memory.
    pub partition_chunks: usize,
    /// Temporary directories.
    pub directories: usize,
    /// Workers of each directory that spill.
    pub spillers: usize,
    /// Writes in flight of each spiller.
    pub depth: usize,
    /// Write tokens of each directory: one for each of its writes in flight, and one more per spiller,
    /// which waits, unless the tuning has a number.
    pub tokens: usize,
    /// Bytes of a chain at which it is written early, to begin with.
    pub least_write_bytes: usize,
    /// Whether that size grows while disks wait: not if it is asked for.
    pub grows: bool,
    /// Bytes of a write at most.
    pub most_write_bytes: usize,
    /// Where chunks of partitions lie.
    pub layout: SpillLayout,
    /// Bytes of the area of each partition, if the tuning has them.
    pub area_bytes: Option<u64>,
    /// Workers that read partitions back: one for each directory, if each partition is in one; else one
    /// alone, which reads from all.
    pub loaders: usize,
}

impl Spilling {
    /// The sample of a partition takes this part of the chunks' memory at most.
    pub(super) const RESAMPLE_SHARE: usize = 8;

    /// Capacity of a chunk that may be spilled.
    pub(crate) fn chunk_shape(&self) -> ChunkShape {
        ChunkShape {
            room: self.chunk_room,
            marks: self.chunk_marks,
        }
    }
}

impl Plan {
    /// A plan for any input, and how often it spills a record; short writes count as one time more.
    pub(super) fn spilling(given: &Given) -> Option<(u32, Plan)> {
        let plan = Plan::before_spilling(given);
        let pool = plan.pool(given)?;
        let bytes = plan
            .input_bytes
            .unwrap_or(pool.saturating_mul(PIPE_TIMES_MEMORY));
        let with = |partitions| {
            let plans = plan.with_partitions(partitions, pool, given);
            let times = |plan: Plan| match plan.times(bytes) {
                0 => (0, plan),
                times => (times + u32::from(plan.writes_crumbs()), plan),
            };
            plans.map(times).min_by_key(|(times, _)| *times)
        };
        if let Some(partitions) = given.tuning.buckets {
            return with(partitions);
        }
        // A chain should be worth a write when memory is full, a partition fit a core's cache.
        let wanted = (pool / CHAIN_BYTES).min(wanted_buckets(bytes, plan.framing)) as usize;
        numbers_of_partitions()
            .filter_map(with)
            .filter(|(times, _)| *times < MOST_TIMES)
            .min_by_key(|(times, plan)| {
                let too_few = wanted.saturating_sub(plan.buckets);
                (*times, too_few, plan.buckets.saturating_sub(wanted))
            })
    }

    /// The plan without partitions and chunks.
    fn before_spilling(given: &Given) -> Plan {
        let (shape, tuning) = (given.shape, &given.tuning);
        let mut plan = Plan::derive(given).with_small_units(given);
        plan.distributors = given.distributors(plan.units);
        plan.node_distributors = tuning.node_distributors.unwrap_or(plan.distributors);
        plan.sorters = tuning.sorters.unwrap_or(given.sorters());
        (plan.chunks, plan.buckets, plan.samples) = (0, 1, 0);
        // Several directories are several disks, which work at once.
        let spillers = given.writers().div_ceil(shape.temporary.max(1));
        let spillers = tuning.spillers.or(tuning.writers).unwrap_or(spillers);
        let depth = tuning.spiller_depth.unwrap_or(plan.depth);
        plan.spilling = Some(Spilling {
            held: 0,
            run: 0,
            chunk_room: 1,
            chunk_marks: 0,
            partition_chunks: 0,
            directories: shape.temporary.max(1),
            spillers,
            depth,
            tokens: tuning.write_tokens.unwrap_or(spillers * (depth + 1)),
            least_write_bytes: tuning.least_write_bytes.unwrap_or(CHAIN_BYTES as usize),
            grows: tuning.least_write_bytes.is_none(),
            most_write_bytes: tuning.most_write_bytes.unwrap_or(UNIT_BYTES as usize),
            layout: shape.spill_layout,
            area_bytes: tuning.area_bytes,
            loaders: if shape.spill_layout == SpillLayout::Preallocated {
                shape.temporary.max(1)
            } else {
                1
            },
        });
        plan
    }

    /// Bytes of records that memory holds, about: estimated before partitions and chunks are known.
    fn pool(&self, given: &Given) -> Option<u64> {
        let (record, cores) = (self.framing.mean() as u64, given.cores as u64);
        // Sorting takes a part of the memory of the records, and marks a part of that.
        let sorting = Workspace::bytes(1).min(record * 4) * cores / (cores + 2);
        let marks = if self.stable { record / MARKS_SHARE } else { 0 };
        let free = match given.memory_bytes.checked_sub(self.needed()) {
            // Whether there is one partition, which needs less, is not known yet.
            None if self.has_one_worker() => 0,
            free => free?,
        };
        Some(self.framing.about(free / (record + sorting + marks)))
    }

    /// Plans with that many partitions, and as many chunks as fit: of a size that suits a pool of `pool`
    /// bytes, and of smaller ones, which leave less memory open.
    fn with_partitions(
        &self,
        partitions: usize,
        pool: u64,
        given: &Given,
    ) -> impl Iterator<Item = Plan> {
        let open = pool / OPEN_SHARE / (2 * (self.distributors * partitions) as u64);
        let asked = given.tuning.chunk_bytes;
        let first = asked.map_or_else(
            || open.clamp(SMALLEST_SPILLED_CHUNK_BYTES, LARGEST_SPILLED_CHUNK_BYTES),
            |bytes| (bytes as u64).next_multiple_of(BLOCK_BYTES),
        );
        let least = SMALLEST_SPILLED_CHUNK_BYTES;
        let half =
            move |&bytes: &u64| Some(bytes / 2).filter(|&half| half >= least && asked.is_none());
        successors(Some(first), half)
            .filter_map(move |chunk| self.with_chunks_of(chunk, partitions, given))
    }

    fn with_chunks_of(&self, chunk: u64, partitions: usize, given: &Given) -> Option<Plan> {
        let (tuning, limit) = (&given.tuning, given.memory_bytes);
        let mut plan = self.clone();
        plan.buckets = partitions;
        let with_marks = |marks| plan.sealed_with(chunk, marks);
        let (chunk, capacity) = tuning
            .chunk_marks
            .map_or_else(|| plan.sealed(chunk), with_marks);
        plan.chunk_bytes = chunk as usize;
        let input = plan.input_bytes.unwrap_or(0);
        plan.samples = samples(input, partitions as u64, plan.framing) as usize;
        let spilling = plan.spilling.as_mut()?;
        (spilling.chunk_room, spilling.chunk_marks) = (capacity.room, capacity.marks);
        let asked = tuning.chunks.map(|chunks| chunks..=chunks);
        let asked_depth = tuning.spiller_depth.or(tuning.depth);
        let may_be_deeper = asked_depth.or(tuning.write_tokens).is_none();
        let numbers = asked.unwrap_or(1..=plan.useful_chunks(limit));
        given.with_packers(&plan, |plan| {
            filled(limit, numbers.clone(), |chunks| {
                plan.clone().divided(chunks, may_be_deeper)
            })
        })
    }

    /// More chunks do not fit, or would never be used, not even for an input twice as long as
    /// expected (on one node of several its length is an estimate). They suffice to sort several of
    /// the largest partitions at a time.
    fn useful_chunks(&self, limit: u64) -> usize {
        let others = self.open() + self.spills_under_way();
        if let Some(records) = self.counted() {
            return records as usize + others + 1;
        }
        let fits = (limit / self.chunk_bytes as u64) as usize + 1;
        let used = self.input_bytes.map(|all| {
            let full = all.div_ceil(self.chunk_shape().room.into()) as usize;
            let largest = (full * UNEVEN_PERCENT as usize).div_ceil(100 * self.buckets);
            (4 * full).max(self.partitions_at_once() * largest) + 2 * others
        });
        fits.min(used.unwrap_or(usize::MAX))
    }

    /// Chunks that distributors may have at a time; and, when a partition is partitioned again,
    /// chunks that wait for them or are being distributed.
    fn open(&self) -> usize {
        let open = self.open_chunks((self.buckets, self.distributors), self.chunk_shape());
        open + self.read_queue() + self.distributors
    }

    /// Writes that wait or are in flight, and reads of a partition that is partitioned again.
    fn spills_under_way(&self) -> usize {
        let writes = |spilling: Spilling| spilling.directories * spilling.tokens;
        self.spilling.map_or(0, writes) + self.depth + 1
    }

    /// Bytes of the sample of a partition that is partitioned again.
    pub(crate) fn resample_bytes(&self) -> u64 {
        if self.spilling.is_none() || self.is_one_partition() {
            return 0;
        }
        let share = (self.chunks * self.chunk_bytes / Spilling::RESAMPLE_SHARE) as u64;
        share
            .min(MOST_RESAMPLED_BYTES)
            .max(self.least_resample_bytes())
    }

    /// A sample of two records divides a partition. How many lines are as long as the limit is not
    /// known, and two might lie at one end of it.
    pub(super) fn least_resample_bytes(&self) -> u64 {
        self.framing
            .room_for(if self.framing.is_fixed() { 2 } else { 8 })
    }

    /// Records of that sample, about.
    pub(crate) fn most_resampled(&self) -> usize {
        self.framing.most_in(self.resample_bytes()) as usize
    }

    /// Chunks of the largest partition expected: room to sort a larger one would hardly be used.
    fn largest_partition(&self) -> usize {
        let Some(input) = self.input_bytes else {
            return usize::MAX;
        };
        let mean = input.div_ceil(u64::from(self.chunk_shape().room) * self.buckets as u64);
        // Small partitions differ by more, but none has more than a few times the expected input.
        let least = BUCKET_BYTES.min(LARGEST_OF_MEAN * input) / self.chunk_bytes as u64;
        usize::try_from((LARGEST_OF_MEAN * mean).max(least)).unwrap_or(usize::MAX)
    }

    /// Partitions that are sorted or read back at a time; each may take an equal part of chunks.
    pub(super) fn partitions_at_once(&self) -> usize {
        if self.has_one_worker() && self.buckets == 1 {
            1
        } else {
            self.sorters + 2
        }
    }

    /// Divides that many chunks, if they are enough. Of short chains more may be in flight.
    fn divided(mut self, chunks: usize, may_be_deeper: bool) -> Option<Plan> {
        let left = chunks.checked_sub(self.open())?;
        let chain = 2 * left / self.buckets * self.chunk_bytes;
        self.chunks = chunks;
        if may_be_deeper && chain < SMALL_CHAIN_BYTES {
            let spilling = self.spilling.as_mut()?;
            spilling.depth = self.depth.max(SMALL_CHAINS);
            spilling.tokens = spilling.spillers * (spilling.depth + 1);
        }
        let under_way = self.spills_under_way();
        let longest = self.spilling?.most_write_bytes / self.chunk_bytes;
        let longest = longest.min(MOST_CHUNKS_OF_RUN);
        let run = longest.min(left / 4 / under_way).max(1);
        let held = left.checked_sub(run * under_way).filter(|held| *held > 0)?;
        let partition = (chunks / self.partitions_at_once()).min(self.largest_partition());
        let spilling = self.spilling.as_mut()?;
        (spilling.held, spilling.run) = (held, run);
        spilling.partition_chunks = partition.max(1);
        Some(self)
    }
}

/// Numbers of partitions to choose from: each about a quarter more than the one before.
fn numbers_of_partitions() -> impl Iterator<Item = usize> {
    let next = |&number: &usize| Some(number + (number / 4).max(1));
    successors(Some(1), next).take_while(|&number| number <= MOST_PARTITIONS)
}
