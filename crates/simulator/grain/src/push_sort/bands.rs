//! From the groups to the bands: keys alone, while their records wait.
//!
//! ```text
//!   core of a group --its keys of a band--> a core of the band: merges them
//! ```

use std::ops::Range;

use node::{Group, Node, Work};

use super::item::{self, Item};
use super::search::{charge, probes, steps};
use super::sorter::{List, Lists, Record, Sorter, step};
use crate::work;

/// The keys here that belong to a band.
pub struct Cut {
    pub keys: Range<usize>,
    /// As many of them as were sorted with the records here: their places among all that were.
    sorted: Range<usize>,
}

impl Sorter {
    /// Groups the records here by their bands.
    ///
    /// Records that came last, while this core was busy, are not sorted with the others: each is
    /// searched among the splitters, and sorted in its band.
    pub fn cut(&mut self, node: &Node, splitters: &[Option<Item>]) -> Vec<Cut> {
        let known: Vec<Item> = splitters.iter().copied().flatten().collect();
        let band = |record: &Record| known.partition_point(|splitter| *splitter <= record.item);
        let mut of_bands = vec![(0, 0); splitters.len() + 1];
        for (at, record) in self.held.iter().enumerate() {
            let (keys, sorted) = &mut of_bands[band(record)];
            *keys += 1;
            *sorted += usize::from(at < self.sorted);
        }
        let new = self.held.len() - self.sorted;
        charge(node, new as u64 * probes(known.len()));
        // The band of each, and its key there.
        work::account(node, 2 * new);
        self.held.sort_unstable_by_key(|record| record.item);
        self.sorted = self.held.len();
        let mut begin = (0, 0);
        let cuts = of_bands.into_iter().map(|(keys, sorted)| {
            let end = (begin.0 + keys, begin.1 + sorted);
            let cut = Cut {
                keys: begin.0..end.0,
                sorted: begin.1..end.1,
            };
            begin = end;
            cut
        });
        cuts.collect()
    }

    /// Sends the keys to their bands; returns those that come to this core.
    pub async fn keys(&mut self, node: &Node, cuts: &[Cut]) -> Vec<List> {
        let shape = self.shape;
        let bands = shape.bands.parts;
        let own: Vec<_> = self.held.iter().map(|record| record.item.key).collect();
        let sorted = cuts.last().map_or(0, |cut| cut.sorted.end);
        if bands == 1 {
            if sorted < own.len() {
                work::sort(node, own.len());
            }
            return vec![List {
                from: node.rank(),
                items: item::keys(&own).collect(),
            }];
        }
        // Not all cores begin with the first band. Where that one begins is searched among the keys in
        // order, and from there on the end of each, while the messages before it leave.
        charge(node, probes(sorted));
        let turn = |band: u32| (band + shape.band + shape.place) % bands;
        for band in (0..bands).map(turn) {
            let cut = &cuts[band as usize];
            let keys = cut.keys.clone();
            if band + 1 < bands {
                charge(node, steps(cut.sorted.len(), sorted - cut.sorted.start));
            }
            if cut.sorted.len() < keys.len() {
                work::sort(node, keys.len());
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
    // The place of each, noted for its list.
    work::account(node, keys.len());
    (keys.into_iter().map(|(key, _)| key).collect(), places)
}
