//! The links of a graph that a machine file draws.

use super::{Direction, End, Routes, Rule, Topology, Wire};
use crate::profile::{Graph, Profile, SwitchModel, Times};
use crate::schedule::{Pace, Ticks};

type Links = Vec<Vec<Direction>>;

/// The topology of a graph.
pub fn topology(profile: &Profile, ranks: u32, graph: &Graph) -> Topology {
    let rule = Rule::Routes(Routes::default());
    let nics = graph.switches.iter().map(|switch| switch.nics);
    let mut topology = Topology::empty(profile, ranks, rule, nics);
    let times = graph.times(profile);
    let mut links = to_nics(&mut topology, graph, &times);
    between_switches(&mut topology, graph, &times, &mut links);
    for links in links {
        topology.links.extend(links);
        topology.first.push(topology.links.len() as u32);
    }
    let differ = topology.wires.iter().any(|wire| wire.pace != Pace::TICK);
    for wire in &mut topology.wires {
        wire.is_taken_whole = differ;
    }
    topology.most_links = u64::from(graph.reach(profile, 0).0) + 1;
    topology.rule = Rule::Routes(Routes::new(&topology, graph));
    topology
}

fn to_nics(topology: &mut Topology, graph: &Graph, times: &Times) -> Links {
    let of_switch = |(number, switch): (u32, &SwitchModel)| {
        let (latency, pace) = times.nics[number as usize];
        let up = Wire {
            latency,
            switch: times.switches[number as usize],
            pace,
            is_taken_whole: true,
        };
        let down = Wire {
            switch: Ticks(0),
            ..up
        };
        let wire = topology.wires.len() as u32;
        topology.wires.extend([up, down]);
        topology.up.push(wire);
        let own = topology.own(number);
        let link = |nic: u32| Direction {
            end: if own.contains(&nic) {
                End::Nic(nic)
            } else {
                End::Nowhere
            },
            back: 0,
            wire: wire + 1,
        };
        (0..switch.nics).map(|nic| link(own.start + nic)).collect()
    };
    (0..).zip(&graph.switches).map(of_switch).collect()
}

/// Adds the links between switches, in both directions.
fn between_switches(topology: &mut Topology, graph: &Graph, times: &Times, links: &mut Links) {
    for (link, (latency, pace)) in graph.links.iter().zip(&times.links) {
        let [a, b] = link.ends;
        let wire = topology.wires.len() as u32;
        topology.wires.extend([b, a].map(|to| Wire {
            latency: *latency,
            switch: times.switches[to as usize],
            pace: *pace,
            is_taken_whole: true,
        }));
        for _ in 0..link.count {
            let [at_a, at_b] = [a, b].map(|end| links[end as usize].len() as u32);
            for (from, to, back, wire) in [(a, b, at_b, wire), (b, a, at_a, wire + 1)] {
                links[from as usize].push(Direction {
                    end: End::Switch(to),
                    back,
                    wire,
                });
            }
        }
    }
}
