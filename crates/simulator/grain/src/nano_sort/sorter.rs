//! The state of one node, and the numbers of its steps.

use std::collections::BTreeSet;

use node::{Node, Port, Rank, Reorder, Time};

use super::group::NodeGroup;
use super::{Groups, NanoSort, Reading, Suspects};
use crate::bounds::Bounds;
use crate::program::Span;
use crate::records::Part;
use crate::work;

/// The first port of the steps. Those before are kv's, which runs beside it.
const FIRST: Port = Port(3);

/// Steps before the first level.
pub(super) const SHUFFLE: u32 = 0;
pub(super) const VALUES: u32 = 1;
const BEFORE_LEVELS: u32 = 2;

/// Steps of a level. Between the first and the second are those of a median-tree, which has at
/// most 32 levels.
pub(super) const PIVOTS: u32 = 0;
pub(super) const SPLITTING_VALUES: u32 = 34;
pub(super) const BUCKETS: u32 = 35;
/// Of the two ways to find the end of a level with a message for each key.
pub(super) const COUNTS: u32 = 36;
pub(super) const TOTAL: u32 = 37;
pub(super) const RECEIVED: u32 = 38;
pub(super) const OVER: u32 = 39;
/// Of a tree that counts the keys of buckets for their shares of the nodes; its root tells all.
pub(super) const SHARES: u32 = 40;
pub(super) const ALL_SHARES: u32 = 41;
const STEPS_OF_LEVEL: u32 = 42;

/// The steps of the hierarchy of bounds, after those of all levels: at most 32, or 80 if a bucket has up
/// to three quarters of a group's nodes.
pub(super) const BOUNDS: u32 = BEFORE_LEVELS + 80 * STEPS_OF_LEVEL;

/// Stages of levels; the deepest levels share one.
const STAGES: [&str; 8] = [
    "level 0", "level 1", "level 2", "level 3", "level 4", "level 5", "level 6", "level 7",
];

/// A key, with the node that holds its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaggedKey {
    pub key: u64,
    pub origin: Rank,
}

impl TaggedKey {
    pub fn words(self) -> [u64; 2] {
        [self.key, self.origin.0.into()]
    }
}

/// The keys of a message.
pub(super) fn keys_in(words: &[u64]) -> impl Iterator<Item = TaggedKey> {
    words.chunks_exact(2).map(|pair| TaggedKey {
        key: pair[0],
        origin: Rank(pair[1] as u32),
    })
}

/// One node with its keys.
pub(super) struct Sorter {
    pub steps: Reorder,
    pub reading: Reading,
    suspects: Suspects,
    pub groups: Groups,
    /// Lines of the table of addresses that were read.
    touched: BTreeSet<u32>,
    buckets: u32,
    pub seed: u64,
    pub keys: Vec<TaggedKey>,
    /// Records that the node began with.
    pub records: u32,
    /// When the last key of this level was sent or received.
    pub last_key: Time,
    /// The sums of its part of the sorted records; the keys follow at the end.
    pub part: Part,
    /// The boxes of the fetched values, if a hierarchy of bounds is built.
    pub boxes: Option<Vec<Bounds>>,
}

impl Sorter {
    pub fn new(program: &NanoSort, node: &Node, keys: Vec<u64>) -> Sorter {
        let origin = node.rank();
        Sorter {
            steps: Reorder::new(node, FIRST, program.reorder.matching()),
            reading: program.reading,
            suspects: program.suspects,
            groups: program.groups,
            touched: BTreeSet::new(),
            buckets: program.buckets,
            seed: program.seed,
            records: keys.len() as u32,
            keys: keys
                .into_iter()
                .map(|key| TaggedKey { key, origin })
                .collect(),
            last_key: Time(0),
            part: Part::default(),
            boxes: program.bvh.map(|_| Vec::new()),
        }
    }

    /// Sends a message of a step.
    pub async fn send(&mut self, node: &Node, to: Rank, step: u32, words: &[u64]) {
        self.suspects.touch(node, &mut self.touched, to);
        self.steps.send(node, to, step, words).await;
    }

    /// Keys that a node of a tree merges at a time.
    pub fn incast(&self) -> u32 {
        self.reading.incast(self.buckets)
    }

    /// Moves the keys out, and leaves room for as many.
    pub fn take_keys(&mut self) -> Vec<TaggedKey> {
        let room = Vec::with_capacity(self.keys.len());
        std::mem::replace(&mut self.keys, room)
    }

    pub fn sort_keys(&mut self, node: &Node) {
        self.keys.sort_unstable_by_key(|tagged| tagged.key);
        work::sort(node, self.keys.len());
    }

    pub fn into_part(self, wrong: u32, span: Span) -> Part {
        Part {
            keys: self.keys.into_iter().map(|tagged| tagged.key).collect(),
            wrong,
            span,
            ..self.part
        }
    }
}

/// A level of the recursion, as one node sees it.
pub(super) struct Level {
    number: u32,
    pub group: NodeGroup,
    /// The bucket whose keys this node receives.
    pub bucket: u32,
    /// This node's number among those of its bucket.
    pub index: u32,
}

impl Level {
    pub fn first(node: &Node, buckets: u32) -> Level {
        Level::new(node, 0, NodeGroup::all(node.nodes(), buckets))
    }

    pub fn next(&self, node: &Node, buckets: u32) -> Level {
        let group = self.group.of_bucket(self.bucket, buckets);
        Level::new(node, self.number + 1, group)
    }

    fn new(node: &Node, number: u32, group: NodeGroup) -> Level {
        let (bucket, index) = group.position(node.rank());
        Level {
            number,
            group,
            bucket,
            index,
        }
    }

    /// The same level, with other numbers of nodes for its buckets.
    pub fn regrouped(&self, node: &Node, group: NodeGroup) -> Level {
        Level::new(node, self.number, group)
    }

    pub fn stage(&self) -> &'static str {
        STAGES[(self.number as usize).min(STAGES.len() - 1)]
    }

    /// The number of a step of this level among those of the whole sort.
    pub fn step(&self, step: u32) -> u32 {
        BEFORE_LEVELS + self.number * STEPS_OF_LEVEL + step
    }
}
