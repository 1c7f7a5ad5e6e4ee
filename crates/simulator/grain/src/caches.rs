//! The file caches of a network of workstations: each for itself, before a server, or in
//! cooperation (NOW, section 2.3; Dahlin and others, OSDI 1994).
//!
//! Rank 0 is the server, with a memory, a disk and a directory of the clients' caches. The others
//! are clients. A client reads one block after the other, with pauses, and serves meanwhile.
//!
//! ```text
//!   reader --miss--> server --block--> reader                         its memory, or its disk
//!                    server --fetch--> holder --block--> reader       greedy and N-chance
//!   client --forward, the last copy--> a random client                N-chance
//!   reader, receiver of a forward --block in, block out--> server     the directory
//! ```
//!
//! Ideal is a bound that no policy reaches: as greedy, and each block that a client drops goes to a
//! further memory, as large as all clients' caches together, which the server knows. So clients use
//! all of their memory for themselves, and all of it for each other.
//!
//! A word stands for the 8 KB of a block. A read takes at least the times that are charged for its
//! level and its hops; what messages take on the machine passes meanwhile, so nothing is charged
//! twice, and with a charge of 0 the machine alone decides. Nothing queues for the disk. Blocks are
//! only read.

use clap::{Args, ValueEnum};
use node::{Address, Node, Port, Random, Rank};
use serde::{Deserialize, Serialize};

use crate::described;
use crate::load::Load;
use crate::message::digest;
use crate::options::{count, from_0};
use crate::program::{Program, Span, Verdict, WORD_BYTES};

mod check;
mod client;
mod server;
#[cfg(test)]
mod tests;
mod trace;

use client::Client;
use server::Server;

const PORT: Port = Port(1);
const SERVER: Rank = Rank(0);

// Each use of the seed has its own streams, numbered by a rank.
const TARGETS_OF: u64 = 1 << 32;
const READS_OF: u64 = 2 << 32;

/// Reads of a client whose times are kept: its first ones, so that memory has a bound.
const MOST_TIMED: usize = 1 << 16;

/// In place of a block.
const NONE: u64 = u64::MAX;

/// Words of a message: its kind, a block, its content, another block or a rank, a number, a level
/// or a flag.
type Words = [u64; 6];

// Kinds of messages.
const MISS: u64 = 0;
const FETCH: u64 = 1;
const BLOCK: u64 = 2;
const ABSENT: u64 = 3;
const FORWARD: u64 = 4;
const TAKEN: u64 = 5;
const MOVED: u64 = 6;
const ALONE: u64 = 7;
const SHARED: u64 = 8;
const DONE: u64 = 9;
const END: u64 = 10;
const LAST: u64 = 11;

/// Read blocks of files through the caches of clients and of their server.
///
/// Rank 0 is the server. Stages: `serve`, `read`, and `lend` on clients that read nothing.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Caches {
    /// How the caches work together
    #[arg(long, value_enum, default_value_t)]
    pub policy: Policy,
    /// Moves of a last copy to random clients, with n-chance
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = from_0)]
    pub chances: u32,
    /// Blocks of a client's cache
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = count)]
    pub cache: u32,
    /// Blocks of the server's cache
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = from_0)]
    pub server_cache: u32,
    /// Reads of each client that reads
    #[arg(long, value_name = "N", default_value_t = 1750, value_parser = from_0)]
    pub reads: u32,
    /// Percentage of those that only warm the caches
    #[arg(long, value_name = "P", default_value_t = 57, value_parser = percent)]
    pub warm: u32,
    /// Percentage of clients that read; the others only lend their memory
    #[arg(long, value_name = "P", default_value_t = 60, value_parser = percent)]
    pub active: u32,
    /// Percentage of files read that all clients share
    #[arg(long, value_name = "P", default_value_t = 30, value_parser = percent)]
    pub shared: u32,
    /// Blocks of the files that all clients share
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = count)]
    pub shared_blocks: u32,
    /// Percentage of a client's own files read that are new
    #[arg(long, value_name = "P", default_value_t = 5, value_parser = percent)]
    pub fresh: u32,
    /// Blocks of a file, which are read in order
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count)]
    pub run: u32,
    /// Microseconds from the end of a read to the next one, on average
    #[arg(long, value_name = "US", default_value_t = 100_000, value_parser = from_0)]
    pub pause_us: u32,
    /// Microseconds to copy a block in memory
    #[arg(long, value_name = "US", default_value_t = 250, value_parser = from_0)]
    pub local_us: u32,
    /// Microseconds of a short message, one way
    #[arg(long, value_name = "US", default_value_t = 200, value_parser = from_0)]
    pub hop_us: u32,
    /// Microseconds more when a block is sent
    #[arg(long, value_name = "US", default_value_t = 400, value_parser = from_0)]
    pub block_us: u32,
    /// Microseconds of the disk
    #[arg(long, value_name = "US", default_value_t = 14_800, value_parser = from_0)]
    pub disk_us: u32,
    /// The level whose share of all reads is the figure
    #[arg(long, value_enum, default_value_t = Level::Disk)]
    pub figure: Level,
    /// Seed of the reads, and of the clients that blocks are forwarded to.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { Caches is "caches" on 43 cores; "--machine ramcloud --reads 200", "--policy server --reads 200" }

/// How the caches work together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Clients have caches, the server a disk
    Local,
    /// And the server has a cache
    Server,
    /// And the server has a block fetched from a client that holds it
    Greedy,
    /// And the last copy of a block moves to a random client before it is dropped
    #[default]
    NChance,
    /// A bound: all memory holds blocks for its client, and once more for all
    Ideal,
}

/// Where a read finds its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// In the client's cache
    Local,
    /// In another client's cache
    Remote,
    /// In the server's cache
    Server,
    /// On the server's disk
    Disk,
}

const LEVELS: [Level; 4] = [Level::Local, Level::Remote, Level::Server, Level::Disk];

/// The answer of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cached {
    /// Its reads by level, as in [`Level`]: those that warm the caches, and those that count.
    pub reads: [[u32; 4]; 2],
    /// Reads with another content than the block's.
    pub wrong: u32,
    /// Sum of the contents read, modulo 2^64.
    pub sum: u64,
    /// Blocks that it held and sent to a reader; of the server, those from the further memory.
    pub lent: u32,
    /// Last copies that it gave to another client.
    pub forwarded: u32,
    /// The blocks in its cache at the end, ascending.
    pub holds: Vec<u64>,
    /// Of the server: each block in its directory with a client that holds it, ascending.
    pub directory: Vec<(u64, u32)>,
    /// Ticks of each of its first 65,536 reads that count.
    pub times: Vec<u64>,
    /// Begin and end by its own clock.
    pub span: Span,
}

impl Program for Caches {
    type Answer = Cached;

    async fn run(self, node: Node) -> Cached {
        if self.objection(node.nodes()).is_some() {
            return Cached::default();
        }
        let begin = node.now();
        let port = node.bind(PORT);
        // Boxed: the futures of all ranks lie in one array.
        let cached = if node.rank() == SERVER {
            node.stage("serve");
            Box::pin(Server::new(&self, &node).serve(&port)).await
        } else {
            let stage = if self.reads(&node) > 0 {
                "read"
            } else {
                "lend"
            };
            node.stage(stage);
            Box::pin(Client::new(&self, &node).read(&port)).await
        };
        let span = Span::since(begin, &node);
        Cached { span, ..cached }
    }

    fn check(&self, answers: &[Cached]) -> Verdict {
        match self.objection(answers.len() as u32) {
            Some(objection) => Verdict::refused(objection),
            None => check::check(self, answers),
        }
    }

    /// A miss, its block, and a forward with its answer and its place.
    fn load(&self, ranks: u32) -> Option<Load> {
        let reads = u64::from(self.reads) * u64::from(self.readers(ranks));
        let received = reads.saturating_mul(2).saturating_add(3 * u64::from(ranks));
        let [steps, bytes] = [500, 100].map(|each| reads.saturating_mul(each));
        Some(Load::of_messages(received, ranks, 8 << 10).and(steps, bytes))
    }

    fn bytes(&self, ranks: u64, _at_once: u64) -> u64 {
        // Each cache with its ages, its part of the directory, and the popularity of its files.
        let cache = u64::from(self.cache).saturating_mul(20 * WORD_BYTES);
        let files = u64::from(self.shared_blocks / self.run.max(1)).saturating_mul(WORD_BYTES);
        let reads = u64::from(self.reads).saturating_mul(8 * WORD_BYTES);
        let client = cache.saturating_add(files).saturating_add(reads);
        let server = u64::from(self.server_cache).saturating_mul(20 * WORD_BYTES);
        // The further memory of ideal is as large as all clients' caches.
        let further = if self.policy == Policy::Ideal {
            cache
        } else {
            0
        };
        let each = client.saturating_add(further);
        each.saturating_mul(ranks).saturating_add(server)
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let too_few = "a server and a client need two cores".to_owned();
        (ranks < 2).then_some(too_few)
    }
}

impl Caches {
    /// The clients that read: the first ones.
    fn readers(&self, ranks: u32) -> u32 {
        let clients = u64::from(ranks.saturating_sub(1));
        (clients * u64::from(self.active)).div_ceil(100) as u32
    }

    /// Reads of a client.
    fn reads(&self, node: &Node) -> u32 {
        if node.rank().0 <= self.readers(node.nodes()) {
            self.reads
        } else {
            0
        }
    }

    /// Reads of a client that only warm the caches.
    fn warming(&self) -> u32 {
        (u64::from(self.reads) * u64::from(self.warm) / 100) as u32
    }

    /// The word that stands for the bytes of a block.
    fn content(&self, block: u64) -> u64 {
        digest([self.seed, block].into_iter())
    }

    /// The microseconds that a read is charged for.
    fn charge(&self, level: Level, hops: u64) -> u64 {
        let block = u64::from(self.block_us);
        let sent = match level {
            Level::Local => 0,
            Level::Remote | Level::Server => block,
            Level::Disk => block + u64::from(self.disk_us),
        };
        u64::from(self.local_us) + sent + hops * u64::from(self.hop_us)
    }

    /// A client's draws of other clients.
    fn targets(&self, client: Rank) -> Random {
        Random::stream(self.seed, TARGETS_OF | u64::from(client.0))
    }
}

/// A client other than this one, if there is one.
fn other_client(random: &mut Random, own: Rank, ranks: u32) -> Option<Rank> {
    let others = ranks.checked_sub(2).filter(|others| *others > 0)?;
    let drawn = 1 + random.below(others as usize) as u32;
    Some(Rank(drawn + u32::from(drawn >= own.0)))
}

fn percent(text: &str) -> Result<u32, String> {
    let is_share = |percent: &u32| *percent <= 100;
    let wrong = "must be a percentage from 0 to 100".to_owned();
    from_0(text).and_then(|percent| Some(percent).filter(is_share).ok_or(wrong))
}

async fn send(node: &Node, rank: Rank, words: Words) {
    node.send(Address { rank, port: PORT }, &words).await;
}

fn words_of(message: &node::Message) -> Words {
    std::array::from_fn(|at| message.words.get(at).copied().unwrap_or(0))
}
