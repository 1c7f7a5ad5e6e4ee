//! Networks that a file draws as a graph: their times by hand, and the built-in network as a graph.

use crate::common::*;
use crate::determinism::{same_on_threads, settings, with_threads};
use machine::{Cluster, Profile, Setting, Ticks};
use node::conformance::{Harness, Place, source_bytes};
use node::{Node, Rank};
use std::fmt::Write;
use std::future::Future;
use std::path::PathBuf;

/// A machine of nanoPU cores, one per NIC, with this network.
fn machine(graph: &str, more: &str) -> Profile {
    let text = format!("base = \"nanopu\"\nname = \"mine\"\n{more}\n[graph]\n{graph}");
    Profile::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

const ONE_BY_ONE: &str = "core.ranks_per_nic = 1";

/// `switches` switches with a NIC each, and links by their numbers.
fn drawn(switches: u32, links: impl Iterator<Item = (u32, u32)>) -> String {
    let mut graph = String::from("switches = [");
    (0..switches).for_each(|s| write!(graph, "{{ name = \"s{s}\", nics = 1 }},").unwrap());
    graph += "]\nlinks = [";
    links.for_each(|(a, b)| write!(graph, "\"s{a} - s{b}\",").unwrap());
    graph + "]"
}

fn ring(switches: u32) -> Profile {
    let links = (0..switches).map(|s| (s, (s + 1) % switches));
    machine(&drawn(switches, links), ONE_BY_ONE)
}

/// A torus of `side` by `side` switches; switch (x, y) has number `x + side y`.
fn torus(side: u32) -> Profile {
    let links = (0..side * side).flat_map(|s| {
        let (x, y) = (s % side, s / side);
        [
            (s, (x + 1) % side + side * y),
            (s, x + side * ((y + 1) % side)),
        ]
    });
    machine(&drawn(side * side, links), ONE_BY_ONE)
}

/// The arrival of one message of two words from rank 0 at each other rank, one run each.
fn arrivals(profile: &Profile, ranks: u32) -> Vec<u64> {
    let arrival = |to: u32| {
        let outcome = run(profile.clone(), Setting::new(ranks), move |node| {
            one(node, to)
        });
        outcome.answers[to as usize]
    };
    (1..ranks).map(arrival).collect()
}

async fn one(node: Node, to: u32) -> u64 {
    let port = node.bind(PORT);
    if node.rank() == Rank(0) {
        send(&node, to, &letter(0, 0, 2)).await;
    }
    if node.rank() == Rank(to) {
        opened(&port.next(&node).await);
    }
    node.now().0
}

/// From the start of a send until the receiving program has read two words, where each of `switches`
/// switches and the links around them take their times.
fn by_hand(profile: &Profile, way: u64) -> u64 {
    let (core, nic) = (&profile.core, &profile.nic);
    let sent = core.send_cycles + core.send_word_cycles * 2 + nic.transmit_cycles;
    let flits = 8 + 2;
    let read = nic.receive_cycles + core.notice_cycles + core.receive_cycles;
    (sent + read + core.receive_word_cycles * 2).0 + way + flits
}

/// The latency of a way over so many switches of the nanoPU's network: 140 ticks a link, 842 a switch.
fn way(switches: u64) -> u64 {
    140 * (switches + 1) + 842 * switches
}

/// o_s + L + o_r = 1.8 + 5.0 + 4.0 us between leaves of a subcluster, over three switches, less the cycles to finish
/// the message, which come after the program has read it.
#[test]
fn a_short_message_of_the_now_takes_its_published_time() {
    let profile = Profile::named("now-network").unwrap();
    let us = (1.8 + 5.0 + 4.0) * 1000.0;
    let done = profile.core.receive_done_cycles.0;
    assert_eq!(arrivals(&profile, 6)[4], profile.ticks(us) - done);
}

/// Catches ways that are not the shortest.
#[test]
fn a_ring_takes_the_shorter_way_round() {
    let profile = ring(7);
    let expected = [2, 3, 4, 4, 3, 2].map(|switches| by_hand(&profile, way(switches)));
    assert_eq!(arrivals(&profile, 7), expected);
}

/// Links of 8 ticks and switches of 16 leave no window for blocks.
#[test]
fn in_one_block_messages_take_their_time() {
    let graph = drawn(4, (0..3).map(|s| (s, s + 1)));
    let fast = format!("{ONE_BY_ONE}\nnetwork.link_ns = 2.5\nnetwork.switch_ns = 5");
    let profile = machine(&graph, &fast);
    let one_block = run(profile.clone(), Setting::new(4), |node| one(node, 3));
    assert_eq!(one_block.report.windows.blocks, 1);
    let way = |switches: u64| 8 * (switches + 1) + 16 * switches;
    let expected = [2, 3, 4].map(|switches| by_hand(&profile, way(switches)));
    assert_eq!(arrivals(&profile, 4), expected);
}

#[test]
fn in_a_star_every_way_has_three_switches() {
    let mut graph = drawn(5, std::iter::empty());
    graph = graph.replace(
        "links = []",
        "links = [\"s0 - hub\", \"s1 - hub\", \"s2 - hub\", \"s3 - hub\", \"s4 - hub\"]",
    );
    graph = graph.replacen("switches = [", "switches = [\"hub\",", 1);
    let profile = machine(&graph, ONE_BY_ONE);
    assert_eq!(arrivals(&profile, 5), [by_hand(&profile, way(3)); 4]);
}

#[test]
fn in_a_torus_the_distances_of_both_axes_add_up() {
    let profile = torus(4);
    let around = |at: u64| at.min(4 - at);
    let expected = (1..16).map(|to| by_hand(&profile, way(1 + around(to % 4) + around(to / 4))));
    assert_eq!(arrivals(&profile, 16), expected.collect::<Vec<_>>());
}

/// Two groups of three switches, all connected inside; one long link joins s2 and s3. The way from s0
/// to s5 is s0 - s2 - s3 - s5. Catches latencies of links and switches that are mixed up.
#[test]
fn in_a_dragonfly_long_links_and_fast_switches_have_their_own_times() {
    let graph = r#"
        switches = [
            { name = "s0", nics = 1, link_ns = 10 },
            { name = "s1", nics = 1 },
            { name = "s2", nics = 1, switch_ns = 50 },
            { name = "s3", nics = 1 }, { name = "s4", nics = 1 }, { name = "s5", nics = 1 },
        ]
        links = [
            "s0 - s1", "s0 - s2", "s1 - s2", "s3 - s4", "s3 - s5", "s4 - s5",
            { ends = "s2 - s3", link_ns = 500 },
        ]"#;
    let profile = machine(graph, ONE_BY_ONE);
    let (link, switch, long, near, fast) = (140, 842, 1600, 32, 160);
    let to_s2 = near + switch + link + fast;
    let to_s3 = to_s2 + long + switch;
    let ways = [
        near + switch + link + switch + link,
        to_s2 + link,
        to_s3 + link,
        to_s3 + link + switch + link,
        to_s3 + link + switch + link,
    ];
    assert_eq!(
        arrivals(&profile, 6),
        ways.map(|way| by_hand(&profile, way))
    );
}

/// A flit takes two ticks on a link of half the rate. A packet of ten flits still takes less than a
/// switch, so only the last link counts; a packet of 136 flits on an eighth of the rate is received as
/// a whole by the switch.
#[test]
fn slow_links_take_longer() {
    let graph = |rate: &str| {
        format!(
            r#"switches = [{{ name = "a", nics = 1 }}, {{ name = "b", nics = 1, gbit_s = {rate} }}]
            links = [{{ ends = "a - b", gbit_s = {rate} }}]"#
        )
    };
    let half = machine(&graph("102.4"), ONE_BY_ONE);
    assert_eq!(arrivals(&half, 2), [by_hand(&half, way(2)) + 10]);
    let eighth = machine(&graph("25.6"), ONE_BY_ONE);
    let long = run(eighth.clone(), Setting::new(2), |node| async move {
        let port = node.bind(PORT);
        if node.rank() == Rank(0) {
            send(&node, 1, &letter(0, 0, 128)).await;
            return 0;
        }
        opened(&port.next(&node).await);
        node.now().0
    });
    let core = &eighth.core;
    let words = (core.send_word_cycles + core.receive_word_cycles) * 126;
    let expected = by_hand(&eighth, 140 + 842 + 140 + 8 * 136 + 140 + 8 * 136) - 10 + words.0;
    assert_eq!(long.answers[1], expected);
}

/// Two messages to one NIC follow each other on its link, at the pace of that link.
#[test]
fn messages_queue_at_a_slow_link() {
    let graph = r#"
        switches = [{ name = "a", nics = 1, gbit_s = 20.48 }, { name = "b", nics = 2 }]
        links = ["a - b"]"#;
    let profile = machine(graph, ONE_BY_ONE);
    let outcome = run(profile, Setting::new(3), |node| async move {
        let port = node.bind(PORT);
        let me = node.rank().0;
        let mut times = Vec::new();
        if me > 0 {
            send(&node, 0, &letter(me, 0, 2)).await;
        } else {
            for _ in 0..2 {
                opened(&port.next(&node).await);
                times.push(node.now().0);
            }
        }
        times
    });
    let times = &outcome.answers[0];
    assert_eq!(times[1] - times[0], 100, "ten flits of ten ticks");
}

/// The network of `small(2, ..)` as a graph: leaves of two NICs, two spines.
fn leaves_and_spines(changes: &[(&str, &str)]) -> [Profile; 2] {
    let tree = small(2, changes);
    let mut switches = String::new();
    let mut links = String::new();
    for leaf in 0..16 {
        write!(switches, "{{ name = \"leaf{leaf}\", nics = 2 }},").unwrap();
        write!(links, "\"leaf{leaf} - spine0\", \"spine1 - leaf{leaf}\",").unwrap();
    }
    let text = format!("switches = [{switches}\"spine0\", \"spine1\"]\nlinks = [{links}]");
    let mut graph = machine(&text, "core.ranks_per_nic = 2");
    graph.network.queue_bytes = tree.network.queue_bytes;
    graph.nic = tree.nic;
    [tree, graph]
}

/// Every tick, count, trim and loss is that of the tree: a graph differs in how it finds a link only.
#[test]
fn leaves_and_spines_as_a_graph_are_the_built_in_network() {
    for changes in [&[][..], &[("queue_bytes", "2000")]] {
        let [tree, graph] = leaves_and_spines(changes);
        assert_eq!(tree.most_ranks(), graph.most_ranks());
        for (name, setting) in settings() {
            let setting = Setting {
                ranks: 64,
                ..setting
            };
            let [tree, graph] = [&tree, &graph].map(|it| with_threads(it, &setting, 1));
            assert_eq!(tree.answers, graph.answers, "{name}");
            assert_eq!(tree.report, graph.report, "{name}");
        }
    }
}

/// The parcels of files take the same way, too.
#[test]
fn shipments_over_a_graph_take_the_time_of_the_tree() {
    let [tree, graph] = leaves_and_spines(&[]);
    let times = [tree, graph].map(|profile| {
        run(profile, Setting::new(8), |node| async move {
            const BYTES: usize = 1 << 20;
            let (rank, port) = (Rank(7), PORT);
            let bulk = node.bind_bulk(PORT);
            if node.rank() == Rank(0) {
                let mut buffer = node::Buffer::heap(BYTES);
                buffer.set_len(BYTES);
                node.ship(node::Address { rank, port }, buffer)
                    .wait(&node)
                    .await;
            } else if node.rank() == Rank(7) {
                let pool = node::Pool::new(&node, "parcels", vec![node::Buffer::heap(BYTES)]);
                let (from, parcel) = bulk.accept(&node, &pool).await.unwrap();
                assert_eq!((from, parcel.len()), (Rank(0), BYTES));
            }
            node.now().0
        })
        .answers
    });
    assert_eq!(times[0], times[1]);
}

#[test]
fn results_of_a_graph_do_not_depend_on_threads() {
    for (name, profile, ranks) in [("ring", ring(9), 9), ("torus", torus(4), 16)] {
        for (of_setting, setting) in settings() {
            let setting = Setting { ranks, ..setting };
            same_on_threads(&format!("{name}, {of_setting}"), &profile, &setting);
        }
    }
}

/// A window is as long as the least latency, and with too little the machine is one block.
#[test]
fn the_shortest_link_makes_the_window() {
    let graph = r#"
        switches = [{ name = "a", nics = 1 }, { name = "b", nics = 1, switch_ns = 1 }]
        links = [{ ends = "a - b", link_ns = 25 }]"#;
    let profile = machine(graph, ONE_BY_ONE);
    let outcome = run(profile, Setting::new(2), |node| one(node, 1));
    // 80 ticks of link, and three of the switch, which sends a packet on as it comes.
    assert_eq!(
        (outcome.report.windows.ticks, outcome.report.windows.blocks),
        (83, 2)
    );
    let short = graph.replace("link_ns = 25", "link_ns = 5");
    let outcome = run(machine(&short, ONE_BY_ONE), Setting::new(2), |node| {
        one(node, 1)
    });
    assert_eq!(outcome.report.windows.blocks, 1);
}

/// Every equally short way is used, in parallel links as over parallel switches.
#[test]
fn equal_ways_share_the_messages() {
    let flood = |graph: &str| {
        let profile = endless(machine(graph, ONE_BY_ONE));
        let outcome = run(profile, Setting::new(8), |node| async move {
            let me = node.rank().0;
            let port = node.bind(PORT);
            for number in 0..50 * u32::from(me < 4) {
                send(&node, 4 + me, &letter(me, number, 100)).await;
            }
            for _ in 0..50 * u32::from(me >= 4) {
                opened(&port.next(&node).await);
            }
        });
        *outcome.report.ends.iter().max().unwrap()
    };
    let ends = r#"switches = [{ name = "a", nics = 4 }, { name = "b", nics = 4 }]"#;
    let single = flood(&format!("{ends}\nlinks = [\"a - b\"]"));
    let four = flood(&format!(
        "{ends}\nlinks = [{{ ends = \"a - b\", count = 4 }}]"
    ));
    assert!(four * 2 < single, "{four} against {single}");
}

/// The suite of every backend, on a ring of four cores.
struct Ring;

impl Harness for Ring {
    fn run<P, Task>(&self, nodes: u32, program: P)
    where
        P: Fn(Node, Place) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = ()> + 'static,
    {
        let cluster = Cluster::new(ring(nodes.max(3)), Setting::new(nodes)).expect("it fits");
        let place = Place {
            directory: PathBuf::from("/data"),
            source: PathBuf::from("/pipe"),
        };
        for rank in 0..nodes {
            cluster.disks(rank).put_pipe(&place.source, source_bytes());
        }
        let ended = cluster.run(move |node| program(node, place.clone()));
        ended.unwrap_or_else(|error| panic!("{error}"));
    }
}

node::conformance_suite!(Ring);

/// The errors of a graph, all of them, each with its line.
#[test]
fn a_wrong_graph_is_told_with_its_places() {
    let refused = |graph: &str| {
        let text = format!("base = \"nanopu\"\n[graph]\n{graph}\n");
        let told = Profile::parse(&text).unwrap_err().to_string();
        assert!(!told.contains('\n'), "{told}");
        told
    };
    let told = refused(
        "switches = [\n\"a\", \n\"a\", \n{ name = \"b\", nics = 1 }]\n\
         links = [\n\"a - a\",\n\"a - c\",\n{ ends = \"a - b\", link_ns = 0 },\n\"a b\"]",
    );
    for part in [
        "line 5 (\"a\",): there are two switches a",
        "line 8 (\"a - a\",): \"a - a\" leads back to its own switch",
        "line 9 (\"a - c\",): \"a - c\": there is no switch c",
        "\"a - b\" takes no time",
        "line 11 (\"a b\"]): \"a b\": expected two switches",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    let ab = "switches = [{ name = \"a\", nics = 1 }, \"b\", \"c\"]\n";
    let told = refused(&format!("{ab}links = [\"a - b\"]"));
    assert!(
        told.contains("line 3 (switches): no way leads from switch a to c"),
        "{told}"
    );
    let told = refused(&format!("{ab}links = [\"a - b\", \"b - c\", \"b - a\"]"));
    assert!(
        told.contains("second link of these switches; write one with count = 2"),
        "{told}"
    );
    let told = refused("switches = [\"a\", \"b\"]\nlinks = [\"a - b\"]");
    assert!(told.contains("no switch has a NIC"), "{told}");
    let told = refused("switches = []");
    assert!(told.contains("0 switches: expected 1 to 4096"), "{told}");
    let told = refused("switches = [{ name = \"a\", nics = 1, colour = 2 }]");
    assert!(told.contains("unknown key `colour`"), "{told}");
    let told = refused("switches = [3]");
    assert!(
        told.contains("expected a switch, \"a\" or { name"),
        "{told}"
    );
    let text =
        "base = \"nanopu\"\nnetwork.layers = 2\n[graph]\nswitches = [{ name = \"a\", nics = 1 }]";
    let told = Profile::parse(text).unwrap_err().to_string();
    assert!(
        told.contains("line 2 (network.layers): a machine with a [graph] has no key `layers`"),
        "{told}"
    );
}

#[test]
fn a_graph_holds_so_many_cores() {
    let profile = ring(5);
    assert_eq!(profile.most_ranks(), 5);
    let told = Cluster::new(profile.clone(), Setting::new(6))
        .err()
        .unwrap()
        .to_string();
    assert_eq!(told, "6 cores do not fit: the topology of mine holds 5");
    let slow = profile.clone().with_network(Some(0.0), None).unwrap_err();
    assert!(slow.to_string().contains("network.link_ns is 0"), "{slow}");
    let slow = profile.with_network(Some(100.0), None).unwrap();
    assert_eq!(slow.link(), Ticks(320));
    assert_eq!(arrivals(&slow, 3)[0], by_hand(&slow, 3 * 320 + 2 * 842));
}
