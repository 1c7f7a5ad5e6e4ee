//! Flows between nodes whose links are limited.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

use machine::{Driver, FlowWindow, Losses, NodeLink, SwitchPort};
use node::{Address, Buffer, MESSAGE_WORDS, Node, Pool, Port, Queue, Random, Rank, Time};

const PORT: Port = Port(7);

/// Bytes in a nanosecond: 10 Gb/s.
const RATE: f64 = 1.25;
const ROUND_TRIP_NS: u64 = 100_000;

fn link(window: Option<FlowWindow>) -> NodeLink {
    NodeLink {
        bytes_per_ns: RATE,
        round_trip_ns: ROUND_TRIP_NS,
        window,
    }
}

fn at(rank: u32) -> Address {
    Address {
        rank: Rank(rank),
        port: PORT,
    }
}

/// The sender and the receiver of a flow.
type Ends = (u32, u32);

/// The max-min shares of links of rate 1 by their definition: all flows rise together; those stand still that have
/// `most`, or a link that is full.
fn max_min(flows: &[Ends], most: f64) -> Vec<f64> {
    let links: Vec<[(u32, bool); 2]> = flows
        .iter()
        .map(|&(from, to)| [(from, true), (to, false)])
        .collect();
    let mut shares = vec![0.0; flows.len()];
    let mut stands = vec![false; flows.len()];
    while stands.contains(&false) {
        let rest = |link| {
            let of = |flow: &usize| links[*flow].contains(link);
            let used: f64 = (0..flows.len()).filter(of).map(|flow| shares[flow]).sum();
            let rise = (0..flows.len())
                .filter(of)
                .filter(|&flow| !stands[flow])
                .count();
            (1.0 - used) / rise as f64
        };
        let rises = |flow: usize| {
            links[flow]
                .iter()
                .map(rest)
                .fold(most - shares[flow], f64::min)
        };
        let rise = (0..flows.len())
            .filter(|&flow| !stands[flow])
            .map(rises)
            .fold(1.0, f64::min);
        for flow in 0..flows.len() {
            shares[flow] += if stands[flow] { 0.0 } else { rise };
        }
        let full = |link: &(u32, bool)| {
            let of = (0..flows.len()).filter(|&flow| links[flow].contains(link));
            of.map(|flow| shares[flow]).sum::<f64>() > 1.0 - 1e-9
        };
        for flow in 0..flows.len() {
            stands[flow] |= shares[flow] > most - 1e-9 || links[flow].iter().any(full);
        }
    }
    shares
}

/// Sends so many bytes from each sender to each receiver; returns when the last of each came.
fn last_arrivals(driver: &Driver, bytes: &BTreeMap<Ends, usize>) -> BTreeMap<Ends, Time> {
    let letters = |bytes: usize| bytes.div_ceil(8).div_ceil(MESSAGE_WORDS);
    let bytes = bytes.clone();
    driver.go_on();
    let ends = driver.run(move |node: Node| {
        let bytes = bytes.clone();
        async move {
            let (own, mut arrived) = (node.rank().0, BTreeMap::new());
            for (&(from, to), &bytes) in &bytes {
                let mut left = if from == own { bytes.div_ceil(8) } else { 0 };
                while left > 0 {
                    let words = left.min(MESSAGE_WORDS);
                    node.send(at(to), &vec![0; words]).await;
                    left -= words;
                }
            }
            let port = node.bind(PORT);
            let comes = bytes.iter().filter(|((_, to), _)| *to == own);
            for _ in 0..comes.map(|(_, &bytes)| letters(bytes)).sum() {
                let from = port.next(&node).await.from.0;
                arrived.insert((from, own), node.now());
            }
            arrived
        }
    });
    ends.unwrap().into_iter().flatten().collect()
}

/// Each flow has the bytes of its share in some time, so all flows end when that is over.
#[test]
fn flows_have_their_max_min_shares() {
    const TIME_NS: f64 = 400_000.0;
    let mut random = Random::new(1);
    let mut distinct = BTreeSet::new();
    for set in 0..100 {
        let nodes = 2 + random.below(12);
        let mut flows = BTreeSet::new();
        for _ in 0..=random.below(4 * nodes) {
            let from = random.below(nodes);
            let to = (from + 1 + random.below(nodes - 1)) % nodes;
            flows.insert((from as u32, to as u32));
        }
        let flows: Vec<Ends> = flows.into_iter().collect();
        let most = [f64::INFINITY, 0.05 + random.below(50) as f64 / 100.0][set % 2];
        let window = (set % 2 == 1).then_some(FlowWindow {
            bytes: most * RATE * ROUND_TRIP_NS as f64,
            port: None,
        });
        let shares = max_min(&flows, most.min(1.0));
        distinct.extend(shares.iter().map(|share| (share * 1000.0) as u64));
        let bytes = shares.iter().map(|share| (share * RATE * TIME_NS) as usize);
        let driver = Driver::new(set as u64, nodes as u32);
        driver.limit_links(link(window));
        let ended = last_arrivals(&driver, &flows.iter().copied().zip(bytes).collect());
        for (flow, share) in flows.iter().zip(shares) {
            let took = ended[flow].0 - ROUND_TRIP_NS / 2;
            let off = took as f64 / TIME_NS - 1.0;
            assert!(
                off.abs() < 0.02,
                "set {set}, {flow:?} of {flows:?}: {off} off {share}"
            );
        }
    }
    assert!(distinct.len() > 50, "all shares are alike: {distinct:?}");
}

/// The outcome of 51 senders that send bulk to node 0 at once.
struct Incast {
    goodput: f64,
    losses: Losses,
}

fn incast(window: f64) -> Incast {
    const SENDERS: u32 = 51;
    const BYTES: usize = 1_650_000;
    let driver = Driver::new(1, 1 + SENDERS);
    driver.go_on();
    driver.limit_links(link(Some(FlowWindow {
        bytes: window,
        port: Some(SwitchPort {
            bytes: 480e3,
            timeout_ns: 200_000_000,
        }),
    })));
    let ends = driver.run(|node: Node| async move {
        if node.rank() != Rank(0) {
            let mut buffer = Buffer::counted(BYTES);
            buffer.set_len(BYTES);
            node.ship(at(0), buffer).wait(&node).await;
            return Time(0);
        }
        let port = node.bind_bulk(PORT);
        let buffers = (0..SENDERS).map(|_| Buffer::counted(BYTES));
        let pool = Pool::new(&node, "room", buffers.collect());
        let mut arrivals = Vec::new();
        for _ in 0..SENDERS {
            arrivals.push(port.lend(&node, &pool).await.unwrap());
        }
        for arrival in arrivals {
            arrival.filled.wait(&node).await;
        }
        node.now()
    });
    let ns = ends.unwrap()[0].0 as f64;
    Incast {
        goodput: f64::from(SENDERS) * BYTES as f64 / RATE / ns,
        losses: driver.losses(),
    }
}

#[test]
fn small_windows_of_51_senders_fit_in_a_port() {
    let Incast { goodput, losses } = incast(8e3);
    assert_eq!(losses, Losses::default());
    assert!((0.95..=1.0).contains(&goodput), "{goodput}");
}

#[test]
fn large_windows_of_51_senders_overflow_a_port() {
    let grow = (80..120).map(|hundreds| f64::from(hundreds) * 100.0);
    let fit: Vec<f64> = grow
        .take_while(|&window| incast(window).losses.windows == 0)
        .collect();
    let most = fit.last().unwrap() * 51.0;
    assert!(
        (most / 480e3 - 1.0).abs() < 0.05,
        "{most} bytes are not lost"
    );
    for kb in [8.0, 16.0, 64.0, 256.0] {
        let Incast { goodput, losses } = incast(kb * 1e3);
        println!(
            "windows of {kb} KB: {:.1} % of the link, {} windows of {} bytes lost",
            goodput * 100.0,
            losses.windows,
            losses.bytes
        );
        assert_eq!(goodput < 0.5, kb > 8.0);
        assert_eq!(losses.windows > 0, kb > 8.0);
    }
}

/// An exchange with losses, twice.
#[test]
fn a_seed_decides_all_times() {
    let run = || {
        let driver = Driver::new(5, 6);
        driver.delay(1000);
        driver.limit_links(link(Some(FlowWindow {
            bytes: 64e3,
            port: Some(SwitchPort {
                bytes: 100e3,
                timeout_ns: 1_000_000,
            }),
        })));
        let exchange = Exchange {
            nodes: 6,
            letters: 10,
            bytes: 300_000,
            depth: 3,
        };
        (exchange.run(&driver), driver.events(), driver.losses())
    };
    let (first, again) = (run(), run());
    assert_eq!(first, again);
    assert!(first.2.windows > 0);
}

/// An exchange among all nodes.
#[derive(Clone, Copy)]
struct Exchange {
    nodes: u32,
    /// Letters from each node to each other.
    letters: u32,
    /// Bytes of the largest letters; the smallest have a fifth less.
    bytes: usize,
    /// Letters that a node has under way.
    depth: usize,
}

impl Exchange {
    /// Runs it; returns the nanoseconds of the last arrival.
    fn run(self, driver: &Driver) -> u64 {
        driver.go_on();
        let ends = driver.run(move |node: Node| async move {
            let receiver = node.spawn("receiver", move |node| self.receive(node));
            self.send(&node).await;
            receiver.wait(&node).await.unwrap()
        });
        ends.unwrap().into_iter().max().unwrap()
    }

    async fn send(self, node: &Node) {
        let mut random = Random::new(node.rank().0.into());
        let mut under_way = VecDeque::new();
        for _ in 0..self.letters {
            for step in 1..self.nodes {
                if under_way.len() == self.depth {
                    let oldest: node::Ticket<Buffer> = under_way.pop_front().unwrap();
                    oldest.wait(node).await;
                }
                let bytes = self.bytes - random.below(self.bytes / 5);
                let mut buffer = Buffer::counted(bytes);
                buffer.set_len(bytes);
                let to = (node.rank().0 + step) % self.nodes;
                under_way.push_back(node.ship(at(to), buffer));
            }
        }
        for ticket in under_way {
            ticket.wait(node).await;
        }
    }

    async fn receive(self, node: Node) -> u64 {
        let buffers = (0..self.depth).map(|_| Buffer::counted(self.bytes));
        let pool = Pool::new(&node, "room", buffers.collect());
        let arrivals = Queue::new(&node, "arrivals", self.depth, 1);
        let (queue, lent) = (arrivals.clone(), pool.clone());
        let lends = node.spawn("lends", move |node| async move {
            let port = node.bind_bulk(PORT);
            for _ in 0..self.letters * (self.nodes - 1) {
                let arrival = port.lend(&node, &lent).await.unwrap();
                queue.push(&node, arrival).await.unwrap();
            }
            queue.finish(&node).await;
        });
        while let Some(arrival) = arrivals.pop(&node).await.unwrap() {
            let buffer = arrival.filled.wait(&node).await;
            pool.give(&node, buffer).await;
        }
        lends.wait(&node).await.unwrap();
        node.now().0
    }
}

/// `cargo test --release -p gristmill-machine --test suite -- --ignored --nocapture time_of_exchanges`
#[test]
#[ignore = "it measures and asserts nothing"]
fn time_of_exchanges() {
    for (nodes, letters, depth) in [(16, 200, 6), (52, 20, 4), (52, 20, 51)] {
        let driver = Driver::new(1, nodes);
        driver.limit_links(NodeLink {
            round_trip_ns: 0,
            ..link(None)
        });
        let began = Instant::now();
        let exchange = Exchange {
            nodes,
            letters,
            bytes: 1_650_000,
            depth,
        };
        let simulated = exchange.run(&driver) as f64 / 1e9;
        let seconds = began.elapsed().as_secs_f64();
        let (events, sent) = (
            driver.events(),
            f64::from(letters * (nodes - 1)) * 0.9 * 1.65e6,
        );
        println!(
            "{nodes} nodes, {depth} under way: {events} events in {seconds:.3} s, {:.0} a second; \
             {simulated:.3} s simulated, {:.1} % of the link",
            events as f64 / seconds,
            sent / 1.25e9 / simulated * 100.0
        );
    }
}
