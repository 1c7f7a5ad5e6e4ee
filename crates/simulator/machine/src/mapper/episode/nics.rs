//! NICs: one letter at a time to each other host, sent again until it is acknowledged (the NIC-to-NIC retry of the
//! paper, section 3).

use std::collections::VecDeque;
use std::rc::Rc;

use super::super::packets::Packet;
use super::{Event, Routes, World};

/// Bytes of a message with its header: a usual medium message of Active Messages.
const MESSAGE_BYTES: u64 = 1024;

/// Bytes of an acknowledgement or of a word of the mapper.
const WORD_BYTES: u64 = 16;

/// Bytes of an entry of a table beside its turns.
const ENTRY_BYTES: u64 = 4;

/// Until a letter is sent again for the first time: longer than a round trip under load.
const FIRST_RETRY_NS: u64 = 1_000_000;

/// Each later time is twice as long, up to 128 ms.
const MOST_DOUBLINGS: u32 = 7;

/// A letter without an answer goes back to its sender after so long (as in AM over UDP).
const GIVE_UP_NS: u64 = 30_000_000_000;

/// A word of the mapper is given up earlier; its host then counts as one that has heard it.
const GIVE_UP_WORD_NS: u64 = 1_000_000_000;

/// Letters of one host to another; words of the mapper apart from messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    pub from: u32,
    pub to: u32,
    pub of_mapper: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Message,
    Stop,
    Table,
    Resume,
}

#[derive(Clone, Copy, Debug)]
pub struct Letter {
    pub flow: Flow,
    pub kind: Kind,
    pub is_ack: bool,
    number: u64,
}

/// The letters of a flow that have no answer yet.
#[derive(Debug, Default)]
pub struct Sending {
    queue: VecDeque<Letter>,
    tries: u32,
    since_ns: u64,
    /// The last one that the receiver has had.
    had: u64,
}

/// A host's interface.
#[derive(Debug)]
pub struct Nic {
    pub table: Rc<Routes>,
    pub stopped_at: Option<u64>,
    /// Whether a route of it died.
    pub is_affected: bool,
}

impl Nic {
    pub fn new(table: Rc<Routes>) -> Nic {
        Nic {
            table,
            stopped_at: None,
            is_affected: false,
        }
    }
}

impl World<'_> {
    /// A host sends a message to another one, and has the next one later.
    pub fn create(&mut self, from: u32) {
        if self.until.is_some_and(|until| self.agenda.now() >= until) || self.hosts.len() < 2 {
            return;
        }
        let others = self.hosts.keys().filter(|host| **host != from);
        let others: Vec<u32> = others.copied().collect();
        let to = others[self.random.below(others.len())];
        self.outcome.messages += 1;
        let of_mapper = false;
        self.post(
            Flow {
                from,
                to,
                of_mapper,
            },
            Kind::Message,
        );
        let gap = self.gap();
        self.agenda.after(gap, Event::Create(from));
    }

    pub fn post(&mut self, flow: Flow, kind: Kind) {
        self.letters += 1;
        let letter = Letter {
            flow,
            kind,
            is_ack: false,
            number: self.letters,
        };
        let sending = self.flows.entry(flow).or_default();
        sending.queue.push_back(letter);
        if sending.queue.len() == 1 {
            self.send(flow);
        }
    }

    /// Sends the first letter of a flow, unless its host is stopped. Letters without a route go back.
    pub fn send(&mut self, flow: Flow) {
        let nic = &self.hosts[&flow.from];
        if nic.stopped_at.is_some() && !flow.of_mapper {
            return;
        }
        let spread = self.spreads.get(&flow.from);
        let words = spread
            .filter(|_| flow.of_mapper)
            .map(|spread| &spread.routes);
        let routes = words.unwrap_or(&nic.table).clone();
        let sending = self.flows.get_mut(&flow).expect("a flow");
        let Some(turns) = routes.turns(flow.from, flow.to) else {
            sending.tries = 0;
            let returned = std::mem::take(&mut sending.queue);
            for letter in returned {
                self.outcome.unreachable += u64::from(letter.kind == Kind::Message);
                self.answered(letter);
            }
            return;
        };
        let Some(&letter) = sending.queue.front() else {
            return;
        };
        if sending.tries == 0 {
            sending.since_ns = self.agenda.now();
        }
        self.outcome.resent += u64::from(sending.tries > 0);
        sending.tries += 1;
        let wait = FIRST_RETRY_NS << (sending.tries - 1).min(MOST_DOUBLINGS);
        let event = Event::Retry(flow, letter.number, sending.tries);
        let jitter = self.random.below(wait as usize / 2) as u64;
        self.agenda.after(wait + jitter, event);
        let bytes = match letter.kind {
            Kind::Message => MESSAGE_BYTES,
            Kind::Stop | Kind::Resume => WORD_BYTES,
            Kind::Table => WORD_BYTES + routes.bytes_of(flow.to, ENTRY_BYTES),
        };
        self.fabric.send(Packet {
            from: flow.from,
            turns: turns.into(),
            bytes,
            letter,
        });
    }

    pub fn retry(&mut self, flow: Flow, number: u64, tries: u32) {
        let now = self.agenda.now();
        let sending = self.flows.get_mut(&flow).expect("a flow");
        let is_due = sending
            .queue
            .front()
            .is_some_and(|letter| letter.number == number);
        if !is_due || sending.tries != tries {
            return;
        }
        let patience = if flow.of_mapper {
            GIVE_UP_WORD_NS
        } else {
            GIVE_UP_NS
        };
        if now - sending.since_ns < patience {
            return self.send(flow);
        }
        sending.tries = 0;
        let letter = sending.queue.pop_front().expect("it is due");
        self.outcome.unanswered += u64::from(letter.kind == Kind::Message);
        self.answered(letter);
        self.send(flow);
    }

    /// A packet is at a host: a letter, which is acknowledged over the same cables, or an acknowledgement.
    pub fn arrived(&mut self, host: u32, packet: Packet<Letter>) {
        let letter = packet.letter;
        let sending = self.flows.get_mut(&letter.flow).expect("a flow");
        if letter.is_ack {
            if sending
                .queue
                .front()
                .is_some_and(|first| first.number == letter.number)
            {
                sending.queue.pop_front();
                sending.tries = 0;
                self.answered(letter);
                self.send(letter.flow);
            }
            return;
        }
        let is_new = sending.had < letter.number;
        sending.had = sending.had.max(letter.number);
        if is_new {
            match letter.kind {
                Kind::Message => self.outcome.delivered += 1,
                Kind::Stop => self.stop(host),
                Kind::Table => self.install(host, letter.flow.from),
                Kind::Resume => self.resume(host),
            }
        }
        let back = packet.turns.iter().rev().map(|turn| -turn);
        let is_ack = true;
        self.fabric.send(Packet {
            from: host,
            turns: back.collect(),
            bytes: WORD_BYTES,
            letter: Letter { is_ack, ..letter },
        });
    }

    pub fn stop(&mut self, host: u32) {
        let now = self.agenda.now();
        let nic = self.hosts.get_mut(&host).expect("a host");
        nic.stopped_at.get_or_insert(now);
    }

    /// Takes the new table of a mapper.
    pub fn install(&mut self, host: u32, mapper: u32) {
        if let Some(spread) = self.spreads.get(&mapper) {
            let nic = self.hosts.get_mut(&host).expect("a host");
            nic.table = spread.routes.clone();
        }
    }

    pub fn resume(&mut self, host: u32) {
        let now = self.agenda.now();
        let nic = self.hosts.get_mut(&host).expect("a host");
        let Some(stopped_at) = nic.stopped_at.take() else {
            return;
        };
        let outcome = &mut self.outcome;
        outcome.stopped_ns = outcome.stopped_ns.max(now - stopped_at);
        if std::mem::take(&mut nic.is_affected) {
            let since = now - self.episode.death_ns;
            outcome.longest_ns = outcome.longest_ns.max(since);
        }
        let first = Flow {
            from: host,
            to: 0,
            of_mapper: false,
        };
        let own = self
            .flows
            .range(first..)
            .take_while(|(flow, _)| flow.from == host);
        let own: Vec<Flow> = own
            .map(|(flow, _)| *flow)
            .filter(|flow| !flow.of_mapper)
            .collect();
        own.into_iter().for_each(|flow| self.send(flow));
    }
}
