//! Step 2d: each node sends its keys to the nodes of their buckets.
//!
//! There are two readings of the paper: a message per bucket, or a message per key to a random
//! node.

mod by_bucket;
mod by_key;
mod messages;

use node::{Node, Work};

use super::Exchange;
use super::sorter::{Level, Sorter, TaggedKey};

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
}

impl Sorter {
    pub async fn exchange(&mut self, node: &Node, level: &Level, splitting_values: &[u64]) {
        let buckets = self.cut(node, level.group.buckets(), splitting_values);
        match self.reading.exchange() {
            Exchange::Buckets => self.exchange_buckets(node, level, &buckets).await,
            // A future is as large as its largest branch, and this one is rare.
            Exchange::Keys => Box::pin(self.exchange_keys(node, level, &buckets)).await,
        }
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
