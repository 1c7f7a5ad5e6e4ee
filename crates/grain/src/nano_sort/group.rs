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

use node::{Group, Rank};

/// Neighbouring nodes, divided among buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeGroup {
    first: u32,
    nodes: u32,
    buckets: u32,
}

impl NodeGroup {
    /// The nodes `0..nodes`. There are never more buckets than nodes.
    pub fn all(nodes: u32, buckets: u32) -> NodeGroup {
        NodeGroup {
            first: 0,
            nodes,
            buckets: buckets.clamp(1, nodes),
        }
    }

    /// The nodes of a bucket, divided among buckets of their own.
    pub fn of_bucket(self, bucket: u32, buckets: u32) -> NodeGroup {
        NodeGroup {
            first: self.node(bucket, 0).0,
            ..NodeGroup::all(self.nodes_of(bucket), buckets)
        }
    }

    pub fn buckets(self) -> u32 {
        self.buckets
    }

    pub fn nodes(self) -> u32 {
        self.nodes
    }

    /// All nodes, as receivers of a multicast.
    pub fn members(self) -> Group {
        Group::row(Rank(self.first), self.nodes)
    }

    /// The bucket of a node, and its index there.
    pub fn position(self, rank: Rank) -> (u32, u32) {
        let offset = rank.0 - self.first;
        let bucket =
            ((u64::from(offset) + 1) * u64::from(self.buckets) - 1) / u64::from(self.nodes);
        (bucket as u32, offset - self.begin(bucket as u32))
    }

    /// How many nodes a bucket has.
    pub fn nodes_of(self, bucket: u32) -> u32 {
        self.begin(bucket + 1) - self.begin(bucket)
    }

    /// The nodes of a bucket, as receivers of a multicast.
    pub fn members_of(self, bucket: u32) -> Group {
        Group::row(self.node(bucket, 0), self.nodes_of(bucket))
    }

    /// The node of an index, which wraps round.
    pub fn node(self, bucket: u32, index: u32) -> Rank {
        Rank(self.first + self.begin(bucket) + index % self.nodes_of(bucket))
    }

    /// How many nodes send keys to this one: those whose index is this one, or wraps round to it.
    pub fn key_senders(self, bucket: u32, index: u32) -> u32 {
        self.pivot_senders(bucket, index, None)
    }

    /// How many nodes send pivots to this one, if at most `most` nodes of a bucket do.
    pub fn pivot_senders(self, bucket: u32, index: u32, most: Option<u32>) -> u32 {
        let nodes = self.selecting(bucket, most);
        let of = |other| (self.selecting(other, most) + nodes - 1 - index) / nodes;
        (0..self.buckets).map(of).sum()
    }

    /// How many nodes of a bucket select pivots: at most `most`, or all.
    pub fn selecting(self, bucket: u32, most: Option<u32>) -> u32 {
        most.unwrap_or(u32::MAX).clamp(1, self.nodes_of(bucket))
    }

    fn begin(self, bucket: u32) -> u32 {
        (u64::from(bucket) * u64::from(self.nodes) / u64::from(self.buckets)) as u32
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

    #[test]
    fn every_node_has_its_own_position() {
        for all in groups() {
            for group in [all, all.of_bucket(all.buckets() - 1, 3)] {
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
        for group in groups().filter(|group| group.nodes() <= 64) {
            for bucket in 0..group.buckets() {
                let mut naive = vec![0; group.nodes_of(bucket) as usize];
                for rank in group.members().members() {
                    let (_, index) = group.position(rank);
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
