//! Messages that are lost, trimmed, late or without room still arrive, once and unchanged.
//!
//! Receivers count: a lost message makes one wait for ever, and a duplicate has a count of two.

use crate::common::*;
use machine::{Counts, Profile, Queues, Setting, Ticks, Transport, parts};
use node::{Port, Time};

/// Sixteen NICs of two ranks on four leaves.
fn sixty_four() -> [(&'static str, &'static str); 3] {
    [
        ("ranks_per_nic", "4"),
        ("down_links", "4"),
        ("up_links", "4"),
    ]
}

/// Each rank sends messages to each other one, and receives as many.
fn all_to_all(profile: Profile, setting: Setting, rounds: u32, words: usize) -> Counts {
    let ranks = setting.ranks;
    let name = format!("seed {}, {words} words", setting.seed);
    let outcome = run(profile, setting, move |node| async move {
        let (me, port) = (node.rank().0, node.bind(PORT));
        let mut got = Got::new();
        for number in 0..rounds {
            for distance in 1..ranks {
                send(&node, (me + distance) % ranks, &letter(me, number, words)).await;
                while let Some(message) = port.next_until(&node, node.now()).await {
                    *got.entry(opened(&message)).or_default() += 1;
                }
            }
        }
        let coming = (rounds * (ranks - 1)) as usize;
        let taken = got.values().sum::<u32>() as usize;
        // Longer than a sender waits until it tries again.
        let rest = take(&node, &port, coming.saturating_sub(taken), 3_000_000).await;
        rest.into_iter()
            .for_each(|(letter, count)| *got.entry(letter).or_default() += count);
        got
    });
    for (rank, got) in (0..).zip(&outcome.answers) {
        let others = (0..ranks).filter(|from| *from != rank);
        let sent = others.flat_map(|from| (0..rounds).map(move |number| (from, number)));
        assert_eq!(each_once(got, sent), Ok(()), "rank {rank}, {name}");
    }
    outcome.report.counts
}

/// Homa, with and without packets that wait for a GRANT.
const HOMA: [Transport; 2] = [
    Transport::Homa { unscheduled: 1 },
    Transport::Homa { unscheduled: 2 },
];

fn lossy(seed: u64, loss: f64) -> Setting {
    Setting {
        seed,
        loss_parts: parts(loss),
        ..Setting::new(64)
    }
}

/// Catches missing retransmissions and duplicates. 129 words are two segments, of which either may
/// be lost.
#[test]
fn losses_are_made_good() {
    for (loss, words) in [(0.01, 2), (0.01, 129), (0.01, 256), (0.1, 2)] {
        let counts = all_to_all(edited(&sixty_four()), lossy(2, loss), 1, words);
        let share = counts.lost as f64 / counts.packets as f64;
        // A packet goes over four links, or two.
        assert!((2.0 * loss..4.0 * loss).contains(&share), "{counts:?}");
        assert!(counts.resent > 0);
    }
}

/// The same with Homa, with queues of a packet, which drop, and with few receive buffers. Catches
/// lost GRANTs, whole segments that no RESEND requests, and duplicates.
#[test]
fn homa_makes_losses_and_full_queues_good() {
    for transport in HOMA {
        for (loss, words, queue) in [
            (0.01, 2, "92_480"),
            (0.05, 129, "92_480"),
            (0.1, 256, "92_480"),
            (0.3, 256, "92_480"),
            (0.0, 2, "1_100"),
            (0.01, 256, "1_100"),
        ] {
            let changes = [&sixty_four()[..], &[("queue_bytes", queue)]].concat();
            let setting = Setting {
                transport,
                ..lossy(2, loss)
            };
            let counts = all_to_all(edited(&changes), setting, 1, words);
            assert!(
                counts.resent > 0,
                "{transport:?}, {words} words: {counts:?}"
            );
            assert_eq!((counts.trimmed, counts.returned), (0, 0));
            // Many long messages also find no receive buffer.
            assert!(counts.dropped > 0 || queue != "1_100", "{counts:?}");
        }
        let changes = [&sixty_four()[..], &[("receive_buffers", "2")]].concat();
        // So few ranks that no core waits for room to send, and all receive.
        let setting = Setting {
            ranks: 8,
            transport,
            ..lossy(4, 0.02)
        };
        let counts = all_to_all(edited(&changes), setting, 1, 129);
        assert!(counts.dropped > 0, "no receive buffer: {counts:?}");
    }
}

/// Without losses each message of two packets costs their two ACKs, and a GRANT if one waits.
#[test]
fn homa_grants_what_is_not_sent_by_itself() {
    let packets = |transport, words| {
        let setting = Setting {
            transport,
            ..Setting::new(64)
        };
        let roomy = [&sixty_four()[..], &[("receive_buffers", "4_096")]].concat();
        let counts = all_to_all(endless(edited(&roomy)), setting, 1, words);
        assert_eq!((counts.resent, counts.dropped), (0, 0));
        counts.packets / (64 * 63)
    };
    let [waits, sends] = HOMA;
    for (transport, small, large) in [(Transport::Ndp, 2, 4), (sends, 2, 4), (waits, 2, 5)] {
        let counted = [packets(transport, 128), packets(transport, 129)];
        assert_eq!(counted, [small, large], "{transport:?}");
    }
}

/// Catches receivers that forget a message before its sender stops retrying.
#[test]
fn losses_in_a_row_make_no_duplicates() {
    for seed in 0..3 {
        all_to_all(edited(&sixty_four()), lossy(seed, 0.1), 4, 2);
    }
    all_to_all(edited(&sixty_four()), lossy(2, 0.1), 1, 200);
    all_to_all(edited(&sixty_four()), lossy(1, 0.3), 4, 2);
}

/// Tails shorter and longer than a window, and of three timeouts, so that every late message is
/// sent again before it arrives.
#[test]
fn tails_are_only_late() {
    for (tail, ranks) in [(100, 2), (3200, 2), (3200, 64), (100_000, 64)] {
        for words in [2, 128, 250] {
            let late = Setting {
                tail,
                tail_parts: parts(0.05),
                ..Setting::new(ranks)
            };
            let counts = all_to_all(
                edited(&sixty_four()),
                late.clone(),
                640 / (ranks * 10),
                words,
            );
            assert_eq!(counts.lost, 0);
            assert!(counts.resent > 100 || tail < 100_000, "{counts:?}");
            let lossy = Setting {
                loss_parts: parts(0.02),
                ..late
            };
            all_to_all(edited(&sixty_four()), lossy, 1, words);
        }
    }
}

/// A sender that retries too early costs only time: the second try may overtake the first over
/// another spine. Files must not have so short a timeout, but queued messages are as late.
#[test]
fn a_short_timeout_makes_no_duplicates() {
    let mut hasty = endless(edited(&sixty_four()));
    hasty.nic.timeout_cycles = Ticks(500);
    all_to_all(hasty, Setting::new(64), 4, 2);
}

/// Catches lost trimmed packets, and mixed up segments.
#[test]
fn trimmed_packets_arrive_later() {
    for (words, queue) in [(2, "1_100"), (128, "1_100"), (256, "1_100"), (256, "3_000")] {
        for loss in [0.0, 0.01] {
            let changes = [&sixty_four()[..], &[("queue_bytes", queue)]].concat();
            let counts = all_to_all(edited(&changes), lossy(3, loss), 1, words);
            let cut = counts.trimmed + counts.returned;
            assert!(cut > 5 && counts.resent >= cut / 2, "{counts:?}");
        }
    }
}

/// Rank 0 does not receive until a time; ranks behind other NICs send to it, and later one to its
/// neighbour. Returns when the neighbour received its message.
fn deaf_until(moment: u64, to_deaf: u32, queues: Queues, first_port: Port) -> (u64, Counts) {
    let setting = Setting {
        queues,
        ..Setting::new(24)
    };
    let outcome = run(nanopu(), setting, move |node| async move {
        let me = node.rank().0;
        match me {
            0 => {
                let (port, first) = (node.bind(PORT), node.bind(first_port));
                node.sleep_until(Time(moment)).await;
                let port = if first_port == PORT { &port } else { &first };
                let got = take(&node, port, (to_deaf * 16) as usize, 3_000_000).await;
                let sent = (8..24).flat_map(|from| (0..to_deaf).map(move |at| (from, at)));
                assert_eq!(each_once(&got, sent), Ok(()));
                0
            }
            1 => {
                node.bind(PORT).next(&node).await;
                node.now().0
            }
            4 => {
                node.sleep_until(Time(20_000)).await;
                send(&node, 1, &[1]).await;
                0
            }
            8.. => {
                for number in 0..to_deaf {
                    let to = node::Address {
                        rank: node::Rank(0),
                        port: first_port,
                    };
                    node.send(to, &letter(me, number, 2)).await;
                }
                0
            }
            _ => 0,
        }
    });
    (outcome.answers[1], outcome.report.counts)
}

/// Catches unlimited receive queues. 63 messages wait in the core's queue and 128 in the NIC's
/// buffers; a neighbour's message is behind those, or dropped.
#[test]
fn receive_queues_are_bounded() {
    // Messages that fit the queue delay no other.
    let (neighbour, counts) = deaf_until(200_000, 3, Queues::ByCore, Port(5));
    assert!((20_000..25_000).contains(&neighbour), "{neighbour}");
    assert_eq!((counts.dropped, counts.resent), (0, 0));
    // The NIC holds what does not, and the neighbour waits behind it.
    let (neighbour, counts) = deaf_until(200_000, 8, Queues::ByCore, Port(5));
    assert!((200_000..210_000).contains(&neighbour), "{neighbour}");
    assert_eq!((counts.dropped, counts.resent), (0, 0));
    // It drops what it cannot hold.
    let (neighbour, counts) = deaf_until(200_000, 20, Queues::ByCore, Port(5));
    assert!(neighbour >= 200_000, "{neighbour}");
    assert!(
        counts.dropped > 0 && counts.resent >= counts.dropped,
        "{counts:?}"
    );
}

/// Catches an ignored division of queues. 128 messages exceed a core's queue, but not a shared one.
#[test]
fn a_shared_queue_holds_more() {
    let (neighbour, _) = deaf_until(200_000, 8, Queues::Shared, Port(5));
    assert!((20_000..25_000).contains(&neighbour), "{neighbour}");
    let (neighbour, _) = deaf_until(200_000, 16, Queues::Shared, Port(5));
    assert!(
        neighbour >= 200_000,
        "256 are all that it holds: {neighbour}"
    );
    let (neighbour, _) = deaf_until(200_000, 8, Queues::ByPort, Port(5));
    assert!(neighbour >= 200_000, "one port has one queue: {neighbour}");
}

/// A full queue of a port does not block other ports; a full queue of a core does.
#[test]
fn ports_have_their_own_queues() {
    let time = |queues| {
        let setting = Setting {
            queues,
            ..Setting::new(24)
        };
        let outcome = run(nanopu(), setting, |node| async move {
            let me = node.rank().0;
            if me == 0 {
                let (full, quick) = (node.bind(Port(1)), node.bind(Port(2)));
                let early = quick.next_until(&node, Time(100_000)).await.is_some();
                for _ in 0..63 {
                    full.next(&node).await;
                }
                if !early {
                    quick.next(&node).await;
                }
                return u64::from(early);
            }
            if (8..17).contains(&me) {
                for number in 0..7 {
                    send(&node, 0, &letter(me, number, 2)).await;
                }
            } else if me == 20 {
                node.sleep_until(Time(20_000)).await;
                node.send(
                    node::Address {
                        rank: node::Rank(0),
                        port: Port(2),
                    },
                    &[1],
                )
                .await;
            }
            0
        });
        outcome.answers[0] == 1
    };
    assert!(time(Queues::ByPort) && time(Queues::Shared));
    assert!(!time(Queues::ByCore));
}
