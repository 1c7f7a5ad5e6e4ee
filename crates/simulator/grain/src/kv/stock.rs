//! The keys that a rank owns, and serving requests from them.

use node::Node;

use super::{ABSENT, FOUND, HEAD_WORDS, PUT, STORED, Shard, digest_of};
use crate::table::Table;
use crate::work;

pub(super) struct Stock {
    table: Table,
    value_words: usize,
    served: u32,
}

impl Stock {
    pub fn new(value_words: usize) -> Stock {
        Stock {
            table: Table::new(value_words),
            value_words,
            served: 0,
        }
    }

    /// Replaces the request in `words` by its reply.
    pub fn serve(&mut self, node: &Node, words: &mut Vec<u64>) {
        self.served += 1;
        let key = words[1];
        work::hash(node, 1);
        if words[0] == PUT {
            work::copy(node, self.value_words);
            self.table.put(key, &words[HEAD_WORDS..]);
            words[0] = STORED;
            words.truncate(HEAD_WORDS);
            return;
        }
        match self.table.get(key) {
            Some(value) => {
                work::copy(node, self.value_words);
                words[0] = FOUND;
                words.extend_from_slice(value);
            }
            None => words[0] = ABSENT,
        }
    }

    /// The rank's answer, with the account of its client.
    pub fn into_shard(self, client: Shard) -> Shard {
        let digests = self
            .table
            .iter()
            .map(|(key, value)| digest_of(key, value.iter().copied()));
        let sum = digests.fold(0, u64::wrapping_add);
        Shard {
            served: self.served,
            keys: self.table.len() as u64,
            sum,
            ..client
        }
    }
}
