//! Real records, as bytes.

mod even;

use std::io;

use kernel::{Bin, Entry, RecordCrc, Rows, Words, gather, row, scatter};

use record::{Comparison, Order, Ties, Totals};

use crate::error::SortError;
use crate::records::block::{Block, Bucket, Chunk, Ranges};
use crate::records::contents::{
    Aside, Assignment, Contents, Edges, Merged, Merging, Mistake, MistakeCause, RecordsAt, Room,
    Sifting, Sorted, Workspace,
};
use crate::records::framing::Framing;
use crate::records::open_bucket::OpenBucket;
use crate::records::order::Bound;
use crate::records::repeats::Repeats;
use crate::records::sample::Sample;
use crate::records::size::{Size, Sum};
use crate::records::splitters::Splitters;

/// Records of one format.
pub struct Bytes {
    order: Order,
    crc: RecordCrc,
    unique: bool,
    totals: Totals,
}

impl Bytes {
    /// Records in this order.
    pub fn new(order: Order) -> Bytes {
        let crc = RecordCrc::new(order.record_bytes());
        Bytes {
            order,
            crc,
            unique: false,
            totals: Totals::default(),
        }
    }

    /// Keeps only the first of the records with equal keys.
    #[must_use]
    pub fn unique(self) -> Bytes {
        Bytes {
            unique: true,
            ..self
        }
    }

    /// Adds up these numbers of records with equal keys.
    #[must_use]
    pub fn summing(self, totals: &Totals) -> Bytes {
        Bytes {
            unique: self.unique && totals.is_none(),
            totals: totals.clone(),
            ..self
        }
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

    fn ties(&self) -> Ties {
        self.order.ties()
    }

    fn comparison(&self) -> Option<Comparison> {
        Some(Comparison::Order(self.order.clone()))
    }

    fn sample(&self, block: &Block, count: usize, sample: &mut Sample) {
        let (records, bytes) = (self.records(block), self.record_bytes());
        let all = block.size.records as usize;
        let count = count.min(all);
        for at in (0..count).map(|number| number * all / count * bytes) {
            sample.push(&records[at..][..bytes], block.first + at as u64);
        }
    }

    fn records_at(&self, places: &mut dyn Iterator<Item = u64>) -> Sample {
        even::records_at(&self.order, places)
    }

    fn splitters(&self, sample: &Sample, buckets: usize) -> Splitters {
        Splitters::choose(&self.order, sample, buckets)
    }

    fn known_splitters(&self, chosen: Sample) -> Option<Splitters> {
        Splitters::are_ascending(&self.order, &chosen).then(|| Splitters::of(&self.order, chosen))
    }

    fn divide(&self, splitters: &Splitters, sample: &Sample) -> Vec<Sample> {
        splitters.divide(&self.order, sample)
    }

    fn measure(&self, block: &mut Block) -> Result<u64, SortError> {
        Ok(self.crc.sum(self.records(block)))
    }

    fn classify(&self, block: &Block, splitters: &Splitters, found: &mut Assignment) {
        let records = self.records(block);
        let each = records.chunks_exact(self.record_bytes());
        if splitters.are_by_prefixes() {
            found.prefixes.resize(each.len(), 0);
            self.order.prefixes(records, &mut found.prefixes);
        }
        splitters.assign(&self.order, each, block.first, found);
        found.counts.clear();
        found.counts.resize(splitters.buckets, 0);
        for &bin in &found.bins {
            found.counts[bin as usize] += 1;
        }
        let size = |&count: &u32| self.framing().of(count.into());
        found.sizes.clear();
        found.sizes.extend(found.counts.iter().map(size));
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

    fn is_unique(&self) -> bool {
        self.unique
    }

    fn totals(&self) -> Option<&Totals> {
        Some(&self.totals).filter(|totals| !totals.is_none())
    }

    fn is_checked(&self) -> bool {
        !self.totals.is_none()
    }

    fn sift(&self, block: &mut Block, _: Sifting) -> Result<Aside, Mistake> {
        let bytes = self.record_bytes();
        let mut aside = Aside::default();
        for (number, record) in (0..).zip(self.records(block).chunks_exact(bytes)) {
            let numbers = self.totals.check(record).map_err(|bad| Mistake {
                position: block.first + number * bytes as u64,
                cause: MistakeCause::of_record(&bad),
            })?;
            aside.totals = aside.totals.wrapping_add(numbers.checksum);
        }
        Ok(aside)
    }

    fn keys_equal(&self, a: &[u8], b: &[u8]) -> bool {
        self.order.keys_equal(a, b)
    }

    fn drop_repeats(&self, block: &mut Block, seen: &mut Repeats) -> bool {
        // Blocks come in input order, and a later record takes the place of one before it.
        let drops = self.unique && !self.keeps_last();
        let kept = drops.then(|| {
            let bytes = self.record_bytes();
            let records = self.records(block).chunks_exact(bytes).enumerate();
            seen.sift(&self.order, block.first, |each| {
                records.for_each(|(number, record)| each(number * bytes, record));
            })
        });
        kept.flatten().map(|kept| block.keep(kept)).is_some()
    }

    fn keep_before(&self, block: &mut Block, bound: &[u8]) {
        let bytes = self.record_bytes();
        let bound = Bound::new(&self.order, bound);
        let mut kept = Ranges::default();
        let records = self.records(block).chunks_exact(bytes).enumerate();
        let before = records.filter(|(_, record)| bound.is_behind(record));
        before.for_each(|(number, _)| kept.add(number * bytes, bytes));
        block.keep(kept);
    }

    fn keep_sorted(&self, bucket: &mut Bucket, workspace: &mut Workspace) {
        bucket.keep(workspace.take_rows(), |_| self.record_bytes());
    }

    fn sum_of(&self, record: &[u8]) -> Sum {
        Sum {
            size: self.framing().of(1),
            crc: u128::from(self.crc.sum(record)),
        }
    }

    fn sum_of_first(&self, sorted: Sorted<'_>, rows: usize) -> Sum {
        let slices = slices_of(sorted.bucket);
        let records = Rows::new(&slices, self.record_bytes());
        let entries = sorted.workspace.entries()[..rows].iter();
        entries
            .map(|entry| self.sum_of(records.get(entry.row)))
            .sum()
    }

    fn sort(&self, bucket: &Bucket, workspace: &mut Workspace) -> io::Result<Sum> {
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
        let mut dropped = Sum::default();
        if self.unique {
            let rows = words.rows;
            workspace.dedup(|kept, next| {
                let (kept, next) = (rows.get(kept.row), rows.get(next.row));
                let is_equal = self.order.keys_equal(kept, next);
                if is_equal {
                    dropped += self.sum_of(next);
                }
                is_equal
            });
        }
        Ok(dropped)
    }

    fn gather(
        &self,
        Sorted { bucket, workspace }: Sorted<'_>,
        first: usize,
        room: Room,
        out: RecordsAt<'_>,
    ) -> Size {
        let left = workspace.entries().len() - first;
        let size = room.take(self.framing().of(left as u64), self.framing());
        let rows = first..first + size.records as usize;
        let slices = slices_of(bucket);
        let out = &mut out.buffer.bytes_mut()[out.at..out.at + size.bytes as usize];
        let entries = &workspace.entries()[rows];
        gather(&Rows::new(&slices, self.record_bytes()), entries, out);
        size
    }

    fn merge(&self, merging: &mut Merging, room: Room, out: RecordsAt<'_>) -> Merged {
        let out = &mut out.buffer.bytes_mut()[out.at..];
        if self.unique {
            merging.merge_unique(self, &self.order, room, out)
        } else {
            merging.merge(&self.order, room, out)
        }
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
        if self.unique {
            self.order.compare(a, b).is_lt() && !self.order.keys_equal(a, b)
        } else {
            self.order.compare(a, b).is_le()
        }
    }
}

pub(super) fn records_of(chunk: &Chunk) -> &[u8] {
    &chunk.buffer.bytes()[..chunk.size.bytes as usize]
}

pub(super) fn slices_of(bucket: &Bucket) -> Vec<&[u8]> {
    bucket.chunks.iter().map(records_of).collect()
}

/// The total order of a bucket's rows: the words of the key, and with `--stable` the position.
struct BucketWords<'a> {
    rows: Rows<'a>,
    bucket: &'a Bucket,
    order: &'a Order,
}

impl BucketWords<'_> {
    /// Whether `a` may stand before `b`, positions included.
    fn keeps_order(&self, a: &Entry, b: &Entry) -> bool {
        let order = self
            .order
            .compare(self.rows.get(a.row), self.rows.get(b.row));
        order
            .then(self.place(a.row).cmp(&self.place(b.row)))
            .is_lt()
    }

    fn place(&self, row: u64) -> u64 {
        self.order.ties().place(self.bucket.position(row))
    }
}

impl Words for BucketWords<'_> {
    fn words(&self) -> u32 {
        self.order.words() + u32::from(self.order.ties().are_by_position())
    }

    #[inline]
    fn word(&self, row: u64, depth: u32) -> u64 {
        if depth < self.order.words() {
            self.order.word(self.rows.get(row), depth)
        } else {
            self.place(row)
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
