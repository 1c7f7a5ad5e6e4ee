//! One core of NanoSort: its keys, and what it does from step to step.

use node::{Node, Port, Rank, Reorder, Work};

use super::NanoSort;
use super::partition::Partition;
use super::reading::{Exchange, Reading};
use crate::permutation::Permutation;
use crate::program::Span;
use crate::records::Part;

/// The first port of the steps.
const FIRST: Port = Port(1);

/// Steps of a level: names, a tree's medians on each of its levels, splitters, buckets.
const STEPS: u32 = 36;
pub(super) const NAMES: u32 = 0;
pub(super) const SPLITTERS: u32 = STEPS - 2;
pub(super) const BUCKETS: u32 = STEPS - 1;

/// Steps before the first level.
const SHUFFLE: u32 = 0;
pub(super) const VALUES: u32 = 1;
const BEFORE: u32 = 2;

/// Stages of levels; the deepest levels share one.
const LEVELS: [&str; 8] = [
    "level 0", "level 1", "level 2", "level 3", "level 4", "level 5", "level 6", "level 7",
];

/// A key with the core that has its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub key: u64,
    pub origin: Rank,
}

/// A core with its keys.
pub(super) struct Sorter {
    pub steps: Reorder,
    pub reading: Reading,
    pub buckets: u32,
    pub seed: u64,
    /// The keys that it has now.
    pub held: Vec<Held>,
    /// How many records it had at first.
    pub records: u32,
    /// Messages of exchanges that it sent whose number the keys decide.
    pub by_keys: u64,
    /// Of all words of the values that it has at the end.
    pub sum_of_values: u64,
}

impl Sorter {
    pub fn new(program: &NanoSort, node: &Node, keys: Vec<u64>) -> Sorter {
        let origin = node.rank();
        Sorter {
            steps: Reorder::new(node, FIRST, program.reorder.matching()),
            reading: program.reading,
            buckets: program.buckets,
            seed: program.seed,
            records: keys.len() as u32,
            held: keys.into_iter().map(|key| Held { key, origin }).collect(),
            by_keys: 0,
            sum_of_values: 0,
        }
    }

    /// How many a core of a tree merges.
    pub fn incast(&self) -> u32 {
        self.reading.incast.unwrap_or(self.buckets)
    }

    /// Its part at the end.
    pub fn part(self, wrong: u32, span: Span) -> Part {
        let keys = self.held.into_iter().map(|held| held.key).collect();
        Part {
            keys,
            wrong,
            values: self.sum_of_values,
            by_keys: self.by_keys,
            span,
        }
    }

    /// Sends its keys to cores drawn for them and receives as many. Key i goes where permutation i
    /// leads, which all know: so nobody is sent more than others.
    pub async fn shuffle(&mut self, node: &Node) {
        node.stage("shuffle");
        let burst = self.reading.burst as usize;
        let next = Vec::with_capacity(self.held.len());
        let (keys, mut first) = (std::mem::replace(&mut self.held, next), 0);
        for some in keys.chunks(burst) {
            for (number, held) in (first..).zip(some) {
                let all = Permutation::new(node.nodes(), self.seed, number);
                let to = Rank(all.of(node.rank().0));
                self.steps.send(node, to, SHUFFLE, &held.words()).await;
            }
            for _ in some {
                let message = self.steps.next(node, SHUFFLE).await;
                self.held.extend(pairs(&message.words));
            }
            first += some.len() as u64;
        }
    }

    /// Sorts the keys that it has.
    pub fn sort(&mut self, node: &Node) {
        node.stage("sort");
        self.order(node);
    }

    /// A level of its group: the column that it goes on with.
    pub async fn level(&mut self, node: &Node, group: Partition, level: u32) -> Partition {
        node.stage(LEVELS[(level as usize).min(LEVELS.len() - 1)]);
        self.order(node);
        let splitters = self.splitters(node, group, level).await;
        match self.reading.exchange {
            Exchange::Buckets => self.exchange_buckets(node, group, level, &splitters).await,
            // A task is as large as the largest way through it, and few go this one.
            Exchange::Keys => Box::pin(self.exchange_keys(node, group, level, &splitters)).await,
        }
        group.of_column(group.place(node.rank()).0, self.buckets)
    }

    fn order(&mut self, node: &Node) {
        self.held.sort_unstable_by_key(|held| held.key);
        node.work(Work::Sort {
            records: self.held.len() as u64,
        });
    }
}

impl Held {
    pub fn words(self) -> [u64; 2] {
        [self.key, self.origin.0.into()]
    }
}

/// The number of a level's step among all.
pub(super) fn step(level: u32, step: u32) -> u32 {
    BEFORE + level * STEPS + step
}

/// The keys of a message.
pub(super) fn pairs(words: &[u64]) -> impl Iterator<Item = Held> {
    words.chunks_exact(2).map(|pair| Held {
        key: pair[0],
        origin: Rank(pair[1] as u32),
    })
}
