//! Ranks and selection in sorted lists, by binary search. Lists are never merged to find a
//! splitter: that would cost a comparison per key and level.

use node::{Node, Work};

use super::item::Item;

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

/// How many items of sorted lists are below `item`.
pub fn rank(node: &Node, lists: &[Vec<Item>], item: Item) -> usize {
    charge(node, lists.iter().map(|list| probes(list.len())).sum());
    let below = |list: &Vec<Item>| list.partition_point(|other| *other < item);
    lists.iter().map(below).sum()
}

/// The item of sorted lists with `rank` others below it; `None` if there are not as many.
///
/// Each list has a window that contains the item, if the list does. A pivot from the widest window
/// divides all windows, one half of which the item cannot be in.
pub fn select(node: &Node, lists: &[Vec<Item>], rank: usize) -> Option<Item> {
    let mut windows: Vec<&[Item]> = lists.iter().map(|list| &list[..]).collect();
    let (mut rank, mut spent) = (rank, 0);
    let found = loop {
        let widest = windows.iter().max_by_key(|window| window.len())?;
        let all: usize = windows.iter().map(|window| window.len()).sum();
        if rank >= all {
            break None;
        }
        // Where the item would be in this window if all were alike.
        let pivot = widest[rank * widest.len() / all];
        let cuts: Vec<_> = windows
            .iter()
            .map(|window| window.partition_point(|item| *item < pivot))
            .collect();
        spent += windows
            .iter()
            .map(|window| probes(window.len()))
            .sum::<u64>();
        node.work(Work::Account {
            units: windows.len() as u64,
        });
        let below: usize = cuts.iter().sum();
        if below == rank {
            break Some(pivot);
        }
        for (window, cut) in windows.iter_mut().zip(cuts) {
            *window = if rank < below {
                &window[..cut]
            } else {
                &window[cut..]
            };
        }
        if rank >= below {
            // The pivot itself is below the item.
            for window in windows
                .iter_mut()
                .filter(|window| window.first() == Some(&pivot))
            {
                *window = &window[1..];
            }
            rank -= below + 1;
        }
        windows.retain(|window| !window.is_empty());
    };
    charge(node, spent);
    found
}
