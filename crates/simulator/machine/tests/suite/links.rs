//! The driver's links when they are late, cut or broken.

use machine::{Back, Cut, Driver, NodeLink, Passage, Strike};
use node::{Address, Buffer, Node, Pool, Port, Rank, Time};

const PORT: Port = Port(7);
const SECOND: u64 = 1_000_000_000;

/// A link that takes as long for a number as numbers take to follow each other.
const SLOW: NodeLink = NodeLink {
    bytes_per_ns: 8.0,
    round_trip_ns: 10,
    window: None,
};

fn at(rank: u32) -> Address {
    Address {
        rank: Rank(rank),
        port: PORT,
    }
}

/// Every other node sends numbers to rank 0, one per tick. Returns those that rank 0 receives
/// before a pause.
fn heard(driver: &Driver, numbers: u64) -> Vec<(u32, u64, Time)> {
    let ends = driver.run(move |node: Node| async move {
        if node.rank() != Rank(0) {
            for number in 0..numbers {
                node.send(at(0), &[number]).await;
                node.sleep_until(node.now().after(1)).await;
            }
            return Vec::new();
        }
        let (port, mut heard) = (node.bind(PORT), Vec::new());
        while let Some(message) = port.next_until(&node, node.now().after(100 * SECOND)).await {
            heard.push((message.from.0, message.words[0], node.now()));
        }
        heard
    });
    ends.unwrap().swap_remove(0)
}

#[test]
fn late_messages_keep_their_order_between_two_nodes() {
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let driver = Driver::new(seed, 3);
        driver.delay(SECOND);
        let all = heard(&driver, 20);
        for from in 1..3 {
            let numbers = all
                .iter()
                .filter(|heard| heard.0 == from)
                .map(|heard| heard.1);
            assert!(numbers.eq(0..20), "seed {seed}");
        }
        assert!(
            all.iter().all(|heard| heard.2 <= Time(20 + SECOND)),
            "seed {seed}"
        );
        orders.insert(all.iter().map(|heard| heard.0).collect::<Vec<_>>());
    }
    assert!(
        orders.len() > 15,
        "only {} orders of two senders",
        orders.len()
    );
}

#[test]
fn a_cut_link_delivers_nothing_until_it_heals() {
    let cuts = [
        (None, None),
        (Some(0), None),
        (Some(2), None),
        (Some(0), Some(SECOND)),
    ];
    let cuts = cuts.into_iter().flat_map(|cut| [(cut, false), (cut, true)]);
    for ((to, heals_after), is_limited) in cuts {
        let driver = Driver::new(1, 3);
        if is_limited {
            driver.delay(10);
            driver.limit_links(SLOW);
        }
        driver.cut(
            Cut {
                of: 1,
                to,
                heals_after,
            },
            if is_limited { 200 } else { 40 },
        );
        let all = heard(&driver, 50);
        let [(cut_at, Strike::Cut(_))] = driver.struck()[..] else {
            panic!("{:?}", driver.struck())
        };
        let from = |rank| all.iter().filter(move |heard| heard.0 == rank);
        assert_eq!(from(2).count(), 50, "its link to 0 is whole");
        let during = from(1)
            .filter(|heard| heard.2 > cut_at && heard.2 < Time(SECOND))
            .count();
        match (to, heals_after) {
            (Some(2), _) => assert_eq!(from(1).count(), 50, "another link is cut"),
            (_, None) => assert!((1..50).contains(&from(1).count()) && during == 0),
            (_, Some(_)) => {
                assert!(
                    from(1).map(|heard| heard.1).eq(0..50) && during == 0,
                    "all come, late"
                );
            }
        }
        assert_eq!(
            heard(&driver, 50).len(),
            100,
            "links are whole in the next run"
        );
    }
}

/// Ships two buffers; returns when rank 0 had them back, and the bytes of rank 1, within ten
/// seconds.
fn shipped(driver: &Driver) -> (Vec<Time>, usize) {
    let ends = driver.run(|node: Node| async move {
        let deadline = Time(10 * SECOND);
        if node.rank() == Rank(0) {
            let mut back = Vec::new();
            let sent = [1, 2].map(|byte| {
                let mut buffer = Buffer::heap(1000);
                buffer.bytes_mut().fill(byte);
                buffer.set_len(1000);
                node.ship(at(1), buffer)
            });
            for ticket in sent {
                if ticket.done_by(&node, deadline).await {
                    assert_eq!(ticket.wait(&node).await.len(), 1000);
                    back.push(node.now());
                }
            }
            return (back, 0);
        }
        node.sleep_until(Time(SECOND)).await;
        let (port, mut got) = (node.bind_bulk(PORT), 0);
        let pool = Pool::new(&node, "room", vec![Buffer::heap(1000), Buffer::heap(1000)]);
        for byte in [1, 2] {
            let arrival = port.lend(&node, &pool).await.unwrap();
            if arrival.filled.done_by(&node, deadline).await {
                let buffer = arrival.filled.wait(&node).await;
                assert_eq!(buffer.filled(), [byte; 1000]);
                got += 1;
            }
        }
        (Vec::new(), got)
    });
    let mut ends = ends.unwrap();
    (ends.swap_remove(0).0, ends.swap_remove(0).1)
}

#[test]
fn bulk_waits_for_room_and_returns_by_the_rule() {
    let driver = Driver::new(1, 2);
    driver.delay(1000);
    let (back, got) = shipped(&driver);
    assert!(
        back.iter().all(|&at| at >= Time(SECOND)),
        "there was no room before: {back:?}"
    );
    assert_eq!((back.len(), got, driver.most_waiting(PORT)), (2, 2, 2));
    for (given_back, expected) in [(Back::AtOnce, 2), (Back::NeverEach(2), 1)] {
        let driver = Driver::new(1, 2);
        driver.give_back(given_back);
        let (back, got) = shipped(&driver);
        assert_eq!((back.len(), got), (expected, 2), "{given_back:?}");
        assert_eq!(back[0] < Time(SECOND), given_back == Back::AtOnce);
    }
}

/// A dead node sends no more bytes, and those that it has sent arrive.
#[test]
fn bulk_of_a_dead_node_does_not_arrive() {
    let outcomes = (1..40).map(|nth| {
        let driver = Driver::new(1, 2);
        driver.delay(1000);
        driver.kill(0, nth);
        driver.end_by(Time(100 * SECOND));
        let ends = driver.run(|node: Node| async move {
            if node.rank() == Rank(0) {
                drop(node.ship(at(1), Buffer::heap(0)));
                node.sleep_until(Time(SECOND)).await;
                return None;
            }
            let port = node.bind_bulk(PORT);
            let pool = Pool::new(&node, "room", vec![Buffer::heap(1000)]);
            let arrival = port.lend(&node, &pool).await.unwrap();
            Some(arrival.filled.done_by(&node, Time(2 * SECOND)).await)
        });
        // Where even the word of it was not sent, it is waited for without end.
        ends.map_or(None, |ends| ends.into_iter().flatten().next())
    });
    let outcomes: Vec<_> = outcomes.collect();
    for outcome in [None, Some(false), Some(true)] {
        assert!(
            outcomes.contains(&outcome),
            "no {outcome:?} in {outcomes:?}"
        );
    }
}

#[test]
fn a_rule_decides_the_passage_of_small_messages() {
    let driver = Driver::new(1, 3);
    driver.delay(SECOND);
    driver.cut(
        Cut {
            of: 1,
            to: None,
            heals_after: None,
        },
        1,
    );
    driver.carry(|_, message| match message.words[0] {
        0..10 => Passage::Lost,
        10..20 => Passage::Through,
        _ => Passage::Usual,
    });
    let all = heard(&driver, 30);
    let numbers = |rank| {
        all.iter()
            .filter(move |heard| heard.0 == rank)
            .map(|heard| heard.1)
    };
    assert!(
        numbers(1).eq(10..20),
        "all but these are lost or cut: {all:?}"
    );
    assert!(numbers(2).count() == 20 && numbers(2).all(|number| number >= 10));
}

#[test]
fn repeated_waits_are_stuck_at_the_deadline() {
    let driver = Driver::new(1, 1);
    driver.end_by(Time(5 * SECOND));
    let stuck = driver.run(|node: Node| async move {
        loop {
            node.sleep_until(node.now().after(SECOND)).await;
        }
    });
    assert_eq!(
        stuck.map(|_: Vec<()>| ()).unwrap_err().waiting,
        ["node 0 waits for sleep"]
    );
    assert!(driver.now() <= Time(6 * SECOND));
}
