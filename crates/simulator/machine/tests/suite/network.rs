//! The times of the network, computed from the numbers of the profile.
//!
//! Each test names the errors of a model that it catches. Times are ticks of the nanoPU cluster
//! unless a test changes it: 64 NICs per leaf, four ranks per NIC, so leaf `l` begins with rank
//! `256 l`.

use std::sync::Arc;

use crate::common::*;
use machine::{Outcome, Profile, Setting, Ticks};
use node::{Node, Time};

/// Ranks of a leaf.
const LEAF: u32 = 256;

/// Words of a message that fills a packet.
const FULL: usize = 128;

fn flits(profile: &Profile, words: u64) -> u64 {
    u64::from(profile.nic.header_bytes) / 8 + words
}

/// From the start of a send at time 0 to the last flit at the receiver's NIC, over some links.
fn to_the_nic(profile: &Profile, words: u64, links: u64) -> u64 {
    let (core, nic) = (&profile.core, &profile.nic);
    let sent = core.send_cycles + core.send_word_cycles * words + nic.transmit_cycles;
    // Two segments follow each other on each link.
    let headers = if words > FULL as u64 { 2 } else { 1 } * flits(profile, 0);
    (sent + way(profile, links)).0 + headers + words
}

/// The latency of some links, and of the switches between them.
fn way(profile: &Profile, links: u64) -> Ticks {
    profile.link() * links + profile.switch() * (links - 1)
}

/// From there until the waiting program has read the message.
fn to_the_program(profile: &Profile, words: u64) -> u64 {
    let core = &profile.core;
    let noticed = profile.nic.receive_cycles + core.notice_cycles;
    (noticed + core.receive_cycles + core.receive_word_cycles * words).0
}

/// From a message's turn at its NIC until its transmit buffer is free.
fn round_trip(profile: &Profile, words: u64, links: u64) -> u64 {
    let nic = &profile.nic;
    let ways = way(profile, links) * 2 + nic.transmit_cycles + nic.receive_cycles;
    ways.0 + flits(profile, words) + u64::from(nic.control_bytes) / 8
}

/// The end of the last rank.
fn end<T>(outcome: &Outcome<T>) -> u64 {
    *outcome.report.ends.iter().max().unwrap()
}

/// Runs flows: a sender, its receivers in turn, and a number of messages. Returns when each rank
/// received its last message.
fn flows(
    profile: Profile,
    ranks: u32,
    words: usize,
    flows: &[(u32, Vec<u32>, u32)],
) -> Outcome<u64> {
    let flows = Arc::new(flows.to_vec());
    run(profile, Setting::new(ranks), move |node| {
        flow(node, words, Arc::clone(&flows))
    })
}

async fn flow(node: Node, words: usize, flows: Arc<Vec<(u32, Vec<u32>, u32)>>) -> u64 {
    let me = node.rank().0;
    for (_, receivers, count) in flows.iter().filter(|(sender, ..)| *sender == me) {
        for (number, to) in (0..*count).zip(receivers.iter().cycle()) {
            send(&node, *to, &letter(me, number, words)).await;
        }
    }
    let coming: usize = flows
        .iter()
        .map(|(_, receivers, count)| {
            let turns = (0..*count).zip(receivers.iter().cycle());
            turns.filter(|(_, to)| **to == me).count()
        })
        .sum();
    if coming == 0 {
        return 0;
    }
    let port = node.bind(PORT);
    for _ in 0..coming {
        opened(&port.next(&node).await);
    }
    node.now().0
}

/// Catches a missing or doubled part of the way, and switches that store and forward.
#[test]
fn an_unloaded_message_takes_the_sum_of_its_parts() {
    let (two, three) = (nanopu(), edited_of("nanopu-3-layer", &[]));
    let pod = 64 * LEAF;
    let ways = [
        (&two, 1, 2, "behind one NIC"),
        (&two, 255, 2, "on one leaf"),
        (&two, LEAF, 4, "over the spine"),
        (&three, LEAF, 4, "within a pod"),
        (&three, pod, 6, "between pods"),
    ];
    for (profile, to, links, name) in ways {
        for words in [1, 2, 3, 100, 128, 129, 200, 256] {
            let one = flows(profile.clone(), to + 1, words, &[(0, vec![to], 1)]);
            let words = words as u64;
            let expected = to_the_nic(profile, words, links) + to_the_program(profile, words);
            assert_eq!(one.answers[to as usize], expected, "{words} words {name}");
        }
    }
}

/// The arbiter takes a tick when the served core changes. Catches a NIC per core, or none.
#[test]
fn the_cores_of_a_nic_take_turns() {
    let profile = nanopu();
    let one = flows(profile.clone(), 8, 2, &[(1, vec![4], 1)]);
    let alone = to_the_nic(&profile, 2, 2) + to_the_program(&profile, 2);
    assert_eq!(one.answers[4], alone + profile.nic.turn_cycles.0);
    // Four cores that send at once share one link: their packets follow each other.
    let four: Vec<_> = (0..4).map(|core| (core, vec![4 + core], 1)).collect();
    let all = flows(profile.clone(), 8, 2, &four);
    let last = *all.answers.iter().max().unwrap();
    assert!(
        last >= alone + 3 * flits(&profile, 2),
        "{last} after {alone}"
    );
}

/// All to the four cores of NIC 0 from 16 NICs on four other leaves.
fn incast(profile: Profile, words: usize, messages: u32) -> Outcome<u64> {
    let senders = (LEAF..5 * LEAF).filter(|rank| rank / 4 % 16 == 0);
    let to_all = |sender| (sender, vec![0, 1, 2, 3], messages);
    flows(
        profile,
        5 * LEAF,
        words,
        &senders.map(to_all).collect::<Vec<_>>(),
    )
}

/// Without queues at the last link it ends too early; with a link that idles while retransmissions
/// wait it ends too late; with unlimited queues nothing is trimmed.
#[test]
fn all_to_one_takes_the_last_links_time() {
    let profile = nanopu();
    let path = to_the_nic(&profile, 2, 4) + to_the_program(&profile, 2);
    let messages = 64 * 400;
    let check = |outcome: &Outcome<u64>| {
        let (time, flits) = (end(outcome), outcome.report.counts.busiest_down_flits);
        assert_eq!(outcome.report.counts.received, messages);
        assert!(
            time >= flits,
            "{time} ticks for {flits} flits: faster than the link"
        );
        let limit = flits + flits / 50 + path;
        assert!(
            time <= limit,
            "{time} ticks for {flits} flits, more than {limit}"
        );
    };
    let bounded = incast(profile.clone(), 2, 400);
    check(&bounded);
    let counts = bounded.report.counts;
    assert!(
        counts.trimmed > 0 && counts.resent >= counts.trimmed,
        "{counts:?}"
    );
    let needed = messages * flits(&profile, 2);
    assert!(counts.busiest_down_flits > needed, "headers went too");
    assert!(
        counts.busiest_down_flits * 10 <= needed * 11,
        "and little else: {counts:?}"
    );
    let unbounded = incast(endless(profile.clone()), 2, 400);
    check(&unbounded);
    let counts = unbounded.report.counts;
    assert_eq!((counts.trimmed, counts.resent, counts.dropped), (0, 0, 0));
    assert_eq!(counts.busiest_down_flits, messages * flits(&profile, 2));
}

/// Far more messages of one and two segments than a queue or a NIC's buffers hold. A receiver that
/// dropped packets without a NACK would get each message of two segments dozens of times.
#[test]
fn all_to_one_ends_with_large_messages_too() {
    for (words, most_parts) in [(FULL, 11), (2 * FULL, 20)] {
        let profile = nanopu();
        let outcome = incast(profile.clone(), words, 40);
        let counts = outcome.report.counts;
        let needed = 64 * 40 * (words / FULL) as u64 * flits(&profile, FULL as u64);
        assert_eq!(counts.received, 64 * 40);
        assert!(counts.trimmed > 0, "{counts:?}");
        let carried = counts.busiest_down_flits;
        assert!(
            carried * 10 <= needed * most_parts,
            "{carried} flits for {needed}, {words} words"
        );
    }
}

/// Catches flows that are served one after the other, or have their own links.
#[test]
fn two_flows_share_a_down_link() {
    let profile = nanopu();
    let (a, b) = ((LEAF, vec![0, 1], 300), (2 * LEAF, vec![2, 3], 300));
    let alone = flows(profile.clone(), 3 * LEAF, FULL, std::slice::from_ref(&a));
    let both = flows(profile, 3 * LEAF, FULL, &[a, b]);
    let (alone, both) = (end(&alone), both.answers);
    let (first, second) = (both[0].max(both[1]), both[2].max(both[3]));
    for time in [first, second] {
        assert!(
            time * 10 >= alone * 17,
            "{first} and {second} together, {alone} alone"
        );
        assert!(
            time * 10 <= alone * 21,
            "{first} and {second} together, {alone} alone"
        );
    }
}

/// Catches a single shared network, or one queue per leaf.
#[test]
fn flows_to_different_nics_do_not_meet() {
    let profile = nanopu();
    let (a, b) = ((LEAF, vec![0, 1], 300), (2 * LEAF, vec![4, 5], 300));
    let alone = end(&flows(
        profile.clone(),
        3 * LEAF,
        FULL,
        std::slice::from_ref(&a),
    ));
    let both = end(&flows(profile, 3 * LEAF, FULL, &[a, b]));
    assert!(both * 100 <= alone * 102, "{both} together, {alone} alone");
}

/// Catches flows, or pairs of leaves, that use one spine: 64 NICs would share its link.
#[test]
fn packets_spread_over_all_spines() {
    let profile = nanopu();
    let all: Vec<_> = (0..64)
        .flat_map(|nic| [0, 1].map(|core| 4 * nic + core))
        .map(|rank| (rank, vec![LEAF + rank], 100))
        .collect();
    let time = end(&flows(profile.clone(), 2 * LEAF, FULL, &all));
    let at_nic_rate = 200 * flits(&profile, FULL as u64);
    assert!(time >= at_nic_rate);
    assert!(
        time <= at_nic_rate * 3 / 2,
        "{time} ticks, {at_nic_rate} at the rate of a NIC"
    );
}

/// Catches ACKs that wait behind data: NIC 0 has a queue of some thousand ticks, and its core 0 can
/// send only when ACKs pass it.
#[test]
fn control_overtakes_data() {
    let buffers = [("transmit_buffers", "2"), ("large_transmit_buffers", "2")];
    let profile = endless(edited(&buffers));
    let crowd: Vec<_> = (0..60)
        .map(|nic| (LEAF + 4 * nic, vec![1, 2, 3], 12))
        .collect();
    let crowd = Arc::new(crowd);
    let (begin, count) = (20_000, 20);
    let outcome = run(profile.clone(), Setting::new(2 * LEAF), move |node| {
        let crowd = Arc::clone(&crowd);
        async move {
            match node.rank().0 {
                0 => {
                    node.sleep_until(Time(begin)).await;
                    for number in 0..count {
                        send(&node, 4, &letter(0, number, 2)).await;
                    }
                    0
                }
                4 => {
                    let port = node.bind(PORT);
                    for _ in 0..count {
                        port.next(&node).await;
                    }
                    node.now().0
                }
                _ => flow(node, FULL, crowd).await,
            }
        }
    });
    let data_end = outcome.answers[1..4].iter().max().unwrap();
    assert_eq!(outcome.report.counts.resent, 0);
    let trips = u64::from(count) / 2 * round_trip(&profile, 2, 2);
    let took = outcome.answers[4] - begin;
    assert!(
        outcome.answers[4] < *data_end,
        "the queue was there all the time"
    );
    // An ACK waits for the packet that has begun, if there is one.
    let limit = trips + u64::from(count) * flits(&profile, FULL as u64);
    assert!(took <= limit, "{took} ticks for {trips} of round trips");
}

/// Without transmit buffers, or with buffers that are free when the message has left, a message
/// would take only the time of arbiter and link: 10 to 13 ticks.
#[test]
fn a_core_has_a_window_of_messages_under_way() {
    let profile = nanopu();
    const COUNT: u32 = 4096;
    let outcome = run(
        profile.clone(),
        Setting::new(LEAF + COUNT),
        |node| async move {
            match node.rank().0 {
                0 => {
                    for number in 0..COUNT {
                        send(&node, LEAF + number, &letter(0, number, 2)).await;
                    }
                }
                rank if rank >= LEAF => {
                    let port = node.bind(PORT);
                    assert_eq!(opened(&port.next(&node).await), (0, rank - LEAF));
                }
                _ => {}
            }
            node.now().0
        },
    );
    let count = u64::from(COUNT);
    let law = count * round_trip(&profile, 2, 4) / u64::from(profile.nic.transmit_buffers);
    let time = end(&outcome);
    let serial = count * 13;
    assert!(
        time >= 2 * serial,
        "{time} ticks, {serial} for the messages one after the other"
    );
    assert!(
        time.abs_diff(law) * 10 <= law,
        "{time} ticks, {law} by the window"
    );
    // What waits in the core's words and the NIC's buffers has been sent as far as the program
    // sees.
    let waiting = u64::from(profile.core.transmit_words / 3 + profile.nic.transmit_buffers);
    let sent = outcome.answers[0];
    let expected = law * (count - waiting) / count;
    assert!(
        sent.abs_diff(expected) * 10 <= expected,
        "the program sent until {sent}"
    );
    assert!(outcome.report.counts.longest_send_wait > 1000, "send waits");
}

/// Catches ACKs that are sent before the packet is received: with one transmit buffer each message
/// waits for the ACK of the one before, to the tick.
#[test]
fn an_ack_includes_the_receivers_time() {
    let mut profile = edited(&[("transmit_buffers", "1"), ("large_transmit_buffers", "1")]);
    for received_in in [profile.nic.receive_cycles, Ticks(1000)] {
        profile.nic.receive_cycles = received_in;
        // Each receiver has a NIC of its own, so none is busy with the message before.
        let receivers = [4, 8, 12, 16];
        let outcome = flows(profile.clone(), 17, 2, &[(0, receivers.to_vec(), 4)]);
        let came = receivers.map(|rank| outcome.answers[rank as usize]);
        let between = [1, 2, 3].map(|number| came[number] - came[number - 1]);
        assert_eq!(
            between,
            [round_trip(&profile, 2, 2); 3],
            "received in {received_in}"
        );
    }
}

/// Catches messages that are written for free, and a `send` that never waits.
#[test]
fn sends_with_room_take_only_their_words() {
    let profile = nanopu();
    let outcome = run(
        profile.clone(),
        Setting::new(LEAF + 100),
        |node| async move {
            let rank = node.rank().0;
            if rank == 0 {
                for number in 0..100 {
                    send(&node, LEAF + number, &letter(0, number, 2)).await;
                }
            } else if rank >= LEAF {
                node.bind(PORT).next(&node).await;
            }
            node.now().0
        },
    );
    assert_eq!(
        outcome.answers[0],
        ((profile.core.send_cycles + profile.core.send_word_cycles * 2) * 100).0
    );
    assert_eq!(outcome.report.counts.longest_send_wait, 0);
}
