//! An episode: hosts send each other messages, a part of the network dies, and the mapper's rounds find new routes.
//!
//! ```text
//!   death ... next round: map, compare with the last one
//!             stop       the mapper tells each host to send no more messages
//!             drain      50 ms, after which the network has reset away whatever is blocked
//!             install    each host gets its new routes
//!             resume     each host goes on, first with what has no answer yet
//! ```
//!
//! Old and new routes are each without a circle of channels, and together need not be, so hosts stop in between. Packets
//! that are still there after the 50 ms are counted. Words of the mapper travel by the new routes, and acknowledgements
//! by the old ones, while hosts are stopped. Of the hosts that hear each other, the one with the lowest name maps; how
//! they agree on it is not simulated, and probes take time but no cable.

mod nics;
mod rounds;

use std::collections::BTreeMap;
use std::rc::Rc;

use node::Random;

use self::nics::{Flow, Letter, Nic, Sending};
use self::rounds::Spread;
use super::packets::{Agenda, Counted, Fabric, Speeds, Step};
use super::{End, MapError, OverWires, Part, ProbeTimes, Routes, Sight, Wiring, map};

/// Mean time between two messages of a host.
const GAP_NS: u64 = 10_000_000;

/// Messages go on for so long after the last new table, or a round that found nothing new.
const SETTLE_NS: u64 = 100_000_000;

/// A network, and the death of one of its parts.
#[derive(Clone, Debug)]
pub struct Episode {
    /// The network before the death.
    pub wiring: Wiring,
    /// Times of all its cables and switches.
    pub speeds: Speeds,
    /// A round takes these times, one probe after the other.
    pub probes: ProbeTimes,
    /// The part that dies.
    pub part: Part,
    /// From the start until it dies.
    pub death_ns: u64,
    /// From the start of a round to that of the next, at least.
    pub period_ns: u64,
    /// Decides destinations, times and routes.
    pub seed: u64,
}

/// The network after a death, and the time that hosts lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Hosts that no route leads to any more.
    pub cut_off: Vec<u32>,
    /// Groups of hosts that reach each other.
    pub parts: usize,
    /// Rounds of the mapper.
    pub rounds: u64,
    /// From the death until a new map is there; none if no map changed.
    pub found_ns: Option<u64>,
    /// Hosts with a route over what died, to a host that lives.
    pub affected: u64,
    /// The longest time from the death until such a host went on with new routes.
    pub longest_ns: u64,
    /// The longest time for which a host was told to send nothing.
    pub stopped_ns: u64,
    /// Whether channels of old and new routes together wait for each other in a circle.
    pub is_mixture_circular: bool,
    /// Packets of messages that were in the network when new routes were given out.
    pub left_over: u64,
    /// Pairs of hosts that reach each other and have no route at the end.
    pub unrouted: u64,
    /// Messages that hosts sent.
    pub messages: u64,
    /// Those that arrived.
    pub delivered: u64,
    /// Those that went back to their sender, since no route leads to their receiver.
    pub unreachable: u64,
    /// Those that went back to their sender without an answer; they may have arrived.
    pub unanswered: u64,
    /// Packets that were sent again.
    pub resent: u64,
    /// Packets of all kinds.
    pub packets: Counted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Step(Step),
    /// A host has a message.
    Create(u32),
    /// A letter, sent so many times, has no answer.
    Retry(Flow, u64, u32),
    Death,
    Round,
    /// The map of this mapper is there.
    Mapped(u32),
    /// The network of this mapper has no old packets.
    Drained(u32),
}

struct World<'a> {
    episode: &'a Episode,
    agenda: Agenda<Event>,
    fabric: Fabric<Letter>,
    random: Random,
    hosts: BTreeMap<u32, Nic>,
    flows: BTreeMap<Flow, Sending>,
    letters: u64,
    /// The last map of each mapper with new routes, and the maps of this round that are not ready yet.
    known: BTreeMap<u32, Wiring>,
    mapping: BTreeMap<u32, Wiring>,
    spreads: BTreeMap<u32, Spread>,
    died: bool,
    /// Whether the last round began after the death.
    is_round_after: bool,
    /// No message is made from then on.
    until: Option<u64>,
    outcome: Recovery,
}

impl Episode {
    /// Simulates it.
    ///
    /// # Errors
    /// If the network cannot be mapped.
    pub fn run(&self) -> Result<Recovery, MapError> {
        let mut world = World {
            episode: self,
            agenda: Agenda::new(),
            fabric: Fabric::new(self.wiring.clone(), self.speeds),
            random: Random::stream(self.seed, 1),
            hosts: BTreeMap::new(),
            flows: BTreeMap::new(),
            letters: 0,
            known: BTreeMap::new(),
            mapping: BTreeMap::new(),
            spreads: BTreeMap::new(),
            died: false,
            is_round_after: false,
            until: None,
            outcome: Recovery::default(),
        };
        world.begin()?;
        while let Some(event) = world.agenda.next() {
            world.happen(event)?;
            for (ns, step) in world.fabric.due() {
                world.agenda.after(ns, Event::Step(step));
            }
        }
        Ok(world.ended())
    }
}

impl World<'_> {
    /// All hosts have routes of a first map.
    fn begin(&mut self) -> Result<(), MapError> {
        for part in self.episode.wiring.parts() {
            let found = self.probed(part[0])?;
            let (routes, _) = Routes::up_down(&found.map, self.episode.seed);
            let table = Rc::new(routes);
            self.known.insert(part[0], found.map);
            for host in part {
                self.hosts.insert(host, Nic::new(table.clone()));
                let first = self.gap();
                self.agenda.after(first, Event::Create(host));
            }
        }
        self.agenda.after(self.episode.death_ns, Event::Death);
        self.agenda.after(self.episode.period_ns, Event::Round);
        Ok(())
    }

    fn happen(&mut self, event: Event) -> Result<(), MapError> {
        match event {
            Event::Step(step) => {
                if let Some((host, packet)) = self.fabric.step(step) {
                    self.arrived(host, packet);
                }
            }
            Event::Create(host) => self.create(host),
            Event::Retry(flow, number, tries) => self.retry(flow, number, tries),
            Event::Death => self.die(),
            Event::Round => self.round()?,
            Event::Mapped(mapper) => self.compare(mapper),
            Event::Drained(mapper) => self.drained(mapper),
        }
        Ok(())
    }

    fn die(&mut self) {
        self.died = true;
        self.fabric.kill(self.episode.part);
        let wiring = &self.fabric.wiring;
        let is_cut = |host: &u32| wiring.port_of(*host).is_none();
        self.outcome.cut_off = self.hosts.keys().copied().filter(is_cut).collect();
        for host in self.broken() {
            let nic = self.hosts.get_mut(&host).expect("a host");
            nic.is_affected = true;
        }
        self.outcome.parts = self.fabric.wiring.parts().len();
        // Without a host that could map, no round lets messages end.
        self.until = (self.outcome.parts == 0).then_some(self.agenda.now());
        self.outcome.affected = self.hosts.values().filter(|nic| nic.is_affected).count() as u64;
    }

    /// The hosts with a route that does not lead where it should, to a host that they could reach: once for each such
    /// route.
    fn broken(&self) -> Vec<u32> {
        let wiring = &self.fabric.wiring;
        let mut broken = Vec::new();
        for part in wiring.parts() {
            for (from, to) in part
                .iter()
                .flat_map(|from| part.iter().map(move |to| (*from, *to)))
            {
                let turns = self.hosts[&from].table.turns(from, to);
                let end = turns.and_then(|turns| wiring.walk(from, turns.iter().copied()).1);
                if from != to && end != Some(End::Host(to)) {
                    broken.push(from);
                }
            }
        }
        broken
    }

    fn ended(mut self) -> Recovery {
        self.outcome.unrouted = self.broken().len() as u64;
        self.outcome.packets = self.fabric.counted;
        self.outcome
    }

    /// A drawn time between two messages of a host.
    fn gap(&mut self) -> u64 {
        1 + self.random.below(2 * GAP_NS as usize) as u64
    }
}
