//! A loser tree: finds the least of k sorted sources with log2 k comparisons per key (Knuth, The
//! Art of Computer Programming 3, 5.4.1).
//!
//! ```text
//!            winner: 3            each inner node keeps its loser, and the winner goes up
//!              |
//!              5                  the winner's next key plays only against the losers on its
//!          /       \              way up
//!        5           8
//!       / \         / \
//!      7   5       3   8          leaves: the first key of each source
//! ```
//!
//! A key is the first eight bytes of a normalised key, as in an [`Entry`](crate::Entry). A node
//! holds the key and its leaf as one number, so a comparison reads no record and has no branch.
//! Only for equal prefixes it asks the caller, who compares the records. Equal records are ordered
//! by the number of the leaf, so a merge of sources in input order is stable.

use std::cmp::Ordering;

/// A leaf's prefix and number; a leaf that has ended is larger than all others.
///
/// | ended: 1 bit | prefix: 64 | leaf: 32 |
type Key = u128;

const LEAF_BITS: u32 = 32;
const ENDED: Key = 1 << (LEAF_BITS + u64::BITS);

/// Finds the least key of k sorted sources, its leaves.
#[derive(Clone, Debug)]
pub struct LoserTree {
    /// Node 1 is the root; the children of node n are 2n and 2n + 1; leaf l is node k + l.
    losers: Vec<Key>,
    winner: Key,
}

impl LoserTree {
    /// A tree of sources that begin with these prefixes; `None` is a source without a key. `tie`
    /// compares the keys of two leaves whose prefixes are equal.
    ///
    /// # Panics
    /// If there are 2^32 sources or more.
    pub fn new(
        prefixes: impl ExactSizeIterator<Item = Option<u64>>,
        mut tie: impl FnMut(usize, usize) -> Ordering,
    ) -> LoserTree {
        let leaves = prefixes.len();
        assert!(leaves <= u32::MAX as usize, "a leaf's number has 32 bits");
        // The winner at each node. Element 0 is unused: there is no node 0.
        let mut winners = vec![ENDED; leaves];
        winners.extend(prefixes.enumerate().map(|(leaf, prefix)| key(leaf, prefix)));
        let mut losers = vec![ENDED; leaves];
        for node in (1..leaves).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], losers[node]) = if is_before(left, right, &mut tie) {
                (left, right)
            } else {
                (right, left)
            };
        }
        LoserTree {
            losers,
            winner: winners.get(1).copied().unwrap_or(ENDED),
        }
    }

    /// The leaf with the least key; `None` when all have ended.
    #[inline]
    pub fn winner(&self) -> Option<usize> {
        (self.winner < ENDED).then(|| leaf(self.winner))
    }

    /// Replaces the winner's key by its next one; `None` ends the leaf. `tie` is as in
    /// [`LoserTree::new`].
    ///
    /// # Panics
    /// If all leaves have ended.
    #[inline]
    pub fn replace(&mut self, prefix: Option<u64>, mut tie: impl FnMut(usize, usize) -> Ordering) {
        assert!(self.winner < ENDED, "there is a winner");
        let leaf = leaf(self.winner);
        let mut winner = key(leaf, prefix);
        let mut node = (self.losers.len() + leaf) / 2;
        while node > 0 {
            let other = self.losers[node];
            let wins = is_before(other, winner, &mut tie);
            self.losers[node] = if wins { winner } else { other };
            winner = if wins { other } else { winner };
            node /= 2;
        }
        self.winner = winner;
    }
}

#[inline]
fn key(leaf: usize, prefix: Option<u64>) -> Key {
    // A leaf that has ended has its number for a prefix, so that it never ties.
    let (ended, prefix) = prefix.map_or((ENDED, leaf as u64), |prefix| (0, prefix));
    ended | Key::from(prefix) << LEAF_BITS | leaf as Key
}

#[inline]
fn leaf(key: Key) -> usize {
    key as u32 as usize
}

#[inline]
fn is_before(a: Key, b: Key, tie: &mut impl FnMut(usize, usize) -> Ordering) -> bool {
    if (a ^ b) >> LEAF_BITS == 0 {
        return tie(leaf(a), leaf(b)).then(a.cmp(&b)).is_lt();
    }
    a < b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::Random;

    /// Merges rows of (prefix, rest). Returns each row with its leaf.
    fn merged(sources: &[Vec<(u64, u8)>]) -> Vec<((u64, u8), usize)> {
        let mut next = vec![0; sources.len()];
        let prefix = |leaf: usize, at: usize| sources[leaf].get(at).map(|row| row.0);
        let tie =
            |next: &[usize], a: usize, b: usize| sources[a][next[a]].1.cmp(&sources[b][next[b]].1);
        let first = (0..sources.len()).map(|leaf| prefix(leaf, 0));
        let mut tree = LoserTree::new(first, |a, b| tie(&next, a, b));
        let mut out = Vec::new();
        while let Some(leaf) = tree.winner() {
            out.push((sources[leaf][next[leaf]], leaf));
            next[leaf] += 1;
            tree.replace(prefix(leaf, next[leaf]), |a, b| tie(&next, a, b));
        }
        out
    }

    fn check(sources: &[Vec<(u64, u8)>]) {
        let all = sources.iter().enumerate();
        let mut expected: Vec<_> = all
            .flat_map(|(leaf, rows)| rows.iter().map(move |&row| (row, leaf)))
            .collect();
        expected.sort();
        assert_eq!(merged(sources), expected, "{sources:?}");
    }

    #[test]
    fn any_number_of_sources_of_any_length_merge_stably() {
        let mut random = Random::new(1);
        for leaves in (0..40).step_by(if cfg!(miri) { 13 } else { 1 }) {
            for prefixes in [1, 3, 1 << 40] {
                let mut sources = Vec::new();
                for _ in 0..leaves {
                    let row = |random: &mut Random| {
                        (random.next_u64() % prefixes, (random.next_u64() % 3) as u8)
                    };
                    let count = random.next_u64() % 20;
                    let mut rows: Vec<_> = (0..count).map(|_| row(&mut random)).collect();
                    rows.sort_unstable();
                    sources.push(rows);
                }
                check(&sources);
            }
        }
    }

    #[test]
    fn the_largest_prefix_is_an_ordinary_key() {
        check(&[
            vec![(u64::MAX, 1); 3],
            Vec::new(),
            vec![(u64::MAX, 0), (u64::MAX, 2)],
        ]);
    }

    #[test]
    fn equal_keys_keep_the_order_of_their_sources() {
        let order: Vec<_> = merged(&[vec![(5, 5); 2], vec![(5, 5); 3], vec![(5, 5)]])
            .into_iter()
            .map(|(_, leaf)| leaf)
            .collect();
        assert_eq!(order, [0, 0, 1, 1, 1, 2]);
    }

    #[test]
    #[should_panic(expected = "there is a winner")]
    fn no_key_follows_the_end() {
        LoserTree::new([None].into_iter(), |_, _| Ordering::Equal)
            .replace(Some(1), |_, _| Ordering::Equal);
    }
}
