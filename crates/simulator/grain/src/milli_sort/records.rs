//! The record shuffle, and the values behind the keys.

use node::{Matching, Node, Rank};

use super::pivots::cut;
use super::transport::Inbox;
use super::{RECORDS, Sorter};
use crate::program::Span;
use crate::records::{Part, VALUE_WORDS, sum_of, value_of};
use crate::work;

/// Words of a record: a key and its value.
pub const RECORD_WORDS: usize = 1 + VALUE_WORDS;

impl Sorter {
    /// Sends each core the records of its part, one core after the other, and receives those of its
    /// own part; returns how many of their values are wrong. In each round a core sends to one core
    /// and receives from one.
    pub async fn record_shuffle(&mut self, node: &Node, splitters: &[u64]) -> u32 {
        let cores = node.nodes();
        let keys = std::mem::take(&mut self.keys);
        let parts = cut(&keys, splitters, cores as usize);
        work::scan(node, keys.len() + splitters.len());
        self.keep_own(node, &keys[parts[node.rank().0 as usize].clone()]);
        let mut inbox = Inbox::new(RECORDS);
        let mut wrong = 0;
        for round in 1..cores {
            let to = self.layout.core_after(node.rank(), round);
            self.send_records(node, to, &keys[parts[to.0 as usize].clone()], &mut inbox)
                .await;
            self.receive_round(node, round, &mut inbox).await;
            wrong += self.take_records(node, &mut inbox);
        }
        self.transport.flush(node, &mut inbox).await;
        wrong
    }

    fn keep_own(&mut self, node: &Node, own: &[u64]) {
        work::hash(node, 2 * own.len());
        work::copy(node, RECORD_WORDS * own.len());
        self.keys.extend(own);
        for key in own {
            self.add_value(&value_of(*key, node.rank()));
        }
    }

    /// One message per record; an empty one if there is none.
    async fn send_records(&mut self, node: &Node, to: Rank, keys: &[u64], inbox: &mut Inbox) {
        let record = |key: &u64| {
            [*key]
                .into_iter()
                .chain(value_of(*key, node.rank()))
                .collect()
        };
        let mut records: Vec<Vec<u64>> = keys.iter().map(record).collect();
        if records.is_empty() {
            records.push(Vec::new());
        }
        work::hash(node, keys.len());
        self.transport.send(node, to, &records, inbox).await;
    }

    async fn receive_round(&mut self, node: &Node, round: u32, inbox: &mut Inbox) {
        match self.matching {
            Matching::Software => self.transport.receive(node, round, inbox).await,
            // Waiting for one core keeps any core from being far ahead, so early messages find
            // room in the NIC.
            Matching::Ports => {
                let from = self.layout.core_before(node.rank(), round);
                self.transport.receive_from(node, from, inbox).await;
            }
        }
    }

    fn take_records(&mut self, node: &Node, inbox: &mut Inbox) -> u32 {
        let mut wrong = 0;
        for (from, record) in inbox.messages.drain(..) {
            let Some((&key, value)) = record.split_first() else {
                continue;
            };
            work::hash(node, 1);
            self.keys.push(key);
            wrong += u32::from(*value != value_of(key, from));
            self.add_value(value);
        }
        wrong
    }

    fn add_value(&mut self, value: &[u64]) {
        self.sum_of_values = self.sum_of_values.wrapping_add(sum_of(value));
    }

    /// Copies the values into the order of their keys.
    pub fn rearrange(&self, node: &Node) {
        work::hash(node, self.keys.len());
        work::copy(node, VALUE_WORDS * self.keys.len());
    }

    pub fn into_part(self, wrong: u32, span: Span) -> Part {
        Part {
            keys: self.keys,
            wrong,
            values: self.sum_of_values,
            span,
            ..Part::default()
        }
    }
}
