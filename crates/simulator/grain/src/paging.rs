//! A process that pages to the memory of other nodes, or to its disk (NOW, section 2.3).
//!
//! Rank 0 is the process, whose memory holds some of its pages; the others lend theirs. Page n lies
//! at the n-th lender in turn. The process writes all pages there at first, and its walk reads
//! them, so a page that makes room for another one is clean and is dropped.
//!
//! ```text
//!   process --put, a piece of a page--> lender                    fill
//!   process --get--> lender --five pieces--> process              walk, at each page that is not here
//! ```
//!
//! Reading a page takes at least the time that is charged for it; what its messages take on the
//! machine passes meanwhile, so nothing is charged twice. The disk is such a charge alone: less for
//! the page behind the one before.

use clap::{Args, ValueEnum};
use node::{Address, Group, MESSAGE_WORDS, MessagePort, Node, Port, Random, Rank};
use serde::{Deserialize, Serialize};

use crate::block_cache::BlockCache;
use crate::described;
use crate::load::Load;
use crate::message::digest;
use crate::options::{count, from_0};
use crate::program::{Program, Span, Timing, Verdict};
use crate::table::Table;
use units::grouped;

const PORT: Port = Port(1);
const PROCESS: Rank = Rank(0);

/// Words of a page of 8 KB.
const PAGE_WORDS: usize = 1024;

/// Words of a piece: a page takes five messages, with two words before each piece.
const PIECE_WORDS: usize = PAGE_WORDS.div_ceil(5);
const PIECES: usize = PAGE_WORDS.div_ceil(PIECE_WORDS);
const HEAD_WORDS: usize = 2;
const _: () = assert!(HEAD_WORDS + PIECE_WORDS <= MESSAGE_WORDS);

// Kinds of messages, in the first word, above the number of the piece.
const GET: u64 = 1 << 8;
const PUT: u64 = 2 << 8;
const END: u64 = 3 << 8;

// Each use of the seed has its own streams, numbered by a page.
const CONTENTS_OF: u64 = 1 << 32;
const WALK_OF: u64 = 2 << 32;

/// Page to the memory of other cores, or to a disk.
///
/// Its time is that of the walk. Stages: `fill`, `walk`, and `lend` on the other cores. Its figure is
/// the faults of an access.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Paging {
    /// Where pages lie that memory has no room for
    #[arg(long, value_enum, default_value_t)]
    pub to: Store,
    /// The order in which pages are read
    #[arg(long, value_enum, default_value_t)]
    pub walk: Walk,
    /// Pages of the process, of 8 KB
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = count)]
    pub pages: u32,
    /// Pages that its memory holds
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = count)]
    pub memory: u32,
    /// Pages that the walk reads
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = from_0)]
    pub accesses: u32,
    /// Microseconds that a page from another core takes at least
    #[arg(long, value_name = "US", default_value_t = 226, value_parser = from_0)]
    pub page_us: u32,
    /// Microseconds that the disk takes for a page elsewhere
    #[arg(long, value_name = "US", default_value_t = 12_500, value_parser = from_0)]
    pub disk_us: u32,
    /// Microseconds that the disk takes for the page behind the last one
    #[arg(long, value_name = "US", default_value_t = 1_490, value_parser = from_0)]
    pub next_us: u32,
    /// Seed of the walk and of the pages.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { Paging is "paging" on 2 cores; "--machine ramcloud --walk random", "--to disk" }

/// Where pages lie that memory has no room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Store {
    /// In the memory of the other cores
    #[default]
    Memory,
    /// On a disk of the process's node
    Disk,
}

/// The order in which pages are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Walk {
    /// One behind the other, and from the front again
    #[default]
    Sequential,
    /// Any page, drawn
    Random,
}

/// The answer of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paged {
    /// Pages that were not in memory when they were read.
    pub faults: u32,
    /// Digest of the contents of all pages read, in their order.
    pub contents: u64,
    /// Of a lender: pages that it sent.
    pub sent: u32,
    /// Begin and end of the walk by its own clock, and nothing of a lender.
    pub walk: Option<Span>,
}

impl Program for Paging {
    type Answer = Paged;

    async fn run(self, node: Node) -> Paged {
        if self.objection(node.nodes()).is_some() {
            return Paged::default();
        }
        let port = node.bind(PORT);
        if node.rank() == PROCESS {
            Box::pin(self.process(&node, &port)).await
        } else {
            node.stage("lend");
            Box::pin(lend(&node, &port)).await
        }
    }

    fn check(&self, answers: &[Paged]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let (own, sent) = (
            &answers[0],
            answers.iter().map(|paged| paged.sent).sum::<u32>(),
        );
        let (faults, contents) = self.expected();
        let asked = match self.to {
            Store::Memory => faults,
            Store::Disk => 0,
        };
        let fault = if own.contents != contents {
            Some("the process read other contents than it had written".to_owned())
        } else if own.faults != faults {
            Some(format!(
                "{} pages were not in memory, not {faults}",
                own.faults
            ))
        } else {
            (sent != asked).then(|| format!("lenders sent {sent} pages, not {asked}"))
        };
        let [read, missed] = [self.accesses, own.faults].map(|pages| grouped(pages.into()));
        let result = format!("{read} pages read, {missed} of them not in memory");
        let figure = f64::from(own.faults) / f64::from(self.accesses.max(1));
        Verdict {
            figure: Some(figure),
            ..Verdict::new(result, fault).with_spans(own.walk.into_iter())
        }
    }

    fn timing(&self) -> Timing {
        Timing::Part { of: "walk" }
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let pages = u64::from(self.pages) + u64::from(self.accesses);
        let received = pages * PIECES as u64;
        Some(Load::of_messages(received, ranks, 8 << 10).and(0, self.bytes(ranks.into(), 1)))
    }

    fn bytes(&self, _ranks: u64, _at_once: u64) -> u64 {
        4 * 8 * PAGE_WORDS as u64 * u64::from(self.pages)
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let is_alone = ranks < 2 && self.to == Store::Memory;
        let why = "--to memory needs a core that lends some: two cores or more";
        (is_alone || ranks == 0).then(|| why.to_owned())
    }
}

impl Paging {
    async fn process(&self, node: &Node, port: &MessagePort) -> Paged {
        node.stage("fill");
        // The disk's pages; those of lenders are only there.
        let mut disk = Table::new(PAGE_WORDS);
        for page in 0..u64::from(self.pages) {
            let words = self.contents(page);
            match self.to {
                Store::Memory => send_page(node, lender(node, page), page, &words).await,
                Store::Disk => disk.put(page, &words),
            }
        }
        node.stage("walk");
        let begin = node.now();
        let mut paged = Paged::default();
        let mut memory = BlockCache::new(self.memory);
        let mut head = u64::MAX;
        for page in self.walk() {
            let held = memory.read(page);
            let content = match (held, self.to) {
                (Some(content), _) => content,
                (None, Store::Memory) => self.fetch(node, port, page).await,
                (None, Store::Disk) => {
                    self.wait(node, page, &mut head).await;
                    disk.get(page)
                        .map_or(0, |words| digest(words.iter().copied()))
                }
            };
            if held.is_none() {
                paged.faults += 1;
                memory.keep(page, content);
            }
            paged.contents = digest([paged.contents, content].into_iter());
        }
        paged.walk = Some(Span::since(begin, node));
        let lenders = Group::row(Rank(1), node.nodes() - 1);
        if lenders.count > 0 {
            node.multicast(lenders, PORT, &[END]).await;
        }
        paged
    }

    /// Gets a page from its lender: the digest of its words.
    async fn fetch(&self, node: &Node, port: &MessagePort, page: u64) -> u64 {
        let since = node.now();
        let to = Address {
            rank: lender(node, page),
            port: PORT,
        };
        node.send(to, &[GET, page]).await;
        let mut words = vec![0; PAGE_WORDS];
        for _ in 0..PIECES {
            let message = port.next(node).await;
            copy_piece(&message.words, &mut words);
        }
        let ticks = node.ticks(f64::from(self.page_us) * 1e-6);
        node.sleep_until(since.after(ticks)).await;
        digest(words.into_iter())
    }

    /// Waits for the disk, whose head is behind some page.
    async fn wait(&self, node: &Node, page: u64, head: &mut u64) {
        let charge = if page == *head {
            self.next_us
        } else {
            self.disk_us
        };
        *head = page + 1;
        let ticks = node.ticks(f64::from(charge) * 1e-6);
        node.sleep_until(node.now().after(ticks)).await;
    }

    fn contents(&self, page: u64) -> Vec<u64> {
        let mut random = Random::stream(self.seed, CONTENTS_OF | page);
        (0..PAGE_WORDS).map(|_| random.next_u64()).collect()
    }

    fn walk(&self) -> impl Iterator<Item = u64> + use<> {
        let (walk, pages) = (self.walk, self.pages);
        let mut random = Random::stream(self.seed, WALK_OF);
        (0..self.accesses).map(move |number| match walk {
            Walk::Sequential => u64::from(number % pages),
            Walk::Random => random.below(pages as usize) as u64,
        })
    }

    /// The faults and the digest of a walk in a memory that is a list.
    fn expected(&self) -> (u32, u64) {
        let digests: Vec<u64> = (0..u64::from(self.pages))
            .map(|page| digest(self.contents(page).into_iter()))
            .collect();
        let mut recent: Vec<u64> = Vec::new();
        let (mut faults, mut contents) = (0, 0);
        for page in self.walk() {
            let held = recent.iter().position(|held| *held == page);
            match held {
                Some(at) => drop(recent.remove(at)),
                None => faults += 1,
            }
            recent.push(page);
            if recent.len() > self.memory as usize {
                recent.remove(0);
            }
            contents = digest([contents, digests[page as usize]].into_iter());
        }
        (faults, contents)
    }
}

/// Keeps pages, and sends them when they are asked for, until the end.
async fn lend(node: &Node, port: &MessagePort) -> Paged {
    let mut pages = Table::new(PAGE_WORDS);
    let mut pieces = Table::new(1);
    let mut paged = Paged::default();
    let mut wanted = None;
    loop {
        let message = port.next(node).await;
        let (kind, page) = (message.words[0] & !0xff, message.words.get(1).copied());
        match (kind, page) {
            (PUT, Some(page)) => {
                let mut words = pages.get(page).map_or(vec![0; PAGE_WORDS], <[u64]>::to_vec);
                copy_piece(&message.words, &mut words);
                pages.put(page, &words);
                pieces.put(page, &[pieces.get(page).map_or(0, |count| count[0]) + 1]);
            }
            (GET, Some(page)) => wanted = Some(page),
            _ => return paged,
        }
        // A request may overtake a piece of its page.
        let is_whole = |page: &u64| pieces.get(*page) == Some(&[PIECES as u64][..]);
        if let Some(page) = wanted.filter(is_whole) {
            let words = pages.get(page).unwrap_or_default();
            send_page(node, PROCESS, page, words).await;
            paged.sent += 1;
            wanted = None;
        }
    }
}

fn lender(node: &Node, page: u64) -> Rank {
    Rank(1 + (page % u64::from(node.nodes() - 1)) as u32)
}

async fn send_page(node: &Node, rank: Rank, page: u64, words: &[u64]) {
    let to = Address { rank, port: PORT };
    let mut message = Vec::with_capacity(HEAD_WORDS + PIECE_WORDS);
    for (piece, words) in (0..).zip(words.chunks(PIECE_WORDS)) {
        message.clear();
        message.extend([PUT | piece, page]);
        message.extend_from_slice(words);
        node.send(to, &message).await;
    }
}

/// Copies the piece of a page in a message to its place.
fn copy_piece(message: &[u64], page: &mut [u64]) {
    let begin = (message[0] & 0xff) as usize * PIECE_WORDS;
    let piece = &message[HEAD_WORDS..];
    page[begin..begin + piece.len()].copy_from_slice(piece);
}
