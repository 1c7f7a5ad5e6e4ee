//! Median-trees: from the pivots of all nodes to one splitting value (NanoSort, section 4.2).
//!
//! ```text
//!   pivots j of the nodes with one index, one node in each bucket
//!      \ | /
//!     median     at the node of this index in bucket j
//!      \ | /
//!     median     up a tree over the nodes of bucket j, `in-cast` medians at a time
//!        |
//!   splitting value j, broadcast to the group
//! ```

use node::{Node, Rank};

use super::sorter::{Level, PIVOTS, SPLITTING_VALUES, Sorter};
use crate::{Tree, work};

impl Sorter {
    /// Takes this node's part in the median-tree of its bucket.
    pub async fn median_tree(&mut self, node: &Node, level: &Level) {
        let (bucket, index) = (level.bucket, level.index);
        let pivots = level
            .group
            .pivot_senders(bucket, index, self.reading.rows());
        let mut median = self.median(node, level.step(PIVOTS), pivots, None).await;
        let nodes = level.group.selecting(bucket, self.reading.rows());
        let (tree, own) = (Tree::new(nodes, self.incast()), Rank(index));
        for height in 1..=tree.levels(own) {
            let children = tree.children(own, height).count;
            median = self
                .median(node, level.step(height), children, median)
                .await;
        }
        let words = median.as_slice();
        match tree.parent(own) {
            Some((parent, height)) => {
                let to = level.group.node(bucket, parent.0);
                self.send(node, to, level.step(height), words).await;
            }
            None => {
                let (all, step) = (level.group.members(), level.step(SPLITTING_VALUES));
                self.steps.multicast(node, all, step, words).await;
            }
        }
    }

    /// Receives the splitting values, in any order.
    pub async fn splitting_values(&mut self, node: &Node, level: &Level) -> Vec<u64> {
        let mut values = Vec::with_capacity(level.group.buckets() as usize);
        for _ in 1..level.group.buckets() {
            let message = self.steps.next(node, level.step(SPLITTING_VALUES)).await;
            values.extend(message.words.first());
        }
        values.sort_unstable();
        work::sort(node, values.len());
        values
    }

    /// The median of `own` and `count` keys of other nodes; `None` if there are none, since a node
    /// without keys sends an empty message.
    ///
    /// A coin chooses between the two middle keys of an even number. If it were always the upper
    /// one, each level of a tree would move the splitting value up, and the last bucket would be
    /// much smaller than the first.
    async fn median(
        &mut self,
        node: &Node,
        step: u32,
        count: u32,
        own: Option<u64>,
    ) -> Option<u64> {
        let mut keys = Vec::with_capacity(count as usize + 1);
        keys.extend(own);
        for _ in 0..count {
            keys.extend(self.steps.next(node, step).await.words.first());
        }
        work::select(node, keys.len());
        let coin = (node.random() & 1) as usize;
        let middle = keys.len().saturating_sub(coin) / 2;
        (!keys.is_empty()).then(|| *keys.select_nth_unstable(middle).1)
    }
}
