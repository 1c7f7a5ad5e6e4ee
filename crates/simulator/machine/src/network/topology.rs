//! The topology: ranks, NICs, switches, and the links between them.
//!
//! Every network is a list of links for each switch, first those to its NICs. A folded Clos network
//! ([`tree`]) and a graph of a machine file ([`routes`]) generate such lists, and differ in how a
//! switch finds the link towards a NIC:
//!
//! ```text
//!   tree     the NICs below a switch are a range, so the way is arithmetic: a table of 12,288
//!            switches, as of a million cores, would not stay in any cache
//!   routes   a row per switch, with a set of links for each other switch
//! ```
//!
//! NICs are numbered switch by switch.

mod drawn;
mod routes;
mod tree;

use std::ops::Range;

use crate::profile::Profile;
use crate::schedule::{Pace, Ticks};

pub use self::routes::Routes;
pub use self::tree::{Layer, Tree};

/// The shape of a machine.
#[derive(Debug)]
pub struct Topology {
    pub ranks: u32,
    pub ranks_per_nic: u32,
    pub nics: u32,
    pub switches: u32,
    pub rule: Rule,
    /// The links of all switches, one after the other, and the first of each.
    links: Vec<Direction>,
    first: Vec<u32>,
    /// The first NIC of each switch, and the number of all.
    own: Vec<u32>,
    /// The switch of each NIC.
    leaf: Vec<u32>,
    wires: Vec<Wire>,
    /// The wire from the NICs of each switch to it.
    up: Vec<u32>,
    /// Links on the longest way between two NICs.
    most_links: u64,
    by_ranks_per_nic: Divisor,
}

/// How a switch finds the link towards a NIC.
#[derive(Debug)]
pub enum Rule {
    Tree(Tree),
    Routes(Routes),
}

/// A link, seen from one end.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    pub end: End,
    /// The number of the link at its far end, if that is a switch.
    pub back: u32,
    wire: u32,
}

impl Direction {
    pub fn wire_number(self) -> u32 {
        self.wire
    }
}

impl Wire {
    /// When a switch at its end can send a packet on that starts now and takes `length`.
    #[inline]
    pub fn at_switch(&self, start: Ticks, length: Ticks) -> Ticks {
        let ready = if self.is_taken_whole {
            length.max(self.switch)
        } else {
            self.switch
        };
        start + self.latency + ready
    }

    /// The least time in which a switch at its end can send a packet on that takes `length` or more.
    pub fn least(&self, length: Ticks) -> Ticks {
        self.at_switch(Ticks(0), length)
    }
}

/// The times of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    pub latency: Ticks,
    /// Latency of the switch at its end, if there is one.
    pub switch: Ticks,
    pub pace: Pace,
    /// Whether a switch sends a packet on when it has come whole, because the next link may be faster.
    pub is_taken_whole: bool,
}

/// The far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Nic(u32),
    Switch(u32),
    /// No NIC or switch of this run: the link is not used.
    Nowhere,
}

/// Division by a constant as a multiplication, exact for numbers below 2^23 and divisors up to
/// 2^17.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    factor: u64,
}

impl Divisor {
    pub fn new(divisor: u32) -> Divisor {
        Divisor {
            factor: (1 << 40) / u64::from(divisor) + 1,
        }
    }

    pub fn quotient(self, number: u32) -> u32 {
        ((u64::from(number) * self.factor) >> 40) as u32
    }
}

impl Topology {
    pub fn new(profile: &Profile, ranks: u32) -> Topology {
        let nics = ranks.div_ceil(profile.core.ranks_per_nic);
        match &profile.graph {
            None => of_tree(profile, ranks, Tree::new(&profile.network, nics)),
            Some(graph) => drawn::topology(profile, ranks, graph),
        }
    }

    /// The number of switches that this many ranks need, without making them.
    pub fn switches(profile: &Profile, ranks: u32) -> u32 {
        let nics = ranks.div_ceil(profile.core.ranks_per_nic);
        match &profile.graph {
            None => Tree::new(&profile.network, nics).switches,
            Some(graph) => graph.switches.len() as u32,
        }
    }

    /// A topology without links, whose switches have these numbers of NICs.
    fn empty(
        profile: &Profile,
        ranks: u32,
        rule: Rule,
        nics: impl Iterator<Item = u32>,
    ) -> Topology {
        let ranks_per_nic = profile.core.ranks_per_nic;
        let all = ranks.div_ceil(ranks_per_nic);
        let (mut own, mut leaf) = (vec![0], Vec::with_capacity(all as usize));
        for (switch, some) in (0..).zip(nics) {
            let first = leaf.len();
            let until = first.saturating_add(some as usize).min(all as usize);
            leaf.resize(until, switch);
            own.push(until as u32);
        }
        Topology {
            ranks,
            ranks_per_nic,
            nics: all,
            switches: own.len() as u32 - 1,
            rule,
            links: Vec::new(),
            first: vec![0],
            own,
            leaf,
            wires: Vec::new(),
            up: Vec::new(),
            most_links: 0,
            by_ranks_per_nic: Divisor::new(ranks_per_nic),
        }
    }

    #[inline]
    pub fn nic_of(&self, rank: u32) -> u32 {
        self.by_ranks_per_nic.quotient(rank)
    }

    /// The switch of a NIC.
    pub fn leaf_of(&self, nic: u32) -> u32 {
        self.leaf[nic as usize]
    }

    /// The NICs of a switch.
    pub fn own(&self, switch: u32) -> Range<u32> {
        self.own[switch as usize]..self.own[switch as usize + 1]
    }

    /// The links of a switch.
    pub fn links(&self, switch: u32) -> &[Direction] {
        let [first, until] = [switch, switch + 1].map(|switch| self.first[switch as usize]);
        &self.links[first as usize..until as usize]
    }

    /// A link of a switch.
    pub fn link(&self, switch: u32, link: u32) -> Direction {
        self.links(switch)[link as usize]
    }

    pub fn wire(&self, link: Direction) -> Wire {
        self.wire_of(link.wire)
    }

    /// The wire with this number.
    #[inline]
    pub fn wire_of(&self, number: u32) -> Wire {
        self.wires[number as usize]
    }

    /// The number of the wire from a NIC of this switch to it.
    pub fn number_up(&self, switch: u32) -> u32 {
        self.up[switch as usize]
    }

    /// The wire from a NIC of this switch to it.
    pub fn wire_up(&self, switch: u32) -> Wire {
        self.wire_of(self.number_up(switch))
    }

    /// The wires that lead to switches.
    pub fn inward(&self) -> impl Iterator<Item = Wire> {
        let between = self
            .links
            .iter()
            .filter(|link| matches!(link.end, End::Switch(_)));
        let up = (0..self.switches).filter(|switch| !self.own(*switch).is_empty());
        between
            .map(|link| self.wire(*link))
            .chain(up.map(|switch| self.wire_up(switch)))
    }

    /// Links on the longest way between two NICs.
    pub fn most_links(&self) -> u64 {
        self.most_links
    }

    /// The latency of the way between two NICs, and the pace of its slowest link.
    pub fn way(&self, from: u32, to: u32) -> (Ticks, Pace) {
        let (mut at, end) = (self.leaf_of(from), self.leaf_of(to));
        let (first, last) = (self.wire_up(at), self.wire_up(end));
        let mut way = (
            first.latency + first.switch + last.latency,
            first.pace.max(last.pace),
        );
        let mut pass =
            |wire: Wire| way = (way.0 + wire.latency + wire.switch, way.1.max(wire.pace));
        match &self.rule {
            Rule::Tree(tree) if at != end => (1..tree.switches_between()).for_each(|_| pass(first)),
            Rule::Tree(_) => {}
            Rule::Routes(routes) => {
                while at != end {
                    let link = self.link(at, routes.pick(at, end, 0));
                    let End::Switch(next) = link.end else {
                        unreachable!("a route leads over switches")
                    };
                    pass(self.wire(link));
                    at = next;
                }
            }
        }
        way
    }
}

fn of_tree(profile: &Profile, ranks: u32, tree: Tree) -> Topology {
    let nics = (0..tree.switches).map(|switch| tree.own_links(switch));
    let mut topology = Topology::empty(profile, ranks, Rule::Tree(tree), nics);
    let to_switch = Wire {
        latency: profile.link(),
        switch: profile.switch(),
        pace: Pace::TICK,
        is_taken_whole: false,
    };
    let to_nic = Wire {
        switch: Ticks(0),
        ..to_switch
    };
    topology.wires = vec![to_switch, to_nic];
    topology.up = vec![0; tree.switches as usize];
    // As of three layers, for any.
    topology.most_links = 6;
    for switch in 0..tree.switches {
        let links = 0..tree.downlinks(switch) + tree.uplinks(switch);
        topology.links.extend(links.map(|link| {
            let end = tree.end_of(switch, link);
            Direction {
                end,
                back: match end {
                    End::Switch(_) => tree.back(switch, link),
                    _ => 0,
                },
                wire: u32::from(matches!(end, End::Nic(_))),
            }
        }));
        topology.first.push(topology.links.len() as u32);
    }
    topology
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divisor_divides() {
        for divisor in [1, 2, 3, 4, 7, 64, 100, 4095, 4096, 1 << 17] {
            let by = Divisor::new(divisor);
            let edges = (0..1 << 23)
                .step_by(divisor as usize)
                .flat_map(|at| [at, at + 1, at + divisor - 1]);
            for number in edges.filter(|&number| number < 1 << 23) {
                assert_eq!(
                    by.quotient(number),
                    number / divisor,
                    "{number} / {divisor}"
                );
            }
        }
    }
}
