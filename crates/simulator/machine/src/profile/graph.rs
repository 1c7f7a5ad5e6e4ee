//! A network as a graph: switches with their NICs, and links between them.
//!
//! ```toml
//!   [graph]
//!   switches = [{ name = "a", nics = 4 }, { name = "b", nics = 4, switch_ns = 100 }, "c"]
//!   links = ["a - b", { ends = "b - c", link_ns = 100, gbit_s = 100, count = 2 }]
//! ```
//!
//! A latency that is left out is that of `[network]`, and a link without a rate carries
//! `flit_bytes` per tick. `link_ns` and `gbit_s` of a switch are of the links to its NICs.
//! [`sketch`](super::sketch) reads and checks it.

use std::collections::VecDeque;

use super::{Nanoseconds, Profile};
use crate::schedule::{Pace, Ticks};

/// A network of any shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Switches; NICs are numbered in their order.
    pub switches: Vec<SwitchModel>,
    /// Links between switches.
    pub links: Vec<LinkModel>,
}

/// A switch and its NICs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchModel {
    /// Its name in the file.
    pub name: String,
    /// Number of NICs.
    pub nics: u32,
    /// Latency, unless it is that of `[network]`.
    pub switch_ns: Option<Nanoseconds>,
    /// The links to its NICs.
    pub link: LinkTimes,
}

/// A link between two switches, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkModel {
    /// The numbers of its switches.
    pub ends: [u32; 2],
    /// Number of such links.
    pub count: u32,
    /// Its latency and rate.
    pub link: LinkTimes,
}

/// Latency and rate of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTimes {
    /// Latency, unless it is that of `[network]`.
    pub link_ns: Option<Nanoseconds>,
    /// Thousandths of a Gb/s; a flit per tick if there is none.
    pub gbit_s: Option<u64>,
}

/// The graph in ticks of its machine.
#[derive(Debug)]
pub(crate) struct Times {
    /// Latency of each switch.
    pub switches: Vec<Ticks>,
    /// Latency and pace of the links from each switch to its NICs.
    pub nics: Vec<(Ticks, Pace)>,
    /// Latency and pace of each link between switches.
    pub links: Vec<(Ticks, Pace)>,
}

/// The shortest ways between NICs that have the same number of switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Pairs of NICs, each counted in both directions.
    pub pairs: u64,
    /// The largest sum of latencies, from NIC to NIC.
    pub longest: Ticks,
}

/// For each switch its neighbours, with the number of the link.
type Neighbours = Vec<Vec<(u32, u32)>>;

/// The distance of a switch that cannot be reached.
pub(crate) const FAR: u16 = u16::MAX;

impl Graph {
    /// Number of NICs.
    pub fn nics(&self) -> u64 {
        self.switches
            .iter()
            .map(|switch| u64::from(switch.nics))
            .sum()
    }

    /// The switch of a NIC.
    ///
    /// # Panics
    /// If there are fewer NICs.
    pub fn switch_of(&self, nic: u64) -> usize {
        let mut until = 0;
        let has = |switch: &SwitchModel| {
            until += u64::from(switch.nics);
            nic < until
        };
        self.switches
            .iter()
            .position(has)
            .expect("a NIC of the graph")
    }

    pub(crate) fn times(&self, profile: &Profile) -> Times {
        let network = &profile.network;
        let of = |link: LinkTimes| {
            let ns = link.link_ns.unwrap_or(network.link_ns);
            let pace = |gbit_s| Pace::of(gbit_s, network.flit_bytes, profile.tick_fs);
            (
                Ticks(profile.ticks(ns.value())),
                link.gbit_s.map_or(Pace::TICK, pace),
            )
        };
        let latency = |switch: &SwitchModel| {
            let ns = switch.switch_ns.unwrap_or(network.switch_ns);
            Ticks(profile.ticks(ns.value()))
        };
        Times {
            switches: self.switches.iter().map(latency).collect(),
            nics: self.switches.iter().map(|switch| of(switch.link)).collect(),
            links: self.links.iter().map(|link| of(link.link)).collect(),
        }
    }

    pub(crate) fn neighbours(&self) -> Neighbours {
        let mut neighbours = vec![Vec::new(); self.switches.len()];
        for (number, link) in (0..).zip(&self.links) {
            let [a, b] = link.ends;
            neighbours[a as usize].push((b, number));
            neighbours[b as usize].push((a, number));
        }
        neighbours
    }

    /// The number of links from every switch to this one.
    pub(crate) fn distances(&self, neighbours: &Neighbours, end: u32) -> Vec<u16> {
        self.nearest_first(neighbours, end).1
    }

    /// All switches that reach this one, nearest first, and the distances of all.
    fn nearest_first(&self, neighbours: &Neighbours, end: u32) -> (Vec<u32>, Vec<u16>) {
        let mut distances = vec![FAR; self.switches.len()];
        distances[end as usize] = 0;
        let (mut order, mut reached) = (Vec::new(), VecDeque::from([end]));
        while let Some(at) = reached.pop_front() {
            order.push(at);
            let next = distances[at as usize] + 1;
            for &(other, _) in &neighbours[at as usize] {
                if distances[other as usize] == FAR {
                    distances[other as usize] = next;
                    reached.push_back(other);
                }
            }
        }
        (order, distances)
    }

    /// The ways over one switch, over two, and so on, to the longest. Each switch adds at least
    /// `flits` flits of the link before it.
    pub fn ways(&self, profile: &Profile, flits: u64) -> Vec<Ways> {
        let (times, neighbours) = (self.times(profile), self.neighbours());
        let hop =
            |(latency, pace): (Ticks, Pace), switch: Ticks| latency + switch.max(pace.ticks(flits));
        let nics = |switch: u32| u64::from(self.switches[switch as usize].nics);
        let mut ways: Vec<Ways> = Vec::new();
        for end in (0..self.switches.len() as u32).filter(|end| nics(*end) > 0) {
            let (order, distances) = self.nearest_first(&neighbours, end);
            let mut way = vec![Ticks(0); distances.len()];
            way[end as usize] = times.nics[end as usize].0;
            for at in order {
                let distance = distances[at as usize];
                for &(next, link) in &neighbours[at as usize] {
                    if distances[next as usize] < distance {
                        let (link, next) = (times.links[link as usize], next as usize);
                        let longer = way[next] + hop(link, times.switches[next]);
                        way[at as usize] = way[at as usize].max(longer);
                    }
                }
                let others = nics(end) - u64::from(at == end);
                if nics(at) > 0 && others > 0 {
                    let first = hop(times.nics[at as usize], times.switches[at as usize]);
                    ways.resize(ways.len().max(usize::from(distance) + 1), Ways::default());
                    let ways = &mut ways[usize::from(distance)];
                    ways.pairs += nics(at) * others;
                    ways.longest = ways.longest.max(first + way[at as usize]);
                }
            }
        }
        ways
    }

    /// The switches of the longest way, and the largest sum of latencies.
    pub(crate) fn reach(&self, profile: &Profile, flits: u64) -> (u32, Ticks) {
        let ways = self.ways(profile, flits);
        let longest = ways.iter().map(|ways| ways.longest).max();
        (ways.len() as u32, longest.unwrap_or_default())
    }
}
