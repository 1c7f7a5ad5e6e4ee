//! How a sort uses memory, cores and disks: derived numbers, each with its reason.
//!
//! A plan is a pure function of the input's size and of what the run may use, so it can be shown
//! without sorting.
//!
//! ```text
//! numbers     plans as data
//! search      cores, and the least memory of a refusal
//! one_pass    workers, units, buckets
//! spilling    partitions                  merging    loads and runs
//! striping    parity of spill files
//! needs       memory by purpose, and how many chunks that allows
//! exchanging  chunks between nodes
//! ```

mod exchanging;
mod limits;
mod merging;
mod needs;
mod numbers;
mod one_pass;
mod one_worker;
mod sealed;
mod search;
mod spilled;
mod spilling;
mod striping;

pub(crate) use exchanging::Exchanging;
pub use exchanging::window;
pub(crate) use limits::Limits;
pub use merging::Merging;
pub(crate) use merging::{READS_AHEAD, Room};
pub use needs::Need;
pub(crate) use needs::SAMPLES_IN_FLIGHT;
pub(crate) use one_pass::unit;
pub use spilling::Spilling;
pub(crate) use striping::{RUNS_AHEAD, StripeForm, Striping};

use node::CodingMemory;

use crate::error::SortError;
use crate::job::{Pack, Resources, SpillLayout, Tuning};
use crate::records::block::{BLOCK_BYTES, ChunkShape};
use crate::records::framing::Framing;
use search::search;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A request of this size reaches the disk's rate; larger ones do not gain (measured from 1 to
/// 16 MiB, with a few in flight).
const UNIT_BYTES: u64 = 4 * MIB;

/// A smaller unit costs more in requests than it gains in overlap.
const SMALLEST_UNIT_BYTES: u64 = 256 * KIB;

/// A bucket's entries (16 bytes per record, twice) and its records fit the second-level cache of
/// current cores (NOW-Sort 6.4 chooses the number of buckets so).
const BUCKET_BYTES: u64 = MIB;

/// The largest bucket of a sorted input comes out up to this many times as large as the mean.
const LARGEST_OF_MEAN: u64 = 4;

/// The derived numbers of a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Where records begin and end.
    pub framing: Framing,
    /// Input in bytes; `None` for a pipe.
    pub input_bytes: Option<u64>,
    /// Files of the output that are written at once.
    pub outputs: usize,
    /// Whether equal keys keep their input order, which takes a position per record.
    pub stable: bool,
    /// Read units of the input.
    pub units: u64,
    /// Bytes of a read unit, whole records.
    pub read_bytes: usize,
    /// Bytes of a read or write unit, whole blocks.
    pub unit_bytes: usize,
    /// Buckets at most: a sample may give fewer.
    pub buckets: usize,
    /// Bytes of the buffer of a chunk.
    pub chunk_bytes: usize,
    /// Chunks of the pool.
    pub chunks: usize,
    /// Places of the input that the sample reads.
    pub samples: usize,
    /// Workers that read units of the input.
    pub readers: usize,
    /// Workers that copy records to chunks of their buckets.
    pub distributors: usize,
    /// Workers that copy records to chunks of ranks, if there are several.
    pub node_distributors: usize,
    /// Bytes of a chunk to another rank at most, if that is asked for.
    pub sent_bytes: Option<usize>,
    /// Workers that sort buckets or loads.
    pub sorters: usize,
    /// Workers that write units of the output.
    pub writers: usize,
    /// Requests in flight of each reader and writer.
    pub depth: usize,
    /// Whether the length of the input is an estimate.
    pub is_about: bool,
    /// Whether it has memory to pack chunks of spill files.
    pub packs: bool,
    /// Blocks of data in a stripe of spill files, if they have stripes.
    pub stripe: Option<usize>,
    /// Numbers of a sort that may spill.
    pub spilling: Option<Spilling>,
    /// Numbers of a sort that merges.
    pub merging: Option<Merging>,
    /// Of a merge of a pipe that counts on short lines: the plan from the first longer line on.
    pub longer: Option<Box<Plan>>,
}

/// The input and output that a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of the input; `None` for a pipe.
    pub bytes: Option<u64>,
    /// Whether that is an estimate, as on one node of several: then records cannot be counted.
    pub is_about: bool,
    /// Files of the input: a read unit ends where a file does.
    pub inputs: usize,
    /// Where records begin and end.
    pub framing: Framing,
    /// Whether the output is written front to back only.
    pub sequential_output: bool,
    /// Files of the output that are written at once.
    pub outputs: usize,
    /// Whether equal keys keep their input order.
    pub stable: bool,
    /// Directories for spill files.
    pub temporary: usize,
    /// Memory of the inputs, and the least unit that they allow.
    pub sources: Sources,
    /// Memory for decompression of the input, and for compression of the output.
    pub coding: [CodingMemory; 2],
    /// How chunks of spill files are packed.
    pub pack: Pack,
    /// Where they lie.
    pub spill_layout: SpillLayout,
    /// Blocks of data in a stripe of spill files, if they have stripes.
    pub stripe: Option<usize>,
}

/// Needs of the inputs in any plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Bytes of the longest unit of chained records that has no cut within it: units of any plan are at
    /// least as long.
    pub longest_unit: usize,
    /// Memory of their names and facts, their indexes, and their header.
    pub memory_bytes: u64,
    /// Devices that they lie on; 0 and 1 are one.
    pub devices: usize,
}

impl Shape {
    /// The memory of a limit that decompression, compression and the inputs leave.
    fn rest(&self, limit: u64) -> u64 {
        let taken = self.coding.map(|coding| coding.bytes(limit));
        let taken = taken.into_iter().chain([self.sources.memory_bytes]);
        taken.fold(limit, u64::saturating_sub)
    }

    /// Read units of that many bytes, at most.
    fn units(&self, unit: usize) -> u64 {
        let (unit, longest) = (unit as u64, self.sources.longest_unit as u64);
        // A unit ends at the last cut within it. Any two units together are longer than one.
        let (each, two) = (unit.saturating_sub(longest).max(1), unit.div_ceil(2));
        let more = self.inputs.saturating_sub(1) as u64;
        self.bytes
            .map_or(u64::MAX, |all| all.div_ceil(each.max(two)).max(1) + more)
    }
}

impl Plan {
    /// Plans a sort in one pass: on all cores if memory allows, else on fewer, which need less.
    ///
    /// # Errors
    /// `TooLittleMemory` with the least that one core needs.
    pub fn new(shape: &Shape, resources: &Resources, tuning: &Tuning) -> Result<Plan, SortError> {
        search(Plan::one_pass, "one pass", shape, resources, tuning)
    }

    /// Plans a sort that spills partitions.
    ///
    /// # Errors
    /// `TooLittleMemory` with the least that one core needs.
    pub fn two_pass(
        shape: &Shape,
        resources: &Resources,
        tuning: &Tuning,
    ) -> Result<Plan, SortError> {
        search(Plan::spilling, "several passes", shape, resources, tuning)
    }

    /// Plans a sort by sorted runs and merges of them.
    ///
    /// # Errors
    /// `TooLittleMemory` with the least that one core needs.
    pub fn merge(shape: &Shape, resources: &Resources, tuning: &Tuning) -> Result<Plan, SortError> {
        search(Plan::merging, "several passes", shape, resources, tuning)
    }

    /// How chunks of spill files are packed, if that is wanted.
    pub(crate) fn pack(&self, wanted: Pack) -> Pack {
        if self.packs { wanted } else { Pack::Never }
    }

    /// Capacity of a chunk.
    pub(crate) fn chunk_shape(&self) -> ChunkShape {
        let all = ChunkShape {
            room: self.framing.whole(self.chunk_bytes as u64) as u32,
            marks: u32::MAX,
        };
        self.spilling.map_or(all, |spilling| spilling.chunk_shape())
    }
}

#[cfg(test)]
mod tests;
