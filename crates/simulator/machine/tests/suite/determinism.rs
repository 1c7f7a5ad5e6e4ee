//! One seed is one run, with any number of threads.
//!
//! If threads decided anything (which block's packets come first, the stream of a random number,
//! the order of sums), reports with two or three threads would differ.

use std::time::Instant;

use crate::common::*;
use machine::{Multicast, Outcome, Profile, Queues, Setting, Transport, parts};
use node::{Group, Node, Port, Rank, Time, Work};

const SECOND: Port = Port(2);

/// A program that uses everything: messages of all lengths to random ranks, multicasts, work, a
/// second task, stages, deadlines. Returns all that the rank received, with times.
pub async fn medley(node: Node) -> Vec<(u64, u64)> {
    const ROUNDS: u32 = 6;
    let (me, ranks) = (node.rank().0, node.nodes());
    let port = node.bind(PORT);
    node.stage("send");
    let helper = node.spawn("helper", |node| async move {
        let port = node.bind(SECOND);
        let mut seen = Vec::new();
        for _ in 0..ROUNDS {
            node.urgency((node.random() % 3) as u8);
            let message = port.next(&node).await;
            node.work(Work::Scan {
                words: message.words[0] % 50,
            });
            seen.push((node.now().0, message.words[0]));
        }
        seen
    });
    for round in 0..ROUNDS {
        let words = [1, 2, 3, 40, 128, 250][(node.random() % 6) as usize];
        // Each rank hears each round from one other, in an order of its own.
        let to = (me + 1 + round * 7) % ranks;
        send(&node, to, &letter(me, round, words)).await;
        node.work(Work::Sort {
            records: node.random() % 20,
        });
        if me == round {
            let all = Group::row(Rank(0), ranks);
            node.multicast(all, SECOND, &[node.random(), node.random()])
                .await;
        }
    }
    node.stage("take");
    let mut seen = Vec::new();
    for _ in 0..ROUNDS {
        let message = loop {
            if let Some(message) = port.next_until(&node, node.now().after(500)).await {
                break message;
            }
            seen.push((node.now().0, u64::MAX));
        };
        opened(&message);
        seen.push((node.now().0, message.words[0]));
    }
    seen.extend(helper.wait(&node).await.unwrap());
    seen
}

pub fn with_threads(
    profile: &Profile,
    setting: &Setting,
    threads: usize,
) -> Outcome<Vec<(u64, u64)>> {
    run(
        profile.clone(),
        Setting {
            threads,
            ..setting.clone()
        },
        medley,
    )
}

pub fn same_on_threads(name: &str, profile: &Profile, setting: &Setting) {
    let one = with_threads(profile, setting, 1);
    assert!(
        one.report.windows.blocks > 3,
        "{name}: blocks are what threads share"
    );
    for threads in [1, 2, 3] {
        let more = with_threads(profile, setting, threads);
        assert_eq!(more.answers, one.answers, "{name} on {threads} threads");
        assert_eq!(more.report, one.report, "{name} on {threads} threads");
    }
}

pub fn settings() -> Vec<(&'static str, Setting)> {
    let plain = Setting {
        traced: 7,
        ..Setting::new(40)
    };
    let tail = Setting {
        tail: 5000,
        tail_parts: parts(0.05),
        ..plain.clone()
    };
    vec![
        ("plain", plain.clone()),
        (
            "loss",
            Setting {
                loss_parts: parts(0.02),
                ..plain.clone()
            },
        ),
        (
            "without multicast",
            Setting {
                multicast: Multicast::Off,
                ..plain.clone()
            },
        ),
        (
            "ACKs of each member, and loss",
            Setting {
                aggregates_acks: false,
                loss_parts: parts(0.02),
                ..plain.clone()
            },
        ),
        (
            "Homa, whose first packets are followed by GRANTs",
            Setting {
                transport: Transport::Homa { unscheduled: 1 },
                loss_parts: parts(0.02),
                ..plain.clone()
            },
        ),
        (
            "Homa that sends all at once",
            Setting {
                transport: Transport::Homa { unscheduled: 2 },
                ..plain.clone()
            },
        ),
        (
            "queues by port",
            Setting {
                queues: Queues::ByPort,
                seed: 5,
                ..plain.clone()
            },
        ),
        (
            "a shared queue",
            Setting {
                queues: Queues::Shared,
                seed: 6,
                ..plain
            },
        ),
        ("tail", tail.clone()),
        (
            "tail and loss",
            Setting {
                loss_parts: parts(0.05),
                seed: 9,
                ..tail
            },
        ),
    ]
}

#[test]
fn reports_are_the_same_at_any_number_of_threads() {
    for layers in [2, 3] {
        // Queues of one packet: trimming takes part.
        let profile = small(layers, &[("queue_bytes", "1_100")]);
        for (name, setting) in settings() {
            same_on_threads(&format!("{name}, {layers} layers"), &profile, &setting);
        }
    }
}

#[test]
fn reports_of_the_nanopu_are_the_same_at_any_number_of_threads() {
    same_on_threads(
        "nanopu",
        &nanopu(),
        &Setting {
            traced: 50,
            ..Setting::new(600)
        },
    );
}

/// The runs above had trims, losses and tails.
#[test]
fn runs_have_trims_losses_and_tails() {
    let profile = small(2, &[("queue_bytes", "1_100")]);
    for (name, setting) in settings() {
        let report = with_threads(&profile, &setting, 2).report;
        assert!(
            report.counts.trimmed + report.counts.dropped > 0 && report.counts.resent > 0,
            "{name}"
        );
        assert_eq!(report.counts.lost > 0, setting.loss_parts > 0, "{name}");
        assert!(!report.slices.is_empty(), "{name}");
        assert_eq!(report.stages.len(), 2, "{name}");
    }
}

/// A machine without latency between its blocks is one block, with any number of threads.
#[test]
fn a_machine_of_one_block_says_so() {
    let profile = small(2, &[("link_ns", "0"), ("switch_ns", "0")]);
    let setting = Setting::new(40);
    let one = with_threads(&profile, &setting, 1);
    assert_eq!(one.report.windows.blocks, 1);
    assert_eq!(with_threads(&profile, &setting, 3).report, one.report);
}

/// If routes or tails ignored the seed, all seeds would give the same times.
#[test]
fn a_seed_decides_routes_tails_and_losses() {
    async fn cross(node: Node) -> u64 {
        let (me, ranks) = (node.rank().0, node.nodes());
        let port = node.bind(PORT);
        for number in 0..20 {
            send(&node, (me + ranks / 2) % ranks, &letter(me, number, 100)).await;
        }
        take(&node, &port, 20, 0).await;
        node.now().0
    }
    let plain = Setting::new(32);
    let cases = [
        ("routes", plain.clone()),
        (
            "tails",
            Setting {
                tail: 1000,
                tail_parts: parts(0.1),
                ..plain.clone()
            },
        ),
        (
            "losses",
            Setting {
                loss_parts: parts(0.01),
                ..plain
            },
        ),
    ];
    for (name, setting) in cases {
        let with_seed = |seed| {
            run(
                small(2, &[]),
                Setting {
                    seed,
                    ..setting.clone()
                },
                cross,
            )
            .answers
        };
        let times: std::collections::BTreeSet<_> = (1..6).map(with_seed).collect();
        assert_eq!(times.len(), 5, "{name}");
        assert_eq!(with_seed(3), with_seed(3), "{name}");
    }
}

/// With a share of 1 each message over an idle network takes the tail longer; control packets do
/// not.
#[test]
fn a_tail_is_added_once() {
    let time = |tail_parts| {
        let setting = Setting {
            tail: 7000,
            tail_parts,
            ..Setting::new(512)
        };
        let outcome = run(nanopu(), setting, |node| async move {
            match node.rank().0 {
                0 => send(&node, 511, &[1, 2]).await,
                511 => drop(node.bind(PORT).next(&node).await),
                _ => {}
            }
            node.now().0
        });
        outcome.answers[511]
    };
    assert_eq!(time(u32::MAX), time(0) + 7000);
}

/// A tapped NIC may send other messages than it receives.
#[test]
fn a_tap_may_see_other_messages() {
    let setting = Setting {
        tap: Some(Rank(0)),
        ..Setting::new(8)
    };
    let outcome = run(nanopu(), setting, |node| async move {
        let (me, port) = (node.rank().0, node.bind(PORT));
        for number in 0..50 {
            send(&node, (me + 4) % 8, &letter(me, number, 2)).await;
        }
        take(&node, &port, 50, 0).await;
    });
    let tapped = &outcome.report.tapped;
    assert!(tapped.iter().all(|ticks| *ticks < 1_000_000));
    assert!(tapped.iter().any(|ticks| *ticks > 0), "{tapped:?}");
}

/// A machine whose ranks do nothing is set up quickly, and no virtual time passes.
#[test]
fn nothing_takes_no_time() {
    let begin = Instant::now();
    let outcome = run(
        nanopu(),
        Setting::new(4096),
        |node| async move { node.now() },
    );
    assert!(outcome.answers.iter().all(|now| *now == Time(0)));
    assert_eq!(outcome.report.counts.packets, 0);
    assert!(begin.elapsed().as_secs() < 5);
}
