//! Step 2d: each node sends its keys to the nodes of their buckets.
//!
//! There are two readings of the paper: a message per bucket, or a message per key to a random
//! node. For the second there are two ways to find the end, which the paper does not describe.

mod by_bucket;
mod by_count;
mod by_key;
mod messages;
mod place;
mod proportion;

pub(super) use self::by_count::messages_of_counts;

use node::{Node, Rank, Work};

use super::sorter::{BUCKETS, Level, Sorter, TaggedKey, keys_in};
use super::{Exchange, Groups, PhaseEnd};

/// A node's keys, in order.
pub struct Buckets {
    keys: Vec<TaggedKey>,
    /// The end of each bucket among the keys.
    ends: Vec<usize>,
}

impl Buckets {
    fn of(&self, bucket: u32) -> &[TaggedKey] {
        let bucket = bucket as usize;
        let begin = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[begin..self.ends[bucket]]
    }

    /// Each key with a random node of its bucket.
    fn addressed(&self, node: &Node, level: &Level) -> impl Iterator<Item = (Rank, TaggedKey)> {
        let of = move |bucket| {
            let keys = self.of(bucket).iter();
            keys.map(move |key| (level.group.node(bucket, node.random() as u32), *key))
        };
        (0..level.group.buckets()).flat_map(of)
    }
}

impl Sorter {
    /// Exchanges keys; returns the level with the groups of nodes that have them now.
    pub async fn exchange(&mut self, node: &Node, level: Level, splitting_values: &[u64]) -> Level {
        let buckets = self.cut(node, level.group.buckets(), splitting_values);
        let level = match self.groups {
            Groups::Equal => level,
            Groups::Proportional => Box::pin(self.in_proportion(node, &level, &buckets)).await,
        };
        match self.reading.exchange() {
            Exchange::Buckets => self.exchange_buckets(node, &level, &buckets).await,
            // A future is as large as its largest branch, and these are rare.
            Exchange::Keys => {
                self.last_key = node.now();
                match self.reading.phase_end() {
                    PhaseEnd::Answers => Box::pin(self.exchange_keys(node, &level, &buckets)).await,
                    PhaseEnd::Counts => {
                        Box::pin(self.exchange_counted(node, &level, &buckets)).await
                    }
                }
                self.part.ends += node.now().since(self.last_key);
            }
        }
        level
    }

    /// Sends a key, whose number of messages depends on the keys.
    async fn send_key(&mut self, node: &Node, level: &Level, (to, key): (Rank, TaggedKey)) {
        self.send(node, to, level.step(BUCKETS), &key.words()).await;
        self.last_key = node.now();
        self.part.by_keys += 1;
    }

    fn receive_keys(&mut self, node: &Node, words: &[u64]) {
        self.keys.extend(keys_in(words));
        self.last_key = node.now();
    }

    /// Cuts the keys into buckets. Nodes without keys select no pivots, so splitting values may be
    /// missing; then the last buckets are empty.
    fn cut(&mut self, node: &Node, buckets: u32, splitting_values: &[u64]) -> Buckets {
        let keys = self.take_keys();
        let end = |value| keys.partition_point(|tagged| tagged.key < value);
        let mut ends = Vec::with_capacity(buckets as usize);
        ends.extend(splitting_values.iter().map(|value| end(*value)));
        ends.resize(buckets as usize, keys.len());
        node.work(Work::Bucket {
            keys: keys.len() as u64,
            splitters: splitting_values.len() as u64,
        });
        Buckets { keys, ends }
    }
}
