//! Ranks in sorted lists, by binary search. Lists are never merged to find a splitter: that would
//! cost a comparison per key and level.

use node::{Node, Work};

use super::item::Item;
use super::sorter::List;

/// Probes of a binary search that cost as much as finding one of 16 buckets in a tree.
const PROBES: u64 = 4;

/// Charges probes of binary searches.
pub fn charge(node: &Node, probes: u64) {
    let records = probes.div_ceil(PROBES);
    node.work(Work::Classify { records });
}

/// The number of probes of a binary search among `items` items.
pub fn probes(items: usize) -> u64 {
    (usize::BITS - items.leading_zeros()).into()
}

/// The items of a sorted run, each with the number of items of sorted lists that are below it.
///
/// The first one is found by binary search in each list. The others are near, so a search goes on
/// from the place of the one before, in steps that double.
pub fn ranks(node: &Node, lists: &[List], run: &[Item]) -> Vec<(Item, usize)> {
    let mut ranked: Vec<_> = run.iter().map(|item| (*item, 0)).collect();
    let mut spent = 0;
    for list in lists {
        let mut at = 0;
        for (number, (item, below)) in ranked.iter_mut().enumerate() {
            let rest = &list.items[at..];
            let ahead = rest.partition_point(|other| *other < *item);
            spent += match number {
                0 => probes(rest.len()),
                _ => (2 * probes(ahead) + 1).min(probes(rest.len())),
            };
            at += ahead;
            *below += at;
        }
    }
    charge(node, spent);
    ranked
}
