//! The part of a network that probes of one host can tell apart, and the length of the probes that it takes.
//!
//! Two replicates of a switch become one when walks from both end at one host. A switch that a single cable between
//! switches separates from all hosts is on no walk from host to host, so it stays apart: these switches are F
//! of the publication, and a map is isomorphic to N - F (SPAA 1997).

use std::collections::VecDeque;

use super::{End, Part, Port, Wiring};

/// The part of a network that a host can see.
#[derive(Clone, Debug)]
pub struct Sight {
    /// Its part of the network without F.
    pub seen: Wiring,
    /// Switches of its part that belong to F.
    pub hidden: u32,
    /// Turns of a probe that are enough for its map: to any switch, over any cable, and on to the nearest
    /// host. Q + D + 1 of the publication is a bound of it.
    pub depth: usize,
}

impl Sight {
    /// The part that this host can see; none if it has no cable.
    pub fn of(wiring: &Wiring, host: u32) -> Option<Sight> {
        let own = wiring.port_of(host)?.switch;
        let mut seen = wiring.clone();
        for (switch, distance) in (0..).zip(wiring.distances(own)) {
            if distance.is_none() {
                seen.remove(Part::Switch(switch));
            }
        }
        let hidden = prune(&mut seen);
        let depth = depth(&seen, own);
        Some(Sight {
            seen,
            hidden,
            depth,
        })
    }
}

/// Takes the switches of F away; their number.
pub fn prune(wiring: &mut Wiring) -> u32 {
    let links: Vec<(Port, Port)> = wiring.links().collect();
    let mut hidden = 0;
    for start in links.into_iter().flat_map(|(near, far)| [near, far]) {
        for switch in behind(wiring, start) {
            wiring.remove(Part::Switch(switch));
            hidden += 1;
        }
    }
    hidden
}

/// The switches from this port's on that reach no host and not its far end but by its cable; none if they reach one.
fn behind(wiring: &Wiring, start: Port) -> Vec<u32> {
    let Some(End::Switch(barred)) = wiring.end(start) else {
        return Vec::new();
    };
    let mut is_reached = vec![false; wiring.switches() as usize];
    is_reached[start.switch as usize] = true;
    let mut reached = vec![start.switch];
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        for (port, end) in wiring.cables(at) {
            match end {
                _ if port == start => {}
                End::Host(_) => return Vec::new(),
                End::Switch(far) if far.switch == barred.switch => return Vec::new(),
                End::Switch(far) => {
                    if !std::mem::replace(&mut is_reached[far.switch as usize], true) {
                        reached.push(far.switch);
                    }
                }
            }
        }
    }
    reached
}

fn depth(seen: &Wiring, own: u32) -> usize {
    let place = |port: Port| (port.switch * seen.ports() + port.port) as usize;
    // For the cable that leaves by each port, the turns from its far end to the nearest host; 0 is none.
    let mut onward = vec![0; (seen.switches() * seen.ports()) as usize];
    let mut found = VecDeque::new();
    let beside_hosts = seen.hosts().flat_map(|(_, at)| seen.neighbours(at.switch));
    for (_, far) in beside_hosts {
        if std::mem::replace(&mut onward[place(far)], 1) == 0 {
            found.push_back(far);
        }
    }
    let distances = seen.distances(own);
    let mut longest = 1;
    while let Some(near) = found.pop_front() {
        let turns = onward[place(near)];
        let there = distances[near.switch as usize].map_or(0, |distance| distance as usize);
        longest = longest.max(there + 1 + turns);
        for (port, far) in seen.neighbours(near.switch) {
            if port != near && onward[place(far)] == 0 {
                onward[place(far)] = turns + 1;
                found.push_back(far);
            }
        }
    }
    longest
}
