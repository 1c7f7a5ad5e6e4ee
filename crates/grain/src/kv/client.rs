//! The asking half of a rank: one request after the other, each answer checked.

use node::{Node, Random, Rank};

use super::{ABSENT, FOUND, GET, HEAD_WORDS, Kv, PUT, STORED, Shard};

/// What a rank asks, and what it has heard.
pub(super) struct Client {
    random: Random,
    ranks: u32,
    left: u32,
    asked: Option<(bool, u64)>,
    account: Shard,
}

impl Client {
    pub fn new(program: &Kv, node: &Node) -> Client {
        let ranks = node.nodes();
        Client {
            random: program.stream(node.rank()),
            ranks,
            left: program.requests(node.rank(), ranks),
            asked: None,
            account: Shard::default(),
        }
    }

    /// Writes the next request, unless an answer is awaited or all are there: whom it goes to.
    pub fn ask(&mut self, program: &Kv, words: &mut Vec<u64>) -> Option<Rank> {
        if self.asked.is_some() || self.left == 0 {
            return None;
        }
        self.left -= 1;
        let (puts, key) = program.request(&mut self.random);
        self.asked = Some((puts, key));
        words.clear();
        words.extend([if puts { PUT } else { GET }, key]);
        if puts {
            words.extend(program.value(key));
        }
        Some(program.owner(key, self.ranks))
    }

    /// Takes an answer.
    pub fn hear(&mut self, program: &Kv, words: &[u64]) {
        let right = self.asked.take().is_some_and(|(puts, key)| {
            let answers = match words[0] {
                FOUND => !puts && words[HEAD_WORDS..].iter().copied().eq(program.value(key)),
                ABSENT => !puts,
                kind => puts && kind == STORED,
            };
            answers && words[1] == key
        });
        self.account.answered += 1;
        self.account.hits += u32::from(words[0] == FOUND);
        self.account.wrong += u32::from(!right);
    }

    pub fn is_done(&self) -> bool {
        self.left == 0 && self.asked.is_none()
    }

    /// The client's part of the answer.
    pub fn account(self) -> Shard {
        self.account
    }
}
