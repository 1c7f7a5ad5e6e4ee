//! Contents: the only interface through which stages touch records.
//!
//! Stages see counts and offsets. Behind this trait are real bytes ([`Bytes`]), or counts drawn
//! from a distribution ([`Counts`]) for runs in virtual time that are too large to hold.

mod bytes;
mod counts;
mod lines;
mod merging;
mod mistakes;
mod sealing;
mod turns;
mod workspace;

pub use bytes::Bytes;
pub use counts::Counts;
pub use lines::Lines;
pub(crate) use lines::{is_open, lines_in, newlines};
pub(crate) use merging::Short;
pub use merging::{Merged, Merging};
pub use mistakes::{Aside, Mistake, MistakeCause, Sifting};
pub use workspace::Workspace;

use std::io;
use std::sync::Arc;

use node::{Buffer, Filled, Node};
use record::rows::BadRow;
use record::{Comparison, Multiline, Ties, Totals};

use crate::error::SortError;
use crate::records::block::{Block, Bucket, Chunk, ChunkShape, Mark, Stamp};
use crate::records::framing::Framing;
use crate::records::lengths::Lengths;
use crate::records::open_bucket::OpenBucket;
use crate::records::repeats::Repeats;
use crate::records::sample::Sample;
use crate::records::size::{Size, Sum};
use crate::records::splitters::Splitters;

/// Operations of the stages on records.
pub trait Contents: Send + Sync + 'static {
    /// How a sequence of bytes is divided into records.
    fn framing(&self) -> Framing;

    /// The tie-breaker between equal keys.
    fn ties(&self) -> Ties;

    /// Whether positions in the input decide between equal keys.
    fn is_stable(&self) -> bool {
        self.ties().are_by_position()
    }

    /// Whether the last of the records with equal keys counts as the first.
    fn keeps_last(&self) -> bool {
        self.ties() == Ties::LastPosition
    }

    /// Whether only one of the records with equal keys is kept, the first in the order.
    fn is_unique(&self) -> bool {
        false
    }

    /// Whether the output has the first of the records with equal keys, behind their number.
    fn counts(&self) -> bool {
        false
    }

    /// The numbers of records with equal keys that are added up, if there are some.
    fn totals(&self) -> Option<&Totals> {
        None
    }

    /// Whether records with equal keys become one on their way to the output, so that all of them get there.
    fn joins(&self) -> bool {
        self.counts() || self.totals().is_some()
    }

    /// Whether all keys of two records are equal.
    fn keys_equal(&self, a: &[u8], b: &[u8]) -> bool;

    /// The row that names columns, with its delimiter; every file of the output begins with it.
    fn header(&self) -> &[u8] {
        &[]
    }

    /// The lines that are one record, if it has several.
    fn multiline(&self) -> Option<&Arc<Multiline>> {
        None
    }

    /// The seed by which records are shuffled, if they are.
    fn shuffle(&self) -> Option<u64> {
        None
    }

    /// The order of real records; `None` if they are only counted.
    fn comparison(&self) -> Option<Comparison> {
        None
    }

    /// The same records with these lengths; `None` if they have one length.
    fn with_lengths(&self, lengths: Lengths) -> Option<Arc<dyn Contents>> {
        let _ = lengths;
        None
    }

    /// `count` buffers for records, of `bytes` bytes each.
    ///
    /// # Errors
    /// When the system refuses the memory.
    fn buffers(
        &self,
        node: &Node,
        count: usize,
        bytes: usize,
        filled: Filled,
    ) -> io::Result<Vec<Buffer>> {
        node.buffers(count, bytes, filled)
    }

    /// Adds up to `count` of the block's records to a sample, evenly spread.
    fn sample(&self, block: &Block, count: usize, sample: &mut Sample);

    /// Counts the block's records. Returns the sum of their CRC-32.
    ///
    /// # Errors
    /// When a record is longer than the framing says.
    fn measure(&self, block: &mut Block) -> Result<u64, SortError>;

    /// Keys of rows for which no row that was checked had a value.
    fn unseen_keys(&self) -> Vec<String> {
        Vec::new()
    }

    /// The mistake in a row, if it has one.
    fn mistake(&self, row: &[u8]) -> Option<BadRow> {
        let _ = row;
        None
    }

    /// Whether records may have mistakes that [`Contents::sift`] finds.
    fn is_checked(&self) -> bool {
        false
    }

    /// Whether a record is a blank line, which is no row.
    fn is_blank(&self, record: &[u8]) -> bool {
        let _ = record;
        false
    }

    /// Checks the records of a block, in one stretch. Those with mistakes are removed and returned,
    /// if they are set aside.
    ///
    /// # Errors
    /// The first mistake, if records are not set aside or those behind it cannot be told.
    fn sift(&self, block: &mut Block, how: Sifting) -> Result<Aside, Mistake> {
        let _ = (block, how);
        Ok(Aside::default())
    }

    /// The block's stretches of successive input records that are classified at once: position,
    /// offset in the buffer, size. Each takes `room` bytes of chunks at most, or is one record.
    fn parts(&self, block: &Block, room: usize) -> Vec<(u64, usize, Size)> {
        let _ = room;
        block.parts(self.framing())
    }

    /// Records whose keys lie at these places among all keys, in 2^64ths, if the bytes of keys are random.
    ///
    /// # Panics
    /// If records are not of one length ([`SortError::NotEven`] is told before).
    fn records_at(&self, places: &mut dyn Iterator<Item = u64>) -> Sample {
        let _ = places;
        unreachable!("records are of one length")
    }

    /// At most `buckets - 1` splitters that divide the sampled records evenly.
    fn splitters(&self, sample: &Sample, buckets: usize) -> Splitters;

    /// Splitters that were chosen elsewhere; `None` if they are not in order.
    fn known_splitters(&self, chosen: Sample) -> Option<Splitters>;

    /// Divides a sample like records: the part of each bucket.
    fn divide(&self, splitters: &Splitters, sample: &Sample) -> Vec<Sample>;

    /// Finds the bucket of every record.
    fn classify(&self, block: &Block, splitters: &Splitters, found: &mut Assignment);

    /// Finds how many empty chunks every bucket needs for these records.
    fn plan_room(&self, found: &mut Assignment, open: &[OpenBucket], shape: ChunkShape) {
        found.fresh.clear();
        let buckets = open.iter().zip(&found.sizes);
        found.fresh.extend(buckets.map(|(open, size)| {
            // Where there are many buckets, most get nothing of a small block, or have room for it.
            if size.bytes == 0 {
                return 0;
            }
            match size.bytes.saturating_sub(open.room_bytes()) {
                0 => 0,
                beyond => beyond.div_ceil(shape.room.into()) as u32,
            }
        }));
    }

    /// Copies every record to its bucket; there is room.
    fn scatter(&self, block: &Block, found: &Assignment, open: &mut [OpenBucket]);

    /// Writes a chunk's marks, footer and checksum, so that it can go to a spill file.
    fn seal(&self, chunk: &mut Chunk) {
        sealing::seal(chunk);
    }

    /// Adds a place to a sealed chunk's checksum; the same place again removes it.
    fn stamp(&self, sealed: &mut Buffer, place: Stamp) {
        sealing::stamp(sealed, place);
    }

    /// Size and marks of a chunk that was read from a spill file; `share` if the chunk does not say
    /// its size. `None` if the chunk differs from the one that was sealed and stamped with this
    /// place.
    fn unseal(&self, buffer: &Buffer, share: Size, place: Stamp) -> Option<(Size, Vec<Mark>)> {
        let _ = share;
        sealing::unseal(buffer, place)
    }

    /// Finds the sorted order of a bucket and keeps it in the workspace. Returns the records that
    /// are dropped, as far as the bucket tells.
    ///
    /// # Errors
    /// When the system refuses memory for the workspace.
    fn sort(&self, bucket: &Bucket, workspace: &mut Workspace) -> io::Result<Sum>;

    /// Removes records of a block, in one stretch, whose keys came before, if it keeps only the first of
    /// equal keys. Returns whether it removed any.
    fn drop_repeats(&self, block: &mut Block, seen: &mut Repeats) -> bool {
        let _ = (block, seen);
        false
    }

    /// Removes the records of a block, in one stretch, that do not come before `bound`.
    fn keep_before(&self, block: &mut Block, bound: &[u8]);

    /// Removes the records of a sorted bucket that have no entry in the workspace.
    fn keep_sorted(&self, bucket: &mut Bucket, workspace: &mut Workspace);

    /// Size of a record, and its CRC-32.
    fn sum_of(&self, record: &[u8]) -> Sum;

    /// Size of the first `rows` records of the sorted order, and the sum of their CRC-32.
    fn sum_of_first(&self, sorted: Sorted<'_>, rows: usize) -> Sum;

    /// Copies the records of the sorted order, from row `first` on, that fit in `room` to `out`.
    /// Returns their size.
    fn gather(&self, sorted: Sorted<'_>, first: usize, room: Room, out: RecordsAt<'_>) -> Size;

    /// Moves a block's records to the front of its buffer, where a chunk has them.
    fn align(&self, block: &mut Block) {
        let from = block.range();
        block.start = 0;
        if from.start > 0 {
            block.buffer.bytes_mut().copy_within(from, 0);
        }
    }

    /// Copies the next records of a merge to `out`, until `room` is full or a source needs its next
    /// chunk.
    ///
    /// With a unique order it drops records with the keys of the one before.
    fn merge(&self, merging: &mut Merging, room: Room, out: RecordsAt<'_>) -> Merged;

    /// Checks the order of gathered records, also against the last one before them. Returns the sum
    /// of their CRC-32.
    ///
    /// # Errors
    /// The number of the first record out of order.
    fn check(&self, records: RecordsAt<'_>, size: Size, edges: &mut Edges) -> Result<u64, usize>;

    /// Whether the record `a` may stand before `b`. In a unique order their keys differ.
    fn in_order(&self, a: &[u8], b: &[u8]) -> bool;
}

/// A bucket, and the workspace that has its sorted order.
#[derive(Clone, Copy)]
pub struct Sorted<'a> {
    /// The bucket.
    pub bucket: &'a Bucket,
    /// The workspace.
    pub workspace: &'a Workspace,
}

impl Sorted<'_> {
    /// The record of a row; empty if records are only counted.
    pub(crate) fn record(self, contents: &dyn Contents, row: usize) -> Vec<u8> {
        let longest = contents.framing().longest();
        let mut buffer = self.bucket.chunks[0].buffer.sibling(longest);
        let place = RecordsAt {
            buffer: &mut buffer,
            at: 0,
        };
        let one = contents.gather(self, row, Room::Covering(1), place);
        if buffer.is_counted() {
            Vec::new()
        } else {
            buffer.bytes()[..one.bytes as usize].to_vec()
        }
    }
}

/// A place in a buffer where records begin.
pub struct RecordsAt<'a> {
    /// The buffer.
    pub buffer: &'a mut Buffer,
    /// Byte offset in the buffer.
    pub at: usize,
}

/// The room for copied records, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// All records end within it.
    Within(usize),
    /// The last record ends at its end, or beyond it.
    Covering(usize),
}

impl Room {
    /// The room that is left behind `bytes` bytes.
    pub(crate) fn behind(self, bytes: usize) -> Room {
        match self {
            Room::Within(all) => Room::Within(all - bytes),
            Room::Covering(all) => Room::Covering(all.saturating_sub(bytes)),
        }
    }

    /// The number of bytes.
    fn bytes(self) -> usize {
        match self {
            Room::Within(bytes) | Room::Covering(bytes) => bytes,
        }
    }

    /// Size of the records, of one length, that fit; `left` are left.
    fn take(self, left: Size, framing: Framing) -> Size {
        let bytes = match self {
            Room::Within(bytes) => framing.whole(bytes as u64),
            Room::Covering(bytes) => framing.covering(bytes as u64),
        };
        framing.size_of(bytes.min(left.bytes))
    }
}

/// The first and the last checked record; empty before the first check, and if records are only
/// counted.
#[derive(Debug, Default)]
pub struct Edges {
    /// The first record.
    pub first: Vec<u8>,
    /// The last record.
    pub last: Vec<u8>,
}

/// The buckets of a block's records.
#[derive(Debug, Default)]
pub struct Assignment {
    /// By record: its bucket.
    pub bins: Vec<u32>,
    /// By bucket: the size of its records.
    pub sizes: Vec<Size>,
    /// By bucket: the empty chunks that its records need.
    pub fresh: Vec<u32>,
    /// By record: its end, if records differ in length.
    pub(crate) ends: Vec<u32>,
    pub(crate) counts: Vec<u32>,
    pub(crate) prefixes: Vec<u64>,
    /// Numbers of the records that come before all splitters by words that these share, or behind.
    pub(crate) beside: Vec<(usize, std::cmp::Ordering)>,
}
