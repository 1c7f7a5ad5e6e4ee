//! The client half of a rank: one request after the other, each reply checked.

use node::{Node, Random, Rank, Time};

use super::{ABSENT, FOUND, GET, HEAD_WORDS, Kv, MOST_TIMED, PUT, STORED, Shard};

pub(super) struct Client {
    random: Random,
    ranks: u32,
    left: u32,
    /// The open request: whether it puts, and its key.
    open: Option<(bool, u64)>,
    /// When it was written.
    since: Time,
    account: Shard,
}

impl Client {
    pub fn new(program: &Kv, node: &Node) -> Client {
        let ranks = node.nodes();
        Client {
            random: program.stream(node.rank()),
            ranks,
            left: program.requests(node.rank(), ranks),
            open: None,
            since: node.now(),
            account: Shard::default(),
        }
    }

    /// Writes the next request into `words`; returns its owner. `None` while a request is open, and
    /// when all are done.
    pub fn next_request(
        &mut self,
        program: &Kv,
        node: &Node,
        words: &mut Vec<u64>,
    ) -> Option<Rank> {
        if self.open.is_some() || self.left == 0 {
            return None;
        }
        self.left -= 1;
        let (puts, key) = program.request(&mut self.random);
        self.open = Some((puts, key));
        self.since = node.now();
        words.clear();
        words.extend([if puts { PUT } else { GET }, key]);
        if puts {
            words.extend(program.value(key));
        }
        Some(program.owner(key, self.ranks))
    }

    pub fn receive(&mut self, program: &Kv, node: &Node, reply: &[u64]) {
        if self.account.requests.len() < MOST_TIMED as usize {
            self.account.requests.push(node.now().since(self.since));
        }
        let is_right = self.open.take().is_some_and(|(puts, key)| {
            let is_answer = match reply[0] {
                FOUND => !puts && reply[HEAD_WORDS..].iter().copied().eq(program.value(key)),
                ABSENT => !puts,
                kind => puts && kind == STORED,
            };
            is_answer && reply[1] == key
        });
        self.account.answered += 1;
        self.account.hits += u32::from(reply[0] == FOUND);
        self.account.wrong += u32::from(!is_right);
    }

    pub fn is_done(&self) -> bool {
        self.left == 0 && self.open.is_none()
    }

    /// The client's part of the rank's answer.
    pub fn account(self) -> Shard {
        self.account
    }
}
