//! Source-routed packets on cables: cut-through, and a packet that is blocked holds its path.
//!
//! A packet takes one cable after the other and gives all back when its tail has arrived, as if no switch
//! had room for it. A packet that waits for longer than [`RESET_NS`] is taken out of the network. Packets on a cable that
//! dies are lost.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::{End, Part, Port, Wiring};
use crate::profile::Profile;

/// A packet that is blocked for about 50 ms is reset away (Myricom's link).
pub const RESET_NS: u64 = 50_000_000;

/// The times of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speeds {
    /// Latency of a cable.
    pub link_ns: u64,
    /// Latency of a switch.
    pub switch_ns: u64,
    /// Femtoseconds in which a cable takes `flit_bytes` bytes.
    pub tick_fs: u64,
    /// Bytes on a cable in a tick.
    pub flit_bytes: u32,
}

impl Speeds {
    /// Those of `[network]`: own times of single switches and links in `[graph]` do not count here.
    pub fn of(profile: &Profile) -> Speeds {
        Speeds {
            link_ns: profile.network.link_ns.value().round() as u64,
            switch_ns: profile.network.switch_ns.value().round() as u64,
            tick_fs: profile.tick_fs,
            flit_bytes: profile.network.flit_bytes,
        }
    }

    /// Time of so many bytes on a cable.
    fn bytes_ns(&self, bytes: u64) -> u64 {
        let fs = u128::from(bytes) * u128::from(self.tick_fs) / u128::from(self.flit_bytes);
        (fs / 1_000_000) as u64
    }
}

/// Packets of all kinds, acknowledgements and words of the mapper included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Packets that entered the network.
    pub packets: u64,
    /// Packets that died with a part, or met one that was dead.
    pub lost: u64,
    /// Packets that were reset away.
    pub reset: u64,
}

/// Events in the order of their times.
#[derive(Debug)]
pub struct Agenda<T> {
    events: BinaryHeap<Reverse<(u64, u64, T)>>,
    now: u64,
    count: u64,
}

impl<T: Ord> Agenda<T> {
    pub fn new() -> Agenda<T> {
        Agenda {
            events: BinaryHeap::new(),
            now: 0,
            count: 0,
        }
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    pub fn after(&mut self, ns: u64, event: T) {
        self.count += 1;
        self.events
            .push(Reverse((self.now + ns, self.count, event)));
    }

    pub fn next(&mut self) -> Option<T> {
        let Reverse((time, _, event)) = self.events.pop()?;
        self.now = time;
        Some(event)
    }
}

/// The next step of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Its head is at the far end of its last cable.
    Head(u64),
    /// Its tail is.
    Tail(u64),
    /// It has waited for a cable, its n-th, for too long.
    Blocked(u64, usize),
}

/// A cable in one direction, by the end that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cable {
    Host(u32),
    Port(Port),
}

#[derive(Debug, Default)]
struct Line {
    holder: Option<u64>,
    waiting: VecDeque<u64>,
}

/// A packet and what it carries.
#[derive(Debug)]
pub struct Packet<L> {
    pub from: u32,
    pub turns: Box<[i16]>,
    pub bytes: u64,
    pub letter: L,
}

#[derive(Debug)]
struct Travelling<L> {
    packet: Packet<L>,
    /// The cables that it holds, and the one that it waits for.
    held: Vec<Cable>,
    waits: Option<Cable>,
}

/// The network and the packets on it.
#[derive(Debug)]
pub struct Fabric<L> {
    pub wiring: Wiring,
    pub counted: Counted,
    speeds: Speeds,
    lines: BTreeMap<Cable, Line>,
    travelling: BTreeMap<u64, Travelling<L>>,
    /// Packets whose next step is due, and the time until then.
    due: Vec<(u64, Step)>,
}

impl<L> Fabric<L> {
    pub fn new(wiring: Wiring, speeds: Speeds) -> Fabric<L> {
        Fabric {
            wiring,
            counted: Counted::default(),
            speeds,
            lines: BTreeMap::new(),
            travelling: BTreeMap::new(),
            due: Vec::new(),
        }
    }

    /// The steps that came of what was done last, each with the time until then.
    pub fn due(&mut self) -> Vec<(u64, Step)> {
        std::mem::take(&mut self.due)
    }

    /// The letters that are in the network.
    pub fn letters(&self) -> impl Iterator<Item = &L> {
        self.travelling.values().map(|it| &it.packet.letter)
    }

    pub fn send(&mut self, packet: Packet<L>) {
        let number = self.counted.packets;
        self.counted.packets += 1;
        let cable = Cable::Host(packet.from);
        let travelling = Travelling {
            packet,
            held: Vec::new(),
            waits: None,
        };
        self.travelling.insert(number, travelling);
        self.ask(number, cable);
    }

    /// Goes on with a packet; one that has arrived is given out, with the host.
    pub fn step(&mut self, step: Step) -> Option<(u32, Packet<L>)> {
        match step {
            Step::Head(number) => self.head(number),
            Step::Tail(number) => {
                let held = &self.travelling.get(&number)?.held;
                let End::Host(host) = self.end(*held.last()?)? else {
                    return None;
                };
                return self.release(number).map(|packet| (host, packet));
            }
            Step::Blocked(number, cables) => {
                let waits = self.travelling.get(&number);
                if waits.is_some_and(|it| it.waits.is_some() && it.held.len() == cables) {
                    self.counted.reset += 1;
                    self.release(number);
                }
            }
        }
        None
    }

    /// A part dies, with what is on it.
    pub fn kill(&mut self, part: Part) {
        self.wiring.remove(part);
        let is_dead = |cable: &Cable| self.end(*cable).is_none();
        let is_hit = |it: &Travelling<L>| it.held.iter().chain(&it.waits).any(is_dead);
        let hit = self.travelling.iter().filter(|(_, it)| is_hit(it));
        let hit: Vec<u64> = hit.map(|(number, _)| *number).collect();
        hit.into_iter().for_each(|number| self.lose(number));
    }

    fn end(&self, cable: Cable) -> Option<End> {
        match cable {
            Cable::Host(host) => self.wiring.port_of(host).map(End::Switch),
            Cable::Port(port) => self.wiring.end(port),
        }
    }

    fn lose(&mut self, number: u64) {
        self.counted.lost += u64::from(self.release(number).is_some());
    }

    fn head(&mut self, number: u64) {
        let Some(it) = self.travelling.get(&number) else {
            return;
        };
        let cable = *it.held.last().expect("a head is on a cable");
        // The first cable leads to the first switch, before any turn.
        let turn = it.packet.turns.get(it.held.len() - 1).copied();
        match (self.end(cable), turn) {
            (Some(End::Host(_)), None) => {
                let tail = self.speeds.bytes_ns(it.packet.bytes);
                self.due.push((tail, Step::Tail(number)));
            }
            (Some(End::Switch(entered)), Some(turn)) => match self.wiring.turned(entered, turn) {
                Some(out) => self.ask(number, Cable::Port(out)),
                None => self.lose(number),
            },
            _ => self.lose(number),
        }
    }

    fn ask(&mut self, number: u64, cable: Cable) {
        if self.end(cable).is_none() {
            return self.lose(number);
        }
        let line = self.lines.entry(cable).or_default();
        if line.holder.is_none() {
            return self.take(number, cable);
        }
        line.waiting.push_back(number);
        let it = self
            .travelling
            .get_mut(&number)
            .expect("it is in the network");
        it.waits = Some(cable);
        // A host waits with a packet for its own cable as long as it likes.
        if !it.held.is_empty() {
            let step = Step::Blocked(number, it.held.len());
            self.due.push((RESET_NS, step));
        }
    }

    fn take(&mut self, number: u64, cable: Cable) {
        let line = self.lines.get_mut(&cable).expect("somebody asked for it");
        line.holder = Some(number);
        let it = self
            .travelling
            .get_mut(&number)
            .expect("it is in the network");
        it.waits = None;
        it.held.push(cable);
        let switch = if it.held.len() > 1 {
            self.speeds.switch_ns
        } else {
            0
        };
        self.due
            .push((switch + self.speeds.link_ns, Step::Head(number)));
    }

    /// Takes a packet out, and gives its cables to those that wait.
    fn release(&mut self, number: u64) -> Option<Packet<L>> {
        let gone = self.travelling.remove(&number)?;
        if let Some(cable) = gone.waits {
            let line = self.lines.get_mut(&cable).expect("it waits there");
            line.waiting.retain(|waits| *waits != number);
        }
        for cable in gone.held {
            let line = self.lines.get_mut(&cable).expect("it was held");
            line.holder = None;
            if let Some(next) = line.waiting.pop_front() {
                self.take(next, cable);
            }
        }
        Some(gone.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a time of a byte that is rounded before it is multiplied: 7 bytes take 1 ns.
    #[test]
    fn bytes_take_their_share_of_a_tick() {
        let speeds = Speeds {
            link_ns: 0,
            switch_ns: 0,
            tick_fs: 1_000_000,
            flit_bytes: 7,
        };
        assert_eq!([21_000, 6].map(|bytes| speeds.bytes_ns(bytes)), [3000, 0]);
    }

    /// Four switches in a ring, a host at each: all send to the opposite one at once, clockwise.
    #[test]
    fn a_circle_of_channels_deadlocks_until_it_is_reset() {
        let mut ring = Wiring::new(4, 8);
        for switch in 0..4 {
            let port = |port| Port { switch, port };
            ring.attach(switch, port(0));
            let far = Port {
                switch: (switch + 1) % 4,
                port: 2,
            };
            ring.join(port(1), far);
        }
        let speeds = Speeds {
            link_ns: 50,
            switch_ns: 400,
            tick_fs: 6_250_000,
            flit_bytes: 1,
        };
        let sent = |hosts: &[u32]| {
            let mut fabric = Fabric::new(ring.clone(), speeds);
            let mut agenda = Agenda::new();
            for &from in hosts {
                fabric.send(Packet {
                    from,
                    turns: Box::new([1, -1, -2]),
                    bytes: 100,
                    letter: from,
                });
            }
            let mut arrived = Vec::new();
            loop {
                for (ns, step) in fabric.due() {
                    agenda.after(ns, step);
                }
                let Some(step) = agenda.next() else {
                    break;
                };
                let ended = fabric.step(step);
                arrived.extend(ended.map(|(host, packet)| (packet.letter, host, agenda.now())));
            }
            (arrived, fabric.counted.reset)
        };
        // Four cables, three switches, and the bytes.
        let alone = 4 * 50 + 3 * 400 + 625;
        assert_eq!(sent(&[0]), (vec![(0, 2, alone)], 0));
        let (arrived, reset) = sent(&[0, 1, 2, 3]);
        assert!(reset > 0 && arrived.len() < 4, "{arrived:?}");
        assert!(arrived.iter().all(|(_, _, time)| *time > RESET_NS));
    }
}
