//! Real records.

use std::io;
use std::ops::Range;

use kernel::{Bin, Entry, RecordCrc, Rows, Words, block_crc, gather, row, scatter};
use node::{Buffer, Node};
use record::{Order, Ties};

use crate::records::block::{Block, Bucket, Chunk, FOOTER_BYTES, MARK_BYTES, Mark, Stamp};
use crate::records::contents::{Assignment, Contents, Merged, Merging, Place, Sample, Workspace};
use crate::records::open_bucket::OpenBucket;
use crate::records::splitters::Splitters;

/// Records of one format.
pub struct Bytes {
    order: Order,
    crc: RecordCrc,
}

impl Bytes {
    /// Records in this order.
    pub fn new(order: Order) -> Bytes {
        let crc = RecordCrc::new(order.record_bytes());
        Bytes { order, crc }
    }

    fn records<'a>(&self, block: &'a Block) -> &'a [u8] {
        &block.buffer.bytes()[block.range(self.record_bytes())]
    }
}

impl Contents for Bytes {
    fn record_bytes(&self) -> usize {
        self.order.record_bytes()
    }

    fn is_stable(&self) -> bool {
        self.order.ties() == Ties::Position
    }

    fn order(&self) -> Option<&Order> {
        Some(&self.order)
    }

    fn buffers(&self, node: &Node, count: usize, bytes: usize) -> io::Result<Vec<Buffer>> {
        node.buffers(count, bytes)
    }

    fn sample(&self, block: &Block, count: usize, sample: &mut Sample) {
        let (records, bytes) = (self.records(block), self.record_bytes());
        let count = count.min(block.records);
        for number in (0..count).map(|number| number * block.records / count) {
            sample
                .records
                .extend_from_slice(&records[number * bytes..][..bytes]);
            sample.positions.push(block.first + number as u64);
        }
    }

    fn splitters(&self, sample: &Sample, buckets: usize) -> Splitters {
        Splitters::choose(&self.order, sample, buckets)
    }

    fn checksum(&self, block: &Block) -> u64 {
        self.crc.sum(self.records(block))
    }

    fn classify(&self, block: &Block, splitters: &Splitters, found: &mut Assignment) {
        splitters.assign(&self.order, self.records(block), block.first, found);
    }

    fn scatter(&self, block: &Block, found: &Assignment, open: &mut [OpenBucket]) {
        let bytes = self.record_bytes();
        let mut bins: Vec<Bin<'_>> = open.iter_mut().map(|bucket| bucket.room(bytes)).collect();
        scatter(self.records(block), bytes, &found.bins, &mut bins);
    }

    fn seal(&self, chunk: &mut Chunk) {
        let marks_at = chunk.records as usize * self.record_bytes();
        let used = marks_at + chunk.marks.len() * MARK_BYTES;
        let bytes = chunk.buffer.bytes_mut();
        for (mark, to) in chunk
            .marks
            .iter()
            .zip(bytes[marks_at..].chunks_exact_mut(MARK_BYTES))
        {
            to[..8].copy_from_slice(&mark.position.to_le_bytes());
            to[8..].copy_from_slice(&mark.start.to_le_bytes());
        }
        let counts = [chunk.records, chunk.marks.len() as u32];
        let checksum = sealed_crc(&bytes[..used], counts);
        let footer_at = bytes.len() - FOOTER_BYTES;
        let [records, marks] = counts;
        for (field, to) in [records, marks, checksum]
            .iter()
            .zip(bytes[footer_at..].chunks_exact_mut(4))
        {
            to.copy_from_slice(&field.to_le_bytes());
        }
    }

    fn stamp(&self, sealed: &mut Buffer, place: Stamp) {
        let checksum = sealed.bytes_mut().last_chunk_mut().expect("a footer");
        *checksum = (u32::from_le_bytes(*checksum) ^ place.0).to_le_bytes();
    }

    fn unseal(&self, buffer: &Buffer, _: u32, place: Stamp) -> Option<(u32, Vec<Mark>)> {
        let (body, footer) = buffer.bytes().split_at(buffer.capacity() - FOOTER_BYTES);
        let field = |number: usize| word(&footer[4 * number..]);
        let [records, marks] = [field(0), field(1)];
        let marks_at = (records as usize).checked_mul(self.record_bytes())?;
        let used = marks_at.checked_add((marks as usize).checked_mul(MARK_BYTES)?)?;
        let sealed = body.get(..used)?;
        let read = |from: &[u8]| Mark {
            position: u64::from(word(from)) | u64::from(word(&from[4..])) << 32,
            start: word(&from[8..]),
        };
        let is_whole = sealed_crc(sealed, [records, marks]) ^ place.0 == field(2);
        is_whole.then(|| {
            (
                records,
                sealed[marks_at..]
                    .chunks_exact(MARK_BYTES)
                    .map(read)
                    .collect(),
            )
        })
    }

    fn sort(&self, bucket: &Bucket, workspace: &mut Workspace) -> io::Result<()> {
        let bytes = self.record_bytes();
        let mut prefixes = std::mem::take(&mut workspace.prefixes);
        let (entries, scratch) = workspace.reserve(bucket.records as usize)?;
        let mut free = &mut *entries;
        for (number, chunk) in bucket.chunks.iter().enumerate() {
            let count = chunk.records as usize;
            prefixes.resize(count, 0);
            self.order.prefixes(records_of(chunk, bytes), &mut prefixes);
            let (these, rest) = free.split_at_mut(count);
            for (at, (entry, &prefix)) in these.iter_mut().zip(&prefixes).enumerate() {
                entry.prefix = prefix;
                entry.row = row(number as u32, (at * bytes) as u32);
            }
            free = rest;
        }
        let slices = slices_of(bucket, bytes);
        let rows = Rows::new(&slices, bytes);
        let words = BucketWords {
            rows,
            bucket,
            order: &self.order,
        };
        kernel::sort(entries, scratch, &words);
        if self.is_stable() {
            let kept = entries.is_sorted_by(|a, b| a.prefix < b.prefix || words.keeps_order(a, b));
            assert!(kept, "records with equal keys changed places");
        }
        workspace.prefixes = prefixes;
        Ok(())
    }

    fn gather(&self, bucket: &Bucket, workspace: &Workspace, rows: Range<usize>, out: Place<'_>) {
        let bytes = self.record_bytes();
        let slices = slices_of(bucket, bytes);
        let to = out.at + rows.len() * bytes;
        let out = &mut out.buffer.bytes_mut()[out.at..to];
        gather(&Rows::new(&slices, bytes), &workspace.entries()[rows], out);
    }

    fn align(&self, block: &mut Block) {
        let from = block.range(self.record_bytes());
        block.start = 0;
        if from.start > 0 {
            block.buffer.bytes_mut().copy_within(from, 0);
        }
    }

    fn merge(&self, merging: &mut Merging, room: usize, out: Place<'_>) -> Merged {
        let to = out.at + room * self.record_bytes();
        merging.merge(&self.order, &mut out.buffer.bytes_mut()[out.at..to])
    }

    fn check(&self, records: Place<'_>, count: usize, edge: &mut Vec<u8>) -> Result<u64, usize> {
        let bytes = self.record_bytes();
        let records = &records.buffer.bytes()[records.at..records.at + count * bytes];
        let mut before: &[u8] = edge;
        for (number, record) in records.chunks_exact(bytes).enumerate() {
            if !before.is_empty() && !self.in_order(before, record) {
                return Err(number);
            }
            before = record;
        }
        if count > 0 {
            // In the memory that it has: of a large record no second copy is made.
            edge.clear();
            edge.extend_from_slice(&records[records.len() - bytes..]);
        }
        Ok(self.crc.sum(records))
    }

    #[inline]
    fn in_order(&self, a: &[u8], b: &[u8]) -> bool {
        self.order.compare(a, b).is_le()
    }
}

/// Makes what was never written, zeros, no chunk.
const SEAL: u32 = 0x6772_6973;

/// The checksum of a chunk in a spill file: of its records and marks, and of how many they are.
fn sealed_crc(sealed: &[u8], [records, marks]: [u32; 2]) -> u32 {
    SEAL ^ block_crc(sealed) ^ records.rotate_left(8) ^ marks.rotate_left(16)
}

/// The number at the front, as spill files have it.
fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().expect("four bytes"))
}

fn records_of(chunk: &Chunk, record_bytes: usize) -> &[u8] {
    &chunk.buffer.bytes()[..chunk.records as usize * record_bytes]
}

fn slices_of(bucket: &Bucket, record_bytes: usize) -> Vec<&[u8]> {
    bucket
        .chunks
        .iter()
        .map(|chunk| records_of(chunk, record_bytes))
        .collect()
}

/// The total order of a bucket's rows: the words of the key, and with `--stable` the position.
struct BucketWords<'a> {
    rows: Rows<'a>,
    bucket: &'a Bucket,
    order: &'a Order,
}

impl BucketWords<'_> {
    /// The rank of a row in the input, from the mark of its run.
    fn position(&self, row: u64) -> u64 {
        let chunk = &self.bucket.chunks[(row >> 32) as usize];
        let number = (row as u32 as usize / self.rows.record_bytes()) as u32;
        let after = chunk.marks.partition_point(|mark| mark.start <= number);
        let mark = chunk.marks[after - 1];
        mark.position + u64::from(number - mark.start)
    }

    /// Whether `a` may stand before `b`, positions included.
    fn keeps_order(&self, a: &Entry, b: &Entry) -> bool {
        let order = self
            .order
            .compare(self.rows.get(a.row), self.rows.get(b.row));
        order
            .then(self.position(a.row).cmp(&self.position(b.row)))
            .is_lt()
    }
}

impl Words for BucketWords<'_> {
    fn words(&self) -> u32 {
        self.order.words() + u32::from(self.order.ties() == Ties::Position)
    }

    #[inline]
    fn word(&self, row: u64, depth: u32) -> u64 {
        if depth < self.order.words() {
            self.order.word(self.rows.get(row), depth)
        } else {
            self.position(row)
        }
    }

    #[inline]
    fn prefetch(&self, row: u64, depth: u32) {
        // Where the word lies, give or take the keys in front of the record's own bytes.
        self.rows
            .prefetch(row, (depth as usize * 8).min(self.rows.record_bytes() - 1));
    }

    fn first_difference(&self, left: u64, right: u64, from: u32, until: u32) -> u32 {
        // Equal records differ in their positions at most; they are compared as memory.
        if self.rows.get(left) == self.rows.get(right) {
            return until.min(self.order.words());
        }
        let differ = |&depth: &u32| self.word(left, depth) != self.word(right, depth);
        (from..until).find(differ).unwrap_or(until)
    }
}
