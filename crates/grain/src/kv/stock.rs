//! What a rank owns of the store: its keys, and how requests are served from them.

use node::{Node, Work};

use super::{ABSENT, FOUND, HEAD_WORDS, PUT, STORED, Shard, digest_of};
use crate::table::Table;

/// A rank's keys.
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

    /// Looks the request in `words` up, and leaves the answer there.
    pub fn serve(&mut self, node: &Node, words: &mut Vec<u64>) {
        self.served += 1;
        let key = words[1];
        node.work(Work::Hash { keys: 1 });
        let copy = Work::Copy {
            bytes: self.value_words as u64 * 8,
        };
        if words[0] == PUT {
            node.work(copy);
            self.table.put(key, &words[HEAD_WORDS..]);
            words[0] = STORED;
            words.truncate(HEAD_WORDS);
            return;
        }
        match self.table.get(key) {
            Some(value) => {
                node.work(copy);
                words[0] = FOUND;
                words.extend_from_slice(value);
            }
            None => words[0] = ABSENT,
        }
    }

    /// What a rank gives that has heard this.
    pub fn into_shard(self, heard: Shard) -> Shard {
        let digests = self
            .table
            .iter()
            .map(|(key, value)| digest_of(key, value.iter().copied()));
        let sum = digests.fold(0, u64::wrapping_add);
        Shard {
            served: self.served,
            keys: self.table.len() as u64,
            sum,
            ..heard
        }
    }
}
