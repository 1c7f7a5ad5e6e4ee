//! Finds the partition of each record with a search tree without branches.
//!
//! The splitters are laid out as a complete tree in breadth-first order. A step down is one
//! comparison and an addition, so there is no misprediction, and several keys descend at the same
//! time to hide the latency of each step (Sanders and Winkel, "Super Scalar Sample Sort", ESA
//! 2004):
//!
//! ```text
//! splitters 3 5 8            5            node = 2 * node + (tree[node] < prefix)
//!                          /   \
//!                         3     8         bin = the number of splitters below the prefix
//!                        / \   / \
//!                 bins  0   1 2   3
//! ```
//!
//! It does not decide ties: splitters are elements of the total order, and the classifier knows
//! only their prefixes. It reports cheaply when a prefix equals that of a splitter; the caller then
//! compares the rest with those splitters ([`Classifier::ties`]).

/// Keys that descend together: enough to hide most of the latency of a load and a comparison, and
/// few enough that nodes and keys stay in the sixteen registers of x86-64.
const TOGETHER: usize = 6;

/// Splitter prefixes as a search tree.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// `tree[1]` is the root; the children of `node` are `2 * node` and `2 * node + 1`.
    tree: Vec<u64>,
    levels: u32,
    /// The splitters in order, then one unused element.
    sorted: Vec<u64>,
    /// For each splitter, how many from there on have the same prefix; then 0.
    equal: Vec<u32>,
}

impl Classifier {
    /// A classifier for splitters with these prefixes, ascending; they may repeat.
    ///
    /// # Panics
    /// If the prefixes are not ascending, or if there are 2^31 or more.
    pub fn new(prefixes: &[u64]) -> Self {
        assert!(prefixes.is_sorted(), "splitters are not sorted");
        assert!(prefixes.len() < 1 << 31, "2^31 splitters or more");
        let levels = usize::BITS - prefixes.len().leading_zeros();
        let mut tree = vec![u64::MAX; 1 << levels];
        for (node, splitter) in tree.iter_mut().enumerate().skip(1) {
            // The index of this node in sorted order.
            let depth = node.ilog2();
            let step = 1usize << (levels - depth);
            let index = (node - (1 << depth)) * step + step / 2 - 1;
            // Filler nodes are never below a prefix, so they are never counted.
            *splitter = prefixes.get(index).copied().unwrap_or(u64::MAX);
        }
        let mut sorted = prefixes.to_vec();
        sorted.push(0);
        let mut equal = vec![0; prefixes.len() + 1];
        for index in (0..prefixes.len()).rev() {
            let more = prefixes.get(index + 1) == Some(&prefixes[index]);
            equal[index] = 1 + if more { equal[index + 1] } else { 0 };
        }
        Self {
            tree,
            levels,
            sorted,
            equal,
        }
    }

    /// The number of splitters.
    pub fn splitters(&self) -> usize {
        self.sorted.len() - 1
    }

    /// Sets each bin to the number of splitters with a prefix below the key's. Returns how many
    /// keys have the prefix of a splitter; if none has, all bins are final.
    ///
    /// # Panics
    /// If there is not one bin for each prefix.
    pub fn classify(&self, prefixes: &[u64], bins: &mut [u32]) -> usize {
        assert_eq!(prefixes.len(), bins.len(), "one bin for each prefix");
        let mut tied = 0;
        let (groups, rest) = prefixes.as_chunks::<TOGETHER>();
        let (bin_groups, bin_rest) = bins.as_chunks_mut::<TOGETHER>();
        for (group, bins) in groups.iter().zip(bin_groups) {
            tied += self.descend(group, bins);
        }
        for (prefix, bin) in rest.iter().zip(bin_rest) {
            tied += self.descend(std::array::from_ref(prefix), std::array::from_mut(bin));
        }
        tied
    }

    /// Takes `N` keys down the tree together. Returns how many of them tie.
    #[inline(always)]
    fn descend<const N: usize>(&self, prefixes: &[u64; N], bins: &mut [u32; N]) -> usize {
        let mut nodes = [1u32; N];
        // All nodes are below the tree's length: the mask changes none and saves bounds checks.
        let mask = self.tree.len() - 1;
        for _ in 0..self.levels {
            for (node, &prefix) in nodes.iter_mut().zip(prefixes) {
                let below = self.tree[*node as usize & mask] < prefix;
                *node = 2 * *node + u32::from(below);
            }
        }
        let mut tied = 0;
        for ((bin, node), &prefix) in bins.iter_mut().zip(nodes).zip(prefixes) {
            *bin = node - (1 << self.levels);
            tied += usize::from(self.ties(*bin, prefix) > 0);
        }
        tied
    }

    /// The number of splitters with this prefix, for the `bin` that [`Classifier::classify`] found
    /// for it. If there are any, the rest of the order decides among `bin ..= bin + ties`.
    #[inline]
    pub fn ties(&self, bin: u32, prefix: u64) -> u32 {
        let bin = bin as usize;
        if self.sorted[bin] == prefix {
            self.equal[bin]
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(splitters: &[u64], keys: &[u64]) {
        let classifier = Classifier::new(splitters);
        assert_eq!(classifier.splitters(), splitters.len());
        let mut bins = vec![u32::MAX; keys.len()];
        let tied = classifier.classify(keys, &mut bins);
        let mut expected_ties = 0;
        for (&key, &bin) in keys.iter().zip(&bins) {
            assert_eq!(bin as usize, splitters.partition_point(|&s| s < key));
            let equal = splitters.iter().filter(|&&s| s == key).count();
            assert_eq!(classifier.ties(bin, key) as usize, equal);
            expected_ties += usize::from(equal > 0);
        }
        assert_eq!(tied, expected_ties);
    }

    #[test]
    fn bins_are_lower_bounds_for_every_number_of_splitters() {
        let (counts, keys) = if cfg!(miri) { (23, 29) } else { (1, 1) };
        for count in (0..70u64).step_by(counts) {
            let splitters: Vec<u64> = (0..count).map(|i| (i / 3) * 10 + 5).collect();
            let keys: Vec<u64> = (0..300).step_by(keys).collect();
            check(&splitters, &keys);
        }
    }

    #[test]
    fn the_ends_of_the_range_are_ordinary_keys() {
        let keys = [0, 1, u64::MAX - 1, u64::MAX];
        check(&[], &keys);
        check(&[0], &keys);
        check(&[u64::MAX], &keys);
        check(&[0, 0, u64::MAX, u64::MAX], &keys);
    }
}
