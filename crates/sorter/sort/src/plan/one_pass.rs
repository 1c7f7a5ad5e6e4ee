//! Plans of one pass, and the workers, units and buckets that all plans derive alike.
//!
//! ```text
//! memory of records    full chunks | a chunk of each bucket for each distributor, open
//! ```
//!
//! A pipe's length is not known: its chunks are as many as fit, and the sort fails if the input has
//! more records.

use std::iter::successors;

use crate::job::Tuning;
use crate::plan::needs::filled;
use crate::plan::search::Given;
use crate::plan::{BUCKET_BYTES, KIB, Plan, SMALLEST_UNIT_BYTES, UNIT_BYTES};
use crate::records::block::BLOCK_BYTES;
use crate::records::framing::Framing;

/// Small inputs are cut into at least this many units, so that stages overlap.
const UNITS_AT_LEAST: u64 = 48;

/// A unit of a sort that may spill takes this part of memory at most; there are some eight units.
const UNIT_SHARE: u64 = 64;
const SMALLEST_SPILLING_UNIT: u64 = 64 * KIB;

/// Buckets per file where several are written at once: files differ in length by one of them.
const BUCKETS_PER_OUTPUT: u64 = 8;

/// More buckets would need more open chunks than the caches and the TLB can hold.
const MOST_BUCKETS: u64 = 1024;

/// Enough for pipes that fill memory, and few enough for short ones.
const PIPE_BUCKETS: u64 = 256;

/// Open chunks may take this part of a pipe's memory.
const PIPE_OPEN_SHARE: u64 = 8;

/// Chunks that a bucket should have: half of the last one of every distributor is empty on average.
const CHUNKS_PER_BUCKET: u64 = 16;

/// Lines may fill this many times the chunks that they are expected to fill, if there is memory.
const LINE_CHUNKS: usize = 4;

const SMALLEST_CHUNK_BYTES: u64 = 4 * KIB;
const LARGEST_CHUNK_BYTES: u64 = 128 * KIB;

/// Sample blocks per bucket: buckets of sorted input come out within about a half of each other.
const SAMPLES_PER_BUCKET: u64 = 2;

/// Sampled records per bucket: buckets of random input come out within about a third of each
/// other.
const SAMPLED_PER_BUCKET: u64 = 64;

/// The sample may cost this part of reading the input.
const SAMPLED_SHARE: u64 = 50;

/// Sampled lines that a bucket should have at least: the largest bucket is then twice the mean.
/// Long lines have fewer buckets, since a place of the sample has few of them or none.
const LINES_PER_BUCKET: u64 = 16;

/// Two readers, and two writers, with two requests each keep a disk busy; see docs/benchmarks.md.
const AT_A_DISK: usize = 2;
const DEPTH: usize = 2;

/// A faster device, and the page cache, take more than a worker at each end copies: a reader takes a seventh of
/// the time of the cores that distribute, a writer half of the time of those that sort ("Stages" of
/// docs/benchmarks.md). So there are some more than that.
const CORES_PER_READER: usize = 4;
const CORES_PER_WRITER: usize = 2;

/// The units of more than two of them may take this part of memory.
const END_SHARE: u64 = 16;

/// The same for several devices, which would have nothing to do otherwise.
const DEVICES_SHARE: u64 = 8;

impl Plan {
    /// The plan of one pass, which spills nothing; with fewer buckets if a pipe's do not fit.
    pub(super) fn one_pass(given: &Given) -> Option<(u32, Plan)> {
        let plan = if given.shape.bytes.is_some() {
            let plan = Plan::derive(given);
            let plan = Some(plan).filter(|plan| plan.needed() <= given.memory_bytes);
            plan.and_then(|plan| plan.with_more_chunks(given))
        } else {
            let is_fixed = given.tuning.buckets.is_some() || given.cores > 1;
            let fewer = |&buckets: &usize| Some(buckets / 2).filter(|&half| !is_fixed && half > 0);
            successors(Some(given.buckets()), fewer).find_map(|buckets| given.pipe(buckets))
        };
        plan.map(|plan| (0, plan))
    }

    /// Lines fill more chunks than are planned if they are shorter than expected, or do not fit in
    /// the rest of one: the plan with as many as memory has, up to that.
    fn with_more_chunks(self, given: &Given) -> Option<Plan> {
        if self.framing.is_fixed() {
            return Some(self);
        }
        let chunks = self.chunks..=LINE_CHUNKS * self.chunks;
        filled(given.memory_bytes, chunks, |chunks| {
            Some(Plan {
                chunks,
                ..self.clone()
            })
        })
    }

    /// The plan of one pass, whether it fits or not; other plans replace a part of its numbers.
    pub(super) fn derive(given: &Given) -> Plan {
        let (shape, tuning) = (given.shape, &given.tuning);
        let framing = shape.framing;
        let read_bytes = given.read_bytes();
        let units = shape.units(read_bytes);
        let (distributors, buckets) = (given.distributors(units), given.buckets());
        let chunk = given.chunk_bytes(buckets as u64, distributors);
        let full_chunks = shape.bytes.unwrap_or(0).div_ceil(framing.whole(chunk));
        let writers = if shape.sequential_output {
            1
        } else {
            tuning.writers.unwrap_or(given.writers())
        };
        Plan {
            framing,
            input_bytes: shape.bytes,
            outputs: shape.outputs,
            stable: shape.stable,
            units,
            read_bytes,
            unit_bytes: read_bytes.next_multiple_of(BLOCK_BYTES as usize),
            buckets,
            chunk_bytes: chunk as usize,
            // Every distributor may hold a chunk of every bucket open.
            chunks: full_chunks as usize + distributors * buckets,
            samples: samples(shape.bytes.unwrap_or(0), buckets as u64, framing) as usize,
            readers: tuning.readers.unwrap_or(given.readers(units)),
            distributors,
            node_distributors: tuning.node_distributors.unwrap_or(distributors),
            sent_bytes: tuning.sent_bytes,
            sorters: tuning.sorters.unwrap_or(given.sorters().min(buckets)),
            writers,
            depth: tuning.depth.unwrap_or(DEPTH),
            is_about: shape.is_about,
            packs: false,
            stripe: shape.stripe,
            spilling: None,
            merging: None,
            longer: None,
        }
    }

    /// Limits read units to a part of memory, for a sort that may spill.
    pub(super) fn with_small_units(mut self, given: &Given) -> Plan {
        let unit = (given.memory_bytes / UNIT_SHARE).clamp(SMALLEST_SPILLING_UNIT, UNIT_BYTES);
        if given.tuning.unit_records.is_none() && given.tuning.unit_bytes.is_none() {
            let most = self.framing.whole_or_one(unit) as usize;
            self.read_bytes = self
                .read_bytes
                .min(most.max(given.shape.sources.longest_unit));
        }
        self.units = given.shape.units(self.read_bytes);
        self.unit_bytes = self.read_bytes.next_multiple_of(BLOCK_BYTES as usize);
        self
    }
}

impl Given<'_> {
    /// The plan of one pass for a pipe: with as many chunks as fit, one of every bucket for every
    /// distributor at least.
    fn pipe(&self, buckets: usize) -> Option<Plan> {
        let tuning = Tuning {
            buckets: Some(buckets),
            ..self.tuning
        };
        let plan = Plan::derive(&Given { tuning, ..*self });
        let limit = self.memory_bytes;
        let most = (limit / plan.chunk_bytes as u64) as usize + 1;
        filled(limit, plan.chunks..=most, |chunks| {
            Some(Plan {
                chunks,
                ..plan.clone()
            })
        })
    }

    /// Bytes of a read unit.
    pub(super) fn read_bytes(&self) -> usize {
        let framing = self.shape.framing;
        let unit = match (self.tuning.unit_bytes, self.tuning.unit_records) {
            (Some(bytes), _) if framing.is_fixed() => framing.whole_or_one(bytes as u64) as usize,
            (Some(bytes), _) => bytes,
            (None, Some(records)) => framing.room_for(records as u64) as usize,
            (None, None) => unit(self.shape.bytes, framing),
        };
        unit.max(self.shape.sources.longest_unit)
    }

    fn readers(&self, units: u64) -> usize {
        let devices = self.shape.sources.devices;
        useful_workers(units, self.at_disks(CORES_PER_READER, devices))
    }

    /// Workers that write the output, or runs and partitions.
    pub(super) fn writers(&self) -> usize {
        self.at_disks(CORES_PER_WRITER, self.shape.outputs)
    }

    /// Workers that sort: one for each core, and where that is tried one for each file that is written at
    /// once, since a sorter holds its bucket until the disk of its file has taken it.
    pub(super) fn sorters(&self) -> usize {
        if !self.is_for_files {
            return self.cores;
        }
        let fit = self.memory_bytes / DEVICES_SHARE / (2 * UNIT_BYTES);
        self.cores
            .max((self.shape.outputs as u64).min(fit) as usize)
    }

    /// Workers at one end: as many as the cores and the devices keep busy, and as memory has units for.
    fn at_disks(&self, cores_per_worker: usize, devices: usize) -> usize {
        let unit = (self.memory_bytes / UNIT_SHARE).clamp(SMALLEST_SPILLING_UNIT, UNIT_BYTES);
        let fit = |share: u64| {
            let fit = self.memory_bytes / share / (DEPTH as u64 * unit);
            usize::try_from(fit).unwrap_or(usize::MAX)
        };
        let for_cores = (self.cores / cores_per_worker).min(fit(END_SHARE));
        let for_devices = (AT_A_DISK * devices).min(fit(DEVICES_SHARE));
        for_cores.max(for_devices).max(AT_A_DISK)
    }

    pub(super) fn distributors(&self, units: u64) -> usize {
        let useful = useful_workers(units, self.cores);
        self.tuning.distributors.unwrap_or(useful)
    }

    /// Buckets of one pass: of about a cache's size, each worth its chunks.
    fn buckets(&self) -> usize {
        let (shape, framing) = (self.shape, self.shape.framing);
        let distributors = self.distributors(shape.units(self.read_bytes())) as u64;
        let (wanted, most) = match shape.bytes {
            // One bucket needs no splitters, but a set of files is divided by buckets.
            _ if self.is_of_one_worker && shape.outputs == 1 => (1, 1),
            Some(bytes) => {
                // Open chunks take at most half as much as full ones.
                let full = bytes.div_ceil(framing.whole_or_one(SMALLEST_CHUNK_BYTES));
                let outputs = Some(shape.outputs as u64).filter(|&outputs| outputs > 1);
                let wanted = wanted_buckets(bytes, framing);
                let wanted = wanted.max(BUCKETS_PER_OUTPUT * outputs.unwrap_or(0));
                (wanted, full / (2 * distributors))
            }
            None => {
                let chunk = LARGEST_CHUNK_BYTES.max(framing.longest() as u64);
                let open = distributors * chunk;
                (PIPE_BUCKETS, self.memory_bytes / PIPE_OPEN_SHARE / open)
            }
        };
        let buckets = wanted.min(MOST_BUCKETS).min(most).max(1);
        self.tuning.buckets.unwrap_or(buckets as usize)
    }

    /// Bytes of a chunk of one pass: every distributor leaves half of one empty in every bucket.
    fn chunk_bytes(&self, buckets: u64, distributors: usize) -> u64 {
        let bucket = self.shape.bytes.map_or(BUCKET_BYTES, |all| all / buckets);
        let share = bucket / CHUNKS_PER_BUCKET / (distributors as u64).div_ceil(2);
        let derived = share.clamp(SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES);
        let asked = self.tuning.chunk_bytes.map(|bytes| bytes as u64);
        let longest = self.shape.framing.longest() as u64;
        let chunk = asked.unwrap_or(derived).max(longest);
        chunk.next_multiple_of(BLOCK_BYTES)
    }
}

/// Buckets of about a cache's size, if a sample can tell their bounds.
pub(super) fn wanted_buckets(bytes: u64, framing: Framing) -> u64 {
    let sampled = if framing.is_fixed() {
        u64::MAX
    } else {
        bytes / SAMPLED_SHARE / framing.mean() as u64
    };
    (bytes / BUCKET_BYTES).min((sampled / LINES_PER_BUCKET).max(1))
}

/// Workers of a stage: more than there are units would have nothing to do.
fn useful_workers(units: u64, workers: usize) -> usize {
    workers.min(usize::try_from(units).unwrap_or(usize::MAX))
}

/// Bytes of a read unit of an input: whole records that end with a disk block, where possible.
pub(crate) fn unit(input_bytes: Option<u64>, framing: Framing) -> usize {
    let input = input_bytes.unwrap_or(u64::MAX);
    framing.unit((input / UNITS_AT_LEAST).clamp(SMALLEST_UNIT_BYTES, UNIT_BYTES))
}

/// Places of the input that a sample reads: some blocks per bucket.
pub(super) fn samples(input_bytes: u64, buckets: u64, framing: Framing) -> u64 {
    if buckets == 1 {
        return 0;
    }
    let most = input_bytes / SAMPLED_SHARE / BLOCK_BYTES.max(framing.sampled_place());
    // The mean says how many a place has; the most that it may have would leave long lines few places.
    let in_a_place = (BLOCK_BYTES / framing.mean() as u64).max(1);
    let each = SAMPLED_PER_BUCKET.div_ceil(in_a_place);
    (buckets * each.max(SAMPLES_PER_BUCKET)).min(most).max(2)
}
