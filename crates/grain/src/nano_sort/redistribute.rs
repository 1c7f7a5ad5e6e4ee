//! The end of NanoSort: each core asks where its keys were at first for their values.

use std::collections::BTreeMap;

use node::{Node, Rank, Work};

use super::sorter::{Sorter, VALUES};
use super::{FEW, MOST_WORDS};
use crate::records::{VALUE_BYTES, value_of};

/// What a message says first.
const ASKS: u64 = 0;
const TELLS: u64 = 1;

impl Sorter {
    /// Asks for the values of its keys and answers for those it had at first, until all are there: how
    /// many are wrong.
    pub async fn values(&mut self, node: &Node) -> u32 {
        node.stage("values");
        let mut by_origin: BTreeMap<Rank, Vec<u64>> = BTreeMap::new();
        for held in &self.held {
            by_origin.entry(held.origin).or_default().push(held.key);
        }
        // Where each key lies now, and which keys each origin has.
        node.work(Work::Hash { keys: 2 * self.held.len() as u64 });
        let own = by_origin.remove(&node.rank()).unwrap_or_default();
        let mut served = own.len() as u32;
        let mut missing = self.held.len() - own.len();
        for _ in &own {
            node.work(Work::Hash { keys: 1 });
            store(node);
        }
        let (most, mut asked) = (most_asked(self.records), 0);
        // From its own place on: not all ask the first core first.
        let others = by_origin.range(node.rank()..).chain(by_origin.range(..node.rank()));
        let mut questions = others.flat_map(|(origin, keys)| {
            keys.chunks(most.min(MOST_WORDS - 1)).map(move |keys| (*origin, keys))
        });
        let mut question = questions.next();
        let mut wrong = 0;
        while served < self.records || missing > 0 {
            while let Some((origin, keys)) = question.filter(|(_, keys)| asked + keys.len() <= most)
            {
                let words: Vec<u64> = [ASKS].iter().chain(keys).copied().collect();
                self.steps.send(node, origin, VALUES, &words).await;
                self.by_keys += 1;
                asked += keys.len();
                question = questions.next();
            }
            let message = self.steps.next(node, VALUES).await;
            let (kind, rest) = message.words.split_first().expect("every message has a kind");
            if *kind == TELLS {
                (missing, asked) = (missing - 1, asked - 1);
                wrong += u32::from(rest[1..] != value_of(rest[0]));
                node.work(Work::Hash { keys: 1 });
                store(node);
                continue;
            }
            for &key in rest {
                node.work(Work::Hash { keys: 1 });
                let words: Vec<u64> = [TELLS, key].into_iter().chain(value_of(key)).collect();
                self.steps.send(node, message.from, VALUES, &words).await;
                self.by_keys += 1;
                served += 1;
            }
        }
        wrong
    }
}

/// Writes a value where nothing was written before.
fn store(node: &Node) {
    node.work(Work::Load { bytes: VALUE_BYTES });
    node.work(Work::Copy { bytes: VALUE_BYTES });
}

/// How many values a core asks for before one has come.
fn most_asked(records: u32) -> usize {
    if records > FEW { 8 } else { usize::MAX }
}
