//! Routes of all pairs of hosts: up*/down* (Autonet: Schroeder et al. 1991).
//!
//! One switch is the root. The end of a cable that is nearer to it is up, among equals that of the smaller
//! number. A route goes up as long as it likes, then down; no channel down waits for one up, and both
//! kinds are ordered, so channels wait in no circle. Every connected network has such routes.

use std::collections::BTreeMap;

use node::Random;

use super::{Channel, End, Port, Wiring};

/// The turns from each host to each other one.
#[derive(Clone, Debug)]
pub struct Routes {
    hosts: BTreeMap<u32, usize>,
    turns: Vec<Option<Box<[i16]>>>,
}

/// The use of a network by one packet from each host to each other one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Pairs of hosts with a route, in both directions.
    pub pairs: u64,
    /// Pairs without one.
    pub missing: u64,
    /// Switches on the longest route.
    pub longest: usize,
    /// Switches on a route.
    pub mean: f64,
    /// The channel between switches with the most routes, and their number.
    pub busiest: Option<(Channel, u64)>,
}

/// The order of switches from the root outwards.
#[derive(Clone, Debug)]
struct Order {
    /// Distance and number of each switch.
    key: Vec<(u32, u32)>,
    /// Switches by key.
    switches: Vec<u32>,
}

/// The far end of a route: the port of a host, and the links that are left from each switch to that port's.
struct Goal<'a> {
    end: Port,
    remaining: &'a Remaining,
}

/// The links that a legal route still needs to one switch; none if there is no such route.
struct Remaining {
    /// While it may go up.
    free: Vec<Option<u32>>,
    /// Once it has gone down.
    down: Vec<Option<u32>>,
}

impl Routes {
    /// Up*/down* over a map, from its best root, and the root. Among equally short routes a hash of seed, source
    /// and destination chooses.
    ///
    /// # Panics
    /// If the map has no host.
    pub fn up_down(map: &Wiring, seed: u64) -> (Routes, u32) {
        let root = farthest(map);
        (Routes::from_root(map, root, seed), root)
    }

    /// Up*/down* from this root.
    pub fn from_root(map: &Wiring, root: u32, seed: u64) -> Routes {
        let order = Order::new(map, root);
        let mut towards: BTreeMap<u32, Remaining> = BTreeMap::new();
        for (_, at) in map.hosts() {
            let to = at.switch;
            towards
                .entry(to)
                .or_insert_with(|| order.remaining(map, to));
        }
        Routes::imposed(map, |from, to| {
            let (start, end) = (map.port_of(from)?, map.port_of(to)?);
            let remaining = &towards[&end.switch];
            let drawn = Random::stream(seed, u64::from(from) << 32 | u64::from(to));
            order.route(map, start, Goal { end, remaining }, drawn)
        })
    }

    /// A table that somebody gives.
    pub fn imposed(map: &Wiring, mut route: impl FnMut(u32, u32) -> Option<Vec<i16>>) -> Routes {
        let names: Vec<u32> = map.hosts().map(|(host, _)| host).collect();
        let pairs = names
            .iter()
            .flat_map(|from| names.iter().map(move |to| (*from, *to)));
        let turns = pairs.map(|(from, to)| {
            let route = (from != to).then(|| route(from, to)).flatten();
            route.map(Vec::into_boxed_slice)
        });
        Routes {
            turns: turns.collect(),
            hosts: names.iter().copied().zip(0..).collect(),
        }
    }

    /// The turns from one host to another.
    pub fn turns(&self, from: u32, to: u32) -> Option<&[i16]> {
        let [from, to] = [self.hosts.get(&from)?, self.hosts.get(&to)?];
        self.turns[from * self.hosts.len() + to].as_deref()
    }

    /// Bytes of the table of one host: a byte for each turn, and so many for each entry.
    pub(super) fn bytes_of(&self, from: u32, entry: u64) -> u64 {
        let turns = self.hosts.keys().filter_map(|to| self.turns(from, *to));
        turns.map(|turns| turns.len() as u64 + entry).sum()
    }

    /// All pairs of different hosts.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let names = || self.hosts.keys().copied();
        names().flat_map(move |from| {
            names()
                .filter(move |to| *to != from)
                .map(move |to| (from, to))
        })
    }

    /// The channels of each route that ends where it should.
    pub fn ways<'a>(&'a self, wiring: &'a Wiring) -> impl Iterator<Item = Vec<Channel>> + 'a {
        self.pairs().filter_map(move |(from, to)| {
            let turns = self.turns(from, to)?.iter().copied();
            let (way, end) = wiring.walk(from, turns);
            (end == Some(End::Host(to))).then_some(way)
        })
    }

    /// The use of the network.
    pub fn load(&self, wiring: &Wiring) -> Load {
        let mut used: BTreeMap<Channel, u64> = BTreeMap::new();
        let (mut pairs, mut longest, mut switches) = (0, 0, 0);
        for way in self.ways(wiring) {
            pairs += 1;
            longest = longest.max(way.len());
            switches += way.len();
            // The last channel leads to the host.
            for channel in &way[..way.len() - 1] {
                *used.entry(*channel).or_default() += 1;
            }
        }
        let busiest = used
            .into_iter()
            .max_by_key(|(channel, routes)| (*routes, std::cmp::Reverse(*channel)));
        Load {
            pairs,
            missing: self.pairs().count() as u64 - pairs,
            longest,
            mean: switches as f64 / pairs.max(1) as f64,
            busiest,
        }
    }
}

/// The switch that is farthest from all hosts, as on the NOW; among equals the one with the most cables.
fn farthest(map: &Wiring) -> u32 {
    let mut near = vec![u32::MAX; map.switches() as usize];
    let mut reached: Vec<u32> = map.hosts().map(|(_, at)| at.switch).collect();
    reached.sort_unstable();
    reached.dedup();
    reached.iter().for_each(|switch| near[*switch as usize] = 0);
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        for (_, far) in map.neighbours(at) {
            if near[far.switch as usize] == u32::MAX {
                near[far.switch as usize] = near[at as usize] + 1;
                reached.push(far.switch);
            }
        }
    }
    let rank = |switch: &u32| {
        (
            near[*switch as usize],
            map.cables(*switch).count(),
            std::cmp::Reverse(*switch),
        )
    };
    reached
        .into_iter()
        .max_by_key(rank)
        .expect("the map has a host")
}

impl Order {
    fn new(map: &Wiring, root: u32) -> Order {
        let distances = map.distances(root);
        let reached = (0..)
            .zip(distances)
            .filter_map(|(switch, distance)| Some((distance?, switch)));
        let mut sorted: Vec<(u32, u32)> = reached.collect();
        sorted.sort_unstable();
        let mut key = vec![(u32::MAX, 0); map.switches() as usize];
        for (distance, switch) in &sorted {
            key[*switch as usize] = (*distance, *switch);
        }
        Order {
            key,
            switches: sorted.into_iter().map(|(_, switch)| switch).collect(),
        }
    }

    fn is_up(&self, from: u32, to: u32) -> bool {
        self.key[to as usize] < self.key[from as usize]
    }

    /// Moves go up or down the order, so one pass in each direction finds all.
    fn remaining(&self, map: &Wiring, to: u32) -> Remaining {
        let none = || vec![None; map.switches() as usize];
        let (mut free, mut down) = (none(), none());
        down[to as usize] = Some(0);
        for &at in self.switches.iter().rev() {
            let below = map
                .neighbours(at)
                .filter(|(_, far)| !self.is_up(at, far.switch));
            let best = below.filter_map(|(_, far)| down[far.switch as usize]).min();
            if at != to {
                down[at as usize] = best.map(|links: u32| links + 1);
            }
        }
        for &at in &self.switches {
            let above = map
                .neighbours(at)
                .filter(|(_, far)| self.is_up(at, far.switch));
            let best = above.filter_map(|(_, far)| free[far.switch as usize]).min();
            let over: Option<u32> = best.map(|links: u32| links + 1);
            let all = [over, down[at as usize]];
            free[at as usize] = all.into_iter().flatten().min();
        }
        Remaining { free, down }
    }

    fn route(
        &self,
        map: &Wiring,
        start: Port,
        Goal { end, remaining }: Goal<'_>,
        mut drawn: Random,
    ) -> Option<Vec<i16>> {
        let (mut at, mut is_free) = (start, true);
        let mut left = remaining.free[start.switch as usize]?;
        let mut turns = Vec::new();
        while left > 0 {
            left -= 1;
            let begins = |(_, far): &(Port, Port)| {
                let is_up = self.is_up(at.switch, far.switch);
                let after = if is_up {
                    &remaining.free
                } else {
                    &remaining.down
                };
                (is_free || !is_up) && after[far.switch as usize] == Some(left)
            };
            let begun: Vec<(Port, Port)> = map.neighbours(at.switch).filter(begins).collect();
            let (out, far) = begun[drawn.below(begun.len())];
            is_free = is_free && self.is_up(at.switch, far.switch);
            turns.push(turn(at, out));
            at = far;
        }
        turns.push(turn(at, end));
        Some(turns)
    }
}

fn turn(entered: Port, out: Port) -> i16 {
    out.port as i16 - entered.port as i16
}
