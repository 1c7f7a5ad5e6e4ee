//! A client: reads one block after the other, and serves others meanwhile.

use node::{Message, MessagePort, Node, Random, Rank, Time};

use super::trace::Trace;
use super::{
    ABSENT, ALONE, BLOCK, Cached, Caches, DONE, END, FETCH, FORWARD, LAST, LEVELS, Level, MISS,
    MOST_TIMED, MOVED, NONE, Policy, SERVER, SHARED, TAKEN, other_client, send, words_of,
};
use crate::block_cache::{BlockCache, Standing};

/// The work of a client besides serving.
#[derive(Clone, Copy)]
enum State {
    /// Pauses before it reads this block.
    Pausing { block: u64, until: Time },
    /// Waits for this block. The last copy of another one, which made room, is forwarded then.
    Waiting {
        block: u64,
        since: Time,
        leaving: Option<Leaving>,
    },
    /// Has its block, and is charged for it.
    Reading {
        level: Level,
        since: Time,
        until: Time,
    },
    /// Reads no more.
    Done { told: bool },
}

#[derive(Clone, Copy)]
struct Leaving {
    block: u64,
    content: u64,
    chances: u32,
}

pub(super) struct Client<'a> {
    program: &'a Caches,
    node: &'a Node,
    trace: Trace,
    targets: Random,
    cache: BlockCache,
    state: State,
    begun: u32,
    /// Numbers its changes of the directory: messages may overtake each other.
    changes: u64,
    /// Forwards without an answer.
    open: u32,
    cached: Cached,
}

impl<'a> Client<'a> {
    pub fn new(program: &'a Caches, node: &'a Node) -> Client<'a> {
        Client {
            program,
            node,
            trace: Trace::new(program, node.rank()),
            targets: program.targets(node.rank()),
            cache: BlockCache::new(program.cache),
            state: State::Done { told: false },
            begun: 0,
            changes: 0,
            open: 0,
            cached: Cached::default(),
        }
    }

    pub async fn read(mut self, port: &MessagePort) -> Cached {
        self.pause();
        loop {
            self.tell_done().await;
            let message = match self.state {
                State::Pausing { until, .. } | State::Reading { until, .. } => {
                    port.next_until(self.node, until).await
                }
                State::Waiting { .. } | State::Done { .. } => Some(port.next(self.node).await),
            };
            match message {
                Some(message) if words_of(&message)[0] == END => break,
                Some(message) => self.receive(&message).await,
                None => self.go_on().await,
            }
        }
        send(self.node, SERVER, [LAST, 0, 0, 0, self.changes, 0]).await;
        self.cached.holds = self.cache.numbers().collect();
        self.cached
    }

    /// Draws the next read, if there is one.
    fn pause(&mut self) {
        if self.begun == self.program.reads(self.node) {
            self.state = State::Done { told: false };
            return;
        }
        self.begun += 1;
        let (pause_us, block) = self.trace.next(self.program);
        let until = self.node.now().after(self.ticks(pause_us));
        self.state = State::Pausing { block, until };
    }

    /// A time has come: begins a read, or ends it.
    async fn go_on(&mut self) {
        match self.state {
            State::Pausing { block, .. } => self.begin(block).await,
            State::Reading { level, since, .. } => {
                self.count(level, since);
                self.pause();
            }
            State::Waiting { .. } | State::Done { .. } => {}
        }
    }

    async fn begin(&mut self, block: u64) {
        let since = self.node.now();
        if let Some(content) = self.cache.read(block) {
            self.verify(block, content);
            return self.charge(Level::Local, 0, since);
        }
        let full = self.cache.is_full(0);
        let out = full.then(|| self.cache.oldest()).flatten();
        let leaving = out.and_then(|out| self.take_out(out));
        self.state = State::Waiting {
            block,
            since,
            leaving,
        };
        self.changes += 1;
        let words = [MISS, block, 0, out.unwrap_or(NONE), self.changes, 0];
        send(self.node, SERVER, words).await;
    }

    /// Makes room for a block of its own: a last copy may go to another client.
    fn take_out(&mut self, number: u64) -> Option<Leaving> {
        let block = self.cache.take(number)?;
        let chances = match block.standing {
            Standing::Duplicate => 0,
            Standing::Recirculating(chances) => chances - 1,
            Standing::Single => self.program.chances,
        };
        let moves = chances > 0 && self.program.policy == Policy::NChance;
        moves.then_some(Leaving {
            block: number,
            content: block.content,
            chances,
        })
    }

    async fn forward(&mut self, leaving: Leaving) {
        let ranks = self.node.nodes();
        if let Some(to) = other_client(&mut self.targets, self.node.rank(), ranks) {
            self.open += 1;
            self.cached.forwarded += 1;
            let chances = leaving.chances.into();
            let words = [FORWARD, leaving.block, leaving.content, 0, chances, 0];
            send(self.node, to, words).await;
        }
    }

    async fn receive(&mut self, message: &Message) {
        let [kind, block, content, reader, number, flag] = words_of(message);
        match kind {
            BLOCK => self.take_block(block, content, number, flag).await,
            FETCH => self.lend(block, Rank(reader as u32), number).await,
            FORWARD => {
                self.take_in(block, content, number as u32).await;
                send(self.node, message.from, [TAKEN, block, 0, 0, 0, 0]).await;
            }
            TAKEN => self.open -= 1,
            ALONE => self.hear_alone(block),
            SHARED => self.cache.stand(block, Standing::Duplicate),
            _ => {}
        }
    }

    /// The block that it waits for. The flag has the level, and whether others hold the block.
    async fn take_block(&mut self, block: u64, content: u64, hops: u64, flag: u64) {
        let (since, leaving) = match self.state {
            State::Waiting {
                block: own,
                since,
                leaving,
            } if own == block => (since, leaving),
            _ => {
                self.cached.wrong += 1;
                return;
            }
        };
        let standing = match flag % 2 {
            0 => Standing::Single,
            _ => Standing::Duplicate,
        };
        self.cache.put(block, content, standing);
        let level = LEVELS[(flag / 2) as usize % LEVELS.len()];
        self.verify(block, content);
        self.charge(level, hops, since);
        if let Some(leaving) = leaving {
            self.forward(leaving).await;
        }
    }

    /// Sends a block that it holds to its reader.
    async fn lend(&mut self, block: u64, reader: Rank, hops: u64) {
        let Some(held) = self.cache.peek(block) else {
            let words = [ABSENT, block, 0, reader.0.into(), hops + 1, 0];
            return send(self.node, SERVER, words).await;
        };
        self.cached.lent += 1;
        let flag = Level::Remote as u64 * 2 + 1;
        let words = [BLOCK, block, held.content, 0, hops + 1, flag];
        send(self.node, reader, words).await;
    }

    /// Takes in the last copy of a block. What it drops for that, it forwards to nobody.
    async fn take_in(&mut self, block: u64, content: u64, chances: u32) {
        let awaited = match self.state {
            State::Waiting { block, .. } => Some(block),
            _ => None,
        };
        if awaited == Some(block) || self.cache.peek(block).is_some() {
            return;
        }
        let mut out = NONE;
        if self.cache.is_full(awaited.is_some().into()) {
            let Some(victim) = self.cache.victim() else {
                return;
            };
            self.cache.take(victim);
            out = victim;
        }
        self.cache
            .put(block, content, Standing::Recirculating(chances));
        self.changes += 1;
        send(self.node, SERVER, [MOVED, block, 0, out, self.changes, 0]).await;
    }

    fn hear_alone(&mut self, block: u64) {
        let held = self.cache.peek(block);
        if held.is_some_and(|held| held.standing == Standing::Duplicate) {
            self.cache.stand(block, Standing::Single);
        }
    }

    fn verify(&mut self, block: u64, content: u64) {
        self.cached.wrong += u32::from(content != self.program.content(block));
        self.cached.sum = self.cached.sum.wrapping_add(content);
    }

    /// The read ends when the time for its level and hops is over, or later.
    fn charge(&mut self, level: Level, hops: u64, since: Time) {
        let until = since.after(self.ticks(self.program.charge(level, hops)));
        self.state = State::Reading {
            level,
            since,
            until,
        };
    }

    fn count(&mut self, level: Level, since: Time) {
        let counts = self.begun > self.program.warming();
        self.cached.reads[usize::from(counts)][level as usize] += 1;
        if counts && self.cached.times.len() < MOST_TIMED {
            self.cached.times.push(self.node.now().since(since));
        }
    }

    /// Tells the server once that it reads no more, and that no forward of its own is under way.
    async fn tell_done(&mut self) {
        if let State::Done { told: false } = self.state
            && self.open == 0
        {
            self.state = State::Done { told: true };
            send(self.node, SERVER, [DONE, 0, 0, 0, 0, 0]).await;
        }
    }

    fn ticks(&self, microseconds: u64) -> u64 {
        self.node.ticks(microseconds as f64 * 1e-6)
    }
}
