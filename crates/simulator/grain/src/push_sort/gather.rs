//! Records arrive in their group while the splitters between its bands are found.

use node::{Message, Node};

use super::band_splitters::BandSplitting;
use super::counting::{Counting, Tally};
use super::item::{Item, unpack};
use super::sorter::{Record, Sorter, step};
use crate::records::store_value;
use crate::work;

impl Sorter {
    /// Sends samples, the records to their groups, and then their counts: they are not needed before
    /// the records are there, and would fill queues.
    pub async fn push_to_groups(&mut self, node: &Node, splitters: &[Item]) {
        let records = std::mem::take(&mut self.held);
        self.sorted = 0;
        let group = |item: Item| splitters.partition_point(|splitter| *splitter <= item) as u32;
        // Samples go first, as so much depends on them.
        let (samples, begin) = (
            self.row_samples.min(self.each),
            node.random() as u32 % self.each,
        );
        for sample in 0..samples {
            let apart = u64::from(sample) * u64::from(self.each) / u64::from(samples);
            let place = (u64::from(begin) + apart) % u64::from(self.each);
            let item = records[place as usize].item;
            let rows = self.shape.rows_of(group(item));
            let row = (self.shape.index + sample) % rows.parts;
            let words = [item.key, item.scattered().number.into()];
            self.send(node, rows.core(row, 0), step::ROW_SAMPLE, &words)
                .await;
        }
        let mut counts: Vec<Tally> = Vec::new();
        for record in &records {
            let id = group(record.item);
            match counts.last_mut() {
                Some(last) if last.id == id => last.count += 1,
                _ => counts.push(Tally { id, count: 1 }),
            }
        }
        // Not all cores begin with the first group.
        let begin = node.random() as usize % records.len();
        for record in records[begin..].iter().chain(&records[..begin]) {
            let to = self.receiver(group(record.item));
            // Its new number.
            work::account(node, 1);
            let item = record.item.scattered();
            let record = Record { item, ..*record };
            self.push(node, to, step::TO_GROUP, &record).await;
        }
        self.send_counts(node, &counts).await;
    }

    /// Receives this core's records, and returns the splitters between bands.
    pub async fn gather(&mut self, node: &Node, from_groups: bool) -> Vec<Option<Item>> {
        let mut gathering = Gathering {
            rows: self.band_splitting(from_groups),
            counting: from_groups.then(|| self.counting()),
        };
        match &gathering.counting {
            Some(counting) => self.share_counts_of_none(node, counting).await,
            None => {
                self.sample_row(node).await;
                self.sort_held(node);
            }
        }
        loop {
            let owes = gathering.owes();
            if gathering.has_all(self.held.len()) {
                if !gathering.rows.has_told {
                    gathering.rows.has_told = true;
                    let leader = self.shape.rows.core(self.shape.row, 0);
                    self.send(node, leader, step::COMPLETE, &[]).await;
                }
                if gathering.rows.missing == 0 && !owes {
                    return gathering.rows.splitters;
                }
            }
            let (of, message) = self.next_to_gather(node, owes).await;
            self.take(node, &mut gathering, of, &message).await;
        }
    }

    /// The next message. A core that owes nothing to others sorts what is here before it waits.
    async fn next_to_gather(&mut self, node: &Node, owes: bool) -> (u32, Message) {
        let wanted =
            |of| (step::COUNTS_OF_CORE..=step::BAND_SPLITTER).contains(&of) || of == step::COMPLETE;
        if self.sorted < self.held.len()
            && !owes
            && let Some(message) = self.steps.ready_of(node, wanted).await
        {
            return message;
        }
        if !owes {
            self.sort_held(node);
        }
        self.steps.next_of(node, wanted).await
    }

    async fn take(&mut self, node: &Node, gathering: &mut Gathering, of: u32, message: &Message) {
        let Gathering { rows, counting } = gathering;
        match (of, counting) {
            (step::COUNTS_OF_CORE, Some(counting)) => {
                self.counts_of_core(node, counting, message).await;
            }
            (step::COUNTS_OF_ROW, Some(counting)) => {
                self.counts_of_row(node, counting, message).await;
            }
            (step::COUNT, Some(counting)) => self.count(node, counting, message),
            (step::TO_GROUP, _) => {
                store_value(node);
                self.held.push(Record::of(message));
            }
            (step::ROW_SAMPLE, _) if rows.samples_missing > 0 => {
                rows.samples.extend(unpack(&message.words));
                rows.samples_missing -= 1;
                if rows.samples_missing == 0 {
                    self.send_row_list(node, rows).await;
                }
            }
            (step::COMPLETE, _) => {
                rows.incomplete -= 1;
                if rows.incomplete == 0 && rows.samples_missing > 0 {
                    rows.samples_missing = 0;
                    self.send_row_list(node, rows).await;
                }
            }
            (step::ROW_SAMPLE, _) => {}
            (step::ROW_RUN, _) => {
                rows.ranking.take_run(node, self.shape.rows, message);
                self.announce(node, rows).await;
            }
            (step::ROW_LIST, _) => {
                rows.ranking.take_list(node, self.shape.rows, message);
                self.announce(node, rows).await;
            }
            _ => rows.take_splitter(message),
        }
    }
}

/// The messages that a core waits for while its records arrive.
struct Gathering {
    rows: BandSplitting,
    /// Counts of the records to come, if those are from other groups.
    counting: Option<Counting>,
}

impl Gathering {
    /// Whether others wait for this core.
    fn owes(&self) -> bool {
        !self.rows.is_at_rest() || self.counting.as_ref().is_some_and(Counting::is_owed)
    }

    /// Whether all records are there, if `held` are.
    fn has_all(&self, held: usize) -> bool {
        let is_all = |counting: &Counting| counting.is_known() && counting.expected == held as u64;
        self.counting.as_ref().is_none_or(is_all)
    }
}

impl BandSplitting {
    fn take_splitter(&mut self, message: &Message) {
        let (band, number) = (message.words[0] as u32, (message.words[0] >> 32) as u32);
        let key = message.words.get(1);
        self.splitters[band as usize] = key.map(|key| Item { key: *key, number });
        self.missing -= 1;
    }
}
