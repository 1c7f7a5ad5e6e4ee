//! From the rows to the cores.

use node::{Message, Node};

use super::gather::work_classify;
use super::item::{Item, unpack};
use super::select::{charge, probes, select};
use super::sorter::{Lists, Record, Sorter, step};
use crate::program::Span;
use crate::records::{Part, sum_of, value_of};
use crate::work;
use node::{Group, Time};

impl Sorter {
    /// Sends the keys, then the records to their rows; returns the keys of this core.
    pub async fn push_to_rows(&mut self, node: &Node, splitters: &[Option<Item>]) -> Vec<Item> {
        let shape = self.shape;
        if shape.rows.parts == 1 {
            return self.held.iter().map(|record| record.item).collect();
        }
        let records = std::mem::take(&mut self.held);
        work_classify(node, records.len());
        let below = |splitter: &Option<Item>, item| splitter.is_none_or(|splitter| item < splitter);
        let mut begin = 0;
        let mut ends = Vec::new();
        for row in 0..shape.rows.parts {
            let end = match splitters.get(row as usize) {
                Some(splitter) => records.partition_point(|record| below(splitter, record.item)),
                None => records.len(),
            };
            ends.push(begin..end.max(begin));
            begin = end.max(begin);
        }
        let rows = shape.rows.parts;
        // Not all cores begin with the first row.
        let turn = |row: u32| (row + shape.row + shape.column) % rows;
        for row in (0..rows).map(turn) {
            let items: Vec<_> = records[ends[row as usize].clone()].iter().map(|record| record.item).collect();
            let to = Group::row(shape.in_row(row), 1);
            self.multicast_list(node, to, step::KEYS, &items).await;
        }
        for row in (0..rows).map(turn) {
            for record in &records[ends[row as usize].clone()] {
                self.push(node, shape.in_row(row), step::TO_ROW, record).await;
            }
        }
        let len = shape.rows.size(shape.row);
        let senders = (0..rows).map(|row| (shape.rows.size(row) + len - 1 - shape.column) / len).sum();
        let mut lists = Lists::of(senders);
        while lists.missing > 0 {
            let (of, message) = self.steps.next_of(node, |of| of == step::KEYS || of == step::TO_ROW).await;
            if of == step::KEYS {
                lists.take(&message);
            } else {
                self.hold(node, &message);
            }
        }
        let mut items = lists.whole.concat();
        items.sort_unstable();
        node.work(node::Work::Merge { records: items.len() as u64, sources: lists.whole.len() as u64 });
        items
    }

    fn hold(&mut self, node: &Node, message: &Message) {
        self.store(node);
        self.held.push(Record::of(message));
    }

    /// Sends the records to their cores, and receives those of this core.
    pub async fn push_to_cores(mut self, node: &Node, begin: Time, items: &[Item]) -> Part {
        let shape = self.shape;
        let row = shape.rows.part(shape.row, shape.rows.size(shape.row));
        self.multicast_list(node, row.all(), step::CORE_LIST, items).await;
        let mut lists = Lists::of(row.cores);
        let mut splitters = vec![None; row.cores as usize - 1];
        let mut missing = row.cores - 1;
        while lists.missing + missing > 0 {
            let kinds = [step::CORE_LIST, step::CORE_SPLITTER, step::TO_ROW];
            let (of, message) = self.steps.next_of(node, |of| kinds.contains(&of)).await;
            match of {
                step::CORE_LIST => {
                    lists.take(&message);
                    if lists.missing == 0 && shape.column > 0 {
                        let target = lists.items() as u64 * u64::from(shape.column) / u64::from(row.cores);
                        let item = select(node, &lists.whole, target as usize);
                        let words: Vec<_> = item.iter().flat_map(|item| [item.key, item.number.into()]).collect();
                        self.multicast(node, row.all(), step::CORE_SPLITTER, &words).await;
                    }
                }
                step::CORE_SPLITTER => {
                    let column = row.place(message.from).0;
                    splitters[column as usize - 1] = unpack(&message.words).next();
                    missing -= 1;
                }
                _ => self.hold(node, &message),
            }
        }
        let mut coming = items.len() - self.held.len();
        let records = std::mem::take(&mut self.held);
        let core = |item: Item| {
            let column = splitters.partition_point(|splitter| splitter.is_some_and(|splitter| splitter <= item));
            row.core(column as u32, 0)
        };
        for record in &records {
            work_classify(node, 1);
            self.push(node, core(record.item), step::TO_CORE, record).await;
        }
        // What this core will have.
        let bound = |splitter: Option<&Option<Item>>| splitter.copied().flatten();
        let low = shape.column.checked_sub(1).and_then(|before| bound(splitters.get(before as usize)));
        let high = bound(splitters.get(shape.column as usize));
        let is_own = |item: &Item| low.is_none_or(|low| low <= *item) && high.is_none_or(|high| *item < high);
        charge(node, 2 * lists.whole.iter().map(|list| probes(list.len())).sum::<u64>());
        let mut own: Vec<Item> = lists.whole.iter().flatten().copied().filter(is_own).collect();
        own.sort_unstable();
        let mut is_merged = false;
        let mut left = own.len();
        let (mut wrong, mut values) = (0, 0_u64);
        while left > 0 || coming > 0 {
            if coming == 0 && !is_merged {
                is_merged = true;
                node.work(node::Work::Merge { records: own.len() as u64, sources: lists.whole.len() as u64 });
            }
            let (of, message) = self.steps.next_of(node, |of| of == step::TO_ROW || of == step::TO_CORE).await;
            let record = Record::of(&message);
            if of == step::TO_ROW {
                work_classify(node, 1);
                self.send(node, core(record.item), step::TO_CORE, &record.words()).await;
                coming -= 1;
                continue;
            }
            work::hash(node, 1);
            self.store(node);
            wrong += u32::from(record.value != value_of(record.item.key, self.origin(record.item)));
            values = values.wrapping_add(sum_of(&record.value));
            left -= 1;
        }
        Part {
            keys: own.into_iter().map(|item| item.key).collect(),
            wrong,
            values,
            by_keys: self.sent,
            span: Span::since(begin, node),
        }
    }
}
