//! One message per bucket, to the node of the own index there; an empty one for an empty bucket. So
//! every node knows how many messages it will receive.
//!
//! A bucket that does not fit one message is continued when its receiver asks for more: so no node
//! is sent more than it has room for.

use std::collections::BTreeMap;

use node::{Node, Rank};

use super::Buckets;
use super::messages::{BucketMessages, Incomplete, most_keys};
use crate::nano_sort::sorter::{BUCKETS, Level, Sorter, keys_in};

/// Asks for the next message of a bucket. Messages of keys have an even number of words, or at
/// least three.
const CONTINUE: [u64; 1] = [0];

/// Words of most buckets' messages.
const USUAL_WORDS: usize = 16;

impl Sorter {
    pub async fn exchange_buckets(&mut self, node: &Node, level: &Level, buckets: &Buckets) {
        let (group, step) = (&level.group, level.step(BUCKETS));
        let index = group.key_index(node.rank());
        let most = most_keys(self.records, group.buckets());
        let mut words = Vec::with_capacity(USUAL_WORDS);
        let mut unsent = BTreeMap::new();
        for bucket in 0..group.buckets() {
            let to = group.node(bucket, index);
            let mut messages = BucketMessages::new(buckets.of(bucket), most);
            messages.next(&mut words);
            self.send(node, to, step, &words).await;
            if messages.left > 0 {
                unsent.insert(to, messages);
            }
        }
        let senders = group.key_senders(level.bucket, level.index);
        let mut incomplete = Incomplete::new(senders);
        while incomplete.senders > 0 || !unsent.is_empty() {
            let message = self.steps.next(node, step).await;
            if message.words[..] == CONTINUE {
                next_message(&mut unsent, message.from, &mut words);
                self.send(node, message.from, step, &words).await;
                self.part.by_keys += 1;
                continue;
            }
            self.keys.extend(keys_in(&message.words));
            if incomplete.add(message.from, &message.words) {
                self.send(node, message.from, step, &CONTINUE).await;
                self.part.by_keys += 1;
            }
        }
    }
}

fn next_message(unsent: &mut BTreeMap<Rank, BucketMessages<'_>>, to: Rank, words: &mut Vec<u64>) {
    let messages = unsent.get_mut(&to).expect("only unsent buckets continue");
    messages.next(words);
    if messages.left == 0 {
        unsent.remove(&to);
    }
}
