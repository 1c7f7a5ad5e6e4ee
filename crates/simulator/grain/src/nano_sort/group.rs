//! Groups of nodes and their buckets, computed without tables.
//!
//! A group's nodes are divided among its buckets, neighbours to one bucket. Nodes of the same index
//! in their buckets exchange keys. With 8 nodes and 4 buckets:
//!
//! ```text
//!              bucket 0   1   2   3
//!     index 0         0   2   4   6       the nodes of a bucket are the group
//!     index 1         1   3   5   7       of the next level
//! ```
//!
//! If the buckets do not divide the nodes evenly, some have one node more than others. In a smaller
//! bucket an index wraps round to its first nodes.
//!
//! [In proportion](NodeGroup::in_proportion) to their keys buckets have more nodes or fewer. Then a
//! node sends by its number in the group, so that all nodes of a bucket hear from equally many.

use node::{Group, Rank};

/// Neighbouring nodes, divided among buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeGroup {
    first: u32,
    nodes: u32,
    buckets: u32,
    /// The first node of each bucket, if they are in proportion to the buckets' keys.
    begins: Option<Box<[u32]>>,
}

impl NodeGroup {
    /// The nodes `0..nodes`. There are never more buckets than nodes.
    pub fn all(nodes: u32, buckets: u32) -> NodeGroup {
        NodeGroup {
            first: 0,
            nodes,
            buckets: buckets.clamp(1, nodes),
            begins: None,
        }
    }

    /// The nodes of a bucket, divided among buckets of their own.
    pub fn of_bucket(&self, bucket: u32, buckets: u32) -> NodeGroup {
        NodeGroup {
            first: self.node(bucket, 0).0,
            ..NodeGroup::all(self.nodes_of(bucket), buckets)
        }
    }

    /// The same nodes, with numbers in proportion to the keys of each bucket, and at least one.
    ///
    /// No bucket counts for more than three quarters: else equal keys, which nothing divides, would
    /// have nearly all nodes on each of many levels. If one bucket has all keys, or none has any,
    /// the numbers stay equal.
    pub fn in_proportion(&self, keys: &[u64]) -> NodeGroup {
        let all: u64 = keys.iter().sum();
        let counted = keys.iter().map(|keys| *keys.min(&(3 * (all - keys))));
        let sum: u64 = counted.clone().sum();
        if sum == 0 {
            return self.clone();
        }
        let (mut begins, mut below) = (vec![0], 0);
        for (next, keys) in (1..self.buckets).zip(counted) {
            below += keys;
            let share = below * u64::from(self.nodes) / sum;
            let least = begins[next as usize - 1] + 1;
            begins.push((share as u32).clamp(least, self.nodes - (self.buckets - next)));
        }
        NodeGroup {
            begins: Some(begins.into()),
            ..*self
        }
    }

    pub fn buckets(&self) -> u32 {
        self.buckets
    }

    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// All nodes, as receivers of a multicast.
    pub fn members(&self) -> Group {
        Group::row(Rank(self.first), self.nodes)
    }

    /// The bucket of a node, and its index there.
    pub fn position(&self, rank: Rank) -> (u32, u32) {
        let offset = rank.0 - self.first;
        let bucket = match &self.begins {
            Some(begins) => begins.partition_point(|begin| *begin <= offset) as u32 - 1,
            None => {
                let at = (u64::from(offset) + 1) * u64::from(self.buckets);
                ((at - 1) / u64::from(self.nodes)) as u32
            }
        };
        (bucket, offset - self.begin(bucket))
    }

    /// How many nodes a bucket has.
    pub fn nodes_of(&self, bucket: u32) -> u32 {
        self.begin(bucket + 1) - self.begin(bucket)
    }

    /// The nodes of a bucket, as receivers of a multicast.
    pub fn members_of(&self, bucket: u32) -> Group {
        Group::row(self.node(bucket, 0), self.nodes_of(bucket))
    }

    /// The node of an index, which wraps round.
    pub fn node(&self, bucket: u32, index: u32) -> Rank {
        Rank(self.first + self.begin(bucket) + index % self.nodes_of(bucket))
    }

    /// The index in each bucket to which a node sends keys.
    pub fn key_index(&self, rank: Rank) -> u32 {
        match self.begins {
            Some(_) => rank.0 - self.first,
            None => self.position(rank).1,
        }
    }

    /// How many nodes send keys to this one: those whose index is this one, or wraps round to it.
    pub fn key_senders(&self, bucket: u32, index: u32) -> u32 {
        match self.begins {
            Some(_) => (self.nodes - 1 - index) / self.nodes_of(bucket) + 1,
            None => self.pivot_senders(bucket, index, None),
        }
    }

    /// How many nodes send pivots to this one, if at most `most` nodes of a bucket do.
    pub fn pivot_senders(&self, bucket: u32, index: u32, most: Option<u32>) -> u32 {
        let nodes = self.selecting(bucket, most);
        let of = |other| (self.selecting(other, most) + nodes - 1 - index) / nodes;
        (0..self.buckets).map(of).sum()
    }

    /// How many nodes of a bucket select pivots: at most `most`, or all.
    pub fn selecting(&self, bucket: u32, most: Option<u32>) -> u32 {
        most.unwrap_or(u32::MAX).clamp(1, self.nodes_of(bucket))
    }

    fn begin(&self, bucket: u32) -> u32 {
        match &self.begins {
            Some(begins) => begins.get(bucket as usize).copied().unwrap_or(self.nodes),
            None => (u64::from(bucket) * u64::from(self.nodes) / u64::from(self.buckets)) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups() -> impl Iterator<Item = NodeGroup> {
        let sizes = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 64, 100, 255, 256];
        sizes.into_iter().flat_map(|nodes| {
            [1, 2, 3, 4, 8, 16, 300].map(|buckets| NodeGroup::all(nodes, buckets))
        })
    }

    /// Some numbers of keys, among them none.
    fn keys(buckets: u32) -> Vec<u64> {
        let keys = |bucket| u64::from(bucket * 7919 % 97) * u64::from(bucket % 3);
        (0..buckets).map(keys).collect()
    }

    #[test]
    fn nodes_are_in_proportion_to_keys() {
        let sizes = |nodes, keys: &[u64]| -> Vec<u32> {
            let group = NodeGroup::all(nodes, keys.len() as u32).in_proportion(keys);
            (0..group.buckets())
                .map(|bucket| group.nodes_of(bucket))
                .collect()
        };
        assert_eq!(sizes(64, &[10, 20, 30, 4]), [10, 20, 30, 4]);
        assert_eq!(sizes(8, &[0, 0, 100, 100]), [1, 1, 2, 4]);
        assert_eq!(sizes(16, &[3, 0, 100, 0]), [4, 1, 10, 1]);
        for equal in [[0; 4], [0, 9, 0, 0]] {
            assert_eq!(sizes(9, &equal), [2, 2, 2, 3]);
        }
        assert_eq!(sizes(4, &[1, 1, 1, 97]), [1; 4]);
    }

    #[test]
    fn every_node_has_its_own_position() {
        for all in groups() {
            let last = all.of_bucket(all.buckets() - 1, 3);
            let drawn = all.in_proportion(&keys(all.buckets()));
            for group in [all, last, drawn] {
                let mut positions = std::collections::BTreeSet::new();
                for rank in group.members().members() {
                    let (bucket, index) = group.position(rank);
                    assert!(bucket < group.buckets() && index < group.nodes_of(bucket));
                    assert_eq!(group.node(bucket, index), rank, "{group:?}");
                    assert!(positions.insert((bucket, index)));
                }
                let nodes: u32 = (0..group.buckets()).map(|at| group.nodes_of(at)).sum();
                assert_eq!(nodes, group.nodes());
            }
        }
    }

    #[test]
    fn buckets_differ_by_at_most_one_node() {
        for group in groups() {
            let nodes = (0..group.buckets()).map(|bucket| group.nodes_of(bucket));
            let (least, most) = (nodes.clone().min().unwrap(), nodes.max().unwrap());
            assert!(least >= 1 && most <= least + 1, "{group:?}");
        }
    }

    #[test]
    fn senders_are_counted_right() {
        let small = groups().filter(|group| group.nodes() <= 64);
        let drawn = |group: NodeGroup| [group.in_proportion(&keys(group.buckets())), group];
        for group in small.flat_map(drawn) {
            for bucket in 0..group.buckets() {
                let mut naive = vec![0; group.nodes_of(bucket) as usize];
                for rank in group.members().members() {
                    let index = group.key_index(rank);
                    let (_, receiver) = group.position(group.node(bucket, index));
                    naive[receiver as usize] += 1;
                }
                let found: Vec<_> = (0..group.nodes_of(bucket))
                    .map(|index| group.key_senders(bucket, index))
                    .collect();
                assert_eq!(found, naive, "bucket {bucket} of {group:?}");
            }
        }
    }

    #[test]
    fn the_drawing_is_right() {
        let all = NodeGroup::all(8, 4);
        assert_eq!(all.position(Rank(5)), (2, 1));
        assert_eq!(
            (all.node(3, 0), all.nodes_of(3), all.key_senders(3, 0)),
            (Rank(6), 2, 4)
        );
        assert_eq!(all.of_bucket(2, 4).members(), Group::row(Rank(4), 2));
    }
}
