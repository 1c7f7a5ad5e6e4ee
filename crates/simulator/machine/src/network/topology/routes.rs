//! The routes of a graph: for each switch, the links that begin a shortest way to each other one.
//!
//! The shortest way has the fewest links. All links that begin one are used, and a drawn number
//! chooses, as a folded Clos network chooses among its uplinks.

use std::collections::HashMap;

use super::{End, Topology};
use crate::profile::Graph;

/// Sets of links, by switch and by the switch that is the end of the way.
#[derive(Debug, Default)]
pub struct Routes {
    switches: usize,
    /// The set of each pair of switches.
    set_of: Vec<u32>,
    /// The place of each set in `links`, and its length.
    sets: Vec<(u32, u32)>,
    links: Vec<u16>,
}

impl Routes {
    /// The routes of a graph, whose topology has its links.
    pub fn new(topology: &Topology, graph: &Graph) -> Routes {
        let switches = topology.switches as usize;
        let neighbours = graph.neighbours();
        let distances: Vec<Vec<u16>> = (0..topology.switches)
            .map(|end| graph.distances(&neighbours, end))
            .collect();
        let mut routes = Routes {
            switches,
            ..Routes::default()
        };
        let mut known: HashMap<Vec<u16>, u32> = HashMap::new();
        let mut set = Vec::new();
        for at in 0..topology.switches {
            for to in &distances {
                set.clear();
                let nearer = |next: u32| to[next as usize] < to[at as usize];
                let links = (0..).zip(topology.links(at));
                set.extend(links.filter_map(|(number, link)| match link.end {
                    End::Switch(next) if nearer(next) => Some(number),
                    _ => None,
                }));
                let number = known.get(&set).copied();
                routes.set_of.push(number.unwrap_or_else(|| {
                    let number = routes.sets.len() as u32;
                    known.insert(set.clone(), number);
                    routes
                        .sets
                        .push((routes.links.len() as u32, set.len() as u32));
                    routes.links.extend(&set);
                    number
                }));
            }
        }
        routes
    }

    /// The link of a switch that a drawn number chooses towards another switch.
    pub fn pick(&self, at: u32, to: u32, drawn: u32) -> u32 {
        let set = self.set_of[at as usize * self.switches + to as usize];
        let (first, count) = self.sets[set as usize];
        let chosen = (u64::from(drawn) * u64::from(count)) >> 32;
        self.links[first as usize + chosen as usize].into()
    }

    /// The links of a switch over which a multicast from switch `from` goes on to the switches `to`.
    ///
    /// The ways are a tree: each switch has one link towards the sender, the one that `drawn` chooses.
    pub fn branches(
        &self,
        topology: &Topology,
        (at, from): (u32, u32),
        to: impl Iterator<Item = u32>,
        drawn: u32,
    ) -> Vec<u32> {
        let mut links = Vec::new();
        for mut switch in to.filter(|to| ![at, from].contains(to)) {
            while ![at, from].contains(&switch) {
                let link = topology.link(switch, self.pick(switch, from, drawn));
                let End::Switch(next) = link.end else {
                    unreachable!("a route leads over switches")
                };
                if next == at {
                    links.push(link.back);
                }
                switch = next;
            }
        }
        links
    }
}
