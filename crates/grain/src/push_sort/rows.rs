//! From the groups to the rows: keys alone, while their records wait.
//!
//! ```text
//!   core of a group --its keys of a row--> a core of the row: merges them
//! ```

use std::ops::Range;

use node::{Group, Node, Work};

use super::gather::classify;
use super::item::Item;
use super::search::{charge, probes};
use super::sorter::{List, Lists, Record, Sorter, step};
use crate::work;

impl Sorter {
    /// Groups the records here by their rows; returns those of each row.
    pub fn cut(&mut self, node: &Node, splitters: &[Option<Item>]) -> Vec<Range<usize>> {
        let known: Vec<Item> = splitters.iter().copied().flatten().collect();
        let row = |record: &Record| known.partition_point(|splitter| *splitter <= record.item);
        if self.is_sorted {
            charge(node, known.len() as u64 * probes(self.held.len()));
        } else if !splitters.is_empty() {
            classify(node, self.held.len());
            // Count the records of each row, and note their places.
            work::account(node, 2 * self.held.len());
        }
        self.held.sort_unstable_by_key(|record| record.item);
        let mut begin = 0;
        let mut ranges = Vec::with_capacity(splitters.len() + 1);
        for this in 0..=splitters.len() {
            let end = begin + self.held[begin..].partition_point(|record| row(record) <= this);
            ranges.push(begin..end);
            if !self.is_sorted {
                work::sort(node, end - begin);
            }
            begin = end;
        }
        ranges
    }

    /// Sends the keys to their rows; returns those that come to this core.
    pub async fn keys(&mut self, node: &Node, ranges: &[Range<usize>]) -> Vec<List> {
        let shape = self.shape;
        let rows = shape.rows.parts;
        let items: Vec<_> = self.held.iter().map(|record| record.item).collect();
        if rows == 1 {
            let from = node.rank();
            return vec![List { from, items }];
        }
        // Not all cores begin with the first row.
        let turn = |row: u32| (row + shape.row + shape.column) % rows;
        for row in (0..rows).map(turn) {
            let to = Group::row(shape.in_row(row), 1);
            let items = &items[ranges[row as usize].clone()];
            self.multicast_list(node, to, step::KEYS, items).await;
        }
        let cores = shape.rows.size(shape.row);
        let senders = |row| (shape.rows.size(row) + cores - 1 - shape.column) / cores;
        let mut lists = Lists::of((0..rows).map(senders).sum());
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
