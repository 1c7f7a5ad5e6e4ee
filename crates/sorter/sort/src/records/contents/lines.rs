//! Records that end with a delimiter, as bytes: lines of text.
//!
//! Lines lie one behind the other with their delimiters, in blocks, chunks, spill files and
//! messages, so nothing beside them says where they end. Whoever needs to know looks for the
//! delimiters (`kernel::ends`), which costs a few nanoseconds a line.
//!
//! ```text
//! block     |ab\n|cdefg\n|h\n|...       found.ends  3  9  11          classify, scatter
//! chunk     |cdefg\n|ca\n|              row         chunk, offset     sort, gather
//! ```
//!
//! A line counts as [`Framing::least_room`] bytes at least when it is placed in a chunk. So the number of lines in a
//! chunk is bounded, and with it the memory for sorting them, however short they are.

mod distinct;
mod making;
mod parts;
mod selecting;
mod sifting;
mod sorting;
mod windows;
mod words;

use std::io;
use std::sync::Arc;

use kernel::{ChunkRoom, Entry, Fill, LineCrc, RowBin, gather_rows, gather_rows_within};
use record::rows::BadRow;
use record::text::TextOrder;
use record::{Comparison, LineOrder, Multiline, Ties, Totals};

use crate::error::SortError;
use crate::records::block::{Block, Bucket, ChunkShape};
use crate::records::contents::bytes::slices_of;
use crate::records::contents::{
    Aside, Assignment, Contents, Edges, Merged, Merging, Mistake, RecordsAt, Room, Sifting, Sorted,
    Workspace,
};
use crate::records::framing::Framing;
use crate::records::lengths::Lengths;
use crate::records::open_bucket::OpenBucket;
use crate::records::repeats::Repeats;
use crate::records::sample::Sample;
use crate::records::size::{Size, Sum};
use crate::records::splitters::Splitters;

use parts::parts_of;
use sifting::{Check, sift};
pub(crate) use sifting::{is_open, lines_in, newlines};
use windows::{WINDOW_BYTES, each, find_ends, first_end, line_at, windows};

/// Lines in their order.
#[derive(Clone)]
pub struct Lines {
    order: LineOrder,
    /// The order of lines whose first keys are equal.
    behind: TextOrder,
    framing: Framing,
    crc: Arc<LineCrc>,
    unique: bool,
    counts: bool,
    check: Option<Arc<Check>>,
    header: Arc<Vec<u8>>,
}

impl Lines {
    fn lines<'a>(&self, block: &'a Block) -> &'a [u8] {
        &block.buffer.bytes()[block.range()]
    }

    /// The sum of the checksums of lines, from their ends.
    fn crc_of(&self, lines: &[u8], ends: &[u32]) -> u64 {
        match self.order.framing.delimiter() {
            Some(_) => self.crc.sum(lines, ends),
            None => {
                let body = |(_, line)| self.order.body(line);
                let crc = |body| u64::from(kernel::block_crc(body));
                each(lines, ends).map(body).map(crc).sum()
            }
        }
    }

    /// The room that a line takes in a chunk at least.
    fn least_room(&self) -> u32 {
        self.framing.least_room() as u32
    }
}

impl Contents for Lines {
    fn framing(&self) -> Framing {
        self.framing
    }

    fn ties(&self) -> Ties {
        self.order.ties()
    }

    fn multiline(&self) -> Option<&Arc<Multiline>> {
        self.order.multiline.as_ref()
    }

    fn shuffle(&self) -> Option<u64> {
        self.order.shuffle
    }

    fn comparison(&self) -> Option<Comparison> {
        Some(Comparison::Lines(self.order.clone()))
    }

    fn with_lengths(&self, lengths: Lengths) -> Option<Arc<dyn Contents>> {
        let framing = self.framing.with_lengths(lengths);
        Some(Arc::new(Lines {
            framing,
            ..self.clone()
        }))
    }

    fn header(&self) -> &[u8] {
        &self.header
    }

    fn unseen_keys(&self) -> Vec<String> {
        self.check
            .as_ref()
            .map_or(Vec::new(), |check| check.unseen())
    }

    fn mistake(&self, row: &[u8]) -> Option<BadRow> {
        self.check.as_ref()?.row(self.order.body(row)).err()
    }

    fn is_checked(&self) -> bool {
        self.check.is_some()
    }

    fn is_blank(&self, record: &[u8]) -> bool {
        (self.check.as_ref()).is_some_and(|check| check.is_blank(record, self.order.framing))
    }

    fn sift(&self, block: &mut Block, how: Sifting) -> Result<Aside, Mistake> {
        let Some(check) = &self.check else {
            return Ok(Aside::default());
        };
        sift(block, check, (self.order.framing, how))
    }

    fn sample(&self, block: &Block, count: usize, sample: &mut Sample) {
        let lines = self.lines(block);
        let mut ends = Vec::new();
        find_ends(lines, self.order.framing, &mut ends);
        let count = count.min(ends.len());
        for number in (0..count).map(|number| number * ends.len() / count) {
            let begin = number.checked_sub(1).map_or(0, |before| ends[before]) as usize;
            let line = &lines[begin..ends[number] as usize];
            sample.push_line(line, block.first + begin as u64, self.framing);
        }
    }

    fn measure(&self, block: &mut Block) -> Result<u64, SortError> {
        let (mut records, mut sum, mut long) = (0, 0, None);
        let limit = self.framing.longest();
        windows(
            self.lines(block),
            self.order.framing,
            |offset, lines, ends| {
                records += ends.len() as u64;
                sum += self.crc_of(lines, ends);
                if ends.len() < 2 || WINDOW_BYTES > limit {
                    let mut each = each(lines, ends);
                    let found = each.find(|(_, line)| line.len() > limit);
                    long = long.or(found.map(|(at, line)| (offset + at, line.len() as u64)));
                }
            },
        );
        block.size.records = records;
        match long {
            None => Ok(sum),
            Some((at, read)) => Err(SortError::LongLine {
                file: None,
                position: Some(block.first + at as u64),
                read,
                limit: limit as u64,
            }),
        }
    }

    fn parts(&self, block: &Block, room: usize) -> Vec<(u64, usize, Size)> {
        parts_of(block, self.framing, room)
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

    fn classify(&self, block: &Block, splitters: &Splitters, found: &mut Assignment) {
        let lines = self.lines(block);
        let mut ends = std::mem::take(&mut found.ends);
        find_ends(lines, self.order.framing, &mut ends);
        if splitters.are_by_prefixes() {
            found.prefixes.resize(ends.len(), 0);
            let bodies = each(lines, &ends).map(|(_, line)| self.order.body(line));
            self.order.text.prefixes(bodies, &mut found.prefixes);
        }
        let records = each(lines, &ends).map(|(_, line)| line);
        splitters.assign(&self.order, records, block.first, found);
        found.sizes.clear();
        found.sizes.resize(splitters.buckets, Size::default());
        for ((_, line), &bin) in each(lines, &ends).zip(&found.bins) {
            found.sizes[bin as usize] += size_of(line);
        }
        found.ends = ends;
    }

    fn plan_room(&self, found: &mut Assignment, open: &[OpenBucket], shape: ChunkShape) {
        let room = ChunkRoom {
            bytes: shape.room,
            least: self.least_room(),
        };
        let Assignment {
            ends,
            bins,
            fresh,
            counts: left,
            ..
        } = found;
        left.clear();
        left.extend(open.iter().map(OpenBucket::left));
        fresh.clear();
        fresh.resize(open.len(), 0);
        kernel::fresh_needed(ends, bins, room, left, fresh);
    }

    fn scatter(&self, block: &Block, found: &Assignment, open: &mut [OpenBucket]) {
        let mut bins: Vec<RowBin<'_>> = open.iter_mut().map(OpenBucket::row_room).collect();
        kernel::scatter_rows(
            self.lines(block),
            &found.ends,
            &found.bins,
            self.least_room(),
            &mut bins,
        );
        let copied = |bin: RowBin<'_>| {
            let fills: Vec<Fill> = bin.fills().collect();
            (fills, bin.left())
        };
        let copied: Vec<(Vec<Fill>, u32)> = bins.into_iter().map(copied).collect();
        for (open, (fills, left)) in open.iter_mut().zip(copied) {
            open.copied(fills, left);
        }
    }

    fn is_unique(&self) -> bool {
        self.unique
    }

    fn counts(&self) -> bool {
        self.counts
    }

    fn totals(&self) -> Option<&Totals> {
        let check = self.check.as_deref()?;
        Some(&check.totals).filter(|totals| !totals.is_none())
    }

    fn keys_equal(&self, a: &[u8], b: &[u8]) -> bool {
        self.order.keys_equal(a, b)
    }

    fn drop_repeats(&self, block: &mut Block, seen: &mut Repeats) -> bool {
        self.unique && !self.keeps_last() && self.drop_repeats_of(block, seen)
    }

    fn keep_before(&self, block: &mut Block, bound: &[u8]) {
        self.keep_lines_before(block, bound);
    }

    fn keep_sorted(&self, bucket: &mut Bucket, workspace: &mut Workspace) {
        bucket.keep(workspace.take_rows(), |rest| {
            first_end(rest, self.order.framing)
        });
    }

    fn sum_of(&self, record: &[u8]) -> Sum {
        Sum {
            size: size_of(record),
            crc: u128::from(kernel::block_crc(self.order.body(record))),
        }
    }

    fn sum_of_first(&self, sorted: Sorted<'_>, rows: usize) -> Sum {
        let slices = slices_of(sorted.bucket);
        let entries = sorted.workspace.entries()[..rows].iter();
        let line = |entry: &Entry| line_at(&slices, entry.row, self.order.framing);
        entries.map(|entry| self.sum_of(line(entry))).sum()
    }

    fn sort(&self, bucket: &Bucket, workspace: &mut Workspace) -> io::Result<Sum> {
        self.sort_bucket(bucket, workspace)
    }

    fn gather(
        &self,
        Sorted { bucket, workspace }: Sorted<'_>,
        first: usize,
        room: Room,
        out: RecordsAt<'_>,
    ) -> Size {
        let slices = slices_of(bucket);
        let (entries, length) = (&workspace.entries()[first..], |rest: &[u8]| {
            first_end(rest, self.order.framing)
        });
        let out = &mut out.buffer.bytes_mut()[out.at..];
        let gathered = match room {
            Room::Covering(bytes) => gather_rows(&slices, entries, length, bytes, out),
            Room::Within(bytes) => gather_rows_within(&slices, entries, length, bytes, out),
        };
        Size {
            records: gathered.rows as u64,
            bytes: gathered.bytes as u64,
        }
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
        self.check_lines(records, size, edges)
    }

    #[inline]
    fn in_order(&self, a: &[u8], b: &[u8]) -> bool {
        let order = self.order.compare(a, b);
        if !self.unique {
            return order.is_le();
        }
        // Without a last resort nothing but keys tells them apart.
        order.is_lt() && (self.order.ties().are_by_position() || !self.keys_equal(a, b))
    }
}

fn size_of(line: &[u8]) -> Size {
    Size {
        records: 1,
        bytes: line.len() as u64,
    }
}
