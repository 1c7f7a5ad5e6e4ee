//! Records arrive in their group while its row splitters are found.
//!
//! ```text
//!   samples --> leader of a row: the first ones, sorted --list--> rankers: every other core
//!   ranker: ranks two samples in all lists; one where a row begins --------> the group
//! ```
//!
//! How many samples come to a leader is not known. It takes as many as nearly always come, or what
//! it has when all cores of its row have all their records.

use node::{Group, Message, Node, Rank};

use super::counting::Counting;
use super::item::{Item, unpack};
use super::search::ranks;
use super::sorter::{Lists, Record, Sorter, step};
use crate::work;

/// Distance of the cores that rank samples: half of the cores take half of the time to hear of all
/// lists, since cores share a NIC, and twice the time to rank.
const RANKER_STRIDE: u32 = 2;

/// The share of one core in finding the row splitters of its group.
pub struct RowSplitting {
    has_told: bool,
    /// Samples to come, if this core leads its row.
    samples_missing: u32,
    /// Cores of the row that are not complete.
    incomplete: u32,
    samples: Vec<Item>,
    /// The lists of all rows, if this core ranks samples.
    lists: Lists,
    missing: u32,
    splitters: Vec<Option<Item>>,
}

impl RowSplitting {
    fn is_at_rest(&self) -> bool {
        self.samples_missing == 0 && self.lists.missing == 0
    }
}

impl Sorter {
    /// Sends the records to their groups.
    pub async fn push_to_groups(&mut self, node: &Node, splitters: &[Item]) {
        let records = std::mem::take(&mut self.held);
        self.is_sorted = false;
        let group = |item: Item| splitters.partition_point(|splitter| *splitter <= item) as u32;
        let levels = (splitters.len() as u64).ilog2() as usize / 4 + 1;
        // Samples go first, as so much depends on them.
        let (samples, begin) = (
            self.row_samples.min(self.each),
            node.random() as u32 % self.each,
        );
        for sample in 0..samples {
            let apart = u64::from(sample) * u64::from(self.each) / u64::from(samples);
            let place = (u64::from(begin) + apart) % u64::from(self.each);
            let item = records[place as usize].item;
            classify(node, levels);
            let rows = self.shape.rows_of(group(item));
            let row = (self.shape.index + sample) % rows.parts;
            let words = [item.key, item.number.into()];
            self.send(node, rows.core(row, 0), step::ROW_SAMPLE, &words)
                .await;
        }
        classify(node, records.len() * levels);
        let mut counts: Vec<(u32, u64)> = Vec::new();
        for record in &records {
            let group = group(record.item);
            match counts.last_mut() {
                Some((last, count)) if *last == group => *count += 1,
                _ => counts.push((group, 1)),
            }
        }
        self.send_counts(node, &counts).await;
        // Not all cores begin with the first group.
        let begin = node.random() as usize % records.len();
        for record in records[begin..].iter().chain(&records[..begin]) {
            let to = self.receiver(group(record.item));
            self.push(node, to, step::TO_GROUP, record).await;
        }
    }

    /// Receives this core's records, and returns the row splitters.
    pub async fn gather(&mut self, node: &Node, from_groups: bool) -> Vec<Option<Item>> {
        let mut rows = self.row_splitting(from_groups);
        let mut counting = from_groups.then(|| self.counting());
        match &counting {
            Some(counting) => self.share_counts_of_none(node, counting).await,
            None => {
                self.sample_row(node).await;
                self.sort_held(node);
            }
        }
        loop {
            let is_complete = counting.as_ref().is_none_or(|counting| {
                counting.is_known() && counting.expected == self.held.len() as u64
            });
            if is_complete {
                if !rows.has_told {
                    rows.has_told = true;
                    let leader = self.shape.rows.core(self.shape.row, 0);
                    self.send(node, leader, step::COMPLETE, &[]).await;
                }
                let is_owed = counting.as_ref().is_some_and(Counting::is_owed);
                if rows.missing == 0 && rows.is_at_rest() && !is_owed {
                    return rows.splitters;
                }
            }
            let wanted = |of| {
                (step::COUNTS_OF_CORE..=step::ROW_SPLITTER).contains(&of) || of == step::COMPLETE
            };
            let (of, message) = self.steps.next_of(node, wanted).await;
            match (of, &mut counting) {
                (step::COUNTS_OF_CORE, Some(counting)) => {
                    self.counts_of_core(node, counting, &message).await;
                }
                (step::COUNTS_OF_ROW, Some(counting)) => {
                    self.counts_of_row(node, counting, &message).await;
                }
                (step::COUNT, Some(counting)) => self.count(node, counting, &message),
                (step::TO_GROUP, _) => {
                    self.store(node);
                    self.held.push(Record::of(&message));
                }
                (step::ROW_SAMPLE, _) if rows.samples_missing > 0 => {
                    rows.samples.extend(unpack(&message.words));
                    rows.samples_missing -= 1;
                    if rows.samples_missing == 0 {
                        self.send_row_list(node, &mut rows).await;
                    }
                }
                (step::COMPLETE, _) => {
                    rows.incomplete -= 1;
                    if rows.incomplete == 0 && rows.samples_missing > 0 {
                        rows.samples_missing = 0;
                        self.send_row_list(node, &mut rows).await;
                    }
                }
                (step::ROW_SAMPLE, _) => {}
                (step::ROW_LIST, _) => self.row_list(node, &mut rows, &message).await,
                _ => {
                    rows.splitters[message.words[0] as usize] = unpack(&message.words[1..]).next();
                    rows.missing -= 1;
                }
            }
        }
    }

    fn row_splitting(&self, from_groups: bool) -> RowSplitting {
        let rows = self.shape.rows;
        let leads = rows.parts > 1 && self.shape.column == 0;
        let cores = rows.size(self.shape.row);
        // A third of those that are to be expected: some groups have fewer records, and rows are
        // even enough.
        let samples = if from_groups {
            (cores * self.row_samples.min(self.each) / 3).max(1)
        } else {
            cores
        };
        let is_ranker = rows.parts > 1 && self.shape.index.is_multiple_of(RANKER_STRIDE);
        RowSplitting {
            has_told: !from_groups || rows.parts == 1,
            samples_missing: if leads { samples } else { 0 },
            incomplete: if leads && from_groups { cores } else { 0 },
            samples: Vec::new(),
            lists: Lists::of(if is_ranker { rows.parts } else { 0 }),
            missing: rows.parts - 1,
            splitters: vec![None; rows.parts as usize - 1],
        }
    }

    /// The cores that rank the samples of rows.
    fn rankers(&self) -> Group {
        let group = self.shape.rows;
        Group {
            first: Rank(group.first),
            count: group.cores.div_ceil(RANKER_STRIDE),
            stride: RANKER_STRIDE,
        }
    }

    async fn sample_row(&mut self, node: &Node) {
        if self.shape.rows.parts == 1 {
            return;
        }
        let item = self.held[node.random() as usize % self.held.len()].item;
        let words = [item.key, item.number.into()];
        let leader = self.shape.rows.core(self.shape.row, 0);
        self.send(node, leader, step::ROW_SAMPLE, &words).await;
    }

    async fn send_row_list(&mut self, node: &Node, rows: &mut RowSplitting) {
        rows.samples.sort_unstable();
        work::sort(node, rows.samples.len());
        let rankers = self.rankers();
        self.multicast_list(node, rankers, step::ROW_LIST, &rows.samples)
            .await;
    }

    /// Ranks this core's samples when all lists are here: one that begins a row goes to the group.
    async fn row_list(&mut self, node: &Node, rows: &mut RowSplitting, message: &Message) {
        rows.lists.take(message);
        if rows.lists.missing > 0 {
            return;
        }
        let all = self.shape.rows;
        let samples = rows.lists.items() as u64;
        if samples == 0 {
            // A group without samples has no splitters, and few records or none; it still has to say
            // so.
            if self.shape.index == 0 {
                for row in 1..all.parts {
                    let words = [u64::from(row) - 1];
                    self.multicast(node, all.all(), step::ROW_SPLITTER, &words)
                        .await;
                }
            }
            return;
        }
        let rankers = self.rankers().count as usize;
        let ranker = (self.shape.index / RANKER_STRIDE) as usize;
        let target = |row: u32| samples * u64::from(all.before(row)) / u64::from(all.cores);
        let lists = &rows.lists.whole;
        let own = lists.iter().flat_map(|list| {
            let row = all.place(list.from).0 as usize;
            let runs = list.items.chunks(RANKER_STRIDE as usize).enumerate();
            let is_own = move |run| (run * all.parts as usize + row) % rankers == ranker;
            runs.filter(move |(run, _)| is_own(*run))
                .map(|(_, run)| run)
        });
        let own: Vec<&[Item]> = own.collect();
        for (item, below) in own.into_iter().flat_map(|run| ranks(node, lists, run)) {
            let below = below as u64;
            for row in (1..all.parts).filter(|row| target(*row) == below) {
                let words = [u64::from(row) - 1, item.key, item.number.into()];
                self.multicast(node, all.all(), step::ROW_SPLITTER, &words)
                    .await;
            }
        }
    }
}

pub fn classify(node: &Node, records: usize) {
    let records = records as u64;
    node.work(node::Work::Classify { records });
}
