//! Ranks in sorted lists, by binary search. Lists are never merged to find a splitter: that would
//! cost a comparison per key and level.

use node::{Node, Work};

/// Charges probes of binary searches.
pub fn charge(node: &Node, probes: u64) {
    node.work(Work::Search { probes });
}

/// The number of probes of a binary search among `items` items.
pub fn probes(items: usize) -> u64 {
    (usize::BITS - items.leading_zeros()).into()
}

/// The probes of a search in steps that double, which ends `ahead` of where it begins.
pub fn steps(ahead: usize, rest: usize) -> u64 {
    (2 * probes(ahead) + 1).min(probes(rest))
}

/// Adds to each item's `below` how many items of a sorted list are below it, for the items of a
/// sorted run; returns the probes.
///
/// The first one is found by binary search. The others are near, so a search goes on from the place
/// of the one before, in steps that double.
pub fn rank_in<T: PartialOrd>(list: &[T], run: &[T], below: &mut [u64]) -> u64 {
    let (mut at, mut spent) = (0, 0);
    for (number, (item, below)) in run.iter().zip(below).enumerate() {
        let rest = &list[at..];
        let ahead = rest.partition_point(|other| *other < *item);
        spent += match number {
            0 => probes(rest.len()),
            _ => steps(ahead, rest.len()),
        };
        at += ahead;
        *below += at as u64;
    }
    spent
}
