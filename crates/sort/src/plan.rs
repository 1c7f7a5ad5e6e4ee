//! How a one-pass sort uses memory, cores and disks: derived numbers, each with its reason.
//!
//! A plan is a pure function of the input's size and of what the run may use, so it can be shown
//! without sorting. Memory is a sum of named needs ([`Plan::needs`]).

use crate::contents::Workspace;
use crate::error::SortError;
use crate::input::BLOCK_BYTES;
use crate::job::{Resources, Tuning};

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

/// More buckets would need more open chunks than the caches and the TLB can hold.
const MOST_BUCKETS: u64 = 1024;

/// A pipe's length is not known: enough buckets for memory-sized inputs, few enough for small ones.
const PIPE_BUCKETS: u64 = 256;

/// Chunks a bucket should have: half of the last one is empty on average, for every distributor.
const CHUNKS_PER_BUCKET: u64 = 16;

const SMALLEST_CHUNK_BYTES: u64 = 16 * KIB;
const LARGEST_CHUNK_BYTES: u64 = 128 * KIB;

/// Sample blocks for each bucket: with the records in a block, buckets of random input come out
/// within some per cent of each other, and of sorted input within about a half.
const SAMPLES_PER_BUCKET: u64 = 2;

/// The sample may cost this part of reading the input.
const SAMPLE_SHARE: u64 = 50;

/// Two readers and two writers with two requests each keep a disk busy; see docs/benchmarks.md.
const READERS: usize = 2;
const WRITERS: usize = 2;
const DEPTH: usize = 2;

/// What the program takes beside its buffers: code, stacks, heap.
const PROGRAM_BYTES: u64 = 8 * MIB;

/// A chunk's descriptor, its place in its bucket's list and in the pool, and its memory's handle.
const CHUNK_LIST_BYTES: u64 = 192;

/// One of the things that memory is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// What for.
    pub name: &'static str,
    /// How much.
    pub bytes: u64,
}

/// The derived numbers of a one-pass sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Length of a record.
    pub record_bytes: usize,
    /// Input in bytes; `None` for a pipe.
    pub input_bytes: Option<u64>,
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
    /// Requests in flight of each reader and writer.
    pub depth: usize,
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Records of the input; `None` for a pipe.
    pub records: Option<u64>,
    /// Length of a record.
    pub record_bytes: usize,
    /// Whether the output is written front to back only.
    pub sequential_output: bool,
}

impl Plan {
    /// Plans a sort.
    ///
    /// # Errors
    /// When the memory limit is below what the sort needs, with that figure.
    pub fn new(shape: &Shape, resources: &Resources, tuning: &Tuning) -> Result<Plan, SortError> {
        let mut plan = Plan::derive(shape, resources.cores.max(1), tuning);
        let limit = resources.memory_bytes;
        if shape.records.is_none() {
            // A pipe may fill all the memory that is left.
            let left = limit.saturating_sub(plan.needed());
            plan.chunks += (left / plan.pipe_chunk_bytes()) as usize;
        }
        let needed = plan.needed();
        if needed > limit {
            let bytes = plan.input_bytes;
            return Err(SortError::TooLittleMemory { bytes, needed, limit });
        }
        Ok(plan)
    }

    fn derive(shape: &Shape, cores: usize, tuning: &Tuning) -> Plan {
        let record = shape.record_bytes as u64;
        let input_bytes = shape.records.map(|records| records * record);
        let unit_records =
            tuning.unit_records.unwrap_or(unit_records(input_bytes.unwrap_or(u64::MAX), record));
        let buckets = tuning.buckets.map(|buckets| buckets as u64).unwrap_or(match input_bytes {
            Some(bytes) => (bytes / BUCKET_BYTES).clamp(1, MOST_BUCKETS),
            None => PIPE_BUCKETS,
        });
        let bucket_bytes = input_bytes.map_or(BUCKET_BYTES, |bytes| bytes / buckets);
        let chunk =
            (bucket_bytes / CHUNKS_PER_BUCKET).clamp(SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES);
        let chunk = tuning.chunk_bytes.map_or(chunk, |bytes| bytes as u64);
        let chunk = chunk.max(record).next_multiple_of(BLOCK_BYTES);
        let distributors = tuning.distributors.unwrap_or(cores);
        let full_chunks = shape.records.unwrap_or(0).div_ceil(chunk / record);
        let writers = if shape.sequential_output { 1 } else { tuning.writers.unwrap_or(WRITERS) };
        Plan {
            record_bytes: shape.record_bytes,
            input_bytes,
            unit_records,
            unit_bytes: (unit_records as u64 * record).next_multiple_of(BLOCK_BYTES) as usize,
            buckets: buckets as usize,
            chunk_bytes: chunk as usize,
            // Every distributor may hold a chunk of every bucket open.
            chunks: full_chunks as usize + distributors * buckets as usize,
            samples: samples(input_bytes.unwrap_or(0), buckets, record) as usize,
            readers: tuning.readers.unwrap_or(READERS),
            distributors,
            sorters: tuning.sorters.unwrap_or(cores),
            writers,
            depth: tuning.depth.unwrap_or(DEPTH),
        }
    }

    /// Bytes that one more chunk of a pipe costs: itself, its place in the lists, and room to sort
    /// its records. A pipe's splitters come from its beginning, so one bucket may get all the rest.
    fn pipe_chunk_bytes(&self) -> u64 {
        let records = self.chunk_bytes / self.record_bytes;
        self.chunk_bytes as u64 + CHUNK_LIST_BYTES + Workspace::bytes(records as u64)
    }

    /// Bytes of a unit's buffer: a unit, the disk blocks around it when it is read, the record that
    /// reaches beyond it when it is written.
    pub fn buffer_bytes(&self) -> usize {
        self.unit_bytes + 2 * self.record_bytes.next_multiple_of(BLOCK_BYTES as usize)
    }

    /// Buffers of units: first the input's, then, when all of it has been read, the output's.
    ///
    /// Reading takes each reader's requests in flight, one that each distributor works on, and as
    /// many that wait. No deadlock: readers hold buffers only while their requests run, and
    /// distributors give theirs back without waiting for anything but the collector, which waits
    /// for nothing.
    ///
    /// Writing takes one that each sorter fills, one that waits, and each writer's in flight. No
    /// deadlock: a sorter waits for one buffer at a time while it holds none, and a writer waits
    /// for a new piece only when it has given back every buffer that has been written.
    pub fn buffers(&self) -> usize {
        let reading = self.readers * self.depth + 2 * self.distributors;
        let writing = 2 * self.sorters + self.writers * self.depth;
        reading.max(writing)
    }

    /// Buffers for disk blocks in which buckets meet.
    ///
    /// No deadlock: buckets are begun in order, so a block that is not complete touches a bucket in
    /// work (two ends each) or lies before the first one not begun; beside these, each sorter holds
    /// one more that it may not need, and the rest are with the writers, who give them back.
    pub fn seam_buffers(&self) -> usize {
        3 * self.sorters + 1 + self.write_queue() + self.writers * self.depth
    }

    /// Blocks that wait for a distributor.
    pub fn read_queue(&self) -> usize {
        self.distributors
    }

    /// Pieces that wait for a writer.
    pub fn write_queue(&self) -> usize {
        2 * self.sorters
    }

    /// What memory is needed for.
    pub fn needs(&self) -> Vec<Need> {
        let (block, record) = (BLOCK_BYTES, self.record_bytes as u64);
        let bytes = |count: usize, bytes: usize| (count * bytes) as u64;
        let bucket_records = match self.input_bytes {
            Some(input) => input / record / self.buckets.max(1) as u64,
            None => MIB / record,
        };
        // Buckets come out up to four times as large as the average when the input is sorted.
        let sorter = Workspace::bytes(4 * bucket_records.max(1));
        let classify_bytes = 12; // a prefix and a bucket number for each record of a unit
        let distributor = bytes(self.unit_records, classify_bytes) + 8 * self.buckets as u64;
        vec![
            Need { name: "records", bytes: bytes(self.chunks, self.chunk_bytes) },
            Need { name: "units", bytes: bytes(self.buffers(), self.buffer_bytes()) },
            Need { name: "seams", bytes: self.seam_buffers() as u64 * block },
            Need { name: "sorting", bytes: self.sorters as u64 * sorter },
            Need { name: "distributing", bytes: self.distributors as u64 * distributor },
            Need { name: "edges of buckets", bytes: bytes(2 * self.buckets, self.record_bytes) },
            Need { name: "sample", bytes: 2 * self.samples as u64 * block.max(record) },
            Need { name: "chunk lists", bytes: bytes(self.chunks, size_of::<crate::Chunk>() + 64) },
            Need { name: "program", bytes: PROGRAM_BYTES },
        ]
    }

    /// The sum of the needs.
    pub fn needed(&self) -> u64 {
        self.needs().iter().map(|need| need.bytes).sum()
    }
}

/// Records of a unit: if it can be, so many that units begin at whole blocks.
fn unit_records(input_bytes: u64, record: u64) -> usize {
    let unit = (input_bytes / UNITS_AT_LEAST).clamp(SMALLEST_UNIT_BYTES, UNIT_BYTES);
    let step = BLOCK_BYTES / greatest_common_divisor(BLOCK_BYTES, record);
    let records = (unit / record).max(1);
    let records = if records > step { records - records % step } else { records };
    records as usize
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn samples(input_bytes: u64, buckets: u64, record: u64) -> u64 {
    if buckets == 1 {
        return 0;
    }
    let most = input_bytes / SAMPLE_SHARE / BLOCK_BYTES.max(record);
    (buckets * SAMPLES_PER_BUCKET).min(most).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(memory_bytes: u64) -> Resources {
        Resources { cores: 2, memory_bytes, io: crate::IoChoice::Auto }
    }

    fn plan(
        records: Option<u64>,
        record_bytes: usize,
        memory_bytes: u64,
    ) -> Result<Plan, SortError> {
        let shape = Shape { records, record_bytes, sequential_output: false };
        Plan::new(&shape, &resources(memory_bytes), &Tuning::default())
    }

    #[test]
    fn gensort_units_begin_at_whole_blocks() {
        for records in [1_000_000, 100_000_000] {
            let plan = plan(Some(records), 100, 1 << 34).unwrap();
            assert_eq!(plan.unit_records * 100 % BLOCK_BYTES as usize, 0);
            assert!(plan.unit_bytes as u64 <= UNIT_BYTES);
        }
    }

    #[test]
    fn the_least_memory_is_said_and_is_enough() {
        for (records, bytes) in [(0, 1), (1, 1), (1000, 7), (1_000_000, 100), (3, 5_000_000)] {
            let refused = plan(Some(records), bytes, 0).unwrap_err();
            let SortError::TooLittleMemory { needed, .. } = refused else { panic!("{refused}") };
            assert_eq!(plan(Some(records), bytes, needed).unwrap().needed(), needed);
            assert!(plan(Some(records), bytes, needed - 1).is_err());
        }
    }

    #[test]
    fn a_pipe_fills_the_memory() {
        let limit = 1 << 30;
        let pipe = plan(None, 100, limit).unwrap();
        assert!(pipe.needed() <= limit && pipe.needed() > limit / 2, "{}", pipe.needed());
        assert!(plan(None, 100, 1 << 20).is_err());
    }

    #[test]
    fn needs_are_little_more_than_the_records() {
        let small = plan(Some(1_000_000), 100, 1 << 34).unwrap();
        assert!(small.needed() < 200 << 20, "{:#?}", small.needs());
        let large = plan(Some(100_000_000), 100, 1 << 34).unwrap();
        assert!(large.needed() < 12 << 30, "{:#?}", large.needs());
    }
}
