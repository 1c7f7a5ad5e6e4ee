//! How a sort uses memory, cores and disks: derived numbers, each with its reason.
//!
//! A plan is a pure function of the input's size and of what the run may use, so it can be shown
//! without sorting. Memory is a sum of named needs ([`Plan::needs`]).

mod exchanging;
mod merging;
mod needs;
mod spare;
mod spilling;
mod tight;

pub(crate) use exchanging::Exchanging;
pub use exchanging::window;
pub use merging::Merging;
pub(crate) use merging::{READS_AHEAD, Room};
pub use needs::Need;
pub(crate) use needs::{SAMPLES_IN_FLIGHT, WORST_UNIT_BYTES};
pub(crate) use spilling::Limits;
pub use spilling::Spilling;

use crate::error::SortError;
use crate::job::{Resources, Start, Tuning};
use crate::records::block::BLOCK_BYTES;
use crate::records::block::ChunkShape;
use crate::records::block::whole_blocks;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A request of this size reaches the disk's rate; larger ones do not gain (measured from 1 to
/// 16 MiB, with a few in flight).
const UNIT_BYTES: u64 = 4 * MIB;

/// Small inputs are cut into at least this many units, so that stages overlap.
const UNITS_AT_LEAST: u64 = 48;

/// A smaller unit costs more in requests than it gains in overlap.
const SMALLEST_UNIT_BYTES: u64 = 256 * KIB;

/// A bucket's entries (16 bytes a record, twice) and its records fit the second-level cache of
/// current cores (NOW-Sort 6.4 chooses the number of buckets so).
const BUCKET_BYTES: u64 = MIB;

/// What goes to several files at once differs by a bucket: an eighth of what each of them gets.
const BUCKETS_PER_OUTPUT: u64 = 8;

/// More buckets would need more open chunks than the caches and the TLB can hold.
const MOST_BUCKETS: u64 = 1024;

/// A pipe's length is not known: enough buckets for memory-sized inputs, few enough for small ones.
const PIPE_BUCKETS: u64 = 256;

/// Open chunks may take this part of a pipe's memory.
const PIPE_OPEN_SHARE: u64 = 8;

/// Chunks a bucket should have: half of the last one is empty on average, for every distributor.
const CHUNKS_PER_BUCKET: u64 = 16;

const SMALLEST_CHUNK_BYTES: u64 = 4 * KIB;
const LARGEST_CHUNK_BYTES: u64 = 128 * KIB;

/// Sample blocks for each bucket: of sorted input buckets come out within about a half of each
/// other.
const SAMPLES_PER_BUCKET: u64 = 2;

/// Records that are sampled for each bucket: of random input buckets come out within about a third
/// of each other.
const SAMPLED_PER_BUCKET: u64 = 64;

/// Buckets come out up to so many times as large as their mean when the input is sorted.
const LARGEST_OF_MEAN: u64 = 4;

/// The sample may cost this part of reading the input.
const SAMPLE_SHARE: u64 = 50;

/// Two readers and two writers with two requests each keep a disk busy; see docs/benchmarks.md.
const READERS: usize = 2;
const WRITERS: usize = 2;
const DEPTH: usize = 2;

/// More memory than any machine has: what does not fit in that has been asked for in vain.
const MOST_BYTES: u64 = 1 << 50;

/// The least memory is told to this.
const LEAST_STEP_BYTES: u64 = 64 * KIB;

/// The derived numbers of a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Length of a record.
    pub record_bytes: usize,
    /// Input in bytes; `None` for a pipe.
    pub input_bytes: Option<u64>,
    /// Files of the output that are written side by side.
    pub outputs: usize,
    /// Whether records have positions.
    pub stable: bool,
    /// Read units of the input.
    pub units: u64,
    /// Records of a read unit.
    pub unit_records: usize,
    /// Bytes of a read or write unit, whole blocks.
    pub unit_bytes: usize,
    /// Buckets at most; the sample may give fewer.
    pub buckets: usize,
    /// Bytes of a chunk.
    pub chunk_bytes: usize,
    /// How many chunks.
    pub chunks: usize,
    /// Places of the input that the sample looks at.
    pub samples: usize,
    /// Workers of each stage.
    pub readers: usize,
    /// Workers of each stage.
    pub distributors: usize,
    /// Workers of each stage.
    pub sorters: usize,
    /// Workers of each stage.
    pub writers: usize,
    /// Readers that begin parked: a tuner calls them where those above do not keep the disk busy.
    pub spare_readers: usize,
    /// Writers that begin parked.
    pub spare_writers: usize,
    /// Requests in flight of each reader and writer.
    pub depth: usize,
    /// Where it begins.
    pub start: Start,
    /// Whether it has as few buffers as work: a few very large records fill the memory.
    pub tight: bool,
    /// How it spills, if it may.
    pub spilling: Option<Spilling>,
    /// How it merges, if it does.
    pub merging: Option<Merging>,
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Records of the input; `None` for a pipe.
    pub records: Option<u64>,
    /// Files of the input: a read unit ends where a file does.
    pub inputs: usize,
    /// Length of a record.
    pub record_bytes: usize,
    /// Whether the output is written front to back only.
    pub sequential_output: bool,
    /// Files of the output that are written side by side.
    pub outputs: usize,
    /// Whether equal keys keep their input order.
    pub stable: bool,
    /// Directories for what memory does not hold.
    pub temporary: usize,
}

impl Shape {
    /// Read units of so many records, at most.
    fn units(&self, records: usize) -> u64 {
        let beside = self.inputs.saturating_sub(1) as u64;
        self.records
            .map_or(u64::MAX, |all| all.div_ceil(records as u64).max(1) + beside)
    }
}

impl Plan {
    /// Plans a sort: with all cores if memory allows, else with fewer, which need less.
    ///
    /// # Errors
    /// When the memory limit is below what the sort needs on one core, with that figure.
    pub fn new(shape: &Shape, resources: &Resources, tuning: &Tuning) -> Result<Plan, SortError> {
        let limit = resources.memory_bytes;
        let mut given = Resources {
            cores: resources.cores.max(1),
            ..*resources
        };
        loop {
            let mut plan = Plan::derive(shape, &given, tuning);
            let with_spare = plan.with_spare(shape, tuning);
            if with_spare.needed() <= limit {
                plan = with_spare;
            }
            let needed = plan.needed();
            if needed <= limit {
                return Ok(plan.filled_by_pipe(limit - needed));
            }
            if given.cores > 1 {
                given.cores /= 2;
            } else if shape.records.is_none() && plan.buckets > 1 {
                // A pipe's buckets are derived from the memory.
                given.memory_bytes /= 2;
            } else {
                return Plan::in_one_pass_or_none(shape, &given, tuning, (needed, limit));
            }
        }
    }

    /// A tight plan of few large records, for which an ordinary one needs too much.
    fn in_one_pass_or_none(
        shape: &Shape,
        given: &Resources,
        tuning: &Tuning,
        (mut needed, limit): (u64, u64),
    ) -> Result<Plan, SortError> {
        if shape.is_large() {
            let plan = Plan::tight_one_pass(shape, given, tuning);
            needed = needed.min(plan.needed());
            if plan.needed() <= limit {
                return Ok(plan.filled_by_pipe(limit - needed));
            }
        }
        let bytes = shape
            .records
            .map(|records| records * shape.record_bytes as u64);
        Err(SortError::TooLittleMemory {
            bytes,
            needed,
            limit,
            passes: "one pass",
        })
    }

    /// Adds all the chunks that fit in `free` more bytes, if the input is a pipe.
    fn filled_by_pipe(mut self, free: u64) -> Plan {
        if self.input_bytes.is_none() {
            self.chunks += (free / self.pipe_chunk_bytes()) as usize;
        }
        self
    }

    /// Plans a sort of anything, which spills what memory does not hold.
    ///
    /// # Errors
    /// When the memory limit is below what that needs on one core, with that figure.
    pub fn two_pass(
        shape: &Shape,
        resources: &Resources,
        tuning: &Tuning,
    ) -> Result<Plan, SortError> {
        on_fewer_cores(shape, resources, |(cores, tight), memory_bytes| {
            let given = Resources {
                cores,
                memory_bytes,
                ..*resources
            };
            Plan::spilling(shape, &given, (tuning, tight))
        })
    }

    /// The same where the number of records is an estimate, as on a node of several: never a tight
    /// plan, which counts on that number.
    pub(crate) fn two_pass_of_about(
        shape: &Shape,
        resources: &Resources,
        tuning: &Tuning,
    ) -> Result<Plan, SortError> {
        on_fewer_cores(shape, resources, |(cores, tight), memory_bytes| {
            let given = Resources {
                cores,
                memory_bytes,
                ..*resources
            };
            (!tight)
                .then(|| Plan::spilling(shape, &given, (tuning, false)))
                .flatten()
        })
    }

    /// How much goes into a chunk.
    pub(crate) fn chunk_shape(&self) -> ChunkShape {
        let records = (self.chunk_bytes / self.record_bytes) as u32;
        let all = ChunkShape {
            records,
            marks: u32::MAX,
        };
        self.spilling.map_or(all, |spilling| spilling.chunk_shape())
    }

    fn derive(shape: &Shape, resources: &Resources, tuning: &Tuning) -> Plan {
        let (record, cores) = (shape.record_bytes as u64, resources.cores);
        let input_bytes = shape.records.map(|records| records * record);
        let derived = unit_records(input_bytes.unwrap_or(u64::MAX), record);
        let unit_records = tuning.unit_records.unwrap_or(derived);
        let units = shape.units(unit_records);
        let useful = |workers| useful_workers(units, workers);
        let distributors = tuning.distributors.unwrap_or(useful(cores));
        let buckets = tuning.buckets.map_or_else(
            || buckets(shape, resources.memory_bytes, distributors),
            |buckets| buckets as u64,
        );
        let bucket_bytes = input_bytes.map_or(BUCKET_BYTES, |bytes| bytes / buckets);
        let derived = chunk_bytes(bucket_bytes, distributors);
        let chunk = tuning.chunk_bytes.map_or(derived, |bytes| bytes as u64);
        let chunk = chunk.max(record).next_multiple_of(BLOCK_BYTES);
        let full_chunks = shape.records.unwrap_or(0).div_ceil(chunk / record);
        let writers = if shape.sequential_output {
            1
        } else {
            tuning.writers.unwrap_or(WRITERS)
        };
        Plan {
            record_bytes: shape.record_bytes,
            input_bytes,
            outputs: shape.outputs,
            stable: shape.stable,
            units,
            unit_records,
            unit_bytes: (unit_records as u64 * record).next_multiple_of(BLOCK_BYTES) as usize,
            buckets: buckets as usize,
            chunk_bytes: chunk as usize,
            // Every distributor may hold a chunk of every bucket open.
            chunks: full_chunks as usize + distributors * buckets as usize,
            samples: samples(input_bytes.unwrap_or(0), buckets, record) as usize,
            readers: tuning.readers.unwrap_or(useful(READERS)),
            distributors,
            sorters: tuning.sorters.unwrap_or(cores.min(buckets as usize)),
            writers,
            spare_readers: 0,
            spare_writers: 0,
            start: tuning.start,
            depth: tuning.depth.unwrap_or(DEPTH),
            tight: false,
            spilling: None,
            merging: None,
        }
    }
}

/// A plan on all cores if memory allows, else on fewer, or a tight one for large records.
///
/// # Errors
/// When the memory limit is below what one core needs, with that figure.
fn on_fewer_cores(
    shape: &Shape,
    resources: &Resources,
    on: impl Fn((usize, bool), u64) -> Option<(u32, Plan)>,
) -> Result<Plan, SortError> {
    let limit = resources.memory_bytes;
    let halves = std::iter::successors(Some(resources.cores.max(1)), |&cores| Some(cores / 2));
    let tried = halves
        .take_while(|&cores| cores > 0)
        .filter_map(|cores| on((cores, false), limit));
    // Another time on disk costs more than a core helps; of equals the first comes out.
    if let Some((_, plan)) = tried.min_by_key(|(times, _)| *times) {
        return Ok(plan);
    }
    let tight = |memory| shape.is_large().then(|| on((1, true), memory)).flatten();
    if let Some((_, plan)) = tight(limit) {
        return Ok(plan);
    }
    let works = |memory| on((1, false), memory).or_else(|| tight(memory)).is_some();
    let (mut low, mut high) = (limit, limit.max(MIB));
    while !works(high) && high < MOST_BYTES {
        (low, high) = (high, high * 2);
    }
    while low + LEAST_STEP_BYTES < high {
        let middle = low.midpoint(high);
        (low, high) = if works(middle) {
            (low, middle)
        } else {
            (middle, high)
        };
    }
    let bytes = shape
        .records
        .map(|records| records * shape.record_bytes as u64);
    Err(SortError::TooLittleMemory {
        bytes,
        needed: high,
        limit,
        passes: "several passes",
    })
}

/// More workers than units would have nothing to do.
fn useful_workers(units: u64, workers: usize) -> usize {
    workers.min(usize::try_from(units).unwrap_or(usize::MAX))
}

/// How many buckets: of about a cache's size, each worth its chunks.
fn buckets(shape: &Shape, memory_bytes: u64, distributors: usize) -> u64 {
    let record = shape.record_bytes as u64;
    let (wanted, most) = match shape.records {
        Some(records) => {
            // Open chunks take at most half as much as full ones.
            let full = records.div_ceil((SMALLEST_CHUNK_BYTES / record).max(1));
            let each = if shape.outputs > 1 {
                BUCKETS_PER_OUTPUT
            } else {
                0
            };
            let wanted = (records * record / BUCKET_BYTES).max(each * shape.outputs as u64);
            (wanted, full / (2 * distributors as u64))
        }
        None => {
            let open = distributors as u64 * LARGEST_CHUNK_BYTES.max(record);
            (PIPE_BUCKETS, memory_bytes / PIPE_OPEN_SHARE / open)
        }
    };
    wanted.min(MOST_BUCKETS).min(most).max(1)
}

/// Bytes of a chunk: every distributor leaves half of one empty in every bucket.
fn chunk_bytes(bucket_bytes: u64, distributors: usize) -> u64 {
    let share = bucket_bytes / CHUNKS_PER_BUCKET / (distributors as u64).div_ceil(2);
    share.clamp(SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES)
}

/// Records of a unit: if it can be, so many that units begin at whole blocks.
pub(crate) fn unit_records(input_bytes: u64, record: u64) -> usize {
    let unit = (input_bytes / UNITS_AT_LEAST).clamp(SMALLEST_UNIT_BYTES, UNIT_BYTES);
    whole_blocks((unit / record).max(1) as usize, record as usize)
}

fn samples(input_bytes: u64, buckets: u64, record: u64) -> u64 {
    if buckets == 1 {
        return 0;
    }
    let most = input_bytes / SAMPLE_SHARE / BLOCK_BYTES.max(record);
    let each = SAMPLED_PER_BUCKET.div_ceil((BLOCK_BYTES / record).max(1));
    (buckets * each.max(SAMPLES_PER_BUCKET)).min(most).max(2)
}

#[cfg(test)]
mod tests;
