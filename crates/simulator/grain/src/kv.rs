//! A key-value store in the cores' memory, partitioned by hash (after MICA; NanoSort, section 3.2
//! and Figure 1).
//!
//! Every rank owns a shard and requests keys, in one task: it serves while it waits for a reply.
//!
//! ```text
//!   client --get key, or put key value--> owner --found, absent or stored--> client
//!   done   rank --> parent in a tree, when it and all its children have their replies
//!   end    root --multicast--> all: there are no more requests
//! ```
//!
//! An owner does not know how many requests it will receive, so a tree counts the clients that are
//! done. A rank serves until the end is announced; by then every reply has arrived. Each client has
//! one request at a time, which bounds the messages that wait at an owner.
//!
//! On a node of several cores a shard may have several tasks, [workers](Kv::workers). They share a
//! port for requests, and the rank's first task does the rest.

use clap::Args;
use node::{Address, Group, MessagePort, Node, Port, Random, Rank};
use serde::{Deserialize, Serialize};

use crate::described;
use crate::load::Load;
use crate::message::digest;
use crate::options::{count, words_of_bytes};
use crate::program::{Program, Span, Verdict, WORD_BYTES};
use crate::tree::Tree;
use units::grouped;

mod check;
mod client;
mod stock;
mod workers;

use client::Client;
use stock::Stock;
use workers::Workers;

const PORT: Port = Port(1);

/// Receives the requests of a shard with several tasks.
const REQUESTS: Port = Port(2);

/// Bytes of the longest value: a message has two words before it.
const MOST_VALUE_BYTES: u32 = node::MESSAGE_BYTES as u32 - HEAD_WORDS as u32 * 8;

fn value_bytes(text: &str) -> Result<u32, String> {
    words_of_bytes(text, MOST_VALUE_BYTES)
}

/// Tasks per shard: more than any node has cores, and few enough to be threads.
const MOST_WORKERS: u32 = 64;

/// The stage of those tasks.
const WORK: &str = "work";

/// Approximate bytes per number in a set.
const SET_BYTES: u64 = 16;

/// Requests of a client whose times are kept: its first ones, so that memory has a bound.
const MOST_TIMED: u32 = 1 << 16;

/// In-cast of the counting tree: NanoSort's sweet spot (Figure 4).
const INCAST: u32 = 8;

// Each use of the seed has its own streams, numbered by a key or rank of 32 bits.
const REQUESTS_OF: u64 = 1 << 32;
const OWNER_OF: u64 = 2 << 32;
const VALUE_OF: u64 = 3 << 32;

/// Words of a message before its value: its kind, and the key.
const HEAD_WORDS: usize = 2;

// Kinds of messages.
const GET: u64 = 0;
const PUT: u64 = 1;
const FOUND: u64 = 2;
const ABSENT: u64 = 3;
const STORED: u64 = 4;
const DONE: u64 = 5;
const END: u64 = 6;

/// Read and write keys of a hash table over all cores, or over some servers.
///
/// Stages: `serve`, `ask` on cores without keys, and `work`, the sum over a core's workers.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Kv {
    /// Number of distinct keys
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = count)]
    pub keys: u32,
    /// Bytes of a value
    #[arg(long, value_name = "B", default_value_t = 8, value_parser = value_bytes)]
    pub bytes: u32,
    /// Requests of each client core, one after the other
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = count)]
    pub messages: u32,
    /// Cores that own keys; the others are clients [default: every core is both]
    #[arg(long, value_name = "N", value_parser = count)]
    pub servers: Option<u32>,
    /// Tasks that serve a core's keys; with 1 the client's task serves, too. On the machine
    /// nanopu-nodes up to four have a core each
    #[arg(long, value_name = "W", default_value_t = 1, value_parser = count)]
    pub workers: u32,
    /// Percentage of requests that put a value.
    #[arg(skip = 20_u32)]
    #[serde(skip)]
    pub put_percent: u32,
    /// Seed of the requests, owners and values.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { Kv is "kv" on 64 cores;
    "--servers 8 --messages 64", "--machine nanopu-nodes --servers 8 --workers 4"
}

/// The answer of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Requests that it served.
    pub served: u32,
    /// Replies to its own requests.
    pub answered: u32,
    /// Gets of its own that found a value.
    pub hits: u32,
    /// Replies to another request, or with a wrong value.
    pub wrong: u32,
    /// Keys that it owns at the end.
    pub keys: u64,
    /// Sum of digests of those keys and their values.
    pub sum: u64,
    /// Ticks of each of its first 65,536 requests, from before it is written until its reply is read.
    pub requests: Vec<u64>,
    /// Begin and end by its own clock.
    pub span: Span,
}

impl Program for Kv {
    type Answer = Shard;

    async fn run(self, node: Node) -> Shard {
        if self.objection(node.nodes()).is_some() {
            return Shard::default();
        }
        let begin = node.now();
        node.stage(if self.owns(&node) { "serve" } else { "ask" });
        let shard = self.serve_and_ask(&node).await;
        let span = Span::since(begin, &node);
        Shard { span, ..shard }
    }

    fn check(&self, answers: &[Shard]) -> Verdict {
        match self.objection(answers.len() as u32) {
            Some(objection) => Verdict::refused(objection),
            None => check::check(self, answers),
        }
    }

    /// A request and its reply, and at the end a count up and down the tree.
    fn load(&self, ranks: u32) -> Option<Load> {
        let clients = u64::from(ranks.saturating_sub(self.servers.unwrap_or(0)));
        let received = 2 * u64::from(self.messages) * clients + 2 * u64::from(ranks);
        let stock = Program::bytes(self, ranks.into(), 1) / 4;
        Some(Load::of_messages(received, ranks, 6 << 10).and(0, stock))
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let most = node::MESSAGE_WORDS - HEAD_WORDS;
        if self.value_words() > most {
            let [most, bytes] = [most as u64 * 8, self.bytes.into()].map(grouped);
            return Some(format!("a value holds at most {most} bytes, not {bytes}"));
        }
        if let Some(servers) = self.servers.filter(|servers| *servers >= ranks) {
            return Some(format!(
                "{servers} servers of {ranks} cores leave no clients; without --servers every core \
                 is both"
            ));
        }
        if !(1..=MOST_WORKERS).contains(&self.workers) {
            return Some(format!(
                "a core's keys have 1 to {MOST_WORKERS} workers, not {}",
                self.workers
            ));
        }
        if self.keys == 0 && self.messages > 0 {
            return Some("there are no keys to ask for".to_owned());
        }
        (ranks == 0).then(|| "there are no cores".to_owned())
    }

    fn tasks(&self, stage: &str) -> u32 {
        if stage == WORK { self.workers } else { 1 }
    }

    /// The keys that are put, in tables with free places that may be about to double; the check
    /// keeps the keys in two sets. The times of requests are kept twice.
    fn bytes(&self, ranks: u64, _at_once: u64) -> u64 {
        let asked = u64::from(self.messages).saturating_mul(ranks);
        let entry = 4 * (1 + self.value_words() as u64) * WORD_BYTES + 2 * SET_BYTES;
        let put = asked.min(self.keys.into()).saturating_mul(entry);
        let timed = u64::from(self.messages.min(MOST_TIMED)).saturating_mul(ranks);
        put.saturating_add(timed.saturating_mul(2 * WORD_BYTES))
    }
}

impl Kv {
    async fn serve_and_ask(&self, node: &Node) -> Shard {
        let port = node.bind(PORT);
        let mut client = Client::new(self, node);
        let mut stock = Stock::new(self.value_words());
        let workers = Workers::begin(self, node);
        let mut words = Vec::with_capacity(HEAD_WORDS + self.value_words());
        let mut children = Tree::new(node.nodes(), INCAST).all_children(node.rank());
        let mut is_told = false;
        loop {
            if let Some(owner) = client.next_request(self, node, &mut words) {
                send(node, owner, self.request_port(), &words).await;
            }
            if client.is_done() && children == 0 && !is_told {
                is_told = true;
                if self.tell_done(node).await {
                    break;
                }
            }
            let (from, kind) = take(node, &port, &mut words).await;
            match kind {
                GET | PUT => {
                    stock.serve(node, &mut words);
                    send(node, from, PORT, &words).await;
                }
                DONE => children -= 1,
                END => break,
                _ => client.receive(self, node, &words),
            }
        }
        if let Some(workers) = workers {
            stock = workers.end(node).await;
        }
        stock.into_shard(client.account())
    }

    /// Tells the parent that this subtree has no more requests; the root tells all ranks, and
    /// returns true.
    async fn tell_done(&self, node: &Node) -> bool {
        if let Some((parent, _)) = Tree::new(node.nodes(), INCAST).parent(node.rank()) {
            send(node, parent, PORT, &[DONE]).await;
            return false;
        }
        let others = Group::row(Rank(1), node.nodes() - 1);
        if others.count > 0 {
            node.multicast(others, PORT, &[END]).await;
        }
        true
    }

    fn value_words(&self) -> usize {
        self.bytes.div_ceil(8) as usize
    }

    fn request_port(&self) -> Port {
        if self.workers == 1 { PORT } else { REQUESTS }
    }

    fn owns(&self, node: &Node) -> bool {
        node.rank().0 < self.owners(node.nodes())
    }

    /// The first ranks, which own keys.
    fn owners(&self, ranks: u32) -> u32 {
        self.servers.unwrap_or(ranks)
    }

    /// Requests of a rank.
    fn requests(&self, rank: Rank, ranks: u32) -> u32 {
        let owners = self.owners(ranks);
        if owners == ranks || rank.0 >= owners {
            self.messages
        } else {
            0
        }
    }

    fn owner(&self, key: u64, ranks: u32) -> Rank {
        Rank(Random::stream(self.seed, OWNER_OF | key).below(self.owners(ranks) as usize) as u32)
    }

    /// The random numbers of a client's requests.
    fn stream(&self, client: Rank) -> Random {
        Random::stream(self.seed, REQUESTS_OF | u64::from(client.0))
    }

    /// The next request of a client's stream: whether it puts, and the key.
    fn request(&self, random: &mut Random) -> (bool, u64) {
        let puts = random.below(100) < self.put_percent as usize;
        (puts, random.below(self.keys as usize) as u64)
    }

    /// The value of a key: all puts of a key put the same.
    fn value(&self, key: u64) -> impl Iterator<Item = u64> + use<> {
        let mut random = Random::stream(self.seed, VALUE_OF | key);
        (0..self.value_words()).map(move |_| random.next_u64())
    }
}

async fn send(node: &Node, rank: Rank, port: Port, words: &[u64]) {
    node.send(Address { rank, port }, words).await;
}

/// Receives a message into `words`: its sender and kind.
async fn take(node: &Node, port: &MessagePort, words: &mut Vec<u64>) -> (Rank, u64) {
    let message = port.next(node).await;
    words.clear();
    words.extend_from_slice(&message.words);
    (message.from, words[0])
}

fn digest_of(key: u64, value: impl Iterator<Item = u64>) -> u64 {
    digest(std::iter::once(key).chain(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With one stream for all uses the owner of key r would decide the first request of client r.
    #[test]
    fn owners_requests_and_values_are_drawn_apart() {
        let program = Kv::default();
        let ranks = u32::MAX;
        for number in 0..100 {
            let owner = program.owner(number, ranks).0;
            let asks = program.stream(Rank(number as u32)).below(ranks as usize) as u32;
            let value = program.value(number).next().unwrap() >> 32;
            assert!(owner != asks && u64::from(owner) != value && u64::from(asks) != value);
        }
    }
}
