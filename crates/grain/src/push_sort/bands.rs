//! From the groups to the bands: keys alone, while their records wait.
//!
//! ```text
//!   core of a group --its keys of a band--> a core of the band: merges them
//! ```

use std::ops::Range;

use node::{Group, Node, Work};

use super::item::Item;
use super::search::{charge, rank_in};
use super::sorter::{List, Lists, Record, Sorter, step};

impl Sorter {
    /// Groups the records here by their bands; returns those of each band.
    pub fn cut(&mut self, node: &Node, splitters: &[Option<Item>]) -> Vec<Range<usize>> {
        let known: Vec<Item> = splitters.iter().copied().flatten().collect();
        let band = |record: &Record| known.partition_point(|splitter| *splitter <= record.item);
        self.sort_held(node);
        let items: Vec<Item> = self.held.iter().map(|record| record.item).collect();
        charge(node, rank_in(&items, &known, &mut vec![0; known.len()]));
        let mut begin = 0;
        let mut ranges = Vec::with_capacity(splitters.len() + 1);
        for this in 0..=splitters.len() {
            let end = begin + self.held[begin..].partition_point(|record| band(record) <= this);
            ranges.push(begin..end);
            begin = end;
        }
        ranges
    }

    /// Sends the keys to their bands; returns those that come to this core.
    pub async fn keys(&mut self, node: &Node, ranges: &[Range<usize>]) -> Vec<List> {
        let shape = self.shape;
        let bands = shape.bands.parts;
        let items: Vec<_> = self.held.iter().map(|record| record.item).collect();
        if bands == 1 {
            let from = node.rank();
            return vec![List { from, items }];
        }
        // Not all cores begin with the first band.
        let turn = |band: u32| (band + shape.band + shape.place) % bands;
        for band in (0..bands).map(turn) {
            let to = Group::row(shape.in_band(band), 1);
            let items = &items[ranges[band as usize].clone()];
            self.multicast_list(node, to, step::KEYS, items).await;
        }
        let cores = shape.bands.size(shape.band);
        let senders = |band| (shape.bands.size(band) + cores - 1 - shape.place) / cores;
        let mut lists = Lists::of((0..bands).map(senders).sum());
        while lists.missing > 0 {
            lists.take(&self.next_of(node, |of| of == step::KEYS).await.1);
        }
        lists.whole
    }
}

/// The items of lists in order, and the list of each.
pub fn merged(node: &Node, lists: &[List]) -> (Vec<Item>, Vec<usize>) {
    let of_list = |(source, list): (usize, &List)| {
        let items = list.items.iter();
        items.map(|item| (*item, source)).collect::<Vec<_>>()
    };
    let mut items: Vec<_> = lists.iter().enumerate().flat_map(of_list).collect();
    items.sort_unstable();
    let sources = lists.iter().filter(|list| !list.items.is_empty()).count();
    node.work(Work::Merge {
        records: items.len() as u64,
        sources: sources as u64,
    });
    items.into_iter().unzip()
}
