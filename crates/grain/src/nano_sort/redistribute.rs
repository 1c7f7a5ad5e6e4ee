//! The end of NanoSort: each core asks where its keys were at first for their values.

use node::{Node, Rank, Work};

use super::sorter::{Sorter, VALUES};
use super::{FEW, MOST_WORDS};
use crate::records::{VALUE_BYTES, VALUE_WORDS, sum_of, value_of};

/// What a message says first.
const ASKS: u64 = 0;
const TELLS: u64 = 1;

impl Sorter {
    /// Asks for the values of its keys and answers for those it had at first, until all are there:
    /// how many are wrong.
    pub async fn values(&mut self, node: &Node) -> u32 {
        node.stage("values");
        let mut keys = std::mem::take(&mut self.held);
        keys.sort_unstable_by_key(|held| (held.origin, held.key));
        // Where each key lies now, and which keys each origin has.
        node.work(Work::Hash {
            keys: 2 * keys.len() as u64,
        });
        let [first, last] = [node.rank(), Rank(node.rank().0 + 1)]
            .map(|rank| keys.partition_point(|held| held.origin < rank));
        let own = last - first;
        let (mut served, mut missing) = (own as u32, keys.len() - own);
        for held in &keys[first..last] {
            self.sum_of_values = self
                .sum_of_values
                .wrapping_add(sum_of(&value_of(held.key, held.origin)));
            node.work(Work::Hash { keys: 1 });
            store(node);
        }
        let (most, mut asked) = (most_asked(self.records), 0);
        // From its own place on: not all ask the first core first.
        let others = [&keys[last..], &keys[..first]].into_iter();
        let mut questions = others
            .flat_map(|keys| keys.chunk_by(|one, next| one.origin == next.origin))
            .flat_map(|keys| keys.chunks(in_a_question(self.records)));
        let mut question = questions.next();
        let mut words = Vec::with_capacity(2 + VALUE_WORDS);
        let mut wrong = 0;
        while served < self.records || missing > 0 {
            while let Some(keys) = question.filter(|keys| asked + keys.len() <= most) {
                words.clear();
                words.push(ASKS);
                words.extend(keys.iter().map(|held| held.key));
                self.steps.send(node, keys[0].origin, VALUES, &words).await;
                asked += keys.len();
                question = questions.next();
            }
            let message = self.steps.next(node, VALUES).await;
            let (kind, rest) = message
                .words
                .split_first()
                .expect("every message has a kind");
            if *kind == TELLS {
                (missing, asked) = (missing - 1, asked - 1);
                let (key, value) = rest.split_first().expect("an answer has a key");
                wrong += u32::from(*value != value_of(*key, message.from));
                self.sum_of_values = self.sum_of_values.wrapping_add(sum_of(value));
                node.work(Work::Hash { keys: 1 });
                store(node);
                continue;
            }
            for &key in rest {
                node.work(Work::Hash { keys: 1 });
                words.clear();
                words.extend([TELLS, key]);
                words.extend(value_of(key, node.rank()));
                self.steps.send(node, message.from, VALUES, &words).await;
                served += 1;
            }
        }
        drop(questions);
        keys.sort_unstable_by_key(|held| held.key);
        self.held = keys;
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

/// How many of them one message asks for.
pub(super) fn in_a_question(records: u32) -> usize {
    most_asked(records).min(MOST_WORDS - 1)
}
