//! Contents: the only interface through which stages touch records.
//!
//! Stages see counts and offsets. Behind this trait are real bytes ([`Bytes`]), or counts drawn
//! from a distribution ([`Counts`]) for runs in virtual time that are too large to hold.

mod bytes;
mod counts;
mod merging;

pub use bytes::Bytes;
pub use counts::Counts;
pub use merging::{Merged, Merging};

use std::io;
use std::ops::Range;

use kernel::{Entry, Slab};
use node::{Buffer, Filled, Node};
use record::Order;

use crate::records::block::{Block, Bucket, Chunk, Mark, Stamp};
use crate::records::open_bucket::OpenBucket;
use crate::records::sample::Sample;
use crate::records::size::{Framing, Size};
use crate::records::splitters::Splitters;

/// Operations of the stages on records.
pub trait Contents: Send + Sync + 'static {
    /// How a sequence of bytes is divided into records.
    fn framing(&self) -> Framing;

    /// Whether equal keys keep their input order.
    fn is_stable(&self) -> bool;

    /// The order of real records; `None` if records are only counted.
    fn order(&self) -> Option<&Order> {
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
    ) -> io::Result<Vec<Buffer>>;

    /// Adds up to `count` of the block's records to a sample, evenly spread.
    fn sample(&self, block: &Block, count: usize, sample: &mut Sample);

    /// At most `buckets - 1` splitters that divide the sampled records evenly.
    fn splitters(&self, sample: &Sample, buckets: usize) -> Splitters;

    /// Sum of the CRC-32 of the block's records.
    fn checksum(&self, block: &Block) -> u64;

    /// Finds the bucket of every record.
    fn classify(&self, block: &Block, splitters: &Splitters, found: &mut Assignment);

    /// Copies every record to its bucket; there is room.
    fn scatter(&self, block: &Block, found: &Assignment, open: &mut [OpenBucket]);

    /// Writes a chunk's marks, footer and checksum, so that it can go to a spill file.
    fn seal(&self, chunk: &mut Chunk);

    /// Adds a place to a sealed chunk's checksum; the same place again removes it.
    fn stamp(&self, sealed: &mut Buffer, place: Stamp);

    /// Size and marks of a chunk that was read from a spill file; `share` if the chunk does not say
    /// its size. `None` if the chunk differs from the one that was sealed and stamped with this
    /// place.
    fn unseal(&self, buffer: &Buffer, share: Size, place: Stamp) -> Option<(Size, Vec<Mark>)>;

    /// Finds the sorted order of a bucket and keeps it in the workspace.
    ///
    /// # Errors
    /// When the system refuses memory for the workspace.
    fn sort(&self, bucket: &Bucket, workspace: &mut Workspace) -> io::Result<()>;

    /// Size of the records of a bucket's sorted order, from row `first` on, that fit in `room`.
    fn fitting(&self, bucket: &Bucket, workspace: &Workspace, first: usize, room: Room) -> Size;

    /// Copies the records `rows` of the sorted order to `out`, from byte `at` on.
    fn gather(
        &self,
        bucket: &Bucket,
        workspace: &Workspace,
        rows: Range<usize>,
        out: RecordsAt<'_>,
    );

    /// Moves a block's records to the front of its buffer, where a chunk has them.
    fn align(&self, block: &mut Block);

    /// Copies the next records of a merge to `out`, until they cover `bytes` or a source needs its
    /// next chunk.
    fn merge(&self, merging: &mut Merging, bytes: usize, out: RecordsAt<'_>) -> Merged;

    /// Checks the order of gathered records, also against the last one before them. Returns the sum
    /// of their CRC-32.
    ///
    /// # Errors
    /// The number of the first record out of order.
    fn check(&self, records: RecordsAt<'_>, size: Size, edges: &mut Edges) -> Result<u64, usize>;

    /// Whether the record `a` may stand before `b`.
    fn in_order(&self, a: &[u8], b: &[u8]) -> bool;
}

/// A place in a buffer where records begin.
pub struct RecordsAt<'a> {
    /// The buffer.
    pub buffer: &'a mut Buffer,
    /// Byte offset in the buffer.
    pub at: usize,
}

/// The room for copied records, in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Room {
    /// All records end within it.
    Within(usize),
    /// The last record ends at its end, or beyond it.
    Covering(usize),
}

impl Room {
    /// Size of the records, of one length, that fit; `left` are left.
    fn take(self, left: Size, framing: Framing) -> Size {
        let bytes = match self {
            Room::Within(bytes) => framing.whole(bytes as u64),
            Room::Covering(bytes) => framing.covering(bytes as u64),
        };
        framing.size_of(bytes.min(left.bytes))
    }
}

/// Size of the records behind the first `rows` of a bucket of records of one length.
fn behind(bucket: &Bucket, rows: usize, framing: Framing) -> Size {
    framing.size_of(bucket.size.bytes - framing.room_for(rows as u64))
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
    pub(crate) counts: Vec<u32>,
    pub(crate) prefixes: Vec<u64>,
}

/// A sorter's memory, kept from bucket to bucket.
#[derive(Debug, Default)]
pub struct Workspace {
    entries: Option<Slab<Entry>>,
    scratch: Option<Slab<Entry>>,
    prefixes: Vec<u64>,
    len: usize,
}

impl Workspace {
    /// `len` entries and as much scratch.
    fn reserve(&mut self, len: usize) -> io::Result<(&mut [Entry], &mut [Entry])> {
        for slab in [&mut self.entries, &mut self.scratch] {
            if slab.as_ref().is_none_or(|slab| slab.len() < len) {
                // The old memory is freed first. Buckets differ, so a little more is requested.
                *slab = None;
                *slab = Some(Slab::new(len + len / 8)?);
            }
        }
        self.len = len;
        let (entries, scratch) = (self.entries.as_mut(), self.scratch.as_mut());
        let (entries, scratch) = entries.zip(scratch).expect("reserved above");
        Ok((&mut entries[..len], &mut scratch[..len]))
    }

    /// Takes the sorted order with its memory; the scratch stays.
    pub(crate) fn take_order(&mut self) -> Workspace {
        Workspace {
            entries: self.entries.take(),
            len: self.len,
            ..Workspace::default()
        }
    }

    fn entries(&self) -> &[Entry] {
        self.entries
            .as_ref()
            .map_or(&[], |entries| &entries[..self.len])
    }

    /// Bytes that sorting `records` records needs.
    pub(crate) fn bytes(records: u64) -> u64 {
        const PREFIX_BYTES: u64 = 8;
        2 * Workspace::order_bytes(records) + records * PREFIX_BYTES
    }

    /// Bytes that the order of `records` records needs.
    pub(crate) fn order_bytes(records: u64) -> u64 {
        (records + records / 8) * size_of::<Entry>() as u64
    }
}
