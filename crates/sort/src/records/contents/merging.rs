//! A merge of sorted chunks from several sources.
//!
//! ```text
//! source 0   |chunk|  next record: 17 |
//! source 1   |chunk|  next record:  4 |  > loser tree > out      until out is full, or a chunk ends
//! source 2   |chunk|  next record: 23 |
//! ```

use std::cmp::Ordering;

use kernel::LoserTree;
use record::Order;

use crate::records::block::Chunk;
use crate::records::size::Size;

/// A running merge: a chunk of each source that has not ended. Sources are in input order.
#[derive(Debug)]
pub struct Merging {
    sources: Vec<Source>,
    tree: Option<LoserTree>,
    /// The source whose chunk has ended.
    dry: Option<usize>,
    /// The next source, if records are only counted.
    turn: usize,
}

/// The result of merging into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Size of the records copied.
    pub size: Size,
    /// The source that needs its next chunk, or has ended, before the merge continues.
    pub dry: Option<usize>,
}

#[derive(Debug, Default)]
struct Source {
    chunk: Option<Chunk>,
    gone: Size,
}

impl Source {
    fn left(&self) -> Size {
        self.chunk
            .as_ref()
            .map_or(Size::default(), |chunk| chunk.size - self.gone)
    }

    /// The next record, and all bytes behind it.
    #[inline]
    fn next(&self) -> Option<&[u8]> {
        let chunk = self.chunk.as_ref()?;
        Some(&chunk.buffer.bytes()[self.gone.bytes as usize..])
    }

    fn prefix(&self, order: &Order) -> Option<u64> {
        self.next().map(|next| order.word(next, 0))
    }
}

impl Merging {
    /// A merge of `sources` sources, none of which has a chunk yet.
    pub fn new(sources: usize) -> Merging {
        let sources = (0..sources).map(|_| Source::default()).collect();
        Merging {
            sources,
            tree: None,
            dry: None,
            turn: 0,
        }
    }

    /// Takes a source's chunk, which is merged. A source that gets no other chunk has ended.
    pub fn take(&mut self, source: usize) -> Option<Chunk> {
        let source = &mut self.sources[source];
        assert!(source.left().records == 0, "its chunk is merged");
        source.chunk.take()
    }

    /// Gives a source its next chunk, which is not empty.
    pub fn put(&mut self, source: usize, chunk: Chunk) {
        assert!(chunk.size.records > 0, "a chunk has records");
        self.sources[source] = Source {
            chunk: Some(chunk),
            gone: Size::default(),
        };
    }

    /// Copies the next records to `out`, until it is full or a chunk ends.
    pub(super) fn merge(&mut self, order: &Order, out: &mut [u8]) -> Merged {
        let bytes = order.record_bytes();
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
        let mut size = Size::default();
        let one = Size {
            records: 1,
            bytes: bytes as u64,
        };
        for place in out.chunks_exact_mut(bytes) {
            let Some(winner) = tree.winner() else { break };
            let source = &mut sources[winner];
            let (record, behind) = source.next().expect("a winner has a chunk").split_at(bytes);
            place.copy_from_slice(record);
            let prefix = (source.left().records > 1).then(|| order.word(behind, 0));
            source.gone += one;
            size += one;
            if prefix.is_none() {
                self.dry = Some(winner);
                break;
            }
            tree.replace(prefix, |a, b| compare(sources, order, (a, b)));
        }
        self.tree = Some(tree);
        Merged {
            size,
            dry: self.dry,
        }
    }

    /// Counts the next records: sources take turns, a chunk each.
    pub(super) fn count(&mut self, room: Size) -> Merged {
        let all = self.sources.len();
        let in_turn = (self.turn..all).chain(0..self.turn);
        let next = in_turn
            .into_iter()
            .find(|&source| self.sources[source].left().records > 0);
        let Some(source) = next else {
            return Merged {
                size: Size::default(),
                dry: None,
            };
        };
        let left = self.sources[source].left();
        let size = if left.bytes < room.bytes { left } else { room };
        self.sources[source].gone += size;
        let dry = (size == left).then_some(source);
        self.turn = if dry.is_some() {
            (source + 1) % all
        } else {
            source
        };
        Merged { size, dry }
    }
}

/// The order of the next records of two sources with equal prefixes.
#[cold]
fn compare(sources: &[Source], order: &Order, (a, b): (usize, usize)) -> Ordering {
    let bytes = order.record_bytes();
    let next = |source: usize| {
        let behind = sources[source].next().expect("a player has a chunk");
        &behind[..bytes]
    };
    order.compare(next(a), next(b))
}
