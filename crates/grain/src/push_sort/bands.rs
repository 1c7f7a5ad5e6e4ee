//! From the groups to the bands: keys alone, while their records wait.
//!
//! ```text
//!   core of a group --its keys of a band--> a core of the band: merges them
//! ```

use std::ops::Range;

use node::{Group, Node, Work};

use super::item::{Item, keys};
use super::search::{charge, probes, steps};
use super::sorter::{List, Lists, Record, Sorter, step};

impl Sorter {
    /// Sorts the records here; returns those of each band.
    pub fn cut(&mut self, node: &Node, splitters: &[Option<Item>]) -> Vec<Range<usize>> {
        let known: Vec<Item> = splitters.iter().copied().flatten().collect();
        let band = |record: &Record| known.partition_point(|splitter| *splitter <= record.item);
        self.sort_held(node);
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
        let own: Vec<_> = self.held.iter().map(|record| record.item.key).collect();
        if bands == 1 {
            return vec![List {
                from: node.rank(),
                items: keys(&own).collect(),
            }];
        }
        // Not all cores begin with the first band. Where that one begins is searched, and from there on
        // the end of each, while the messages before it leave.
        charge(node, probes(own.len()));
        let turn = |band: u32| (band + shape.band + shape.place) % bands;
        for band in (0..bands).map(turn) {
            let keys = ranges[band as usize].clone();
            if band + 1 < bands {
                charge(node, steps(keys.len(), own.len() - keys.start));
            }
            let to = Group::row(shape.in_band(band), 1);
            self.multicast_keys(node, to, step::KEYS, &own[keys]).await;
        }
        let cores = shape.bands.size(shape.band);
        let senders = |band| (shape.bands.size(band) + cores - 1 - shape.place) / cores;
        let mut lists = Lists::of_keys((0..bands).map(senders).sum());
        while lists.missing > 0 {
            lists.take(&self.next_of(node, |of| of == step::KEYS).await.1);
        }
        lists.whole
    }
}

/// The keys of lists in order, and the place there of each list's keys.
pub fn merged(node: &Node, lists: &[List]) -> (Vec<u64>, Vec<Vec<usize>>) {
    let of_list = |(source, list): (usize, &List)| {
        let items = list.items.iter();
        items.map(|item| (item.key, source)).collect::<Vec<_>>()
    };
    let mut keys: Vec<_> = lists.iter().enumerate().flat_map(of_list).collect();
    keys.sort_unstable();
    let sources = lists.iter().filter(|list| !list.items.is_empty()).count();
    node.work(Work::Merge {
        records: keys.len() as u64,
        sources: sources as u64,
    });
    let mut places = vec![Vec::new(); lists.len()];
    for (place, (_, source)) in keys.iter().enumerate() {
        places[*source].push(place);
    }
    (keys.into_iter().map(|(key, _)| key).collect(), places)
}
