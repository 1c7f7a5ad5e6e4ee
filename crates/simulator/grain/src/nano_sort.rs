//! NanoSort: a quicksort over all nodes at once (NanoSort, section 4; a node is one core).
//!
//! The paper's algorithm for n nodes and b buckets, with the function of each step:
//!
//! ```text
//!   0. Send every key to a random node, so that all nodes get equally many.    shuffle
//!   1. If the group has one node, sort its keys.                               sort
//!   2. Otherwise divide the group's keys into b buckets:                       divide
//!      a. Each node sorts its keys, selects b - 1 pivots with PivotSelect,
//!         and sends pivot j to median-tree j.                                  send_pivots
//!      b. Median-tree j merges the pivots, a few at a time (the in-cast), into
//!         splitting value j and broadcasts it to the group.                    median_tree
//!      c. The b - 1 splitting values separate the buckets.                     splitting_values
//!      d. The group's nodes form b equal groups, one per bucket (or in
//!         proportion to their keys, which a tree counts: 4.2). Each node
//!         sends its keys to the groups of their buckets.                       exchange
//!   3. Continue with step 1 in the group of this node's bucket.                sort
//!   4. Fetch the values of the keys from the nodes that had them (5.2).        fetch_values
//!   5. If asked for, build a hierarchy of bounds over the records (3.2).       bounds
//! ```
//!
//! A step ends when the known number of messages has arrived; no node coordinates. A node sends to
//! itself as to any other. [`Reading`] lists the choices that the paper leaves open.
//!
//! The sort only compares keys. Equal keys share a bucket, and too many equal keys overload one
//! node; the paper assumes distinct keys.

mod count;
mod exchange;
mod group;
mod hierarchy;
mod limits;
mod median_tree;
mod options;
mod program;
mod sorter;
mod suspects;
mod values;

pub use self::options::{Exchange, Groups, Named, NanoSort, PhaseEnd, Reading};
pub use self::suspects::Suspects;

use node::{Node, Rank};

use self::sorter::{Level, PIVOTS, SHUFFLE, Sorter, keys_in};
use crate::permutation::Permutation;
use crate::pivot_select::pivot_select;
use crate::program::Span;
use crate::records::Part;
use crate::work;

impl NanoSort {
    /// Sorts this node's keys together with those of all nodes, which hold equally many. The
    /// program must have no [`objection`](crate::Program::objection).
    pub async fn sort(self, node: &Node, keys: Vec<u64>) -> Part {
        let begin = node.now();
        self.suspects.start(node).await;
        let mut sorter = Sorter::new(&self, node, keys);
        sorter.shuffle(node).await;
        // The recursion of step 3 is a loop, since each node continues in one group.
        let mut level = Level::first(node, self.buckets);
        while level.group.nodes() > 1 {
            level = sorter.divide(node, level).await;
            level = level.next(node, self.buckets);
        }
        node.stage("sort");
        sorter.sort_keys(node);
        let wrong = sorter.fetch_values(node).await;
        let nodes = match self.bvh {
            // As in the exchange: rare, and it would enlarge every task.
            Some(children) => Box::pin(sorter.bounds(node, children)).await,
            None => Vec::new(),
        };
        let part = sorter.into_part(wrong, Span::since(begin, node));
        Part { nodes, ..part }
    }
}

impl Sorter {
    /// All nodes compute the same permutations, and key i goes where permutation i leads: so each
    /// node receives one key i.
    async fn shuffle(&mut self, node: &Node) {
        node.stage("shuffle");
        let burst = self.reading.burst() as usize;
        let keys = self.take_keys();
        for (round, sent) in keys.chunks(burst).enumerate() {
            for (i, key) in (round * burst..).zip(sent) {
                let permutation = Permutation::new(node.nodes(), self.seed, i as u64);
                let to = Rank(permutation.of(node.rank().0));
                self.send(node, to, SHUFFLE, &key.words()).await;
            }
            for _ in sent {
                let message = self.steps.next(node, SHUFFLE).await;
                self.keys.extend(keys_in(&message.words));
            }
        }
    }

    async fn divide(&mut self, node: &Node, level: Level) -> Level {
        node.stage(level.stage());
        self.sort_keys(node);
        if level.index < level.group.selecting(level.bucket, self.reading.rows()) {
            self.send_pivots(node, &level).await;
            // Bucket j's nodes are median-tree j; nothing separates bucket 0 from one before it.
            if level.bucket > 0 {
                self.median_tree(node, &level).await;
            }
        }
        let splitting_values = self.splitting_values(node, &level).await;
        self.exchange(node, level, &splitting_values).await
    }

    async fn send_pivots(&mut self, node: &Node, level: &Level) {
        let buckets = level.group.buckets();
        let most = self.reading.keys_looked_at(buckets) as usize;
        let places = pivot_select(buckets as usize, self.keys.len(), most, || node.random());
        work::account(node, buckets as usize);
        for j in 1..buckets {
            let place = places.as_ref().map(|places| places[j as usize - 1]);
            let pivot = place.map(|place| self.keys[place].key);
            // A smaller bucket has no node of this index: an earlier one takes the pivot, too.
            let index = level.index % level.group.selecting(j, self.reading.rows());
            let (to, step) = (level.group.node(j, index), level.step(PIVOTS));
            self.send(node, to, step, pivot.as_slice()).await;
        }
    }
}
