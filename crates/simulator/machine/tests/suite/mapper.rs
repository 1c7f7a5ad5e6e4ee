//! Maps of networks by probes, routes over them, and deaths.

use std::collections::BTreeMap;

use machine::Profile;
use machine::mapper::{
    End, Episode, MapError, OverWires, Part, Port, ProbeTimes, Probes, Recovery, Routes, Sight,
    Speeds, Wiring, circle, map,
};
use node::Random;

/// A built-in network with its first hosts.
fn network(name: &str, hosts: u32) -> Wiring {
    let profile = Profile::named(name).unwrap();
    Wiring::of(&profile, Some(hosts)).unwrap()
}

fn mapped(wiring: &Wiring, host: u32) -> Wiring {
    let depth = Sight::of(wiring, host).unwrap().depth;
    let mut probes = OverWires::new(wiring, host);
    map(&mut probes, depth).unwrap().map
}

/// A network as it looks from a host: its switches in the order of a walk, each with its cables, where
/// ports count from the one by which the walk came. Equal exactly for isomorphic networks.
fn seen_from(wiring: &Wiring, host: u32) -> Vec<Vec<(i32, String)>> {
    let start = wiring.port_of(host).unwrap();
    let mut order = vec![start];
    let mut number = BTreeMap::from([(start.switch, 0)]);
    let mut seen = Vec::new();
    while let Some(entry) = order.get(seen.len()).copied() {
        let mut cables = Vec::new();
        for (port, end) in wiring.cables(entry.switch) {
            let end = match end {
                End::Host(host) => format!("host {host}"),
                End::Switch(far) => {
                    let known = *number.entry(far.switch).or_insert_with(|| {
                        order.push(far);
                        order.len() - 1
                    });
                    format!("{known} at {}", far.port as i32 - order[known].port as i32)
                }
            };
            cables.push((port.port as i32 - entry.port as i32, end));
        }
        seen.push(cables);
    }
    seen
}

/// Whether hosts, and a switch, are reached from a port's switch without its cable.
fn without(wiring: &Wiring, start: Port, wanted: u32) -> (Vec<u32>, bool, bool) {
    let (mut reached, mut hosts, mut next) = (vec![start.switch], false, 0);
    while next < reached.len() {
        for (port, end) in wiring.cables(reached[next]) {
            match end {
                End::Host(_) => hosts = true,
                End::Switch(far) => {
                    let is_barred = port == start || far == start;
                    if !is_barred && !reached.contains(&far.switch) {
                        reached.push(far.switch);
                    }
                }
            }
        }
        next += 1;
    }
    let found = reached.contains(&wanted);
    (reached, hosts, found)
}

/// The network less the switches that one cable between switches separates from all hosts.
fn without_f(wiring: &Wiring) -> Wiring {
    let mut rest = wiring.clone();
    for (a, b) in wiring.links() {
        for (near, far) in [(a, b), (b, a)] {
            let (reached, hosts, found) = without(wiring, near, far.switch);
            if !hosts && !found {
                reached
                    .iter()
                    .for_each(|switch| rest.remove(Part::Switch(*switch)));
            }
        }
    }
    rest
}

/// Every pair of hosts of the map's network has a route there, and no channels wait in a circle.
fn check_routes(wiring: &Wiring, host: u32, seed: u64) -> Routes {
    let found = mapped(wiring, host);
    let (routes, _) = Routes::up_down(&found, seed);
    for (from, to) in routes.pairs() {
        let turns = routes.turns(from, to).expect("a route");
        let end = wiring.walk(from, turns.iter().copied()).1;
        assert_eq!(end, Some(End::Host(to)), "from {from} to {to}");
    }
    let ways: Vec<_> = routes.ways(wiring).collect();
    assert_eq!(circle(ways.iter().map(Vec::as_slice)), None);
    routes
}

#[test]
fn the_networks_of_the_publications_are_found() {
    for (name, hosts, switches, links) in [
        ("now-subcluster", 36, 13, 64),
        ("now-network", 100, 40, 193),
        ("now-network", 105, 40, 198),
    ] {
        let wiring = network(name, hosts);
        let found = mapped(&wiring, 0);
        let counted = (found.hosts().len() as u32, found.wired(), found.all_links());
        assert_eq!(counted, (hosts, switches, links), "{name}");
        assert_eq!(seen_from(&found, 0), seen_from(&wiring, 0), "{name}");
        assert_eq!(
            found.compare(&wiring, 0).map(|both| both.len()),
            Ok(switches)
        );
        assert!(
            (0..40).all(|switch| switch >= wiring.switches() || wiring.cables(switch).count() <= 8)
        );
        check_routes(&wiring, 0, 1);
    }
}

#[test]
fn any_host_may_map() {
    let wiring = network("now-network", 105);
    for host in [7, 52, 104] {
        assert_eq!(
            seen_from(&mapped(&wiring, host), host),
            seen_from(&wiring, host)
        );
    }
}

/// Same leaf 1 switch, same subcluster 3, another one 6: the shortest paths are legal.
#[test]
fn routes_of_the_now_are_shortest() {
    let wiring = network("now-network", 105);
    let routes = check_routes(&wiring, 0, 1);
    let mut lengths = BTreeMap::new();
    for way in routes.ways(&wiring) {
        *lengths.entry(way.len()).or_insert(0) += 1;
    }
    // 21 leaves of 5 hosts, 7 leaves in a subcluster.
    let expected = [(1, 21 * 5 * 4), (3, 21 * 6 * 25), (6, 21 * 14 * 25)];
    assert_eq!(lengths, BTreeMap::from(expected));
}

/// A connected network of up to 40 switches, drawn: a tree, more cables, hosts.
fn drawn(seed: u64) -> Wiring {
    const PORTS: usize = 8;
    let mut random = Random::new(seed);
    let switches = 1 + random.below(40) as u32;
    let mut wiring = Wiring::new(switches, PORTS as u32);
    let mut free: Vec<Vec<u32>> = vec![(0..PORTS as u32).collect(); switches as usize];
    let mut take = |switch: u32, random: &mut Random| {
        let ports = &mut free[switch as usize];
        (!ports.is_empty()).then(|| Port {
            switch,
            port: ports.swap_remove(random.below(ports.len())),
        })
    };
    for switch in 1..switches {
        let far = loop {
            let other = random.below(switch as usize) as u32;
            if let Some(port) = take(other, &mut random) {
                break port;
            }
        };
        let near = take(switch, &mut random).unwrap();
        wiring.join(near, far);
    }
    for _ in 0..random.below(2 * switches as usize) {
        let [a, b] = [0; 2].map(|_| random.below(switches as usize) as u32);
        if a != b
            && let (Some(a), Some(b)) = (take(a, &mut random), take(b, &mut random))
        {
            wiring.join(a, b);
        }
    }
    let mut host = 0;
    for _ in 0..=random.below(3 * switches as usize) {
        if let Some(port) = take(random.below(switches as usize) as u32, &mut random) {
            wiring.attach(host, port);
            host += 1;
        }
    }
    if host == 0 {
        drawn(seed + 1_000_000)
    } else {
        wiring
    }
}

#[test]
fn maps_of_drawn_networks_are_what_probes_can_see() {
    let (mut hidden, mut whole) = (0, 0);
    for seed in 0..1000 {
        let wiring = drawn(seed);
        let expected = without_f(&wiring);
        let sight = Sight::of(&wiring, 0).unwrap();
        assert_eq!(
            seen_from(&sight.seen, 0),
            seen_from(&expected, 0),
            "seed {seed}"
        );
        let found = mapped(&wiring, 0);
        assert_eq!(seen_from(&found, 0), seen_from(&expected, 0), "seed {seed}");
        assert_eq!(found.wired(), expected.wired(), "seed {seed}");
        hidden += u32::from(sight.hidden > 0);
        whole += u32::from(sight.hidden == 0);
        check_routes(&wiring, 0, seed);
    }
    assert!(
        hidden > 100 && whole > 100,
        "{hidden} with a hidden part, {whole} without"
    );
}

/// Catches ports that are not compared where the other network has more of them, or fewer.
#[test]
fn a_comparison_looks_at_all_ports() {
    let with = |ports: u32, hosts: &[u32]| {
        let mut wiring = Wiring::new(1, ports);
        for (host, &port) in (0..).zip(hosts) {
            wiring.attach(host, Port { switch: 0, port });
        }
        wiring
    };
    for (few, many) in [
        (with(4, &[3]), with(16, &[15, 0])),
        (with(4, &[0, 3]), with(16, &[15])),
    ] {
        assert!(few.compare(&many, 0).is_err());
        assert!(many.compare(&few, 0).is_err());
    }
    assert!(with(4, &[0, 3]).compare(&with(16, &[12, 15]), 0).is_ok());
    assert!(with(16, &[12, 15]).compare(&with(4, &[0, 3]), 0).is_ok());
}

/// After each death of a switch, hosts that still reach each other have routes, in each part of the network.
#[test]
fn every_single_death_leaves_routes() {
    let networks = [
        ("now-subcluster", 36),
        ("now-network", 100),
        ("now-network", 105),
    ];
    let all = networks.map(|(name, hosts)| network(name, hosts));
    for (number, wiring) in all.into_iter().chain((0..20).map(drawn)).enumerate() {
        for switch in 0..wiring.switches() {
            let mut rest = wiring.clone();
            rest.remove(Part::Switch(switch));
            for part in rest.parts() {
                let routes = check_routes(&rest, part[0], 1);
                let count = part.len() * (part.len() - 1);
                assert_eq!(
                    routes.ways(&rest).count(),
                    count,
                    "network {number}, switch {switch}"
                );
            }
        }
    }
}

/// Switches in a ring, a host at each.
fn ring(switches: u32) -> Wiring {
    let mut ring = Wiring::new(switches, 8);
    for switch in 0..switches {
        ring.attach(switch, Port { switch, port: 0 });
        let far = Port {
            switch: (switch + 1) % switches,
            port: 2,
        };
        ring.join(Port { switch, port: 1 }, far);
    }
    ring
}

/// The routes of a ring of four, all the same way round.
fn clockwise(from: u32, to: u32) -> Option<Vec<i16>> {
    let links = (to + 4 - from) % 4;
    // Out by port 1, in by port 2.
    let turns = (0..links).map(|link| if link == 0 { 1 } else { -1 });
    Some(turns.chain([-2]).collect())
}

#[test]
fn a_circle_of_channels_is_found() {
    let ring = ring(4);
    let routes = Routes::imposed(&ring, clockwise);
    let ways: Vec<_> = routes.ways(&ring).collect();
    assert_eq!(ways.len(), 12, "every pair has a route");
    let found = circle(ways.iter().map(Vec::as_slice)).expect("a circle");
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|channel| channel.port == 1), "{found:?}");
    check_routes(&ring, 0, 1);
}

/// Probes of a network that changes once host 2 has answered.
struct Changing<'a>(OverWires<'a>, OverWires<'a>, bool);

impl Probes for Changing<'_> {
    fn own(&self) -> u32 {
        self.0.own()
    }

    fn ports(&self) -> u32 {
        self.0.ports()
    }

    fn host(&mut self, turns: &[i16]) -> Option<u32> {
        let now = if self.2 { &mut self.1 } else { &mut self.0 };
        let answer = now.host(turns);
        self.2 |= answer == Some(2);
        answer
    }

    fn switch(&mut self, turns: &[i16]) -> bool {
        let now = if self.2 { &mut self.1 } else { &mut self.0 };
        now.switch(turns)
    }
}

#[test]
fn answers_that_contradict_each_other_make_no_map() {
    let before = ring(4);
    let mut after = before.clone();
    // Host 2 moves to another port.
    after.remove(Part::Link(Port { switch: 2, port: 0 }));
    after.attach(2, Port { switch: 2, port: 5 });
    let mut probes = Changing(OverWires::new(&before, 0), OverWires::new(&after, 0), false);
    assert_eq!(map(&mut probes, 6).err(), Some(MapError::Changed));
    let mut alone = Wiring::new(1, 8);
    alone.attach(0, Port { switch: 0, port: 3 });
    alone.remove(Part::Switch(0));
    assert_eq!(
        map(&mut OverWires::new(&alone, 0), 3).err(),
        Some(MapError::Alone)
    );
}

fn episode(wiring: &Wiring, part: Part) -> Recovery {
    let episode = Episode {
        wiring: wiring.clone(),
        speeds: Speeds {
            link_ns: 50,
            switch_ns: 400,
            tick_fs: 6_250_000,
            flit_bytes: 1,
        },
        probes: ProbeTimes::default(),
        part,
        death_ns: 100_000_000,
        period_ns: 500_000_000,
        seed: 3,
    };
    let recovery = episode.run().unwrap();
    let Recovery {
        messages,
        delivered,
        unreachable,
        unanswered,
        ..
    } = recovery;
    // A message that went back may have arrived.
    assert!(
        delivered <= messages && delivered + unreachable + unanswered >= messages,
        "{recovery:?}"
    );
    assert_eq!(
        (recovery.unrouted, recovery.left_over),
        (0, 0),
        "{recovery:?}"
    );
    recovery
}

#[test]
fn hosts_go_on_after_a_death() {
    let wiring = network("now-subcluster", 36);
    // Level two: no host is cut off, and every message arrives.
    let middle = episode(&wiring, Part::Switch(8));
    assert!(
        middle.cut_off.is_empty() && middle.affected > 0,
        "{middle:?}"
    );
    assert_eq!(
        (middle.delivered, middle.parts),
        (middle.messages, 1),
        "{middle:?}"
    );
    assert!(middle.packets.lost > 0 && middle.resent > 0, "{middle:?}");
    // The round after the death begins at 500 ms; the map takes about 250 ms, and the network drains for 50.
    assert!(
        (400_000_000..900_000_000).contains(&middle.longest_ns),
        "{middle:?}"
    );
    assert!(
        (50_000_000..80_000_000).contains(&middle.stopped_ns),
        "{middle:?}"
    );
    // A leaf, and that of the mapper itself.
    for leaf in [3, 0] {
        let cut = episode(&wiring, Part::Switch(leaf));
        let expected: Vec<u32> = (5 * leaf..5 * leaf + 5).collect();
        assert_eq!(cut.cut_off, expected);
        assert!(cut.unreachable > 0 && cut.unanswered > 0, "{cut:?}");
    }
    // A cable of a leaf: its hosts have two more.
    let cable = episode(&wiring, Part::Link(Port { switch: 0, port: 5 }));
    assert!(cable.cut_off.is_empty() && cable.affected > 0, "{cable:?}");
    assert_eq!(cable.delivered, cable.messages);
    assert_eq!(
        episode(&wiring, Part::Switch(8)),
        middle,
        "a seed decides all"
    );
}

/// A ring that loses a cable is a chain: its routes turn where the old ones did not.
#[test]
fn old_and_new_routes_together_may_wait_in_a_circle() {
    let circular = |port: u32| {
        let cut = Part::Link(Port {
            switch: port,
            port: 1,
        });
        episode(&ring(6), cut).is_mixture_circular
    };
    assert!((0..6).any(circular), "no cable makes a circle");
}

/// Catches rounds that go on for ever: no host is left that could map.
#[test]
fn an_episode_ends_when_all_hosts_are_cut_off() {
    let mut wiring = ring(4);
    (1..4).for_each(|switch| wiring.remove(Part::Link(Port { switch, port: 0 })));
    wiring.attach(1, Port { switch: 0, port: 4 });
    let hosts = wiring.hosts().len();
    let cut = episode(&wiring, Part::Switch(0));
    assert_eq!((cut.cut_off.len(), cut.parts), (hosts, 0), "{cut:?}");
    assert_eq!((cut.rounds, cut.found_ns), (0, None), "{cut:?}");
}

/// A chain of two switches falls apart: each part has its own mapper.
#[test]
fn both_parts_go_on() {
    let mut wiring = Wiring::new(2, 8);
    (0..4).for_each(|host| {
        wiring.attach(
            host,
            Port {
                switch: host / 2,
                port: host % 2,
            },
        )
    });
    let [a, b] = [0, 1].map(|switch| Port { switch, port: 7 });
    wiring.join(a, b);
    let apart = episode(&wiring, Part::Link(a));
    assert_eq!((apart.parts, apart.affected), (2, 0), "{apart:?}");
    assert!(
        apart.cut_off.is_empty() && apart.unreachable > 0,
        "{apart:?}"
    );
}

#[test]
fn a_part_without_hosts_dies_unseen() {
    let mut wiring = ring(4);
    let mut wider = Wiring::new(5, 8);
    for (host, at) in ring(4).hosts() {
        wider.attach(host, at);
    }
    wiring.links().for_each(|(a, b)| wider.join(a, b));
    wider.join(Port { switch: 0, port: 6 }, Port { switch: 4, port: 2 });
    wiring = wider;
    let unseen = episode(&wiring, Part::Switch(4));
    assert_eq!(
        (unseen.found_ns, unseen.stopped_ns),
        (None, 0),
        "{unseen:?}"
    );
    assert_eq!(unseen.delivered, unseen.messages);
}

#[test]
fn machines_that_cannot_be_mapped_are_refused() {
    let refused = |name: &str, hosts| {
        let profile = Profile::named(name).unwrap();
        Wiring::of(&profile, hosts).unwrap_err()
    };
    let told = refused("nanopu", None);
    assert!(
        told.starts_with("network.layers: ") && !told.contains('\n'),
        "{told}"
    );
    let told = refused("now-network", Some(106));
    assert!(
        told.starts_with("graph.switches: 105 NICs, of which 106"),
        "{told}"
    );
    assert!(refused("now-network", Some(0)).contains("expected 1 to 105"));
    let text = "base = \"nanopu\"\n[graph]\nswitches = [{ name = \"a\", nics = 200 }]";
    let told = Wiring::of(&Profile::parse(text).unwrap(), None).unwrap_err();
    assert!(
        told.starts_with("graph.links: a switch has 200 NICs and links"),
        "{told}"
    );
}
