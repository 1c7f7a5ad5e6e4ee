//! From the rows to the cores.
//!
//! ```text
//!   core of a group --keys of a row--> a core of the row: sorts them, and tells the row
//!   core c of a row: selects the key where core c begins --> collector of the row --> the group
//!   core of a group --record--> its core
//! ```
//!
//! A core of a row knows the ranks of its first and last key, so it knows how many records come.

use std::ops::Range;

use node::{Group, Node, Time, Work};

use super::gather::classify;
use super::item::{Item, unpack};
use super::select::select;
use super::sorter::{Lists, Record, Sorter, step};
use crate::program::Span;
use crate::records::{Part, sum_of, value_of};
use crate::work;

impl Sorter {
    /// Groups the records here by their rows; returns those of each row.
    fn cut(&mut self, node: &Node, splitters: &[Option<Item>]) -> Vec<Range<usize>> {
        let known: Vec<Item> = splitters.iter().copied().flatten().collect();
        let row = |record: &Record| known.partition_point(|splitter| *splitter <= record.item);
        if !splitters.is_empty() {
            classify(node, self.held.len());
            // Count the records of each row, and note their places.
            work::account(node, 2 * self.held.len());
        }
        self.held.sort_by_key(row);
        let mut begin = 0;
        let mut ranges = Vec::with_capacity(splitters.len() + 1);
        for this in 0..=splitters.len() {
            let end = begin + self.held[begin..].partition_point(|record| row(record) <= this);
            ranges.push(begin..end);
            begin = end;
        }
        ranges
    }

    /// Sends the keys to their rows; returns those of this core.
    async fn keys(&mut self, node: &Node, ranges: &[Range<usize>]) -> Vec<Item> {
        let shape = self.shape;
        let rows = shape.rows.parts;
        let mut items: Vec<_> = self.held.iter().map(|record| record.item).collect();
        if rows == 1 {
            items.sort_unstable();
            work::sort(node, items.len());
            return items;
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
        lists.sorted(node)
    }

    /// Sends the records to their cores, and receives those of this core.
    pub async fn push_to_cores(
        mut self,
        node: &Node,
        begin: Time,
        splitters: &[Option<Item>],
    ) -> Part {
        let shape = self.shape;
        node.stage("rows");
        let ranges = self.cut(node, splitters);
        let items = self.keys(node, &ranges).await;
        node.stage("cores");
        let row = shape.rows.part(shape.row, shape.rows.size(shape.row));
        self.multicast_list(node, row.all(), step::CORE_LIST, &items)
            .await;
        let mut lists = Lists::of(row.cores);
        let collects = shape.column + 1 == row.cores;
        let mut collected = vec![None; row.cores as usize - 1];
        let mut uncollected = if collects { row.cores - 1 } else { 0 };
        let mut blocks = shape.rows.parts;
        let records = std::mem::take(&mut self.held);
        let mut own = None;
        let mut received = 0;
        let (mut wrong, mut values) = (0, 0_u64);
        if collects && row.cores == 1 {
            self.multicast(node, shape.rows.all(), step::CORE_SPLITTERS, &[])
                .await;
        }
        while lists.missing > 0
            || uncollected > 0
            || blocks > 0
            || own
                .as_ref()
                .is_none_or(|own: &Vec<Item>| own.len() > received)
        {
            let wanted = |of| (step::CORE_LIST..=step::TO_CORE).contains(&of);
            let (of, message) = self.next_of(node, wanted).await;
            match of {
                step::CORE_LIST => {
                    lists.take(&message);
                    if lists.missing == 0 {
                        own = Some(self.select_own(node, &lists).await);
                    }
                }
                step::CORE_SPLITTER => {
                    let column = row.place(message.from).0;
                    collected[column as usize - 1] = unpack(&message.words).next();
                    uncollected -= 1;
                    if uncollected == 0 {
                        let items: Vec<Item> = collected.iter().copied().flatten().collect();
                        let mut words = Vec::new();
                        super::item::pack(&items, &mut words);
                        self.multicast(node, shape.rows.all(), step::CORE_SPLITTERS, &words)
                            .await;
                    }
                }
                step::CORE_SPLITTERS => {
                    let row = shape.rows.place(message.from).0;
                    let splitters: Vec<Item> = unpack(&message.words).collect();
                    let records = &records[ranges[row as usize].clone()];
                    classify(node, records.len());
                    // Not all cores begin with the first core.
                    let begin = (shape.index as usize / 16) % records.len().max(1);
                    for record in records[begin..].iter().chain(&records[..begin]) {
                        let column = splitters.partition_point(|splitter| *splitter <= record.item);
                        let to = shape.rows.core(row, column as u32);
                        self.push(node, to, step::TO_CORE, record).await;
                    }
                    blocks -= 1;
                }
                _ => {
                    let record = Record::of(&message);
                    work::hash(node, 1);
                    self.store(node);
                    let value = value_of(record.item.key, self.origin(record.item));
                    wrong += u32::from(record.value != value);
                    values = values.wrapping_add(sum_of(&record.value));
                    received += 1;
                }
            }
        }
        Part {
            keys: own
                .unwrap_or_default()
                .into_iter()
                .map(|item| item.key)
                .collect(),
            wrong,
            values,
            by_keys: self.sent,
            span: Span::since(begin, node),
        }
    }

    /// Selects the splitter before this core, and returns the core's own items.
    async fn select_own(&mut self, node: &Node, lists: &Lists) -> Vec<Item> {
        let shape = self.shape;
        let cores = shape.rows.size(shape.row);
        let all = lists.items() as u64;
        let target = |column: u32| (all * u64::from(column) / u64::from(cores)) as usize;
        if shape.column > 0 {
            let item = select(node, &lists.whole, target(shape.column));
            let words: Vec<_> = item
                .iter()
                .flat_map(|item| [item.key, item.number.into()])
                .collect();
            let to = shape.rows.core(shape.row, cores - 1);
            self.send(node, to, step::CORE_SPLITTER, &words).await;
        }
        // From the places where the search ended the lists are merged as far as they are own.
        let mut items = lists.whole.concat();
        items.sort_unstable();
        let own = items[target(shape.column)..target(shape.column + 1)].to_vec();
        node.work(Work::Merge {
            records: own.len() as u64,
            sources: lists.whole.len() as u64,
        });
        own
    }
}
