//! Sorted chunks of several sources on their way into one order.
//!
//! ```text
//! source 0   |chunk|  what is next > 17 |
//! source 1   |chunk|  what is next >  4 |  > loser tree > out       until out is full, or a chunk ends
//! source 2   |chunk|  what is next > 23 |
//! ```

use std::cmp::Ordering;

use kernel::LoserTree;
use record::Order;

use crate::records::block::Chunk;

/// A merge under way: a chunk of each source that has not ended. Sources are in input order.
#[derive(Debug)]
pub struct Merging {
    sources: Vec<Source>,
    tree: Option<LoserTree>,
    /// The source whose chunk has ended.
    dry: Option<usize>,
    /// Whose turn it is where records are only counted.
    turn: usize,
}

/// What became of a merge into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Records that went there.
    pub records: usize,
    /// The source that must be given its next chunk, or ended, before the merge goes on.
    pub dry: Option<usize>,
}

#[derive(Debug, Default)]
struct Source {
    chunk: Option<Chunk>,
    /// Records of the chunk that have gone.
    gone: usize,
}

impl Source {
    fn left(&self) -> usize {
        self.chunk
            .as_ref()
            .map_or(0, |chunk| chunk.records as usize - self.gone)
    }

    /// The next record and all bytes behind it.
    #[inline]
    fn next(&self, record_bytes: usize) -> Option<&[u8]> {
        let chunk = self.chunk.as_ref()?;
        Some(&chunk.buffer.bytes()[self.gone * record_bytes..])
    }

    fn prefix(&self, order: &Order) -> Option<u64> {
        self.next(order.record_bytes())
            .map(|next| order.word(next, 0))
    }
}

impl Merging {
    /// A merge of so many sources, none of which has a chunk yet.
    pub fn new(sources: usize) -> Merging {
        let sources = (0..sources).map(|_| Source::default()).collect();
        Merging {
            sources,
            tree: None,
            dry: None,
            turn: 0,
        }
    }

    /// Takes a source's chunk away, which is merged. Without another one the source has ended.
    pub fn take(&mut self, source: usize) -> Option<Chunk> {
        let source = &mut self.sources[source];
        assert!(source.left() == 0, "its chunk is merged");
        source.chunk.take()
    }

    /// Gives a source its next chunk, which is not empty.
    pub fn put(&mut self, source: usize, chunk: Chunk) {
        assert!(chunk.records > 0, "a chunk has records");
        self.sources[source] = Source {
            chunk: Some(chunk),
            gone: 0,
        };
    }

    /// Copies the next records to `out`, as many as there is room for.
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
        let mut records = 0;
        for place in out.chunks_exact_mut(bytes) {
            let Some(winner) = tree.winner() else { break };
            let source = &mut sources[winner];
            let (record, behind) = source
                .next(bytes)
                .expect("who wins has a chunk")
                .split_at(bytes);
            place.copy_from_slice(record);
            let prefix = (source.left() > 1).then(|| order.word(behind, 0));
            source.gone += 1;
            records += 1;
            if prefix.is_none() {
                self.dry = Some(winner);
                break;
            }
            tree.replace(prefix, |a, b| compare(sources, order, (a, b)));
        }
        self.tree = Some(tree);
        Merged {
            records,
            dry: self.dry,
        }
    }

    /// Counts the next records: sources take turns, a chunk each.
    pub(super) fn count(&mut self, room: usize) -> Merged {
        let all = self.sources.len();
        let in_turn = (self.turn..all).chain(0..self.turn);
        let next = in_turn
            .into_iter()
            .find(|&source| self.sources[source].left() > 0);
        let Some(source) = next else {
            return Merged {
                records: 0,
                dry: None,
            };
        };
        let left = self.sources[source].left();
        let records = left.min(room);
        self.sources[source].gone += records;
        let dry = (records == left).then_some(source);
        self.turn = if dry.is_some() {
            (source + 1) % all
        } else {
            source
        };
        Merged { records, dry }
    }
}

/// The order of the next records of two sources with equal prefixes.
#[cold]
fn compare(sources: &[Source], order: &Order, (a, b): (usize, usize)) -> Ordering {
    let bytes = order.record_bytes();
    let next = |source: usize| {
        let behind = sources[source].next(bytes).expect("who plays has a chunk");
        &behind[..bytes]
    };
    order.compare(next(a), next(b))
}
