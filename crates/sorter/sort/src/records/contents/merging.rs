//! A merge of parts of sorted chunks from several sources.
//!
//! ```text
//! source 0   |part|  next record: 17 |
//! source 1   |part|  next record:  4 |  > loser tree > out      until out is full, or a part ends
//! source 2   |part|  next record: 23 |
//! ```

use std::cell::OnceCell;
use std::cmp::Ordering;

use crate::records::contents::turns::Turns;
use crate::records::contents::{Contents, Room};
use crate::records::order::TotalOrder;
use crate::records::part::Part;
use crate::records::size::{Size, Sum};
use kernel::LoserTree;
use record::text::{KeyPlaces, PlacedLine};

/// A running merge: a part of a chunk of each source that has not ended. Sources are in input order.
#[derive(Debug)]
pub struct Merging {
    sources: Vec<Source>,
    tree: Option<LoserTree>,
    /// The source whose chunk has ended.
    dry: Option<usize>,
    /// The turns of sources, if records are only counted.
    turns: Turns,
    /// Records that are still wanted.
    left: u64,
    /// The last record copied, if equal ones are dropped.
    last: Vec<u8>,
    short: Short,
}

/// A record that was dropped because its keys are those of one that was kept, and that is less than half
/// as long, or nothing. Others are compared with it: a long record that is kept is not looked at for
/// each that is equal to it.
#[derive(Debug, Default)]
pub(crate) struct Short(Vec<u8>);

impl Short {
    /// The first record of those with equal keys; records are compared with it in place of the `kept` one.
    pub(crate) fn instead_of<'a>(&'a self, kept: &'a [u8]) -> &'a [u8] {
        if self.0.is_empty() { kept } else { &self.0 }
    }

    /// Notes a record with the keys of the one that was `kept`.
    pub(crate) fn add(&mut self, record: &[u8], kept: &[u8]) {
        if record.len() < self.instead_of(kept).len() / 2 {
            self.0 = record.to_vec();
        }
    }
}

/// The result of merging into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Size of the records copied. Nothing but their room or a dry source ends a merge.
    pub size: Size,
    /// Records dropped between them.
    pub(crate) dropped: Sum,
    /// The source that needs its next part, or has ended, before the merge continues.
    pub dry: Option<usize>,
    /// Bytes of the next record, if it fits neither behind the last one nor in a room of its own.
    pub(crate) long: Option<usize>,
}

#[derive(Debug, Default)]
struct Source {
    /// The records that are not merged yet.
    part: Option<Part>,
    next: OnceCell<Next>,
}

/// Facts about a source's next record, found once.
#[derive(Debug)]
struct Next {
    end: usize,
    prefix: u64,
    places: Option<KeyPlaces>,
}

impl Source {
    fn left(&self) -> Size {
        self.part.as_ref().map_or(Size::default(), Part::size)
    }

    fn prefix(&self, order: &impl TotalOrder) -> Option<u64> {
        self.record(order).map(|(prefix, _)| prefix)
    }

    /// The next record, and its prefix.
    #[inline]
    fn record(&self, order: &impl TotalOrder) -> Option<(u64, PlacedLine<'_>)> {
        let behind = self.part.as_ref()?.bytes();
        let next = self.next.get_or_init(|| {
            let end = order.framing().end(behind);
            let end = end.expect("a part has whole records");
            let record = &behind[..end];
            Next {
                end,
                prefix: order.word(record, 0),
                places: order.places(record),
            }
        });
        let record = PlacedLine {
            bytes: &behind[..next.end],
            places: next.places.as_ref(),
        };
        Some((next.prefix, record))
    }

    /// Passes the next record, of so many bytes.
    #[inline]
    fn pass(&mut self, bytes: usize) {
        self.next.take();
        let passed = Size {
            records: 1,
            bytes: bytes as u64,
        };
        self.part.as_mut().expect("it has a record").pass(passed);
    }
}

impl Merging {
    /// A merge of the first `most` records of `sources` sources, none of which has a part yet.
    pub fn new(sources: usize, most: u64) -> Merging {
        let sources = (0..sources).map(|_| Source::default()).collect();
        Merging {
            sources,
            tree: None,
            dry: None,
            turns: Turns::default(),
            left: most,
            last: Vec::new(),
            short: Short::default(),
        }
    }

    pub(crate) fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Takes a source's part, which is merged. A source that gets no other has ended.
    pub(crate) fn take(&mut self, source: usize) -> Option<Part> {
        let source = &mut self.sources[source];
        assert!(source.left().records == 0, "its part is merged");
        source.part.take()
    }

    /// Whether no source has a record that is still wanted.
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0 || self.sources.iter().all(|source| source.part.is_none())
    }

    /// Gives a source its next part, which is not empty.
    pub(crate) fn put(&mut self, source: usize, part: Part) {
        assert!(part.size().records > 0, "a part has records");
        self.sources[source] = Source {
            part: Some(part),
            ..Source::default()
        };
    }

    /// Copies the next records to `out`, until `room` is full or a part ends.
    pub(super) fn merge(&mut self, order: &impl TotalOrder, room: Room, out: &mut [u8]) -> Merged {
        self.merge_if(order, room, out, |_, _| true)
    }

    /// As [`Merging::merge`], but drops records with the keys of the one before.
    pub(super) fn merge_unique(
        &mut self,
        contents: &dyn Contents,
        order: &impl TotalOrder,
        room: Room,
        out: &mut [u8],
    ) -> Merged {
        let mut last = std::mem::take(&mut self.last);
        let mut short = std::mem::take(&mut self.short);
        let (mut begin, mut dropped) = (None, Sum::default());
        let merged = self.merge_if(order, room, out, |done, record| {
            let kept = begin.map_or(&last[..], |begin| &done[begin..]);
            let before = short.instead_of(kept);
            if before.is_empty() || !contents.keys_equal(before, record) {
                begin = Some(done.len());
                short = Short::default();
                return true;
            }
            dropped += contents.sum_of(record);
            short.add(record, kept);
            false
        });
        self.short = short;
        if let Some(begin) = begin {
            last.clear();
            last.extend_from_slice(&out[begin..merged.size.bytes as usize]);
        }
        self.last = last;
        Merged { dropped, ..merged }
    }

    /// Copies those of the next records to `out` that `keeps`, given the ones before.
    #[inline(always)]
    fn merge_if(
        &mut self,
        order: &impl TotalOrder,
        room: Room,
        out: &mut [u8],
        mut keeps: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Merged {
        let sources = &mut self.sources;
        let mut tree = self.tree.take().unwrap_or_else(|| {
            let prefixes = sources.iter().map(|source| source.prefix(order));
            LoserTree::new(prefixes, |a, b| compare(sources, order, (a, b)))
        });
        if let Some(dry) = self.dry.take() {
            tree.replace(sources[dry].prefix(order), |a, b| {
                compare(sources, order, (a, b))
            });
        }
        let (mut records, mut done, mut long) = (0, 0, None);
        while done < room.bytes() && records < self.left {
            let Some(winner) = tree.winner() else { break };
            let source = &mut sources[winner];
            let (_, record) = source.record(order).expect("a winner has a part");
            let record = record.bytes;
            let end = done + record.len();
            let ends = match room {
                Room::Within(bytes) => bytes,
                Room::Covering(_) => out.len(),
            };
            if end > ends {
                // A record that begins late in its room has more of it in the next.
                let is_long = done == 0 || matches!(room, Room::Covering(_));
                long = is_long.then_some(record.len());
                break;
            }
            if keeps(&out[..done], record) {
                out[done..end].copy_from_slice(record);
                (records, done) = (records + 1, end);
            }
            let bytes = record.len();
            source.pass(bytes);
            if source.left().records == 0 {
                self.dry = Some(winner);
                break;
            }
            tree.replace(source.prefix(order), |a, b| compare(sources, order, (a, b)));
        }
        self.tree = Some(tree);
        self.left -= records;
        if self.left == 0 {
            // No source is waited for any more.
            self.dry = None;
        }
        let bytes = done as u64;
        Merged {
            size: Size { records, bytes },
            dropped: Sum::default(),
            dry: self.dry,
            long,
        }
    }

    /// Counts the next records: sources take turns, a part each, in an order that `seed` decides.
    pub(super) fn count(&mut self, seed: u64, room: Size) -> Merged {
        let has_part = |source: usize| self.sources[source].left().records > 0;
        let Some(source) = self.turns.next(seed, self.sources.len(), has_part) else {
            return Merged {
                size: Size::default(),
                dropped: Sum::default(),
                dry: None,
                long: None,
            };
        };
        let left = self.sources[source].left();
        let size = if left.bytes < room.bytes { left } else { room };
        if let Some(part) = &mut self.sources[source].part {
            part.pass(size);
        }
        let dry = (size == left).then_some(source);
        if dry.is_some() {
            self.turns.end();
        }
        Merged {
            size,
            dropped: Sum::default(),
            dry,
            long: None,
        }
    }
}

/// The order of the next records of two sources with equal prefixes.
#[cold]
fn compare(sources: &[Source], order: &impl TotalOrder, (a, b): (usize, usize)) -> Ordering {
    let next = |source: usize| {
        let record = sources[source].record(order);
        record.expect("a player has a part")
    };
    let ((prefix, a), (_, b)) = (next(a), next(b));
    order.compare_tied(prefix, a, b)
}
