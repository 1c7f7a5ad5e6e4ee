//! Real records, as bytes.

use std::io;
use std::ops::Range;

use kernel::{Bin, Entry, RecordCrc, Rows, Words, block_crc, gather, row, scatter};
use node::{Buffer, Filled, Node};
use record::{Order, Ties};

use crate::records::block::{Block, Bucket, Chunk, FOOTER_BYTES, MARK_BYTES, Mark, Stamp};
use crate::records::contents::{
    Assignment, Contents, Edges, Merged, Merging, RecordsAt, Room, Workspace, behind,
};
use crate::records::open_bucket::OpenBucket;
use crate::records::sample::Sample;
use crate::records::size::{Framing, Size};
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
        &block.buffer.bytes()[block.range()]
    }

    fn record_bytes(&self) -> usize {
        self.order.record_bytes()
    }
}

impl Contents for Bytes {
    fn framing(&self) -> Framing {
        Framing::fixed(self.record_bytes())
    }

    fn is_stable(&self) -> bool {
        self.order.ties() == Ties::Position
    }

    fn order(&self) -> Option<&Order> {
        Some(&self.order)
    }

    fn buffers(
        &self,
        node: &Node,
        count: usize,
        bytes: usize,
        filled: Filled,
    ) -> io::Result<Vec<Buffer>> {
        node.buffers(count, bytes, filled)
    }

    fn sample(&self, block: &Block, count: usize, sample: &mut Sample) {
        let (records, bytes) = (self.records(block), self.record_bytes());
        let all = block.size.records as usize;
        let count = count.min(all);
        for at in (0..count).map(|number| number * all / count * bytes) {
            sample.push(&records[at..][..bytes], block.first + at as u64);
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
        let mut bins: Vec<Bin<'_>> = open.iter_mut().map(OpenBucket::room).collect();
        scatter(
            self.records(block),
            self.record_bytes(),
            &found.bins,
            &mut bins,
        );
    }

    fn seal(&self, chunk: &mut Chunk) {
        let marks_at = chunk.size.bytes as usize;
        let used = marks_at + chunk.marks.len() * MARK_BYTES;
        let bytes = chunk.buffer.bytes_mut();
        let marks = bytes[marks_at..].chunks_exact_mut(MARK_BYTES);
        for (mark, to) in chunk.marks.iter().zip(marks) {
            to[..8].copy_from_slice(&mark.position.to_le_bytes());
            to[8..].copy_from_slice(&mark.start.to_le_bytes());
        }
        let counts = [
            chunk.size.records as u32,
            chunk.size.bytes as u32,
            chunk.marks.len() as u32,
        ];
        let checksum = sealed_crc(&bytes[..used], counts);
        let footer_at = bytes.len() - FOOTER_BYTES;
        let fields = counts.iter().chain([&checksum]);
        for (field, to) in fields.zip(bytes[footer_at..].chunks_exact_mut(4)) {
            to.copy_from_slice(&field.to_le_bytes());
        }
    }

    fn stamp(&self, sealed: &mut Buffer, place: Stamp) {
        let checksum = sealed.bytes_mut().last_chunk_mut().expect("a footer");
        *checksum = (u32::from_le_bytes(*checksum) ^ place.0).to_le_bytes();
    }

    fn unseal(&self, buffer: &Buffer, _: Size, place: Stamp) -> Option<(Size, Vec<Mark>)> {
        let (body, footer) = buffer.bytes().split_at(buffer.capacity() - FOOTER_BYTES);
        let field = |number: usize| word(&footer[4 * number..]);
        let counts = [field(0), field(1), field(2)];
        let [records, bytes, marks] = counts;
        let used = (marks as usize)
            .checked_mul(MARK_BYTES)?
            .checked_add(bytes as usize)?;
        let sealed = body.get(..used)?;
        let read = |from: &[u8]| Mark {
            position: u64::from(word(from)) | u64::from(word(&from[4..])) << 32,
            start: word(&from[8..]),
        };
        let size = Size {
            records: records.into(),
            bytes: bytes.into(),
        };
        let is_whole = sealed_crc(sealed, counts) ^ place.0 == field(3);
        let marks = sealed[bytes as usize..].chunks_exact(MARK_BYTES).map(read);
        is_whole.then(|| (size, marks.collect()))
    }

    fn sort(&self, bucket: &Bucket, workspace: &mut Workspace) -> io::Result<()> {
        let bytes = self.record_bytes();
        let mut prefixes = std::mem::take(&mut workspace.prefixes);
        let (entries, scratch) = workspace.reserve(bucket.size.records as usize)?;
        let mut free = &mut *entries;
        for (number, chunk) in bucket.chunks.iter().enumerate() {
            let count = chunk.size.records as usize;
            prefixes.resize(count, 0);
            self.order.prefixes(records_of(chunk), &mut prefixes);
            let (these, rest) = free.split_at_mut(count);
            for (at, (entry, &prefix)) in these.iter_mut().zip(&prefixes).enumerate() {
                entry.prefix = prefix;
                entry.row = row(number as u32, (at * bytes) as u32);
            }
            free = rest;
        }
        let slices = slices_of(bucket);
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

    fn fitting(&self, bucket: &Bucket, _: &Workspace, first: usize, room: Room) -> Size {
        room.take(behind(bucket, first, self.framing()), self.framing())
    }

    fn gather(
        &self,
        bucket: &Bucket,
        workspace: &Workspace,
        rows: Range<usize>,
        out: RecordsAt<'_>,
    ) {
        let bytes = self.record_bytes();
        let slices = slices_of(bucket);
        let to = out.at + rows.len() * bytes;
        let out = &mut out.buffer.bytes_mut()[out.at..to];
        gather(&Rows::new(&slices, bytes), &workspace.entries()[rows], out);
    }

    fn align(&self, block: &mut Block) {
        let from = block.range();
        block.start = 0;
        if from.start > 0 {
            block.buffer.bytes_mut().copy_within(from, 0);
        }
    }

    fn merge(&self, merging: &mut Merging, bytes: usize, out: RecordsAt<'_>) -> Merged {
        let to = out.at + bytes.next_multiple_of(self.record_bytes());
        merging.merge(&self.order, &mut out.buffer.bytes_mut()[out.at..to])
    }

    fn check(&self, records: RecordsAt<'_>, size: Size, edges: &mut Edges) -> Result<u64, usize> {
        let bytes = self.record_bytes();
        let records = &records.buffer.bytes()[records.at..][..size.bytes as usize];
        let mut before: &[u8] = &edges.last;
        for (number, record) in records.chunks_exact(bytes).enumerate() {
            if !before.is_empty() && !self.in_order(before, record) {
                return Err(number);
            }
            before = record;
        }
        if !records.is_empty() {
            if edges.first.is_empty() {
                edges.first.extend_from_slice(&records[..bytes]);
            }
            // Reuses its memory: a large record gets no second copy.
            edges.last.clear();
            edges
                .last
                .extend_from_slice(&records[records.len() - bytes..]);
        }
        Ok(self.crc.sum(records))
    }

    #[inline]
    fn in_order(&self, a: &[u8], b: &[u8]) -> bool {
        self.order.compare(a, b).is_le()
    }
}

/// Part of every checksum, so that zeros, which were never written, are no chunk.
const SEAL: u32 = 0x6772_6973;

/// The checksum of a chunk in a spill file, over its records, marks and counts.
fn sealed_crc(sealed: &[u8], [records, bytes, marks]: [u32; 3]) -> u32 {
    let counts = records.rotate_left(8) ^ marks.rotate_left(16) ^ bytes.rotate_left(24);
    SEAL ^ block_crc(sealed) ^ counts
}

/// The number at the front of `bytes`, in the format of spill files.
fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().expect("four bytes"))
}

fn records_of(chunk: &Chunk) -> &[u8] {
    &chunk.buffer.bytes()[..chunk.size.bytes as usize]
}

fn slices_of(bucket: &Bucket) -> Vec<&[u8]> {
    bucket.chunks.iter().map(records_of).collect()
}

/// The total order of a bucket's rows: the words of the key, and with `--stable` the position.
struct BucketWords<'a> {
    rows: Rows<'a>,
    bucket: &'a Bucket,
    order: &'a Order,
}

impl BucketWords<'_> {
    /// A row's position in the input, from the mark of its stretch.
    fn position(&self, row: u64) -> u64 {
        let chunk = &self.bucket.chunks[(row >> 32) as usize];
        let start = row as u32;
        let after = chunk.marks.partition_point(|mark| mark.start <= start);
        let mark = chunk.marks[after - 1];
        mark.position + u64::from(start - mark.start)
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
        // About where the word lies: keys come before the record's own bytes.
        self.rows
            .prefetch(row, (depth as usize * 8).min(self.rows.record_bytes() - 1));
    }

    fn first_difference(&self, left: u64, right: u64, from: u32, until: u32) -> u32 {
        // Equal records differ at most in their positions; they are compared as memory.
        if self.rows.get(left) == self.rows.get(right) {
            return until.min(self.order.words());
        }
        let differ = |&depth: &u32| self.word(left, depth) != self.word(right, depth);
        (from..until).find(differ).unwrap_or(until)
    }
}
