//! The server: its memory, its disk, and the directory of the clients' caches.

use std::collections::BTreeMap;

use node::{Group, MessagePort, Node, Rank};

use super::{
    ABSENT, ALONE, BLOCK, Cached, Caches, DONE, END, FETCH, LAST, Level, MISS, MOVED, NONE, PORT,
    Policy, SHARED, send, words_of,
};
use crate::block_cache::BlockCache;

/// The server's note of a block at a client.
#[derive(Clone, Copy)]
struct Place {
    client: u32,
    /// The client's last change that is known: an earlier one that arrives later says nothing.
    change: u64,
    holds: bool,
}

/// A block that the server has found, and the hops from its reader and back.
struct Found {
    block: u64,
    content: u64,
    level: Level,
    hops: u64,
}

pub(super) struct Server<'a> {
    program: &'a Caches,
    node: &'a Node,
    memory: BlockCache,
    /// With ideal, the blocks that clients have dropped.
    further: BlockCache,
    directory: BTreeMap<u64, Vec<Place>>,
    /// Changes that were heard of, less those that were announced: 0 at the end.
    changes: i64,
    /// Whether reads go on.
    open: bool,
    lent: u32,
}

impl<'a> Server<'a> {
    pub fn new(program: &'a Caches, node: &'a Node) -> Server<'a> {
        let room = match program.policy {
            Policy::Local => 0,
            _ => program.server_cache,
        };
        let further = match program.policy {
            Policy::Ideal => program.cache.saturating_mul(node.nodes() - 1),
            _ => 0,
        };
        Server {
            program,
            node,
            memory: BlockCache::new(room),
            further: BlockCache::new(further),
            directory: BTreeMap::new(),
            changes: 0,
            open: true,
            lent: 0,
        }
    }

    /// Serves until all clients are done, and all changes of their caches are known.
    pub async fn serve(mut self, port: &MessagePort) -> Cached {
        let clients = self.node.nodes() - 1;
        let (mut done, mut ended) = (0, 0);
        while ended < clients || self.changes != 0 {
            let message = port.next(self.node).await;
            let [kind, block, _, other, number, _] = words_of(&message);
            match kind {
                MISS => {
                    self.moves(message.from, number, block, other).await;
                    self.look_up(message.from, block).await;
                }
                MOVED => self.moves(message.from, number, block, other).await,
                ABSENT => {
                    let reader = Rank(other as u32);
                    self.read_disk(reader, block, number + 1).await;
                }
                DONE => {
                    done += 1;
                    if done == clients {
                        self.open = false;
                        let all = Group::row(Rank(1), clients);
                        self.node.multicast(all, PORT, &[END]).await;
                    }
                }
                LAST => {
                    ended += 1;
                    self.changes -= number as i64;
                }
                _ => {}
            }
        }
        Cached {
            lent: self.lent,
            directory: self.places(),
            ..Cached::default()
        }
    }

    /// A client's change: a block comes in, or is on its way, and another one may go out.
    async fn moves(&mut self, client: Rank, change: u64, into: u64, out: u64) {
        self.changes += 1;
        let place = |holds| Place {
            client: client.0,
            change,
            holds,
        };
        self.note(into, place(true)).await;
        if out != NONE {
            self.note(out, place(false)).await;
            if self.program.policy == Policy::Ideal {
                self.further.keep(out, self.program.content(out));
            }
        }
    }

    /// Notes a place, and with N-chance tells a client whose copy becomes the last one, or is it no
    /// more.
    async fn note(&mut self, block: u64, place: Place) {
        let places = self.directory.entry(block).or_default();
        let holds = |places: &[Place]| places.iter().filter(|place| place.holds).count();
        let before = holds(places);
        match places.iter_mut().find(|known| known.client == place.client) {
            Some(known) if known.change < place.change => *known = place,
            Some(_) => {}
            None => places.push(place),
        }
        let kind = match (before, holds(places)) {
            (1, 2) => SHARED,
            (2, 1) => ALONE,
            _ => return,
        };
        let older = self.holder(block, place.client);
        if let Some(older) = older.filter(|_| self.open && self.program.policy == Policy::NChance) {
            send(self.node, older, [kind, block, 0, 0, 0, 0]).await;
        }
    }

    /// A client that holds the block, other than this one.
    fn holder(&self, block: u64, client: u32) -> Option<Rank> {
        let mut places = self.directory.get(&block)?.iter();
        let held = places.find(|place| place.holds && place.client != client);
        held.map(|place| Rank(place.client))
    }

    async fn look_up(&mut self, reader: Rank, block: u64) {
        if let Some(content) = self.memory.read(block) {
            let found = Found {
                block,
                content,
                level: Level::Server,
                hops: 2,
            };
            return self.answer(reader, found).await;
        }
        let works_together = self.program.policy >= Policy::Greedy;
        let holder = self.holder(block, reader.0).filter(|_| works_together);
        if let Some(holder) = holder {
            let words = [FETCH, block, 0, reader.0.into(), 2, 0];
            send(self.node, holder, words).await;
        } else if let Some(kept) = self.further.take(block) {
            self.lent += 1;
            let found = Found {
                block,
                content: kept.content,
                level: Level::Remote,
                hops: 3,
            };
            self.answer(reader, found).await;
        } else {
            self.read_disk(reader, block, 2).await;
        }
    }

    async fn read_disk(&mut self, reader: Rank, block: u64, hops: u64) {
        let content = self.program.content(block);
        self.memory.keep(block, content);
        let level = Level::Disk;
        let found = Found {
            block,
            content,
            level,
            hops,
        };
        self.answer(reader, found).await;
    }

    async fn answer(&self, reader: Rank, found: Found) {
        let shared = self.holder(found.block, reader.0).is_some();
        let flag = found.level as u64 * 2 + u64::from(shared);
        let words = [BLOCK, found.block, found.content, 0, found.hops, flag];
        send(self.node, reader, words).await;
    }

    fn places(&self) -> Vec<(u64, u32)> {
        let mut all: Vec<(u64, u32)> = self
            .directory
            .iter()
            .flat_map(|(block, places)| places.iter().map(move |place| (block, place)))
            .filter(|(_, place)| place.holds)
            .map(|(block, place)| (*block, place.client))
            .collect();
        all.sort_unstable();
        all
    }
}
