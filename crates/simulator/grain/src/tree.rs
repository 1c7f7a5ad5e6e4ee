//! The shape of a merge tree, computed without a table (NanoSort, section 3.1, Figure 3).
//!
//! At each level a rank merges the values of a group of `incast` ranks, its own included, so it
//! receives `incast - 1` messages. Rank 0 is the root. With incast 3:
//!
//! ```text
//!   level 1    0 < 1 2     3 < 4 5     6 < 7 8     9 < 10     groups of neighbours
//!   level 2    0 <-------- 3 <-------- 6           9          groups of the remaining ranks
//!   level 3    0 <-------------------------------- 9
//! ```
//!
//! So 64 ranks have two levels at incast 8, and one at 64, where the root has 63 children. With
//! incast 1 the tree is the straight line of Figure 3: each rank is the child of the one before.

use node::{Group, Rank};

/// A merge tree over the ranks `0..ranks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    ranks: u32,
    incast: u32,
}

impl Tree {
    /// A tree of any number of ranks and any incast; an incast of 0 counts as 1.
    pub fn new(ranks: u32, incast: u32) -> Tree {
        Tree {
            ranks,
            incast: incast.max(1),
        }
    }

    /// A remark on an extreme incast, for people.
    pub(crate) fn note(ranks: u32, incast: u32) -> Option<String> {
        match incast {
            _ if ranks <= 1 => None,
            1 => Some("with incast 1 the tree is a chain: each core hears one".to_owned()),
            _ if incast > ranks => Some(format!(
                "an incast of {incast} is that of all {ranks} cores: one step"
            )),
            _ => None,
        }
    }

    /// The number of levels, from 1, on which a rank merges; it may have no children on some.
    pub fn levels(&self, rank: Rank) -> u32 {
        if self.incast == 1 {
            return u32::from(rank.0 + 1 < self.ranks);
        }
        let (mut level, mut stride) = (0, 1);
        while stride < u64::from(self.ranks) && u64::from(rank.0) % (stride * self.fan()) == 0 {
            level += 1;
            stride *= self.fan();
        }
        level
    }

    /// The levels of the root, the most of all ranks.
    pub fn height(&self) -> u32 {
        self.levels(Rank(0))
    }

    /// The levels that values pass one after the other (Figure 3); of a chain, its links.
    pub fn depth(&self) -> u32 {
        match self.incast {
            1 => self.ranks.saturating_sub(1),
            _ => self.height(),
        }
    }

    /// The ranks whose values a rank merges with its own on a level.
    pub fn children(&self, rank: Rank, level: u32) -> Group {
        let stride = self.fan().pow(level - 1);
        let beyond = u64::from(self.ranks.saturating_sub(rank.0 + 1)) / stride;
        let count = beyond.min(self.fan().max(2) - 1);
        // Of an empty group first rank and stride have no meaning, and might exceed 32 bits.
        let stride = if count == 0 { 0 } else { stride as u32 };
        Group {
            first: Rank(rank.0 + stride),
            count: count as u32,
            stride: stride.max(1),
        }
    }

    /// The most children of a rank on each level from `level` on: those of the root.
    pub fn most_children(&self, level: u32) -> Vec<u32> {
        (level..=self.height())
            .map(|level| self.children(Rank(0), level).count)
            .collect()
    }

    /// The number of a rank's children on all its levels.
    pub fn all_children(&self, rank: Rank) -> u32 {
        (1..=self.levels(rank))
            .map(|level| self.children(rank, level).count)
            .sum()
    }

    /// The rank that merges this rank's value, and the level; the root has no parent.
    pub fn parent(&self, rank: Rank) -> Option<(Rank, u32)> {
        if rank == Rank(0) {
            return None;
        }
        if self.incast == 1 {
            return Some((Rank(rank.0 - 1), 1));
        }
        let (mut level, mut group) = (1, self.fan());
        while u64::from(rank.0) % group == 0 {
            level += 1;
            group *= self.fan();
        }
        Some((Rank((u64::from(rank.0) / group * group) as u32), level))
    }

    fn fan(&self) -> u64 {
        u64::from(self.incast)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trees() -> impl Iterator<Item = (u32, Tree)> {
        let incasts = [1, 2, 3, 4, 7, 8, 16, 64, 1000, u32::MAX];
        let sizes = [1, 2, 3, 5, 8, 9, 16, 33, 64, 65, 81, 100, 257];
        let pairs = incasts
            .into_iter()
            .flat_map(move |incast| sizes.map(|ranks| (ranks, incast)));
        pairs.map(|(ranks, incast)| (ranks, Tree::new(ranks, incast)))
    }

    #[test]
    fn every_rank_but_the_root_is_a_child_once() {
        for (ranks, tree) in trees() {
            let mut parents = vec![Vec::new(); ranks as usize];
            for rank in (0..ranks).map(Rank) {
                for level in 1..=tree.levels(rank) {
                    for child in tree.children(rank, level).members() {
                        parents[child.0 as usize].push((rank, level));
                    }
                }
            }
            for (rank, parents) in parents.into_iter().enumerate() {
                let expected: Vec<_> = tree.parent(Rank(rank as u32)).into_iter().collect();
                assert_eq!(parents, expected, "rank {rank} in {tree:?}");
            }
        }
    }

    #[test]
    fn children_are_done_when_their_level_comes() {
        for (ranks, tree) in trees().filter(|(_, tree)| tree.incast > 1) {
            for rank in (1..ranks).map(Rank) {
                let (parent, level) = tree.parent(rank).unwrap();
                assert!(
                    parent < rank && tree.levels(rank) < level,
                    "rank {rank} in {tree:?}"
                );
            }
        }
    }

    #[test]
    fn the_incast_bounds_the_children_on_a_level() {
        for (ranks, tree) in trees() {
            for rank in (0..ranks).map(Rank) {
                for level in 1..=tree.levels(rank) {
                    let count = tree.children(rank, level).count;
                    assert!(count < tree.incast.max(2), "rank {rank} in {tree:?}");
                }
            }
        }
    }

    #[test]
    fn the_papers_trees_have_the_papers_shapes() {
        let shape = |incast| {
            let tree = Tree::new(64, incast);
            (tree.depth(), tree.children(Rank(0), 1).count)
        };
        assert_eq!(shape(2), (6, 1));
        assert_eq!(shape(4), (3, 3));
        assert_eq!(shape(8), (2, 7));
        assert_eq!(shape(64), (1, 63));
        assert_eq!(shape(1000), (1, 63));
        assert_eq!(shape(1), (63, 1));
        assert_eq!(Tree::new(64, 1).parent(Rank(63)), Some((Rank(62), 1)));
        assert_eq!(Tree::new(64, 1).levels(Rank(63)), 0);
    }

    #[test]
    fn the_drawing_is_right() {
        let tree = Tree::new(11, 3);
        let group = |first, count, stride| Group {
            first: Rank(first),
            count,
            stride,
        };
        assert_eq!(tree.children(Rank(0), 2), group(3, 2, 3));
        assert_eq!(tree.children(Rank(0), 3), group(9, 1, 9));
        assert_eq!(tree.children(Rank(9), 1), group(10, 1, 1));
        assert_eq!((tree.height(), tree.all_children(Rank(0))), (3, 5));
        assert_eq!(
            (tree.most_children(1), tree.most_children(2)),
            (vec![2, 2, 1], vec![2, 1])
        );
        assert!(Tree::new(1, 3).most_children(1).is_empty());
    }

    #[test]
    fn large_trees_do_not_overflow() {
        let tree = Tree::new(u32::MAX, 2);
        assert_eq!(tree.height(), 32);
        assert_eq!(tree.parent(Rank(1 << 31)), Some((Rank(0), 32)));
        assert_eq!(
            tree.children(Rank(0), 32).members().next(),
            Some(Rank(1 << 31))
        );
        assert_eq!(Tree::new(1 << 20, u32::MAX).height(), 1);
    }
}
