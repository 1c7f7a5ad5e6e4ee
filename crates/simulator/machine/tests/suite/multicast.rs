//! Multicast: each member receives each message once, with losses and trimming; and its cost.

use crate::common::*;
use machine::{Counts, Multicast, Outcome, Profile, Setting, Transport, parts};
use node::{Group, Node, Port, Rank};

fn group(first: u32, count: u32, stride: u32) -> Group {
    Group {
        first: Rank(first),
        count,
        stride,
    }
}

/// A sender, its group, and its number of messages.
type Sender = (u32, Group, u32);

async fn tell(node: Node, senders: Vec<Sender>, words: usize) -> Got {
    let me = node.rank().0;
    let port = node.bind(PORT);
    let heard = |(_, group, count): &Sender| {
        if group.members().any(|rank| rank.0 == me) {
            *count as usize
        } else {
            0
        }
    };
    let coming: usize = senders.iter().map(heard).sum();
    let mut number = 0;
    for (_, group, count) in senders.iter().filter(|(sender, ..)| *sender == me) {
        for _ in 0..*count {
            node.multicast(*group, PORT, &letter(me, number, words))
                .await;
            number += 1;
        }
    }
    take(&node, &port, coming, 300_000).await
}

fn told(profile: Profile, setting: Setting, senders: &[Sender], words: usize) -> Outcome<Got> {
    let senders = senders.to_vec();
    run(profile, setting, move |node| {
        tell(node, senders.clone(), words)
    })
}

/// Runs, and checks that each member received each message once, and other ranks nothing.
fn all_hear(profile: Profile, setting: Setting, senders: &[Sender], words: usize) -> Counts {
    let name = format!("{senders:?}, seed {}", setting.seed);
    let outcome = told(profile, setting, senders, words);
    let mut expected = vec![Got::new(); outcome.answers.len()];
    let mut numbers = vec![0; outcome.answers.len()];
    for (sender, group, count) in senders {
        for _ in 0..*count {
            let number = &mut numbers[*sender as usize];
            for member in group.members() {
                expected[member.0 as usize].insert((*sender, *number), 1);
            }
            *number += 1;
        }
    }
    for (rank, (got, expected)) in outcome.answers.iter().zip(&expected).enumerate() {
        assert_eq!(
            each_once(got, expected.keys().copied()),
            Ok(()),
            "rank {rank} of {name}"
        );
    }
    outcome.report.counts
}

/// Groups of a machine of 48 ranks: two per NIC, four per leaf, in three layers eight per pod.
fn groups() -> Vec<Group> {
    vec![
        group(0, 48, 1),
        group(0, 2, 1),
        group(1, 1, 1),
        group(4, 4, 1),
        group(3, 2, 1),
        group(2, 10, 3),
        group(0, 12, 4),
        group(1, 6, 8),
        group(47, 1, 7),
        group(7, 3, 20),
        group(40, 8, 1),
        group(0, 24, 2),
    ]
}

/// Layers of the network, and how its switches carry multicasts.
const WAYS: [(u32, Multicast); 5] = [
    (2, Multicast::PerPort),
    (3, Multicast::PerPort),
    (2, Multicast::FirstLeaf),
    (2, Multicast::OneSpine),
    (2, Multicast::DrawnSpines),
];

fn carried(multicast: Multicast) -> Setting {
    Setting {
        multicast,
        ..Setting::new(48)
    }
}

/// The same, with ACKs that switches aggregate, and with one of each member.
fn both(multicast: Multicast) -> [Setting; 2] {
    [true, false].map(|aggregates_acks| Setting {
        aggregates_acks,
        ..carried(multicast)
    })
}

/// Catches switches that forget the sender's own leaf or NIC, send a copy back, ignore strides, or
/// fan out twice.
#[test]
fn every_member_of_any_group_receives_once() {
    for (layers, multicast) in WAYS {
        for group in groups() {
            for sender in [0, 1, 3, 5, 22, 47] {
                for words in [1, 128] {
                    for setting in both(multicast) {
                        all_hear(small(layers, &[]), setting, &[(sender, group, 3)], words);
                    }
                }
            }
        }
    }
}

/// All senders at once, to groups that overlap.
fn crowd() -> Vec<Sender> {
    groups()
        .into_iter()
        .zip(0..)
        .map(|(group, index)| (index * 4 % 48, group, 4))
        .collect()
}

/// Catches lost copies and duplicates.
#[test]
fn losses_are_made_good() {
    for (layers, multicast) in WAYS {
        for (loss, seeds) in [(0.01, 0..3), (0.1, 0..3)] {
            for seed in seeds {
                for setting in both(multicast) {
                    let setting = Setting {
                        seed,
                        loss_parts: parts(loss),
                        ..setting
                    };
                    let counts = all_hear(small(layers, &[]), setting, &crowd(), 3);
                    assert!(counts.lost > 0 && counts.resent > 0, "{counts:?}");
                }
            }
        }
    }
}

/// Catches copies that are never trimmed, or never sent again.
#[test]
fn trimmed_copies_are_sent_again() {
    for (layers, multicast) in WAYS {
        for loss in [0.0, 0.05] {
            for setting in both(multicast) {
                let setting = Setting {
                    seed: 3,
                    loss_parts: parts(loss),
                    ..setting
                };
                let profile = small(layers, &[("queue_bytes", "1_100")]);
                let counts = all_hear(profile, setting, &crowd(), 100);
                assert!(
                    counts.trimmed > 10 && counts.resent >= counts.trimmed / 2,
                    "{counts:?}"
                );
            }
        }
    }
}

/// Homa's full queues drop copies, whose senders or switches have timeouts only.
#[test]
fn dropped_copies_are_sent_again() {
    for (layers, multicast) in WAYS {
        for setting in both(multicast) {
            let setting = Setting {
                seed: 3,
                loss_parts: parts(0.05),
                transport: Transport::Homa { unscheduled: 2 },
                ..setting
            };
            let profile = small(layers, &[("queue_bytes", "1_100")]);
            let counts = all_hear(profile, setting, &crowd(), 100);
            assert!(
                counts.trimmed == 0 && counts.dropped > 10 && counts.resent > 10,
                "{counts:?}"
            );
        }
    }
}

/// The NICs send one multicast and one ACK per member. Catches a sender that sends a copy, or
/// receives an ACK, per member.
#[test]
fn a_multicast_leaves_once() {
    for (layers, multicast) in WAYS {
        for group in groups().into_iter().filter(|group| group.count > 1) {
            let counts = all_hear(small(layers, &[]), carried(multicast), &[(5, group, 10)], 2);
            let heard = 10 * u64::from(group.count);
            assert_eq!((counts.messages, counts.received), (10, heard), "{group:?}");
            assert_eq!(counts.packets, 10 + heard, "{group:?}");
            assert_eq!(counts.wire_bytes, 10 * 80 + heard * 72, "{group:?}");
        }
    }
}

/// Catches switches that ignore the setting.
#[test]
fn without_multicast_only_the_messages_differ() {
    for group in groups() {
        let on = Setting::new(48);
        let off = Setting {
            multicast: Multicast::Off,
            ..on.clone()
        };
        let with = all_hear(small(2, &[]), on, &[(5, group, 10)], 2);
        let without = all_hear(small(2, &[]), off, &[(5, group, 10)], 2);
        assert_eq!(without.messages, 10 * u64::from(group.count));
        assert_eq!(with.received, without.received);
        assert_eq!(
            without.packets,
            2 * without.messages,
            "a message and its ACK"
        );
    }
}

/// A message of more than a packet is sent to one member after the other.
#[test]
fn long_messages_go_to_each_member() {
    let counts = all_hear(
        small(2, &[]),
        Setting::new(48),
        &[(5, group(0, 12, 4), 3)],
        200,
    );
    assert_eq!(counts.messages, 3 * 12);
}

/// Multicasts of one sender to 16 members behind other leaves.
const COUNT: u32 = 1000;

/// When the last member has them all, and the counts.
fn stream(aggregates_acks: bool) -> (u64, Counts) {
    // Members whose cores keep up with the link.
    let quick = edited(&[("receive_cycles", "1"), ("receive_done_cycles", "1")]);
    // An ACK implosion fills queues, and what it drops would be sent again.
    let profile = endless(quick);
    let members = group(256 + 8, 16, 64);
    let setting = Setting {
        aggregates_acks,
        ..Setting::new(5 * 256)
    };
    let outcome = run(profile, setting, move |node| async move {
        let port = node.bind(PORT);
        let rank = node.rank().0;
        if rank == 0 {
            for number in 0..COUNT {
                node.multicast(members, PORT, &letter(0, number, 2)).await;
            }
        } else if members.members().any(|member| member.0 == rank) {
            for _ in 0..COUNT {
                port.next(&node).await;
            }
        }
        node.now().0
    });
    let counts = outcome.report.counts;
    assert_eq!((counts.resent, counts.dropped), (0, 0));
    (*outcome.answers.iter().max().unwrap(), counts)
}

/// The first switch frees the sender's buffer, so a NIC sends a multicast every 10 ticks (its
/// flits). If the members freed it, there would be 128 per round trip of 6,200 ticks.
#[test]
fn the_first_switch_frees_the_buffer() {
    let (time, _) = stream(true);
    let far = (nanopu().link() * 4 + nanopu().switch() * 3).0;
    let serial = 10 * u64::from(COUNT);
    assert!(time >= serial + far, "{time}");
    assert!(
        time <= serial + serial / 10 + far + 200,
        "{time} ticks, {serial} and {far}"
    );
}

/// ACK implosion: the link to the sender takes 9 ticks for each ACK of each of 16 members, and a
/// buffer waits for all of them. Only the last 128 multicasts need no ACK to have been sent.
#[test]
fn without_aggregation_the_acks_of_members_limit_the_sender() {
    let (time, counts) = stream(false);
    let acks = 9 * 16 * u64::from(COUNT - 128);
    let slack = 3 * (nanopu().link() * 4 + nanopu().switch() * 3).0;
    assert!(
        time >= acks && time <= acks + acks / 10 + slack,
        "{time} ticks, {acks}"
    );
    assert_eq!(counts.busiest_down_flits, 9 * 16 * u64::from(COUNT));
}

/// Copies keep the port of the multicast.
#[test]
fn copies_arrive_at_their_port() {
    let outcome = run(small(2, &[]), Setting::new(48), |node| async move {
        let ports = [Port(1), Port(9)].map(|port| node.bind(port));
        if node.rank().0 == 5 {
            node.multicast(Group::row(Rank(0), 48), Port(9), &[9]).await;
            node.multicast(Group::row(Rank(0), 48), Port(1), &[1]).await;
        }
        (
            ports[0].next(&node).await.words[0],
            ports[1].next(&node).await.words[0],
        )
    });
    assert!(outcome.answers.iter().all(|heard| *heard == (1, 9)));
}

/// A tenth of all packets is lost, so ACKs are lost several times in a row, and no multicast may be
/// received twice at its seventh retry.
#[test]
fn many_acks_are_lost() {
    for aggregates_acks in [true, false] {
        many_are_lost(0.1, aggregates_acks);
    }
}

/// A third of all packets is lost.
#[test]
fn a_third_is_lost() {
    for aggregates_acks in [true, false] {
        many_are_lost(0.33, aggregates_acks);
    }
}

fn many_are_lost(loss: f64, aggregates_acks: bool) {
    let everyone = |sender| (sender, group(0, 48, 1), 3);
    let senders: Vec<_> = (0..48).step_by(6).map(everyone).collect();
    for seed in 0..3 {
        let setting = Setting {
            seed,
            loss_parts: parts(loss),
            aggregates_acks,
            ..Setting::new(48)
        };
        all_hear(small(2, &[]), setting, &senders, 2);
    }
}

/// One ACK of each member, and no other answer, comes to the sender, also of members behind its own
/// NIC: a duplicate would show as a packet. Catches switches that still acknowledge for members.
#[test]
fn each_member_acknowledges_to_the_sender_without_aggregation() {
    for (layers, multicast) in WAYS {
        let [with, without] = both(multicast).map(|setting| {
            let senders = [(5, group(0, 48, 1), 10)];
            all_hear(small(layers, &[]), setting, &senders, 2)
        });
        assert_eq!(with.packets, 10 * (1 + 48));
        assert_eq!((without.packets, without.resent), (with.packets, 0));
        // With it 23 of 24 leaf and spine ways of an ACK end at the first switch.
        assert!(without.busiest_down_flits > with.busiest_down_flits);
        assert_eq!(without.busiest_down_flits, 10 * (48 * 9 + 2 * 10));
    }
}

/// With a copy for each member, a link from the spine carries all those of a leaf, and one that is
/// full cuts some. Catches modes that make the same copies.
#[test]
fn copies_per_member_fill_the_links_below_a_spine() {
    let all = group(0, 48, 1);
    let senders: Vec<Sender> = (0..8).map(|sender| (sender, all, 4)).collect();
    let events = |multicast| {
        let counts = all_hear(small(2, &[]), carried(multicast), &senders, 64);
        (counts.events, counts.trimmed)
    };
    let [(port, _), (one, trimmed)] = [Multicast::PerPort, Multicast::OneSpine].map(events);
    assert!(one > port, "{one} events, per port {port}");
    let narrow = small(2, &[("queue_bytes", "8_000")]);
    let counts = all_hear(narrow, carried(Multicast::OneSpine), &senders, 64);
    assert!(counts.trimmed > trimmed, "{counts:?}");
}

#[test]
fn copies_per_member_need_two_layers() {
    let setting = carried(Multicast::OneSpine);
    let error = machine::Cluster::new(small(3, &[]), setting).err().unwrap();
    assert!(error.0.contains("two layers"), "{error}");
}
