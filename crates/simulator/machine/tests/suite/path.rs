//! The critical path: exact, without an effect on the run, and the same on any number of threads.

use crate::common::*;
use machine::{CriticalPath, Multicast, PathKind, Report, Setting, parts};
use node::{Group, Node, Rank, Work};

fn with_path(ranks: u32) -> Setting {
    Setting {
        path: true,
        ..Setting::new(ranks)
    }
}

/// The path of a run, whose parts must follow each other from 0 to the last end.
fn whole(report: &Report) -> &CriticalPath {
    let path = report.path.as_ref().unwrap();
    let mut at = 0;
    for part in &path.segments {
        assert_eq!(part.begin, at, "no gap and no overlap: {part:?}");
        assert!(part.end > part.begin, "{part:?}");
        at = part.end;
    }
    assert_eq!(at, report.ends.iter().copied().max().unwrap());
    path
}

fn ticks(path: &CriticalPath, kind: PathKind) -> u64 {
    let parts = path.segments.iter().filter(|part| part.kind == kind);
    parts.map(|part| part.ticks()).sum()
}

/// Rank i works, and tells rank i + 1; rank 3 works longer than all before.
async fn relay(node: Node) {
    let port = node.bind(PORT);
    let me = node.rank().0;
    node.stage("wait");
    if me > 0 {
        port.next(&node).await;
    }
    node.stage("work");
    node.work(Work::Scan { words: 100 });
    if me == 3 {
        node.work(Work::Scan { words: 1000 });
    }
    if me + 1 < node.nodes() {
        send(&node, me + 1, &[me.into()]).await;
    }
}

#[test]
fn the_path_of_a_relay_is_the_relay() {
    let report = run(nanopu(), with_path(12), relay).report;
    let path = whole(&report);
    let cores: Vec<u32> = path.segments.iter().map(|part| part.rank).collect();
    assert!(
        cores.is_sorted() && cores[0] == 0 && cores[cores.len() - 1] == 11,
        "{cores:?}"
    );
    let hops = path
        .segments
        .iter()
        .filter(|part| part.kind == PathKind::Hops);
    assert_eq!(hops.count(), 11);
    let work = 4 * (12 * 100 + 1000);
    assert_eq!(ticks(path, PathKind::Work), work);
    let is_named = |stage| path.segments.iter().any(|part| part.stage == stage);
    assert!(is_named("wait") && is_named("work"));
    let none = [PathKind::Queue, PathKind::Room, PathKind::Other];
    assert_eq!(none.map(|kind| ticks(path, kind)), [0; 3]);
}

/// A rank whose messages come early enough is not on the path.
async fn race(node: Node) {
    let port = node.bind(PORT);
    match node.rank().0 {
        0 => {
            for _ in 1..node.nodes() {
                port.next(&node).await;
            }
        }
        me => {
            let words = if me == 7 { 1500 } else { 10 };
            node.work(Work::Scan { words });
            send(&node, 0, &[1]).await;
        }
    }
}

#[test]
fn the_path_leads_to_the_slowest() {
    let report = run(nanopu(), with_path(12), race).report;
    let path = whole(&report);
    let cores: Vec<u32> = path.segments.iter().map(|part| part.from).collect();
    assert!(cores.iter().all(|core| [0, 7].contains(core)), "{cores:?}");
    assert_eq!(ticks(path, PathKind::Work), 4 * 1500);
}

fn receiver(from: u32, round: u32, number: u32) -> u32 {
    (from * 7 + round * 5 + number) % 5
}

/// Many messages to few receivers, multicasts, and messages of two segments.
async fn storm(node: Node) {
    let port = node.bind(PORT);
    let (me, all) = (node.rank().0, node.nodes());
    for round in 0..6 {
        node.stage(if round < 3 { "first" } else { "second" });
        for number in 0..4 {
            let to = receiver(me, round, number);
            send(&node, to, &letter(me, number, 2 + (number * 60) as usize)).await;
        }
        if me == round {
            let group = Group {
                first: Rank(0),
                count: all,
                stride: 1,
            };
            node.multicast(group, PORT, &letter(me, 9, 3)).await;
        }
        node.work(Work::Scan { words: 50 });
    }
    let sent = (0..all).flat_map(|from| (0..24).map(move |nth| receiver(from, nth / 4, nth % 4)));
    let mine = sent.filter(|to| *to == me).count();
    for _ in 0..6 + mine {
        port.next(&node).await;
    }
}

#[test]
fn the_path_is_exact_whatever_happens_to_messages() {
    for multicast in [
        Multicast::PerPort,
        Multicast::FirstLeaf,
        Multicast::OneSpine,
    ] {
        for (loss, queue) in [(0.0, "92_480"), (0.05, "92_480"), (0.0, "1_200")] {
            let profile = || small(2, &[("queue_bytes", queue)]);
            let setting = |threads, path| Setting {
                threads,
                multicast,
                loss_parts: parts(loss),
                path,
                ..Setting::new(20)
            };
            let with = run(profile(), setting(1, true), storm).report;
            whole(&with);
            let threads = run(profile(), setting(3, true), storm).report;
            assert_eq!(with, threads, "threads do not matter");
            let without = run(profile(), setting(1, false), storm).report;
            let path = None;
            assert_eq!(Report { path, ..with }, without, "the run is the same");
        }
    }
}
