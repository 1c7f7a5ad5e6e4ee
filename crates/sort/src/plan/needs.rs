//! What a plan needs memory for, and why no pool of it deadlocks.

use crate::job::Start;
use crate::plan::tight::TIGHT_UNITS;
use crate::plan::{LARGEST_OF_MEAN, MIB, Plan};
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Mark;
use crate::records::contents::Workspace;

/// The worst start reads in units of this size.
pub(crate) const WORST_UNIT_BYTES: usize = 64 << 10;

/// Small random reads in flight.
pub(crate) const SAMPLES_IN_FLIGHT: usize = 8;

/// What the program takes beside its buffers: code, stacks, heap.
const PROGRAM_BYTES: u64 = 8 * MIB;

/// What the kernel keeps for one sort: write-combining buffers, counts, and the list of ties.
pub(super) const KERNEL_BYTES: u64 = 2 * MIB;

const MARK_BYTES: u64 = size_of::<Mark>() as u64;

/// A chunk's descriptor, its place in its bucket's list and in the pool, and its memory's handle.
pub(super) const CHUNK_LIST_BYTES: u64 = 192;

/// A run of a spill file in its partition's list, with what such a list has to spare.
const RUN_BYTES: u64 = 12;

/// The same of a sort that may spill: its code is what the resident set may exceed the limit by.
pub(super) const SPILLING_PROGRAM_BYTES: u64 = 2 * MIB;

/// One of the things that memory is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// What for.
    pub name: &'static str,
    /// How much.
    pub bytes: u64,
}

impl Plan {
    /// Bytes of a unit's buffer: a unit, the disk blocks around it when it is read, the record that
    /// reaches beyond it when it is written.
    pub fn buffer_bytes(&self) -> usize {
        let block = BLOCK_BYTES as usize;
        self.unit_bytes + self.record_bytes.next_multiple_of(block).max(2 * block)
    }

    /// Buffers of units: first the input's, then, when all of it has been read, the output's.
    ///
    /// Reading takes each reader's requests in flight, one that each distributor works on, and as
    /// many that wait. No deadlock: readers hold buffers only while their requests run, and
    /// distributors give theirs back without waiting for anything but the partition buffers. These wait
    /// for write tokens alone, which spillers return when their disks have written.
    ///
    /// Writing takes one that each sorter fills, one that waits, and each writer's in flight. No
    /// deadlock: a sorter that waits for one holds none; one that holds it waits for nothing but
    /// seam buffers and the writers, and a writer waits for a new piece only when it has given
    /// back every buffer that has been written.
    ///
    /// Workers that are parked hold none, and fewer requests in flight need fewer.
    pub fn buffers(&self) -> usize {
        if self.tight {
            return TIGHT_UNITS;
        }
        let reading = (self.readers + self.spare_readers) * self.depth + 2 * self.distributors;
        let writing = 2 * self.sorters + (self.writers + self.spare_writers) * self.depth;
        // More than the input has units would never be used; one is enough to go on.
        let useful = usize::try_from(self.units)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        let buffers = reading.max(writing).min(useful);
        assert!(
            buffers >= 2,
            "a pipe's first blocks are held while the next one is read"
        );
        buffers
    }

    /// Buffers for disk blocks in which buckets meet.
    ///
    /// No deadlock: buckets are begun in order in each of the files that are written side by side,
    /// so a block that is not complete touches a bucket in work (two ends each) or lies before the
    /// first one not begun of its file, or is the first of a part of a file, which is completed
    /// elsewhere; beside these, each sorter holds one more that it may not need, and the rest are
    /// with the writers, who give them back.
    pub fn seam_buffers(&self) -> usize {
        let open = 2 * self.sorters + self.outputs + 1;
        let writing = (self.writers + self.spare_writers) * self.depth;
        let buffers = open + self.sorters + self.write_queue() + writing;
        assert!(buffers > open, "a seam can always be begun");
        buffers
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
        if let Some(merging) = &self.merging {
            return self.merging_needs(merging);
        }
        let (block, record) = (BLOCK_BYTES, self.record_bytes as u64);
        let bytes = |count: usize, bytes: usize| (count * bytes) as u64;
        let bucket_records = match self.input_bytes {
            Some(input) => input / record / self.buckets.max(1) as u64,
            None => MIB / record,
        };
        // What is too large for its room is partitioned again, where that can be.
        let most_records = self
            .spilling
            .map_or(LARGEST_OF_MEAN * bucket_records.max(1), |spilling| {
                spilling.partition_chunks as u64 * u64::from(spilling.chunk_records)
            });
        // Beside its entries a sorter keeps an edge of each end and the record it carries on.
        let sorter = Workspace::bytes(most_records) + KERNEL_BYTES + 3 * record;
        let classify_bytes = 12; // a prefix and a bucket number for each record of a unit
        let distributor = bytes(self.unit_records, classify_bytes) + 8 * self.buckets as u64;
        let program = if self.spilling.is_some() {
            SPILLING_PROGRAM_BYTES
        } else {
            PROGRAM_BYTES
        };
        vec![
            Need {
                name: "records",
                bytes: self.touched(self.chunks) * self.chunk_bytes as u64,
            },
            Need {
                name: "units",
                bytes: bytes(self.buffers(), self.buffer_bytes()),
            },
            Need {
                name: "seams",
                bytes: self.seam_buffers() as u64 * block,
            },
            Need {
                name: "sorting",
                bytes: self.sorters as u64 * sorter,
            },
            Need {
                name: "distributing",
                bytes: self.distributors as u64 * distributor,
            },
            Need {
                name: "edges of buckets",
                bytes: bytes(self.edges(), self.record_bytes),
            },
            Need {
                name: "sample",
                bytes: self.sample_bytes(),
            },
            Need {
                name: "sample of a partition",
                bytes: self.resample_bytes(),
            },
            Need {
                name: "chunk lists",
                bytes: self.chunks as u64 * CHUNK_LIST_BYTES,
            },
            Need {
                name: "input positions",
                bytes: self.mark_bytes(),
            },
            Need {
                name: "runs",
                bytes: self.run_bytes(),
            },
            Need {
                name: "program",
                bytes: program,
            },
        ]
    }

    /// The sum of the needs.
    pub fn needed(&self) -> u64 {
        self.needs().iter().map(|need| need.bytes).sum()
    }

    /// Bytes that one more chunk of a pipe costs: itself, its place in the lists, and room to sort
    /// its records. A pipe's splitters come from its beginning, so one bucket may get all the rest.
    pub(super) fn pipe_chunk_bytes(&self) -> u64 {
        let records = (self.chunk_bytes / self.record_bytes) as u64;
        let marks = if self.stable { records * MARK_BYTES } else { 0 };
        self.chunk_bytes as u64 + CHUNK_LIST_BYTES + Workspace::bytes(records) + marks
    }

    /// First and last records of buckets that wait for a neighbour: those in work, those between
    /// them, and those of whole files in each directory.
    fn edges(&self) -> usize {
        if self.tight && self.outputs == 1 && self.sorters == 1 {
            // Buckets end in their order. If there is only one, no records wait but those that the
            // sorter keeps.
            return if self.is_one_partition() { 0 } else { 2 };
        }
        let waiting = 2 * self.sorters + 1 + 2 * self.outputs;
        // Partitions may be partitioned again.
        let all = if self.spilling.is_some() {
            usize::MAX
        } else {
            self.buckets
        };
        2 * waiting.min(all)
    }

    /// What is read around each place, while it is in flight and when it is kept, and the
    /// splitters. No chunk is touched before these are known, so the sample takes what is the
    /// chunks' later.
    fn sample_bytes(&self) -> u64 {
        let (place, record) = (
            BLOCK_BYTES.max(self.record_bytes as u64),
            self.record_bytes as u64,
        );
        let in_flight = SAMPLES_IN_FLIGHT.min(self.samples) as u64 * (place + 3 * BLOCK_BYTES);
        let sample = 2 * self.samples as u64 * place + in_flight;
        let chunks = self.touched(self.chunks) * self.chunk_bytes as u64;
        let splitters = 2 * self.buckets as u64 * record;
        if self.samples == 0 {
            0
        } else {
            splitters + sample.saturating_sub(chunks)
        }
    }

    /// What is remembered of each run in a spill file; a pipe's length is not known.
    fn run_bytes(&self) -> u64 {
        let Some(spilling) = self.spilling else {
            return 0;
        };
        // The longest chain goes first, which is twice the mean at least.
        let chain = (2 * spilling.held / self.buckets).clamp(1, spilling.run.max(1));
        self.input_bytes.unwrap_or(0) / (chain * self.chunk_bytes) as u64 * RUN_BYTES
    }

    /// With `--stable`, a mark for each bucket of each unit, but never more than one a record.
    fn mark_bytes(&self) -> u64 {
        if let Some(spilling) = self.spilling.filter(|_| self.stable) {
            return self.chunks as u64 * u64::from(spilling.chunk_marks) * MARK_BYTES;
        }
        let Some(input) = self.input_bytes.filter(|_| self.stable) else {
            return 0;
        };
        let units = match self.start {
            Start::Derived => self.units,
            Start::Worst => self.units.max(input / WORST_UNIT_BYTES as u64 + 1),
        };
        let runs = units * self.buckets as u64 + self.chunks as u64;
        runs.min(input / self.record_bytes as u64) * MARK_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Spilling;

    /// A plan whose numbers are all different; none of it is derived.
    const PLAN: Plan = Plan {
        record_bytes: 100,
        input_bytes: Some(1_000_000),
        outputs: 1,
        stable: false,
        units: 50,
        unit_records: 1024,
        unit_bytes: 102_400,
        buckets: 8,
        chunk_bytes: 8192,
        chunks: 200,
        samples: 10,
        readers: 2,
        distributors: 3,
        sorters: 4,
        writers: 2,
        spare_readers: 1,
        spare_writers: 2,
        depth: 3,
        tight: false,
        start: Start::Derived,
        spilling: None,
        merging: None,
    };

    const SPILLING: Spilling = Spilling {
        held: 400,
        run: 16,
        chunk_records: 80,
        chunk_marks: 5,
        partition_chunks: 20,
        directories: 1,
        spillers: 1,
        depth: 2,
    };

    /// The bytes that the plan needs under that name.
    fn need(plan: &Plan, name: &str) -> u64 {
        plan.needs()
            .iter()
            .find(|need| need.name == name)
            .expect(name)
            .bytes
    }

    #[test]
    fn buffers_are_of_reading_or_of_writing() {
        assert_eq!(PLAN.buffer_bytes(), 102_400 + 2 * 4096);
        assert_eq!(
            Plan {
                record_bytes: 10_000,
                ..PLAN
            }
            .buffer_bytes(),
            102_400 + 3 * 4096
        );
        assert_eq!(PLAN.buffers(), 2 * 4 + (2 + 2) * 3, "writing needs more");
        assert_eq!(
            Plan { readers: 5, ..PLAN }.buffers(),
            (5 + 1) * 3 + 2 * 3,
            "reading does"
        );
        assert_eq!(
            Plan { units: 10, ..PLAN }.buffers(),
            11,
            "the input has so few"
        );
        assert_eq!((PLAN.read_queue(), PLAN.write_queue()), (3, 8));
        assert_eq!(PLAN.seam_buffers(), (2 * 4 + 1 + 1) + 4 + 8 + (2 + 2) * 3);
    }

    #[test]
    fn needs_are_sums_of_what_the_plan_has() {
        let sorter = |records| Workspace::bytes(records) + KERNEL_BYTES + 3 * 100;
        for (name, bytes) in [
            ("records", 200 * 8192),
            ("units", 20 * 110_592),
            ("seams", 34 * 4096),
            ("sorting", 4 * sorter(LARGEST_OF_MEAN * 1250)),
            ("distributing", 3 * (1024 * 12 + 8 * 8)),
            ("edges of buckets", 2 * 8 * 100),
            ("sample of a partition", 0),
            ("chunk lists", 200 * 192),
            ("input positions", 0),
            ("runs", 0),
            ("program", 8 << 20),
        ] {
            assert_eq!(need(&PLAN, name), bytes, "{name}");
        }
        let pipe = Plan {
            input_bytes: None,
            ..PLAN
        };
        assert_eq!(
            need(&pipe, "sorting"),
            4 * sorter(LARGEST_OF_MEAN * (MIB / 100))
        );
        let many = Plan {
            buckets: 20,
            ..PLAN
        };
        assert_eq!(need(&many, "edges of buckets"), 2 * (2 * 4 + 1 + 2) * 100);
        assert_eq!(
            PLAN.needed(),
            PLAN.needs().iter().map(|need| need.bytes).sum::<u64>()
        );
    }

    #[test]
    fn a_sort_that_spills_needs_room_for_runs_and_partitions() {
        let plan = Plan {
            spilling: Some(SPILLING),
            ..PLAN
        };
        assert_eq!(
            need(&plan, "sorting"),
            4 * (Workspace::bytes(1600) + KERNEL_BYTES + 300)
        );
        assert_eq!(need(&plan, "edges of buckets"), 2 * 11 * 100);
        assert_eq!(need(&plan, "sample of a partition"), 200 * 8192 / 8);
        assert_eq!(need(&plan, "program"), 2 << 20);
        assert_eq!(
            need(&plan, "runs"),
            1_000_000 / (16 * 8192) * 12,
            "of 16 chunks at most"
        );
        let few = Plan {
            spilling: Some(Spilling {
                held: 40,
                ..SPILLING
            }),
            ..PLAN
        };
        assert_eq!(
            need(&few, "runs"),
            1_000_000 / (10 * 8192) * 12,
            "of twice the mean"
        );
        assert_eq!(
            need(
                &Plan {
                    stable: true,
                    ..plan
                },
                "input positions"
            ),
            200 * 5 * 16
        );
    }

    /// The sample uses memory that the chunks take later, so only the part beyond the chunks
    /// counts.
    #[test]
    fn a_sample_needs_what_the_chunks_leave() {
        assert_eq!(need(&PLAN, "sample"), 2 * 8 * 100);
        let few = Plan { chunks: 10, ..PLAN };
        assert_eq!(
            need(&few, "sample"),
            2 * 8 * 100 + 8 * 4 * 4096,
            "eight in flight"
        );
        let less = Plan {
            samples: 5,
            chunks: 0,
            ..PLAN
        };
        assert_eq!(
            need(&less, "sample"),
            2 * 8 * 100 + 2 * 5 * 4096 + 5 * 4 * 4096
        );
        let large = Plan {
            record_bytes: 10_000,
            chunks: 0,
            ..PLAN
        };
        let in_flight = 8 * (10_000 + 3 * 4096);
        assert_eq!(
            need(&large, "sample"),
            2 * 8 * 10_000 + 2 * 10 * 10_000 + in_flight
        );
        assert_eq!(need(&Plan { samples: 0, ..PLAN }, "sample"), 0);
    }

    #[test]
    fn positions_are_a_mark_for_each_run_but_never_more_than_one_a_record() {
        let positions = |plan: Plan| {
            need(
                &Plan {
                    stable: true,
                    ..plan
                },
                "input positions",
            )
        };
        assert_eq!(positions(PLAN), (50 * 8 + 200) * 16);
        assert_eq!(
            positions(Plan {
                start: Start::Worst,
                ..PLAN
            }),
            (50 * 8 + 200) * 16
        );
        let few = Plan {
            units: 3,
            start: Start::Worst,
            ..PLAN
        };
        assert_eq!(
            positions(few.clone()),
            (16 * 8 + 200) * 16,
            "units of 64 KiB"
        );
        assert_eq!(
            positions(Plan {
                buckets: 1000,
                ..few
            }),
            10_000 * 16
        );
        assert_eq!(
            positions(Plan {
                input_bytes: None,
                ..PLAN
            }),
            0
        );
    }

    #[test]
    fn a_chunk_of_a_pipe_costs_itself_its_lists_and_room_to_sort() {
        let bytes = 8192 + 192 + Workspace::bytes(81);
        assert_eq!(PLAN.pipe_chunk_bytes(), bytes);
        assert_eq!(
            Plan {
                stable: true,
                ..PLAN
            }
            .pipe_chunk_bytes(),
            bytes + 81 * 16
        );
    }
}
