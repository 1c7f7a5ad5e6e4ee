//! Where records begin and end, as plans and readers see it (docs/decisions/0021, 0023, 0025).
//!
//! Records of one length can be counted by their bytes. Of lines only two numbers are known in
//! advance, from a look at the input: their mean length, which is an estimate, and a limit, which no
//! line of this run may exceed. Rows with quotes and records with lengths are *chained*: where one
//! begins follows from all before, so that an index says where their files may be cut.

use crate::records::block::BLOCK_BYTES;
use crate::records::lengths::{LONGEST_BYTES, Lengths, USUAL_BYTES};
use crate::records::size::Size;

/// Divides a sequence of bytes into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    records: record::Framing,
    lengths: Lengths,
}

/// Records of the sort benchmark, 100 bytes each.
pub(crate) const GENSORT: Framing = Framing::fixed(record::RECORD_BYTES);

/// The mean length of lines that are not seen yet. A shorter estimate costs memory for the order of
/// records, a longer one chunks that are closed before they are full.
const MEAN_LINE_BYTES: usize = 32;

/// Splitters and samples hold at most this much of a line.
const SAMPLED_LINE_BYTES: usize = 1 << 10;

/// The most lines of a place that a sample takes: more of them would say little more.
const SAMPLED_LINES: usize = 64;

/// The least room of a line is not more than this: if the mean is wrong, short lines take this much
/// of a chunk each. Sorting takes 40 bytes a line, a sixth of that.
const MOST_LEAST_ROOM: usize = 256;

impl Framing {
    /// Records of one length, at least a byte.
    pub const fn fixed(record_bytes: usize) -> Framing {
        assert!(record_bytes > 0, "a record has a byte");
        Framing {
            records: record::Framing::Fixed(record_bytes),
            lengths: Lengths::about(record_bytes, record_bytes),
        }
    }

    /// Records that end as `records` says, of lengths that are not known: none is unusual.
    pub(crate) const fn ending(records: record::Framing) -> Framing {
        match records {
            record::Framing::Fixed(length) => Framing::fixed(length),
            records => Framing {
                records,
                lengths: Lengths::about(MEAN_LINE_BYTES, USUAL_BYTES),
            },
        }
    }

    /// Lines of these lengths. Records of one length keep it.
    pub(crate) fn with_lengths(self, mut lengths: Lengths) -> Framing {
        if self.is_fixed() {
            return self;
        }
        lengths.mean = lengths.mean.clamp(self.shortest(), LONGEST_BYTES);
        lengths.longest = lengths.longest.clamp(lengths.mean, LONGEST_BYTES);
        Framing { lengths, ..self }
    }

    /// Where a record ends.
    pub fn records(self) -> record::Framing {
        self.records
    }

    pub(crate) fn is_fixed(self) -> bool {
        self.records.is_fixed()
    }

    /// Whether the beginnings of records follow from those before.
    pub(crate) fn is_chained(self) -> bool {
        self.records.is_chained()
    }

    /// Mean length; of lines an estimate.
    pub(crate) fn mean(self) -> usize {
        self.lengths.mean
    }

    /// Bytes of the longest record: a buffer with that much room takes any record.
    pub fn longest(self) -> usize {
        self.lengths.longest
    }

    /// Bytes of all records behind the first [`USUAL_BYTES`] of each, at most.
    pub(crate) fn beyond(self) -> u64 {
        self.lengths.beyond
    }

    /// Bytes of the longest record in a sample.
    pub(crate) fn longest_sampled(self) -> usize {
        if self.is_fixed() {
            self.longest()
        } else {
            self.longest().min(SAMPLED_LINE_BYTES)
        }
    }

    /// Room in a read buffer beside a unit: for disk blocks around it, and of lines for one that
    /// ends far behind it.
    pub(crate) fn around(self) -> usize {
        let block = BLOCK_BYTES as usize;
        if self.is_fixed() {
            2 * block
        } else {
            self.longest().next_multiple_of(block) + 2 * block
        }
    }

    /// Bytes of a place that a sample reads.
    pub(crate) fn sampled_place(self) -> u64 {
        if self.is_fixed() {
            self.whole(BLOCK_BYTES).max(self.longest() as u64)
        } else {
            BLOCK_BYTES
        }
    }

    /// Chunks of that room that records of `bytes` bytes fill at most, beside one for each bucket.
    pub(crate) fn chunks_of(self, bytes: u64, room: u32) -> usize {
        let full = (bytes / u64::from(room)) as usize;
        // Two chunks of a bucket have more than the room of one: a line did not fit.
        if self.is_fixed() { full } else { 2 * full + 1 }
    }

    /// Bytes of the sample of one place, with the ends and positions of its records.
    pub(crate) fn sampled_bytes(self) -> u64 {
        if self.is_fixed() {
            self.sampled_place()
        } else {
            SAMPLED_LINES as u64 * 16 + BLOCK_BYTES + self.longest_sampled() as u64
        }
    }

    /// The most records of a place that a sample takes.
    pub(crate) fn most_sampled(self) -> usize {
        if self.is_fixed() {
            usize::MAX
        } else {
            SAMPLED_LINES
        }
    }

    /// Bytes of the shortest record.
    pub(crate) fn shortest(self) -> usize {
        self.records.shortest()
    }

    /// The room that a record takes in a chunk at least. It bounds the records of a chunk, and with
    /// them the memory that sorting takes.
    pub(crate) fn least_room(self) -> usize {
        if self.is_fixed() {
            self.longest()
        } else {
            // Lines may be a quarter shorter than the mean before a chunk is closed early.
            (self.mean() - self.mean() / 4).clamp(self.shortest(), MOST_LEAST_ROOM)
        }
    }

    /// The most records that `bytes` bytes hold; an estimate of lines.
    pub fn most_in(self, bytes: u64) -> u64 {
        bytes / self.least_room() as u64
    }

    /// The records of an input of `bytes` bytes, at most, if all of them were seen.
    pub(crate) fn all_in(self, bytes: u64) -> u64 {
        if self.is_fixed() || self.beyond() < u64::MAX {
            (bytes / self.mean() as u64).saturating_add(1)
        } else {
            u64::MAX
        }
    }

    /// The size of `records` records of one length.
    pub(crate) fn of(self, records: u64) -> Size {
        debug_assert!(self.is_fixed());
        let bytes = records * self.longest() as u64;
        Size { records, bytes }
    }

    /// The size of whole records in `bytes` bytes. Lines are counted later.
    pub(crate) fn size_of(self, bytes: u64) -> Size {
        let records = if self.is_fixed() {
            self.most_in(bytes)
        } else {
            0
        };
        debug_assert!(self.is_whole(bytes));
        Size { records, bytes }
    }

    /// Room for any `records` records, in bytes.
    pub(crate) fn room_for(self, records: u64) -> u64 {
        let usual = records.saturating_mul(USUAL_BYTES as u64);
        let all_are_longest = records.saturating_mul(self.longest() as u64);
        all_are_longest.min(usual.saturating_add(self.beyond()))
    }

    /// Room for any `records` records of a sample, in bytes.
    pub(crate) fn room_for_sampled(self, records: u64) -> u64 {
        records.saturating_mul(self.longest_sampled() as u64)
    }

    /// Bytes of an input of about that many records.
    pub(crate) fn about(self, records: u64) -> u64 {
        records.saturating_mul(self.mean() as u64)
    }

    /// The end of the last record that ends within `bytes` bytes, counted from the beginning of a
    /// record. Lines may end anywhere.
    pub(crate) fn whole(self, bytes: u64) -> u64 {
        if self.is_fixed() {
            bytes - bytes % self.longest() as u64
        } else {
            bytes
        }
    }

    /// As [`Framing::whole`], but at least one record.
    pub(crate) fn whole_or_one(self, bytes: u64) -> u64 {
        self.whole(bytes).max(self.longest() as u64)
    }

    /// The end of the first record that ends at or behind `bytes` bytes, counted from the beginning
    /// of a record of one length.
    pub(crate) fn covering(self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.longest() as u64)
    }

    /// Whether these bytes can be one record, or the front of one in a sample.
    pub(crate) fn is_record(self, bytes: &[u8]) -> bool {
        bytes.len() <= self.longest() && self.records.is_front(bytes)
    }

    pub(crate) fn is_whole(self, bytes: u64) -> bool {
        !self.is_fixed() || bytes.is_multiple_of(self.longest() as u64)
    }

    /// Bytes after which both a record and a disk block end. Readers cut lines at disk blocks.
    pub(crate) const fn period(self) -> u64 {
        match self.records {
            record::Framing::Fixed(length) => {
                let record = length as u64;
                BLOCK_BYTES / greatest_common_divisor(BLOCK_BYTES, record) * record
            }
            _ => BLOCK_BYTES,
        }
    }

    /// Whole records of at most `bytes`, one at least, that end with a disk block where possible.
    pub(crate) fn unit(self, bytes: u64) -> usize {
        let period = self.period();
        let unit = if bytes > period {
            bytes - bytes % period
        } else {
            self.whole_or_one(bytes)
        };
        unit as usize
    }
}

const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
