//! Memory by purpose, and the number of chunks that fits.
//!
//! A need is a named number of bytes. With fewer chunks it is less, but not below a line:
//!
//! ```text
//! bytes                  _______ now      a need that grows less and less is above its chord,
//!              ___---^^^^   ___/          one that is rounded down above a lower line,
//!          _--^       ___---  least       one that shrinks as chunks grow in number above
//!        _^   ___---^^                    what it is now
//!       |--^^            > chunks
//! ```
//!
//! [`filled`] starts with more chunks than fit. The sum of the lines is a line, too, so one division
//! says how many chunks might fit. Their needs have lines of their own, so it repeats that until the
//! sum of the needs fits. No line is above its need, so it finds the greatest number.

mod pools;

use std::ops::{Range, RangeInclusive};

use codec::packer_memory;

use crate::plan::{LARGEST_OF_MEAN, MIB, Plan};
use crate::records::block::{BLOCK_BYTES, Mark};
use crate::records::contents::Workspace;
use crate::records::lengths::USUAL_BYTES;

/// Small random reads in flight.
pub(crate) const SAMPLES_IN_FLIGHT: usize = 8;

/// Code, stacks and heap of the program.
const PROGRAM_BYTES: u64 = 8 * MIB;

/// The same of a sort that may spill, without the code: the resident set may exceed the limit by
/// that.
pub(super) const SPILLING_PROGRAM_BYTES: u64 = 2 * MIB;

/// The sort kernel's own memory per sorter: write-combining buffers, counts, and the list of ties.
pub(super) const KERNEL_BYTES: u64 = 2 * MIB;

const MARK_BYTES: u64 = size_of::<Mark>() as u64;

/// A bucket in a distributor: its chunk, and what a block adds to it.
const ASSIGNED_BYTES: u64 = 24;

/// A chunk's descriptor, its place in its bucket's list and in the pool, and its memory's handle.
pub(super) const CHUNK_LIST_BYTES: u64 = 192;

/// A prefix and a bucket number for each record of a unit, and the end of a line.
const CLASSIFY_BYTES: u64 = 12;
const END_BYTES: u64 = 4;

/// A run of a spill file in its partition's list, with the list's spare capacity.
const RUN_BYTES: u64 = 12;

/// Memory of a plan for one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The purpose, as reports name it.
    pub name: &'static str,
    /// Bytes for that purpose.
    pub bytes: u64,
    /// A line below it: without chunks, and with those of the plan.
    line: (i128, i128),
}

impl Need {
    /// A need that fewer chunks do not lessen.
    pub(super) fn new(name: &'static str, bytes: u64) -> Need {
        let line = (bytes.into(), bytes.into());
        Need { name, bytes, line }
    }

    /// A need of `fixed` bytes without chunks, and of no less than its part of the rest with some.
    pub(super) fn from(self, fixed: u64) -> Need {
        let line = (fixed.into(), self.bytes.into());
        Need { line, ..self }
    }

    /// A need that is at least `least` bytes, however few chunks there are.
    pub(super) fn at_least(self, least: u64) -> Need {
        let line = (least.into(), least.into());
        Need { line, ..self }
    }

    /// A need of `fixed` bytes, and of `each` for every `of` of the chunks behind the first, rounded down;
    /// but never of more than it is with those of the plan, the last.
    pub(super) fn in_steps(self, fixed: u64, each: u64, of: usize, chunks: Range<usize>) -> Need {
        let of = of as i128;
        let line = |at: usize| {
            let steps = at as i128 - chunks.start as i128 + 1 - of;
            i128::from(fixed) + (i128::from(each) * steps).div_euclid(of)
        };
        let line = (line(0), line(chunks.end).min(self.bytes.into()));
        Need { line, ..self }
    }
}

/// The number of chunks below `chunks` of which no greater one can fit in `limit`.
fn most_chunks(needs: &[Need], limit: u64, chunks: usize) -> Option<usize> {
    let sum = |end: fn(&Need) -> i128| needs.iter().map(end).sum::<i128>();
    let (fixed, all) = (sum(|need| need.line.0), sum(|need| need.line.1));
    let free = i128::from(limit) - fixed;
    let fewer = chunks.checked_sub(1).filter(|_| free >= 0)?;
    let solved = (free * chunks as i128).checked_div(all - fixed);
    // A line that is below its need may say that all fit.
    Some(solved.map_or(fewer, |solved| fewer.min(solved as usize)))
}

/// The plan of the most chunks, of those numbers, that needs at most `limit` bytes, as `divide`
/// divides them.
pub(super) fn filled(
    limit: u64,
    numbers: RangeInclusive<usize>,
    divide: impl Fn(usize) -> Option<Plan>,
) -> Option<Plan> {
    let (least, mut chunks) = numbers.into_inner();
    loop {
        let plan = divide(chunks).filter(|_| chunks >= least)?;
        let needs = plan.needs();
        if needs.iter().map(|need| need.bytes).sum::<u64>() <= limit {
            return Some(plan);
        }
        chunks = most_chunks(&needs, limit, chunks)?;
    }
}

impl Plan {
    /// Memory by purpose.
    pub fn needs(&self) -> Vec<Need> {
        if let Some(merging) = &self.merging {
            return self.merging_needs(merging);
        }
        let framing = self.framing;
        let records = self.records_bytes();
        // If the sample takes more than the chunks, the sum of both is the same with fewer chunks.
        let beyond = self.sample_bytes().saturating_sub(records);
        let fixed = if beyond == 0 { 0 } else { records };
        let splitters = match self.samples {
            0 => 0,
            _ => framing.room_for_sampled(2 * self.buckets as u64),
        };
        let program = match self.spilling {
            Some(_) => SPILLING_PROGRAM_BYTES,
            None => PROGRAM_BYTES,
        };
        let edges = framing.room_for(self.edges() as u64);
        let lists = self.chunks as u64 * CHUNK_LIST_BYTES;
        vec![
            Need::new("records", records).from(fixed),
            Need::new("units", self.units_bytes()),
            Need::new("seams", self.seam_buffers() as u64 * BLOCK_BYTES),
            self.sorting(),
            Need::new("distributing", self.distributing()),
            Need::new("edges of buckets", edges),
            Need::new("sample", splitters + beyond),
            self.resample(),
            Need::new("chunk lists", lists).from(0),
            self.positions(),
            Need::new("runs", self.run_bytes()),
            self.packing(),
            self.parity(),
            Need::new("program", program),
        ]
    }

    /// The sum of the needs, in bytes.
    pub fn needed(&self) -> u64 {
        self.needs().iter().map(|need| need.bytes).sum()
    }

    /// Bytes of the chunks that take memory. Where none is read back, these are as many as the records
    /// have, and a part of a page of each chunk.
    fn records_bytes(&self) -> u64 {
        let chunks = self.touched(self.chunks);
        let all = chunks * self.chunk_bytes as u64;
        let input = self.input_bytes.filter(|_| self.spilling.is_none());
        input.map_or(all, |input| all.min(input + chunks * BLOCK_BYTES))
    }

    /// Bytes of the buffers of units that take memory. Where records are read once and written once, one
    /// that is long takes the rest of its bytes in a buffer each time.
    fn units_bytes(&self) -> u64 {
        let all = (self.buffers() * self.buffer_bytes()) as u64;
        let twice = match self.spilling {
            Some(_) => return all,
            None => self.framing.beyond().saturating_mul(2),
        };
        let usual = self.unit_bytes + USUAL_BYTES + 2 * BLOCK_BYTES as usize;
        let pages = (self.buffers() * 4 * BLOCK_BYTES as usize) as u64;
        // Each byte comes into them twice.
        let most = self.input_bytes.map_or(u64::MAX, |input| 2 * input + pages);
        all.min(twice.saturating_add((self.buffers() * usual) as u64))
            .min(most)
    }

    /// Entries of the buckets being sorted.
    fn sorting(&self) -> Need {
        let (framing, sorters) = (self.framing, self.sorters as u64);
        // In addition to its entries a sorter keeps an edge of each end and the record it carries.
        let alone = match self.input_bytes {
            // Other records stand beside it.
            Some(input) if self.buckets == 1 && input > framing.longest() as u64 => 0,
            // The only record of a bucket is at both ends.
            _ => framing.beyond(),
        };
        let three = framing.room_for(3 * sorters).saturating_add(alone);
        let three = three.min(3 * sorters * framing.longest() as u64);
        let fixed = sorters * KERNEL_BYTES + three;
        let need =
            |records, workers| Need::new("sorting", fixed + workers * Workspace::bytes(records));
        match (self.spilling, self.input_bytes) {
            // A partition that is larger than its room is partitioned again.
            (Some(spilling), _) => {
                let records = framing.most_in(spilling.chunk_room.into());
                let (each, of) = (Workspace::bytes(records), self.partitions_at_once());
                let need = need(spilling.partition_chunks as u64 * records, sorters);
                need.in_steps(fixed, sorters * each, of, 0..self.chunks)
            }
            (None, Some(input)) => {
                let mean = framing.most_in(input / self.buckets.max(1) as u64);
                let largest = LARGEST_OF_MEAN * mean.max(1);
                need(largest.min(framing.all_in(input)), sorters)
            }
            // A pipe's splitters come from its beginning, so one bucket may get all the rest.
            (None, None) => {
                let records = framing.most_in(self.chunk_bytes as u64);
                let need = need(self.chunks as u64 * records, 1);
                need.in_steps(fixed, Workspace::bytes(records), 1, 0..self.chunks)
            }
        }
    }

    /// Packers, one for each worker that writes or reads chunks of spill files.
    pub(super) fn packing(&self) -> Need {
        let written = match (self.spilling, &self.merging) {
            (Some(spilling), _) => spilling.directories * spilling.spillers,
            (None, Some(merging)) => merging.run_workers,
            (None, None) => 0,
        };
        let packers = if self.packs { written + 1 } else { 0 };
        Need::new("packing", packers as u64 * packer_memory(self.chunk_bytes))
    }

    fn distributing(&self) -> u64 {
        self.distributors as u64 * (self.classifying() + self.buckets as u64 * ASSIGNED_BYTES)
    }

    /// Bytes in which a distributor notes the buckets of a unit's records.
    pub(super) fn classifying(&self) -> u64 {
        let ends = if self.framing.is_fixed() {
            0
        } else {
            END_BYTES
        };
        self.framing.most_in(self.read_bytes as u64) * (CLASSIFY_BYTES + ends)
    }

    /// First and last records of buckets that wait for a neighbour: those in work, those between
    /// them, and those of whole files in each directory.
    fn edges(&self) -> usize {
        if self.has_one_worker() && self.outputs == 1 {
            // Buckets end in their order. If there is only one, no records wait but those that the
            // sorter keeps.
            let is_one = self.is_one_partition() || self.buckets == 1 && self.spilling.is_none();
            return if is_one { 0 } else { 2 };
        }
        let waiting = 2 * self.sorters + 1 + 2 * self.outputs + self.out_of_order();
        match self.spilling {
            // Partitions may be partitioned again.
            Some(_) => 2 * waiting,
            None => 2 * waiting.min(self.buckets),
        }
    }

    /// The places that the sample keeps, and those in flight. No chunk is touched before splitters
    /// are known, so they take what is the chunks' later.
    fn sample_bytes(&self) -> u64 {
        let place = self.framing.sampled_bytes();
        let in_flight = SAMPLES_IN_FLIGHT.min(self.samples) as u64 * (place + 3 * BLOCK_BYTES);
        2 * self.samples as u64 * place + in_flight
    }

    /// The sample of a partition that is partitioned again.
    fn resample(&self) -> Need {
        let bytes = self.resample_bytes();
        let need = Need::new("sample of a partition", bytes);
        if bytes > self.least_resample_bytes() {
            need.from(0)
        } else {
            need
        }
    }

    /// Runs of spill files in their lists; none for a pipe, whose length is not known.
    fn run_bytes(&self) -> u64 {
        let Some(spilling) = self.spilling else {
            return 0;
        };
        // The longest chain goes first, which is twice the mean at least.
        let chain = (2 * spilling.held / self.buckets).clamp(1, spilling.run.max(1));
        self.input_bytes.unwrap_or(0) / (chain * self.chunk_bytes) as u64 * RUN_BYTES
    }

    /// Input positions of a stable sort: a mark for each bucket of each unit, but never more than
    /// one per record.
    fn positions(&self) -> Need {
        let need = |marks| Need::new("input positions", marks * MARK_BYTES);
        if !self.stable {
            return need(0);
        }
        let chunks = self.chunks as u64;
        let each = match (self.spilling, self.input_bytes) {
            (Some(spilling), _) => u64::from(spilling.chunk_marks),
            (None, None) => self.framing.most_in(self.chunk_bytes as u64),
            (None, Some(input)) => {
                let runs = self.units * self.buckets as u64 + chunks;
                return need(runs.min(self.framing.most_in(input)));
            }
        };
        need(chunks * each).from(0)
    }
}

#[cfg(test)]
mod tests;
