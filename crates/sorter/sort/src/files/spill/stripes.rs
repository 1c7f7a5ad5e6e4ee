//! Stripes: k blocks and their parity over k + 1 directories, of which one may be lost (xFS, SOSP 1995, section
//! 3.1; RAID 5 of Patterson, Gibson and Katz, 1988). No I/O.
//!
//! ```text
//! directory     0           1           2           3          k = 3
//! data       a0 a1 a2    b0 b1 b2    c0 c1 c2    d0 d1 d2      a row: k blocks of each log, each of another stripe
//! parity     b0^c0^d0    a0^c1^d1    a1^b1^d2    a2^b2^c2
//! ```
//!
//! Logs of data are as without stripes: a run is in one directory, and one request. The parity of a stripe
//! is the XOR of its blocks, which are mixed in memory as they are written, in any order; it goes to a file
//! of its own when the last block has come. So nothing is read for it. A block that is not written counts
//! as zeros, and so does the rest of a block at the end.
//!
//! Directories take runs within a window of each other, since the parity of stripes that are begun is in memory:
//! so the slowest disk is the measure of all.

use std::collections::BTreeMap;
use std::mem::take;
use std::ops::Range;

use kernel::mix;
use node::Buffer;

use crate::files::spill::Extent;
use crate::plan::{RUNS_AHEAD, StripeForm};

/// Space comes back in segments of so many rows: with larger ones later, with smaller ones in crumbs.
const ROWS_OF_SEGMENT: u64 = 16;

/// A stripe: the row of its blocks, and the directory with its parity. The order is that of the parity in its
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stripe {
    pub directory: usize,
    row: u64,
}

/// A part of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub stripe: Stripe,
    /// Bytes within the block.
    pub within: Range<u64>,
}

impl StripeForm {
    pub(super) fn directories(self) -> usize {
        self.blocks + 1
    }

    /// Bytes of a row in a log.
    fn row_bytes(self) -> u64 {
        self.blocks as u64 * self.block_bytes
    }

    /// The pieces of a range of a directory's log, one behind the other.
    pub(super) fn pieces(self, directory: usize, range: Range<u64>) -> impl Iterator<Item = Piece> {
        let mut at = range.start;
        std::iter::from_fn(move || {
            let (block, begin) = (at / self.block_bytes, at % self.block_bytes);
            let end = (begin + range.end.checked_sub(at)?).min(self.block_bytes);
            at += end - begin;
            let member = (block % self.blocks as u64) as usize;
            let stripe = Stripe {
                directory: member + usize::from(member >= directory),
                row: block / self.blocks as u64,
            };
            let within = begin..end;
            (!within.is_empty()).then_some(Piece { stripe, within })
        })
    }

    /// The offset of a stripe's block in the log of a directory, or of its parity in the file of that.
    pub(super) fn offset(self, stripe: Stripe, directory: usize) -> u64 {
        if directory == stripe.directory {
            return stripe.row * self.block_bytes;
        }
        let member = stripe.directory - usize::from(stripe.directory > directory);
        stripe.row * self.row_bytes() + member as u64 * self.block_bytes
    }
}

/// A stripe of which more comes.
#[derive(Debug, Default)]
struct Begun {
    /// Bytes of its longest block so far.
    length: u64,
    /// Memory for its parity; none until its first bytes come.
    parity: Option<Buffer>,
}

/// The parity of a stripe that gets no more data.
#[derive(Debug)]
pub(super) struct Full {
    pub stripe: Stripe,
    /// As long as its longest block.
    pub parity: Buffer,
}

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    /// Bytes that will be read.
    unread: u64,
    /// Bytes on disk, with parity.
    held: u64,
}

/// A segment's space comes back: these ranges of each log, and of each parity file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Freed {
    pub data: Range<u64>,
    pub parity: Range<u64>,
}

/// The stripes of a generation of spill files.
#[derive(Debug)]
pub(super) struct Stripes {
    pub form: StripeForm,
    begun: BTreeMap<Stripe, Begun>,
    /// By directory: the end of its log; `None` once it takes no more.
    ends: Vec<Option<u64>>,
    /// Directory and offset of what is taken, but not mixed yet.
    pending: Vec<(usize, u64)>,
    longest: u64,
    segments: Vec<Segment>,
    /// Bytes on disk.
    pub held: u64,
    /// Bytes of blocks whose parity could not be written.
    pub unprotected: u64,
}

impl Stripes {
    /// None begun; directories in `without` take no data.
    pub(super) fn new(form: StripeForm, without: &[bool]) -> Stripes {
        let ends = without.iter().map(|is| (!is).then_some(0));
        Stripes {
            form,
            begun: BTreeMap::new(),
            ends: ends.collect(),
            pending: Vec::new(),
            longest: 0,
            segments: Vec::new(),
            held: 0,
            unprotected: 0,
        }
    }

    /// The directory for a run of so many bytes: the wanted one, or the one that is furthest behind if the
    /// wanted one is too far ahead. `None` if none takes more.
    pub(super) fn directory(&self, wanted: usize, bytes: u64) -> Option<usize> {
        let ends = self.ends.iter().enumerate();
        let open = ends.filter_map(|(directory, end)| Some((directory, (*end)?)));
        let (behind, least) = open.min_by_key(|(_, end)| *end)?;
        let ahead = |end: &u64| end + bytes - least <= RUNS_AHEAD * self.longest.max(bytes);
        let fits = self.ends[wanted].filter(ahead).is_some();
        Some(if fits { wanted } else { behind })
    }

    /// Where the next run of an open directory begins.
    pub(super) fn end(&self, directory: usize) -> u64 {
        self.ends[directory].unwrap_or(0)
    }

    /// Bytes by which a range makes the parity longer.
    pub(super) fn growth(&self, directory: usize, range: Range<u64>) -> u64 {
        let pieces = self.form.pieces(directory, range);
        let length = |stripe: &Stripe| self.begun.get(stripe).map_or(0, |begun| begun.length);
        let more = pieces.map(|piece| piece.within.end.saturating_sub(length(&piece.stripe)));
        more.sum()
    }

    pub(super) fn take(&mut self, directory: usize, range: Range<u64>) {
        self.longest = self.longest.max(range.end - range.start);
        self.pending.push((directory, range.start));
        self.ends[directory] = Some(range.end);
        for Piece { stripe, within } in self.form.pieces(directory, range) {
            let begun = self.begun.entry(stripe).or_default();
            let bytes = within.end - within.start;
            let more = bytes + within.end.saturating_sub(begun.length);
            begun.length = begun.length.max(within.end);
            let number = (stripe.row / ROWS_OF_SEGMENT) as usize;
            if self.segments.len() <= number {
                self.segments.resize(number + 1, Segment::default());
            }
            let segment = &mut self.segments[number];
            (segment.unread, segment.held) = (segment.unread + bytes, segment.held + more);
            self.held += more;
        }
    }

    /// Stripes of a range without memory for their parity.
    pub(super) fn missing(&self, directory: usize, range: Range<u64>) -> usize {
        let pieces = self.form.pieces(directory, range);
        let parity_of = |piece: &Piece| self.begun.get(&piece.stripe)?.parity.as_ref();
        pieces.filter(|piece| parity_of(piece).is_none()).count()
    }

    /// Mixes the bytes of a range, in buffers of one size, into the parity of its stripes, which takes memory
    /// of `fresh` where it has none.
    pub(super) fn mix(
        &mut self,
        directory: usize,
        range: Range<u64>,
        bytes: &[Buffer],
        fresh: &mut Vec<Buffer>,
    ) {
        let mut at = 0;
        for Piece { stripe, within } in self.form.pieces(directory, range.clone()) {
            let begun = self.begun.entry(stripe).or_default();
            let parity = begun.parity.get_or_insert_with(|| {
                let mut buffer = fresh.pop().expect("memory for each stripe");
                buffer.set_capacity(self.form.block_bytes as usize);
                buffer.bytes_mut().fill(0);
                buffer
            });
            let (from, upto) = (within.start as usize, within.end as usize);
            let each = bytes[0].capacity();
            let mut to = from;
            while to < upto {
                let (buffer, begin) = (&bytes[at / each], at % each);
                let length = (upto - to).min(each - begin);
                mix(
                    &mut parity.bytes_mut()[to..to + length],
                    &buffer.bytes()[begin..begin + length],
                );
                (to, at) = (to + length, at + length);
            }
        }
        self.settle(directory, range.start);
    }

    /// Notes that what was taken at an offset is mixed, or will not come.
    fn settle(&mut self, directory: usize, offset: u64) {
        self.pending
            .retain(|pending| *pending != (directory, offset));
    }

    /// A directory takes no more.
    pub(super) fn close(&mut self, directory: usize) {
        self.ends[directory] = None;
    }

    pub(super) fn is_open(&self, directory: usize) -> bool {
        self.ends[directory].is_some()
    }

    /// A range that was taken is given up: it will not be read.
    pub(super) fn abandon(&mut self, directory: usize, range: Range<u64>) -> Vec<Freed> {
        self.settle(directory, range.start);
        self.release(directory, range)
    }

    /// Up to where all of a log is mixed.
    fn front(&self, directory: usize) -> u64 {
        let own = self.pending.iter().filter(|(of, _)| *of == directory);
        let pending = own.map(|(_, offset)| *offset).min();
        let end = self.ends[directory].unwrap_or(u64::MAX);
        pending.unwrap_or(u64::MAX).min(end)
    }

    /// The stripes that get no more data, in the order of their parity.
    pub(super) fn full(&mut self) -> Vec<Full> {
        let fronts: Vec<u64> = (0..self.ends.len()).map(|at| self.front(at)).collect();
        let form = self.form;
        let is_full = |stripe: &Stripe| {
            let mut others = (0..fronts.len()).filter(|at| *at != stripe.directory);
            others.all(|at| fronts[at] >= form.offset(*stripe, at) + form.block_bytes)
        };
        let (full, begun) = take(&mut self.begun)
            .into_iter()
            .partition(|(stripe, _)| is_full(stripe));
        self.begun = begun;
        self.ended(full)
    }

    /// Ends all stripes that are begun; later runs begin others, in another segment.
    pub(super) fn end_all(&mut self) -> Vec<Full> {
        let begun = take(&mut self.begun);
        let next = self.segments.len() as u64 * ROWS_OF_SEGMENT * self.form.row_bytes();
        let ends = self.ends.iter_mut().flatten();
        ends.for_each(|end| *end = next);
        self.ended(begun)
    }

    fn ended(&mut self, stripes: BTreeMap<Stripe, Begun>) -> Vec<Full> {
        let with_parity = stripes.into_iter().filter_map(|(stripe, begun)| {
            let mut parity = begun.parity?;
            parity.set_capacity(begun.length as usize);
            Some(Full { stripe, parity })
        });
        with_parity.collect()
    }

    /// Notes that a range was read, and gives up the segments of which all was.
    pub(super) fn release(&mut self, directory: usize, range: Range<u64>) -> Vec<Freed> {
        let mut freed = Vec::new();
        let segment_bytes = ROWS_OF_SEGMENT * self.form.row_bytes();
        let ended = self.ends.iter().flatten().min();
        let ended = ended.map_or(u64::MAX, |end| end / segment_bytes);
        for Piece { stripe, within } in self.form.pieces(directory, range) {
            let number = stripe.row / ROWS_OF_SEGMENT;
            let segment = &mut self.segments[number as usize];
            let bytes = within.end - within.start;
            segment.unread = segment.unread.saturating_sub(bytes);
            if segment.unread == 0 && number < ended {
                self.held -= take(&mut segment.held);
                let parity = ROWS_OF_SEGMENT * self.form.block_bytes;
                freed.push(Freed {
                    data: number * segment_bytes..(number + 1) * segment_bytes,
                    parity: number * parity..(number + 1) * parity,
                });
            }
        }
        freed
    }
}

impl Extent {
    pub(super) fn range(self) -> Range<u64> {
        self.offset..self.offset + self.bytes
    }
}

#[cfg(test)]
mod tests;
