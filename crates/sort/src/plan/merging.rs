//! What a sort that merges does with its memory: derived numbers, each with its reason.
//!
//! ```text
//! chunks    load | load | load | ... | read ahead      | being written     (run formation)
//!           reads ahead of each run  | loads that stay | -                 (merge)
//! ```
//!
//! One size of buffers serves the input, the runs and the merge. Large ones make large requests;
//! small ones let more runs be merged at once.

use crate::job::{Resources, Tuning};
use crate::plan::needs::{CHUNK_LIST_BYTES, KERNEL_BYTES, Need, SPILLING_PROGRAM_BYTES};
use crate::plan::tight::{TIGHT_UNITS, tight};
use crate::plan::{BLOCK_BYTES, KIB, MIB, Plan, SMALLEST_UNIT_BYTES, Shape, UNIT_BYTES, WRITERS};
use crate::plan::{SortError, on_fewer_cores};
use crate::records::block::FOOTER_BYTES;
use crate::records::block::greatest_common_divisor;
use crate::records::contents::Workspace;

/// Reads of each run that are under way or wait for the merge.
pub(crate) const READS_AHEAD: usize = 2;

/// Loads are sorted faster than a disk of some GB/s gives them, and every sorter more makes loads
/// smaller.
const MOST_SORTERS: usize = 4;

/// Sorters' fixed needs may take this part of memory.
const SORTER_SHARE: u64 = 4;

/// Write units of the output take this part of memory at most; of them there are six.
const UNIT_SHARE: u64 = 64;

/// Smaller pieces than that are lost when memory is divided into loads.
const CHUNKS_AT_LEAST: u64 = 128;

const SMALLEST_CHUNK_BYTES: u64 = 16 * KIB;

/// A pipe is as long as it is: so many times the memory can be merged at once.
const PIPE_TIMES_MEMORY: u64 = 32;

/// The disk is kept busy by so much in flight, and by so many requests (node-real serves sixteen at
/// once).
const READ_AHEAD_BYTES: u64 = 4 * UNIT_BYTES;
const MOST_REQUESTS: u64 = 16;

/// What is read ahead, and what is being written, may take this part of the chunks each.
const UNDER_WAY_SHARE: usize = 8;

/// Read in about the time that a magnetic disk seeks: rather than that reads become smaller, loads
/// that could have stayed in memory go to disk.
const RUN_READ_BYTES: u64 = MIB;

/// A run in the lists of a merge: its state, what was read of it, its place in the tree, its wish
/// for more.
const SOURCE_BYTES: u64 = 640;

/// Fewer chunks are tried in steps of this part of them.
const STEP_SHARE: usize = 16;

/// A load in the lists of run formation, and then as a run: its number, and where the list of its
/// writes is.
const LOAD_BYTES: u64 = 128;

/// A stretch of a run in a spill file, with what such a list has to spare.
const STRETCH_BYTES: u64 = 36;

/// How a plan merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merging {
    /// Chunks of a load.
    pub load_chunks: usize,
    /// Loads that memory holds.
    pub loads: usize,
    /// Records of a chunk that is read from the input.
    pub block_records: usize,
    /// Records of a chunk of a run.
    pub chunk_records: usize,
    /// Requests for the input in flight, and as many chunks that wait.
    pub read_ahead: usize,
    /// Workers that write runs, and that read them.
    pub run_workers: usize,
    /// Chunks of one write of a run.
    pub chain: usize,
    /// Runs that can be merged at once.
    pub fan_in: usize,
}

impl Merging {
    /// Whether so many chunks of input stay in memory.
    pub(crate) fn fits(&self, chunks: u64) -> bool {
        chunks <= (self.loads * self.load_chunks) as u64
    }
}

impl Plan {
    /// Plans a sort of anything by sorted runs and merges of them.
    ///
    /// # Errors
    /// When the memory limit is below what that needs on one core, with that figure.
    pub fn merge(shape: &Shape, resources: &Resources, tuning: &Tuning) -> Result<Plan, SortError> {
        let on = |(cores, tight), memory_bytes| {
            let given = Resources {
                cores,
                memory_bytes,
                ..*resources
            };
            Plan::merging(shape, &given, (tuning, tight)).map(|plan| (0, plan))
        };
        on_fewer_cores(shape, resources, on)
    }

    fn merging(
        shape: &Shape,
        given: &Resources,
        (tuning, is_tight): (&Tuning, bool),
    ) -> Option<Plan> {
        let (limit, record) = (given.memory_bytes, shape.record_bytes as u64);
        let tuning = &if is_tight { tight(tuning) } else { *tuning };
        let mut plan = Plan {
            tight: is_tight,
            ..Plan::derive(shape, given, tuning)
        };
        let unit = (limit / UNIT_SHARE).clamp(SMALLEST_UNIT_BYTES / 4, UNIT_BYTES);
        if tuning.unit_records.is_none() {
            plan.unit_records = plan.unit_records.min((unit / record).max(1) as usize);
        }
        let unit_bytes = plan.unit_records as u64 * record;
        plan.unit_bytes = unit_bytes.next_multiple_of(BLOCK_BYTES) as usize;
        let room_for = (limit / SORTER_SHARE / KERNEL_BYTES).max(1) as usize;
        let sorters = given.cores.min(MOST_SORTERS).min(room_for);
        plan.sorters = tuning.sorters.unwrap_or(sorters);
        (plan.readers, plan.distributors, plan.buckets, plan.samples) = (1, 1, 1, 0);
        let mut wanted = plan.chunk_wanted(shape, limit, tuning);
        // Rounding may make a few runs too many for one merge: then chunks are a little smaller.
        loop {
            let filled = plan.clone().with_chunks(shape, wanted, (limit, tuning));
            let smaller = wanted - wanted / 8;
            let merges_once = filled.as_ref().is_none_or(Plan::merges_once);
            if merges_once || tuning.chunk_bytes.is_some() || smaller < SMALLEST_CHUNK_BYTES {
                return filled;
            }
            wanted = smaller;
        }
    }

    /// With chunks of that size, as many as there is memory for.
    fn with_chunks(
        mut self,
        shape: &Shape,
        wanted: u64,
        (limit, tuning): (u64, &Tuning),
    ) -> Option<Plan> {
        let (plan, chunk) = (&mut self, Chunk::of(shape, wanted));
        plan.chunk_bytes = chunk.bytes as usize;
        let block_records = tuning
            .unit_records
            .unwrap_or(usize::MAX)
            .min(chunk.block_records);
        plan.units = shape.units(block_records);
        plan.merging = Some(Merging {
            load_chunks: 0,
            loads: 0,
            block_records,
            chunk_records: chunk.records,
            read_ahead: 0,
            // Several directories are several disks, which work at once.
            run_workers: tuning.writers.unwrap_or(WRITERS.max(shape.temporary)),
            chain: 1,
            fan_in: 0,
        });
        self.fill_loads(limit, tuning)
    }

    /// Whether all runs of an input whose length is known can be merged at once.
    fn merges_once(&self) -> bool {
        let fits = |merging: Merging| self.all_loads(&merging) <= merging.fan_in as u64;
        self.input_bytes.is_none() || self.merging.is_some_and(fits)
    }

    /// Loads of the input; of a pipe none are counted.
    fn all_loads(&self, merging: &Merging) -> u64 {
        self.input_bytes
            .map_or(0, |_| self.units.div_ceil(merging.load_chunks as u64))
    }

    /// Requests that write all runs once: the last one of a load is short.
    fn writes_of_runs(&self, merging: &Merging) -> u64 {
        let chain = (merging.chain * merging.chunk_records * self.record_bytes) as u64;
        self.input_bytes.unwrap_or(0) / chain + self.all_loads(merging)
    }

    /// Bytes of a chunk: so many chunks that memory divides well, and so small that all runs can be
    /// merged at once. With memory M, n loads in it and chunks of c bytes, M / 2c runs of M / n
    /// bytes can be.
    fn chunk_wanted(&self, shape: &Shape, limit: u64, tuning: &Tuning) -> u64 {
        if let Some(bytes) = tuning.chunk_bytes {
            return bytes as u64;
        }
        let record = self.record_bytes as u64;
        // A record's order lies beside it.
        let memory = limit / (record + Workspace::order_bytes(8) / 8) * record;
        let all = shape
            .records
            .map_or(limit.saturating_mul(PIPE_TIMES_MEMORY), |all| all * record);
        let loads = (self.sorters + 2) as u64;
        let squared = u128::from(memory) * u128::from(memory);
        // A third of what would do: parts of memory, and of the chunks, have other uses.
        let merged = squared / u128::from(all.max(1)) / u128::from(6 * loads);
        let merged = u64::try_from(merged).unwrap_or(u64::MAX);
        merged
            .min(memory / CHUNKS_AT_LEAST)
            .clamp(SMALLEST_CHUNK_BYTES, UNIT_BYTES)
    }

    /// Takes as many chunks as there is memory for, and divides them.
    fn fill_loads(self, limit: u64, tuning: &Tuning) -> Option<Plan> {
        let fits = |chunks| {
            let plan = self.clone().divided_in_loads(chunks, tuning);
            plan.filter(|plan| plan.needed() <= limit)
        };
        if let Some(chunks) = tuning.chunks {
            return fits(chunks);
        }
        // Too many do not fit, and with too few the lists of many small loads do not.
        let mut high = (limit / self.chunk_bytes as u64) as usize + 1;
        let mut low = high - high.div_ceil(STEP_SHARE);
        while low > 0 && fits(low).is_none() {
            (low, high) = (low - low.div_ceil(STEP_SHARE), low);
        }
        while low + 1 < high {
            let chunks = low.midpoint(high);
            (low, high) = if fits(chunks).is_some() {
                (chunks, high)
            } else {
                (low, chunks)
            };
        }
        fits(low)
    }

    /// Divides so many chunks, if they are enough.
    fn divided_in_loads(mut self, chunks: usize, tuning: &Tuning) -> Option<Plan> {
        let (sorters, depth, bytes) = (self.sorters, self.depth, self.chunk_bytes as u64);
        let merging = self.merging.as_mut()?;
        let share = chunks / UNDER_WAY_SHARE;
        let in_flight = (READ_AHEAD_BYTES / bytes).clamp(1, MOST_REQUESTS) as usize;
        merging.read_ahead = in_flight.min(share / 2).max(1);
        let chain = (UNIT_BYTES / bytes).max(1) as usize;
        merging.chain = chain.min(share / (merging.run_workers * depth)).max(1);
        let being_written = merging.chain * merging.run_workers * depth;
        let for_loads = chunks.checked_sub(being_written + 2 * merging.read_ahead)?;
        let load = tuning
            .load_chunks
            .unwrap_or(usize::MAX)
            .min(for_loads / (sorters + 2));
        if load == 0 {
            return None;
        }
        (merging.load_chunks, merging.loads) = (load, for_loads / load);
        merging.fan_in = (chunks - being_written) / READS_AHEAD;
        self.chunks = chunks;
        (merging.fan_in > 1).then_some(self)
    }

    /// Chunks for what is written to runs.
    ///
    /// No deadlock: each worker that writes finds a whole chain when nothing of its own is in
    /// flight.
    pub(crate) fn chunks_written(&self) -> usize {
        let chunks = self.merging.map_or(0, |merging| {
            merging.chain * merging.run_workers * self.depth
        });
        assert!(chunks < self.chunks, "loads have chunks, too");
        chunks
    }

    /// Chunks for loads and what is read ahead, and then for reading runs.
    ///
    /// No deadlock: in run formation one load more than those that must stay fits (see `Loads`),
    /// and in the merge every run has its own share of them (see `RunReader`).
    pub(crate) fn chunks_loaded(&self) -> usize {
        self.chunks - self.chunks_written()
    }

    /// Bytes that a merge spills at most at a time, about; it reads all runs at once, so none of
    /// them is gone before the output is there.
    pub(super) fn spilled_by_merge(&self, merging: &Merging, input: u64) -> u64 {
        let records = input / self.record_bytes as u64;
        let written = records.div_ceil(merging.chunk_records as u64) * self.chunk_bytes as u64;
        let fits = merging.fits(records.div_ceil(merging.block_records as u64));
        if fits { 0 } else { written }
    }

    /// Merges that a record goes through, however random the input is.
    pub(super) fn merges(&self, merging: &Merging) -> u32 {
        let fewer = |&runs: &u64| Some(runs.div_ceil(merging.fan_in as u64));
        let runs = std::iter::successors(Some(self.all_loads(merging)), fewer);
        runs.take_while(|&runs| runs > 1).count() as u32
    }

    /// What the merge and the loads that stay in memory share.
    pub(crate) fn room(&self) -> Room {
        let read = (RUN_READ_BYTES / self.chunk_bytes as u64).max(1) as usize;
        Room {
            chunks: self.chunks_loaded(),
            read,
        }
    }

    /// Write units: one that the merger fills, one that waits, and each writer's in flight.
    ///
    /// No deadlock: the merger holds one, and waits for writers, who give back what is written
    /// before they wait for a new piece.
    pub(crate) fn write_units(&self) -> usize {
        if self.tight {
            TIGHT_UNITS
        } else {
            2 + self.writers * self.depth
        }
    }

    pub(super) fn merging_needs(&self, merging: &Merging) -> Vec<Need> {
        let (record, sorters) = (self.record_bytes as u64, self.sorters as u64);
        let chunks = self.chunks as u64;
        let (touched, ends) = self.touched_by_merge(merging);
        let load_records = (merging.load_chunks * merging.block_records) as u64;
        let order = Workspace::order_bytes((self.chunks * merging.block_records) as u64);
        let prefixes = 8 * merging.block_records as u64;
        let sorting = sorters * (Workspace::order_bytes(load_records) + prefixes + KERNEL_BYTES);
        let writing = (self.write_units() * self.buffer_bytes()) as u64;
        let lists =
            self.writes_of_runs(merging) * STRETCH_BYTES + self.all_loads(merging) * LOAD_BYTES;
        vec![
            Need {
                name: "records",
                bytes: touched * self.chunk_bytes as u64,
            },
            Need {
                name: "order of loads",
                bytes: order,
            },
            // One after the other.
            Need {
                name: "sorting, then writing",
                bytes: sorting.max(writing),
            },
            Need {
                name: "runs that are merged",
                bytes: merging.fan_in as u64 * SOURCE_BYTES,
            },
            Need {
                name: "chunk lists",
                bytes: chunks * CHUNK_LIST_BYTES,
            },
            Need {
                name: "ends of loads",
                bytes: ends * record,
            },
            Need {
                name: "loads and runs",
                bytes: lists,
            },
            Need {
                name: "program",
                bytes: SPILLING_PROGRAM_BYTES,
            },
        ]
    }
}

/// A chunk, and what fits into it.
struct Chunk {
    bytes: u64,
    /// Records that a read of the input brings.
    block_records: usize,
    /// Records of a run.
    records: usize,
}

impl Chunk {
    /// A chunk of about that size. If it can be, reads of the input begin and end at whole disk
    /// blocks; else there is a block more on either side.
    fn of(shape: &Shape, wanted: u64) -> Chunk {
        let record = shape.record_bytes as u64;
        let step = BLOCK_BYTES / greatest_common_divisor(BLOCK_BYTES, record);
        let whole = wanted / (step * record);
        let (bytes, block_records) = if whole > 1 {
            (whole * step * record + BLOCK_BYTES, whole * step)
        } else {
            let beside = 2 * BLOCK_BYTES;
            let bytes = wanted.max(record + beside).next_multiple_of(BLOCK_BYTES);
            (bytes, (bytes - beside) / record)
        };
        let records = (bytes - FOOTER_BYTES as u64) / record;
        Chunk {
            bytes,
            block_records: block_records as usize,
            records: records as usize,
        }
    }
}

/// The memory that a merge and the loads that stay share, in chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub chunks: usize,
    /// Chunks of a read that is worth it.
    pub read: usize,
}

#[cfg(test)]
mod tests;
