//! Plans of a merge: loads, which are sorted and spilled as runs, and the merge of those.
//!
//! ```text
//! chunks    load | load | load | ... | read ahead      | being written     (run formation)
//!           reads ahead of each run  | loads that stay | -                 (merge)
//! ```
//!
//! One size of chunks serves the input, the runs and the merge. Large ones make large requests;
//! small ones let more runs be merged at once.

mod mergers;

use std::iter::successors;

use crate::plan::needs::{CHUNK_LIST_BYTES, KERNEL_BYTES, Need, SPILLING_PROGRAM_BYTES, filled};
use crate::plan::search::Given;
use crate::plan::{KIB, MIB, Plan, UNIT_BYTES};
use crate::records::block::{BLOCK_BYTES, FOOTER_BYTES};
use crate::records::contents::Workspace;
use crate::records::framing::Framing;

/// Chunks of each run that are being read or wait for the merge.
pub(crate) const READS_AHEAD: usize = 2;

/// Each sorter makes loads smaller, and more of them than these only begin where loads stay large.
const FEW_SORTERS: usize = 4;
const MEMORY_OF_SORTER: u64 = 256 * MIB;

/// The first loads of an input that may fit in memory: a sorter takes a tenth of a second for one. With fewer
/// chunks, the two that the merge reads of each run would leave no memory for loads that stay.
const FIRST_LOAD_BYTES: usize = 32 << 20;
const FIRST_LOAD_CHUNKS: usize = 8;

/// Sorters' fixed needs may take this part of memory.
const SORTER_SHARE: u64 = 4;

/// Of fewer chunks too much is lost to rounding when they are divided into loads.
const CHUNKS_AT_LEAST: u64 = 128;

const SMALLEST_RUN_CHUNK_BYTES: u64 = 16 * KIB;

/// A pipe's length is not known: this many times the memory can be merged at once.
const PIPE_TIMES_MEMORY: u64 = 32;

/// In flight from the input: more bytes or requests do not make a disk faster (node-real serves
/// sixteen requests at once).
const READ_AHEAD_BYTES: u64 = 4 * UNIT_BYTES;
const MOST_REQUESTS: u64 = 16;

/// Reads ahead of the input and writes of runs may take this part of the chunks each.
const UNDER_WAY_SHARE: usize = 8;

/// A magnetic disk reads this in about the time of a seek. Before reads become smaller, loads that
/// could have stayed in memory go to disk.
const RUN_READ_BYTES: u64 = MIB;

/// Order of a record in its load, with the spare capacity of the list.
const ORDER_BYTES: u64 = 18;

/// Prefix of a record's key while its load is sorted.
const PREFIX_BYTES: u64 = 8;

/// A load in the lists of run formation, and then as a run: its number, and where the list of its
/// writes is.
const LOAD_BYTES: u64 = 128;

/// A stretch of a run in a spill file, with the list's spare capacity.
const STRETCH_BYTES: u64 = 36;

/// Numbers of a sort that merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merging {
    /// Chunks of a load.
    pub load_chunks: usize,
    /// Loads that memory holds.
    pub loads: usize,
    /// Bytes of records of a chunk that is read from the input.
    pub block_room: usize,
    /// Bytes of records of a chunk of a run.
    pub chunk_room: usize,
    /// Requests for the input in flight, and as many chunks that wait.
    pub read_ahead: usize,
    /// Workers that write runs, and that read them.
    pub run_workers: usize,
    /// Chunks of one write of a run.
    pub chain: usize,
    /// Runs that can be merged at once.
    pub fan_in: usize,
    /// Workers that merge runs into the output.
    pub mergers: usize,
}

impl Merging {
    /// Lines of a chunk that is read from the input, at most: the order of loads is planned for
    /// that. `None` if records have one length.
    pub(crate) fn most_lines(&self, framing: Framing) -> Option<usize> {
        let most = framing.most_in(self.block_room as u64).max(1);
        (!framing.is_fixed()).then_some(most as usize)
    }

    /// Chunks of the first loads of an input that may fit in memory.
    pub(crate) fn first_load(&self, chunk_bytes: usize) -> usize {
        (FIRST_LOAD_BYTES / chunk_bytes)
            .max(FIRST_LOAD_CHUNKS)
            .min(self.load_chunks)
    }

    /// Whether that many chunks of input stay in memory.
    pub(crate) fn fits(&self, chunks: u64) -> bool {
        chunks <= (self.loads * self.load_chunks) as u64
    }
}

impl Plan {
    /// A plan for any input, and how often it writes a record to runs.
    pub(super) fn merging(given: &Given) -> Option<(u32, Plan)> {
        let tuning = &given.tuning;
        let mut plan = Plan::derive(given).with_small_units(given);
        let room_for = (given.memory_bytes / SORTER_SHARE / KERNEL_BYTES).max(1) as usize;
        let many = (given.memory_bytes / MEMORY_OF_SORTER) as usize;
        let sorters = given.cores.min(many.max(FEW_SORTERS)).min(room_for);
        plan.sorters = tuning.sorters.unwrap_or(sorters);
        (plan.readers, plan.buckets, plan.samples) = (1, 1, 0);
        (plan.distributors, plan.node_distributors) = (1, 1);
        // Rounding may make a few runs too many for one merge: then chunks are a little smaller.
        let is_free = tuning.chunk_bytes.is_none();
        let smaller = |wanted: &u64| {
            let smaller = wanted - wanted / 8;
            Some(smaller).filter(|&bytes| is_free && bytes >= SMALLEST_RUN_CHUNK_BYTES)
        };
        let mut last = None;
        for wanted in successors(Some(plan.chunk_wanted(given)), smaller) {
            last = plan.with_chunks(wanted, given).or(last);
            if last.as_ref().is_some_and(Plan::merges_once) {
                break;
            }
        }
        last.map(|plan| (plan.times_spilled(), plan))
    }

    /// Chunks of about that size, as many as there is memory for.
    fn with_chunks(&self, wanted: u64, given: &Given) -> Option<Plan> {
        let (shape, tuning, limit) = (given.shape, &given.tuning, given.memory_bytes);
        let mut plan = self.clone();
        let (bytes, most) = plan.merge_chunk(wanted, shape.sources.longest_unit);
        plan.chunk_bytes = bytes as usize;
        let is_asked = tuning.unit_records.is_some() || tuning.unit_bytes.is_some();
        let asked = is_asked.then(|| given.read_bytes());
        let block_room = asked.unwrap_or(usize::MAX).min(most as usize);
        plan.units = shape.units(block_room);
        plan.merging = Some(Merging {
            load_chunks: 0,
            loads: 0,
            block_room,
            chunk_room: plan.framing.whole(bytes - FOOTER_BYTES as u64) as usize,
            read_ahead: 0,
            // Several directories are several disks, which work at once.
            run_workers: tuning
                .writers
                .unwrap_or(given.writers().max(shape.temporary)),
            chain: 1,
            fan_in: 0,
            mergers: plan.mergers(given),
        });
        let asked = tuning.chunks.map(|chunks| chunks..=chunks);
        let numbers = asked.unwrap_or(1..=(limit / bytes) as usize);
        let most_load = tuning.load_chunks.unwrap_or(usize::MAX);
        given.with_packers(&plan, |plan| {
            filled(limit, numbers.clone(), |chunks| {
                plan.clone().divided_in_loads(chunks, most_load)
            })
        })
    }

    /// Bytes of a chunk of about that size, and of the records that a read of the input brings. If
    /// possible, reads begin and end at whole disk blocks; else there is a block more at each end.
    fn merge_chunk(&self, wanted: u64, longest_unit: usize) -> (u64, u64) {
        let (framing, period) = (self.framing, self.framing.period());
        if framing.is_fixed() && wanted >= 2 * period {
            let whole = wanted - wanted % period;
            return (whole + BLOCK_BYTES, whole);
        }
        let around = 2 * BLOCK_BYTES;
        let least = framing.longest().max(longest_unit) as u64 + around;
        let bytes = wanted.max(least).next_multiple_of(BLOCK_BYTES);
        (bytes, framing.whole(bytes - around))
    }

    /// Whether all runs of an input whose length is known can be merged at once.
    fn merges_once(&self) -> bool {
        let fits = |merging: Merging| self.all_loads(&merging) <= merging.fan_in as u64;
        self.input_bytes.is_none() || self.merging.is_some_and(fits)
    }

    /// Loads of the input; 0 for a pipe.
    fn all_loads(&self, merging: &Merging) -> u64 {
        self.input_bytes
            .map_or(0, |_| self.units.div_ceil(merging.load_chunks as u64))
    }

    /// Requests that write all runs once: the last one of a load is short.
    fn writes_of_runs(&self, merging: &Merging) -> u64 {
        let chain = (merging.chain * merging.chunk_room) as u64;
        self.input_bytes.unwrap_or(0) / chain + self.all_loads(merging)
    }

    /// Bytes of a chunk, so small that memory divides into many and that all runs can be merged at
    /// once. With memory M, n loads in it and chunks of c bytes, M / 2c runs of M / n bytes can be.
    fn chunk_wanted(&self, given: &Given) -> u64 {
        if let Some(bytes) = given.tuning.chunk_bytes {
            return bytes as u64;
        }
        let limit = given.memory_bytes;
        let record = self.framing.mean() as u64;
        // The order of records takes memory, too.
        let memory = self.framing.about(limit / (record + ORDER_BYTES));
        let all = self
            .input_bytes
            .unwrap_or(limit.saturating_mul(PIPE_TIMES_MEMORY));
        let loads = (self.sorters + 2) as u64;
        let squared = u128::from(memory) * u128::from(memory);
        // A third of what would do: parts of memory, and of the chunks, have other uses.
        let merged = squared / u128::from(all.max(1)) / u128::from(6 * loads);
        let merged = u64::try_from(merged).unwrap_or(u64::MAX);
        merged
            .min(memory / CHUNKS_AT_LEAST)
            .clamp(SMALLEST_RUN_CHUNK_BYTES, UNIT_BYTES)
    }

    /// Divides that many chunks, if they are enough.
    fn divided_in_loads(mut self, chunks: usize, most_load: usize) -> Option<Plan> {
        let (depth, bytes) = (self.depth, self.chunk_bytes as u64);
        let at_once = self.loads_at_once();
        let merging = self.merging.as_mut()?;
        let share = chunks / UNDER_WAY_SHARE;
        let in_flight = (READ_AHEAD_BYTES / bytes).clamp(1, MOST_REQUESTS) as usize;
        merging.read_ahead = in_flight.min(share / 2).max(1);
        let chain = (UNIT_BYTES / bytes).max(1) as usize;
        merging.chain = chain.min(share / (merging.run_workers * depth)).max(1);
        let being_written = merging.chain * merging.run_workers * depth;
        let for_loads = chunks.checked_sub(being_written + 2 * merging.read_ahead)?;
        let load = most_load.min(for_loads / at_once);
        if load == 0 {
            return None;
        }
        (merging.load_chunks, merging.loads) = (load, for_loads / load);
        merging.fan_in = (chunks - being_written) / READS_AHEAD;
        self.chunks = chunks;
        (merging.fan_in > 1).then_some(self)
    }

    /// Loads that memory holds at least: those being sorted, one that is read, one that is written.
    fn loads_at_once(&self) -> usize {
        self.sorters + 2
    }

    /// Chunks that run writers fill and write.
    ///
    /// No deadlock: each run writer finds a whole chain when it has nothing in flight.
    pub(crate) fn chunks_written(&self) -> usize {
        let chunks = self.merging.map_or(0, |merging| {
            merging.chain * merging.run_workers * self.depth
        });
        assert!(chunks < self.chunks, "some chunks are for loads");
        chunks
    }

    /// Chunks for loads and what is read ahead, and then for reading runs.
    ///
    /// No deadlock: in run formation one load more than those that must stay fits (see `Loads`),
    /// and in the merge every run has its own share of them (see `RunReader`).
    pub(crate) fn chunks_loaded(&self) -> usize {
        self.chunks - self.chunks_written()
    }

    /// Bytes of spill files at most, about: a merge reads all runs at once, so none is removed
    /// before the output is complete.
    pub(super) fn spilled_by_merge(&self, merging: &Merging, input: u64) -> u64 {
        let written = input.div_ceil(merging.chunk_room as u64) * self.chunk_bytes as u64;
        let units = self.input_bytes.map_or(0, |_| self.units);
        let blocks = input.div_ceil(merging.block_room as u64).max(units);
        if merging.fits(blocks) { 0 } else { written }
    }

    /// Sorted inputs that are merged at once: beside its chunks, each keeps its last record and the
    /// start of the next one. Two always are.
    pub(crate) fn inputs_at_once(&self) -> usize {
        (self.chunks_loaded() / (READS_AHEAD + self.chunks_beside_input())).max(2)
    }

    /// Chunks that take as much memory as an input needs beside its reads.
    pub(crate) fn chunks_beside_input(&self) -> usize {
        (2 * self.framing.longest()).div_ceil(self.chunk_bytes)
    }

    /// Memory that the merge of sorted inputs takes, with so many chunks.
    pub(crate) fn used_by_merge(&self, runs: usize, chunks: usize) -> u64 {
        let chunks = (chunks * self.chunk_bytes) as u64;
        let units = (self.write_units() * self.buffer_bytes()) as u64;
        let source = self
            .merging
            .map_or(mergers::SOURCE_BYTES, |merging| merging.source_bytes());
        chunks + units + runs as u64 * source + SPILLING_PROGRAM_BYTES
    }

    /// Merges that a record goes through, however random the input is; none if all loads stay in memory.
    pub(super) fn merges(&self, merging: &Merging) -> u32 {
        let fewer = |&runs: &u64| Some(runs.div_ceil(merging.fan_in as u64));
        let runs = successors(Some(self.all_loads(merging)), fewer);
        let merges = runs.take_while(|&runs| runs > 1).count() as u32;
        if merging.fits(self.units) { 0 } else { merges }
    }

    pub(crate) fn room(&self) -> Room {
        let read = (RUN_READ_BYTES / self.chunk_bytes as u64).max(1) as usize;
        Room {
            chunks: self.chunks_loaded(),
            read,
        }
    }

    /// Memory of a merge, by purpose.
    pub(super) fn merging_needs(&self, merging: &Merging) -> Vec<Need> {
        let (chunk, chunks) = (self.chunk_bytes as u64, self.chunks as u64);
        let (touched, ends) = self.touched_by_merge(merging);
        let records = self.framing.most_in(merging.block_room as u64).max(1);
        // Lines that a reader moves to further chunks.
        let moved = merging
            .most_lines(self.framing)
            .map_or(0, |_| merging.block_room);
        let (order, each_order) = [chunks, 1]
            .map(|of| Workspace::order_bytes(of * records))
            .into();
        let source = merging.source_bytes();
        let sources = merging.fan_in as u64 * source;
        let runs = self.writes_of_runs(merging) * STRETCH_BYTES;
        let loads = self.all_loads(merging) * LOAD_BYTES;
        let written = self.chunks_written();
        // If a few records stay in memory, no runs are written.
        let untouched = if touched < chunks { written } else { 0 };
        vec![
            Need::new("records", touched * chunk).in_steps(0, chunk, 1, untouched..self.chunks),
            Need::new("order of loads", order).in_steps(0, each_order, 1, 0..self.chunks),
            self.sorting_then_writing(merging, records),
            Need::new("runs that are merged", sources).in_steps(
                0,
                source,
                READS_AHEAD,
                written..self.chunks,
            ),
            Need::new("chunk lists", chunks * CHUNK_LIST_BYTES).from(0),
            Need::new("ends of loads", self.framing.room_for(ends)),
            Need::new("lines that are moved", moved as u64),
            Need::new("loads and runs", runs + loads),
            self.packing(),
            self.parity(),
            Need::new("program", SPILLING_PROGRAM_BYTES),
        ]
    }

    /// Sorters' needs in run formation, or the write units of the merge if those are more.
    fn sorting_then_writing(&self, merging: &Merging, records: u64) -> Need {
        let (sorters, at_once) = (self.sorters as u64, self.loads_at_once());
        let fixed = sorters * (PREFIX_BYTES * records + KERNEL_BYTES);
        let order = Workspace::order_bytes(merging.load_chunks as u64 * records);
        let seams = self.merge_seams() * BLOCK_BYTES as usize;
        let writing = self.write_units() * self.buffer_bytes() + seams;
        let (sorting, writing) = (fixed + sorters * order, writing as u64);
        let need = Need::new("sorting, then writing", sorting.max(writing));
        if writing >= sorting {
            return need;
        }
        let each = sorters * Workspace::order_bytes(records);
        let under_way = self.chunks_written() + 2 * merging.read_ahead;
        need.in_steps(fixed, each, at_once, under_way..self.chunks)
    }
}

/// Memory that the merge shares with the loads that stay, in chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub chunks: usize,
    /// Chunks of a read that reaches the disk's rate.
    pub read: usize,
}

impl Room {
    /// No load stays.
    pub(crate) const NONE: Room = Room { chunks: 0, read: 1 };

    /// The room beside so many runs that are on disk already.
    pub(crate) fn beside(self, runs: usize) -> Room {
        let taken = READS_AHEAD * runs * self.read;
        Room {
            chunks: self.chunks.saturating_sub(taken),
            ..self
        }
    }
}

#[cfg(test)]
mod tests;
