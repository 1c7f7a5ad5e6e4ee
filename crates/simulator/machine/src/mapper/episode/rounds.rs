//! Rounds of the mapper: a map, and if it differs from the last one, new routes for all hosts on it.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::circle;
use super::super::explore::Found;
use super::super::packets::RESET_NS;
use super::nics::{Flow, Kind};
use super::{Event, MapError, OverWires, Routes, SETTLE_NS, Sight, Wiring, World, map};

/// New routes on their way to hosts.
#[derive(Debug)]
pub struct Spread {
    pub routes: Rc<Routes>,
    hosts: Vec<u32>,
    word: Kind,
    /// Hosts that have not acknowledged the word.
    waits: BTreeSet<u32>,
}

impl World<'_> {
    /// The lowest host of each part maps it.
    pub fn round(&mut self) -> Result<(), MapError> {
        if self.until.is_some() {
            return Ok(());
        }
        self.outcome.rounds += 1;
        self.is_round_after = self.died;
        let mut longest = 0;
        for part in self.fabric.wiring.parts() {
            let found = self.probed(part[0])?;
            longest = longest.max(found.ns);
            self.mapping.insert(part[0], found.map);
            self.agenda.after(found.ns, Event::Mapped(part[0]));
        }
        // All maps of this round are there before the next one begins.
        let next = self.episode.period_ns.max(longest + 1);
        self.agenda.after(next, Event::Round);
        Ok(())
    }

    /// The map of a host, as the network is now.
    pub fn probed(&self, host: u32) -> Result<Timed, MapError> {
        let wiring = &self.fabric.wiring;
        let depth = Sight::of(wiring, host).map_or(0, |sight| sight.depth);
        let mut probes = OverWires::new(wiring, host);
        let Found { map, .. } = map(&mut probes, depth)?;
        let ns = self.episode.probes.of(probes.sent());
        Ok(Timed { map, ns })
    }

    pub fn compare(&mut self, mapper: u32) {
        let map = self.mapping.remove(&mapper).expect("it was being made");
        let known = self.known.get(&mapper);
        let is_known = known.is_some_and(|known| map.compare(known, mapper).is_ok());
        // A host that was told of a change goes on with it first.
        if !is_known && !self.spreads.contains_key(&mapper) {
            self.spread(mapper, map);
        }
        self.settle();
    }

    fn spread(&mut self, mapper: u32, map: Wiring) {
        let now = self.agenda.now();
        self.outcome
            .found_ns
            .get_or_insert(now.saturating_sub(self.episode.death_ns));
        let (routes, _) = Routes::up_down(&map, self.episode.seed);
        let routes = Rc::new(routes);
        let hosts: Vec<u32> = map.hosts().map(|(host, _)| host).collect();
        let old = self.hosts[&mapper].table.clone();
        let both = old
            .ways(&self.episode.wiring)
            .chain(routes.ways(&self.fabric.wiring));
        let both: Vec<_> = both.collect();
        let is_circular = circle(both.iter().map(Vec::as_slice)).is_some();
        self.outcome.is_mixture_circular |= is_circular;
        self.known.insert(mapper, map);
        let spread = Spread {
            routes,
            hosts,
            word: Kind::Stop,
            waits: BTreeSet::new(),
        };
        self.spreads.insert(mapper, spread);
        self.say(mapper, Kind::Stop);
    }

    /// Sends a word to all hosts of a map; the mapper's own host takes it at once.
    fn say(&mut self, mapper: u32, word: Kind) {
        match word {
            Kind::Stop => self.stop(mapper),
            Kind::Table => self.install(mapper, mapper),
            Kind::Resume => self.resume(mapper),
            Kind::Message => {}
        }
        let spread = self.spreads.get_mut(&mapper).expect("it is on its way");
        let others: Vec<u32> = spread
            .hosts
            .iter()
            .copied()
            .filter(|host| *host != mapper)
            .collect();
        spread.word = word;
        spread.waits = others.iter().copied().collect();
        let of_mapper = true;
        for to in &others {
            let flow = Flow {
                from: mapper,
                to: *to,
                of_mapper,
            };
            self.post(flow, word);
        }
        if others.is_empty() {
            self.all_have(mapper);
        }
    }

    /// A letter is acknowledged, or has gone back to its sender.
    pub fn answered(&mut self, letter: super::nics::Letter) {
        let Some(spread) = self.spreads.get_mut(&letter.flow.from) else {
            return;
        };
        if letter.flow.of_mapper && spread.waits.remove(&letter.flow.to) && spread.waits.is_empty()
        {
            self.all_have(letter.flow.from);
        }
    }

    fn all_have(&mut self, mapper: u32) {
        match self.spreads[&mapper].word {
            Kind::Stop => self.agenda.after(RESET_NS, Event::Drained(mapper)),
            Kind::Table => self.say(mapper, Kind::Resume),
            Kind::Resume | Kind::Message => {
                self.spreads.remove(&mapper);
                self.settle();
            }
        }
    }

    pub fn drained(&mut self, mapper: u32) {
        let hosts = &self.spreads[&mapper].hosts;
        let is_old = |letter: &&super::nics::Letter| {
            !letter.flow.of_mapper && hosts.contains(&letter.flow.from)
        };
        self.outcome.left_over += self.fabric.letters().filter(is_old).count() as u64;
        self.say(mapper, Kind::Table);
    }

    /// Lets messages end once all maps after the death are known.
    fn settle(&mut self) {
        let is_over = self.mapping.is_empty() && self.spreads.is_empty();
        if self.is_round_after && is_over && self.until.is_none() {
            self.until = Some(self.agenda.now() + SETTLE_NS);
        }
    }
}

/// A map, and the time that it took.
pub struct Timed {
    pub map: Wiring,
    pub ns: u64,
}
