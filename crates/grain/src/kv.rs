//! A key-value store in the cores' memory, partitioned by hash (after MICA; NanoSort, section 3.2
//! and Figure 1).
//!
//! Every rank owns a shard and asks for keys, in one task: while it waits for its answer it serves.
//!
//! ```text
//!   client --get key, or put key value--> owner of the key's hash --found, absent or stored--> client
//!   done   rank --> parent in a tree, when it and all its children have their answers
//!   end    root --multicast--> all: nobody asks any more
//! ```
//!
//! Nobody knows how many requests will come, so a count goes up a tree. A rank goes on serving until
//! the end is told; by then every answer has arrived, so no request is left behind. Each client has
//! one request on its way, which bounds what can wait at an owner.

use node::{Address, Group, MessagePort, Node, Port, Random, Rank, Work};

use crate::message::digest;
use crate::program::{Program, Span, Verdict};
use crate::table::Table;
use crate::tree::Tree;

mod check;
mod client;

use client::Client;

const PORT: Port = Port(1);

/// Children of a rank in the counting tree, and itself: NanoSort's sweet spot (Figure 4).
const INCAST: u32 = 8;

/// Words of a message before its value: what it is, and the key.
const HEAD_WORDS: usize = 2;

// What a message is. That a get found nothing is a kind and not a word of its own: so a value of one
// word travels in three.
const GET: u64 = 0;
const PUT: u64 = 1;
const FOUND: u64 = 2;
const ABSENT: u64 = 3;
const STORED: u64 = 4;
const DONE: u64 = 5;
const END: u64 = 6;

/// Ranks get and put values of each other's keys. Stage: `serve`, and `ask` on ranks that own
/// nothing.
#[derive(Clone, Debug)]
pub struct Kv {
    /// Requests of each client, one after the other.
    pub messages: u32,
    /// Of a hundred requests so many put.
    pub put_percent: u32,
    /// How many different keys are asked for.
    pub keys: u32,
    /// Bytes of a value, rounded up to words of eight.
    pub bytes: u32,
    /// So many ranks own keys and the others ask; 0 (or as many as there are): all do both.
    pub servers: u32,
    /// Decides who asks for what.
    pub seed: u64,
}

impl Default for Kv {
    fn default() -> Kv {
        Kv { messages: 16, put_percent: 20, keys: 1024, bytes: 8, servers: 0, seed: 1 }
    }
}

/// What one rank of the store gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shard {
    /// Requests that it served.
    pub served: u32,
    /// Answers to its own requests.
    pub answered: u32,
    /// Its gets that found a value.
    pub hits: u32,
    /// Answers that were not to what it asked, or with a wrong value.
    pub wrong: u32,
    /// Keys that it holds at the end.
    pub keys: u64,
    /// Sum of digests of those keys and their values.
    pub sum: u64,
    /// How long it took.
    pub span: Span,
}

impl Program for Kv {
    type Answer = Shard;

    async fn run(self, node: Node) -> Shard {
        if self.objection(node.nodes()).is_some() {
            return Shard::default();
        }
        let begin = node.now();
        node.stage(if node.rank().0 < self.owners(node.nodes()) { "serve" } else { "ask" });
        let shard = self.serve_and_ask(&node).await;
        Shard { span: Span::since(begin, &node), ..shard }
    }

    fn check(&self, answers: &[Shard]) -> Verdict {
        match self.objection(answers.len() as u32) {
            Some(objection) => Verdict::refused(objection),
            None => check::check(self, answers),
        }
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let most = node::MESSAGE_WORDS - HEAD_WORDS;
        if self.value_words() > most {
            return Some(format!("a value holds at most {} bytes, not {}", most * 8, self.bytes));
        }
        if self.keys == 0 && self.messages > 0 {
            return Some("there are no keys to ask for".to_owned());
        }
        (ranks == 0).then(|| "there are no ranks".to_owned())
    }
}

impl Kv {
    async fn serve_and_ask(&self, node: &Node) -> Shard {
        let port = node.bind(PORT);
        let mut client = Client::new(self, node);
        let mut table = Table::new(self.value_words());
        let mut served = 0;
        let mut words = Vec::with_capacity(HEAD_WORDS + self.value_words());
        let mut children = Tree::new(node.nodes(), INCAST).all_children(node.rank());
        let mut told = false;
        // Whoever asks, serves or counts does one step at a time, and then waits for any message.
        loop {
            if let Some(owner) = client.ask(self, &mut words) {
                node.send(Address { rank: owner, port: PORT }, &words).await;
            }
            if client.is_done() && children == 0 && !told {
                told = true;
                if self.tell_done(node).await {
                    break;
                }
            }
            let (from, kind) = self.take(node, &port, &mut words).await;
            match kind {
                GET | PUT => {
                    served += 1;
                    self.serve(node, &mut table, &mut words);
                    node.send(Address { rank: from, port: PORT }, &words).await;
                }
                DONE => children -= 1,
                END => break,
                _ => client.hear(self, &words),
            }
        }
        let digests = table.iter().map(|(key, value)| digest_of(key, value.iter().copied()));
        let sum = digests.fold(0, u64::wrapping_add);
        Shard { served, keys: table.len() as u64, sum, ..client.account() }
    }

    /// The next message: its words replace those of the last one.
    async fn take(&self, node: &Node, port: &MessagePort, words: &mut Vec<u64>) -> (Rank, u64) {
        let message = port.next(node).await;
        words.clear();
        words.extend_from_slice(&message.words);
        (message.from, words[0])
    }

    /// Looks the request in `words` up, and leaves the answer there.
    fn serve(&self, node: &Node, table: &mut Table, words: &mut Vec<u64>) {
        let key = words[1];
        node.work(Work::Hash { keys: 1 });
        node.work(Work::Copy { bytes: self.value_words() as u64 * 8 });
        if words[0] == PUT {
            table.put(key, &words[HEAD_WORDS..]);
            words[0] = STORED;
            words.truncate(HEAD_WORDS);
            return;
        }
        match table.get(key) {
            Some(value) => {
                words[0] = FOUND;
                words.extend_from_slice(value);
            }
            None => words[0] = ABSENT,
        }
    }

    /// Tells the parent that nobody below asks any more. The root tells everybody the end: then it
    /// is true.
    async fn tell_done(&self, node: &Node) -> bool {
        match Tree::new(node.nodes(), INCAST).parent(node.rank()) {
            Some((rank, _)) => {
                node.send(Address { rank, port: PORT }, &[DONE]).await;
                false
            }
            None => {
                let others = Group::row(Rank(1), node.nodes() - 1);
                if others.count > 0 {
                    node.multicast(others, PORT, &[END]).await;
                }
                true
            }
        }
    }

    fn value_words(&self) -> usize {
        self.bytes.div_ceil(8) as usize
    }

    /// The ranks below this own keys.
    fn owners(&self, ranks: u32) -> u32 {
        if self.servers == 0 { ranks } else { self.servers.min(ranks) }
    }

    /// How many requests a rank has.
    fn requests(&self, rank: Rank, ranks: u32) -> u32 {
        let owners = self.owners(ranks);
        if owners == ranks || rank.0 >= owners { self.messages } else { 0 }
    }

    fn owner(&self, key: u64, ranks: u32) -> Rank {
        Rank(Random::stream(self.seed, key).below(self.owners(ranks) as usize) as u32)
    }

    /// The next request of a client's stream: whether it puts, and the key.
    fn request(&self, random: &mut Random) -> (bool, u64) {
        let puts = random.below(100) < self.put_percent as usize;
        (puts, random.below(self.keys as usize) as u64)
    }

    /// The value of a key: its words follow from it, so all puts of a key put the same.
    fn value(&self, key: u64) -> impl Iterator<Item = u64> + use<> {
        let mut random = Random::stream(!self.seed, key);
        (0..self.value_words()).map(move |_| random.next_u64())
    }
}

fn digest_of(key: u64, value: impl Iterator<Item = u64>) -> u64 {
    digest(std::iter::once(key).chain(value))
}
