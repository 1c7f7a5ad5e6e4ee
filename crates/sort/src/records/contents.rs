//! What the stages do to records: the only place where records are touched.
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
use node::{Buffer, Node};
use record::Order;

use crate::records::block::{Block, Bucket, Chunk, Mark, Stamp};
use crate::records::open_bucket::OpenBucket;
use crate::records::splitters::Splitters;

/// How the stages touch records.
pub trait Contents: Send + Sync + 'static {
    /// Length of a record.
    fn record_bytes(&self) -> usize;

    /// Whether equal keys keep their input order.
    fn is_stable(&self) -> bool;

    /// The order of real records.
    fn order(&self) -> Option<&Order> {
        None
    }

    /// Buffers of the kind it works on.
    fn buffers(&self, node: &Node, count: usize, bytes: usize) -> io::Result<Vec<Buffer>>;

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

    /// Closes a chunk for a spill file, so that it tells by itself what it holds.
    fn seal(&self, chunk: &mut Chunk);

    /// Makes a place part of a sealed chunk's checksum; the same place again takes it out.
    fn stamp(&self, sealed: &mut Buffer, place: Stamp);

    /// Opens what was read from a spill file: its records, `share` of them if nothing says how
    /// many, and its marks. Gives nothing if the chunk differs from the one that was sealed and
    /// stamped with this place.
    fn unseal(&self, buffer: &Buffer, share: u32, place: Stamp) -> Option<(u32, Vec<Mark>)>;

    /// Finds the sorted order of a bucket; it stays in the workspace.
    fn sort(&self, bucket: &Bucket, workspace: &mut Workspace) -> io::Result<()>;

    /// Copies the records `rows` of the sorted order to `out`, from byte `at` on.
    fn gather(&self, bucket: &Bucket, workspace: &Workspace, rows: Range<usize>, out: Place<'_>);

    /// Moves a block's records to the front of its buffer, where those of a chunk are.
    fn align(&self, block: &mut Block);

    /// Copies the next records of a merge to `out`: `room` of them, or until a source is dry.
    fn merge(&self, merging: &mut Merging, room: usize, out: Place<'_>) -> Merged;

    /// Checks records that were gathered: against each other and `edge`, the one before them, which
    /// becomes the last of them. Their checksum, or the number of the first one out of order.
    fn check(&self, records: Place<'_>, count: usize, edge: &mut Vec<u8>) -> Result<u64, usize>;

    /// Whether the record `a` may stand before `b`.
    fn in_order(&self, a: &[u8], b: &[u8]) -> bool;
}

/// Where in a buffer records begin.
pub struct Place<'a> {
    /// The buffer.
    pub buffer: &'a mut Buffer,
    /// The byte.
    pub at: usize,
}

/// Records drawn from the input, with their positions.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The records, one behind the other; nothing in a run over counts.
    pub records: Vec<u8>,
    /// Their positions in the whole input.
    pub positions: Vec<u64>,
}

impl Sample {
    /// Adds another one.
    pub(crate) fn add(&mut self, other: &Sample) {
        self.records.extend_from_slice(&other.records);
        self.positions.extend_from_slice(&other.positions);
    }

    /// At most so many of them, evenly spread.
    pub(crate) fn thinned(&self, record_bytes: usize, most: usize) -> Sample {
        let all = self.positions.len();
        let mut thin = Sample::default();
        for number in (0..most.min(all)).map(|number| number * all / most.min(all)) {
            thin.records
                .extend_from_slice(&self.records[number * record_bytes..][..record_bytes]);
            thin.positions.push(self.positions[number]);
        }
        thin
    }

    /// For another node: the positions, then the records.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let positions = self
            .positions
            .iter()
            .flat_map(|position| position.to_le_bytes());
        positions.chain(self.records.iter().copied()).collect()
    }

    /// What another node sent, if it can be a sample.
    pub(crate) fn from_bytes(bytes: &[u8], record_bytes: usize) -> Option<Sample> {
        let each = record_bytes + size_of::<u64>();
        let (positions, records) = bytes.split_at(bytes.len() / each * size_of::<u64>());
        let position =
            |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().expect("eight bytes"));
        let positions = positions
            .chunks_exact(size_of::<u64>())
            .map(position)
            .collect();
        let sample = Sample {
            records: records.to_vec(),
            positions,
        };
        bytes.len().is_multiple_of(each).then_some(sample)
    }
}

/// The buckets of a block's records.
#[derive(Debug, Default)]
pub struct Assignment {
    /// Of each record.
    pub bins: Vec<u32>,
    /// Records of each bucket.
    pub counts: Vec<u32>,
    /// Their prefixes.
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
    /// Room for `len` entries and as much scratch.
    fn reserve(&mut self, len: usize) -> io::Result<(&mut [Entry], &mut [Entry])> {
        for slab in [&mut self.entries, &mut self.scratch] {
            if slab.as_ref().is_none_or(|slab| slab.len() < len) {
                // The old memory is given back first, and a little more is asked for: buckets
                // differ.
                *slab = None;
                *slab = Some(Slab::new(len + len / 8)?);
            }
        }
        self.len = len;
        let (entries, scratch) = (self.entries.as_mut(), self.scratch.as_mut());
        let (entries, scratch) = entries.zip(scratch).expect("reserved above");
        Ok((&mut entries[..len], &mut scratch[..len]))
    }

    /// Takes the order that was found out of it, with its memory; the scratch stays.
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

    /// Bytes that sorting `records` records takes.
    pub(crate) fn bytes(records: u64) -> u64 {
        const PREFIX_BYTES: u64 = 8;
        2 * Workspace::order_bytes(records) + records * PREFIX_BYTES
    }

    /// Bytes that the order of `records` records takes.
    pub(crate) fn order_bytes(records: u64) -> u64 {
        (records + records / 8) * size_of::<Entry>() as u64
    }
}
