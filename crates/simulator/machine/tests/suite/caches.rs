//! Lines that cores load, and the L2 that the cores of a NIC share.

use machine::{Profile, Setting};
use node::Work;

use crate::common::*;

/// Lines that each core loads, the ticks that they take alone, and those of a miss: 24.25, rounded up.
const LINES: u64 = 100;
const ALONE: u64 = 2425;
const MISS: u64 = 25;

/// nanoPU with an L2 that hands out a line in these nanoseconds.
fn machine(l2_line_ns: f64) -> Profile {
    nanopu().with_caches(None, Some(l2_line_ns)).unwrap()
}

/// The ends of cores that load lines, each from its start on: 0, 100, 200 ticks, and so on.
fn ends(profile: Profile, ranks: u32) -> Vec<u64> {
    let outcome = run(profile, Setting::new(ranks), |node| async move {
        let late = u64::from(node.rank().0) * 100;
        let until = node.now().after(late);
        node.bind(PORT).next_until(&node, until).await;
        let bytes = 64 * LINES;
        node.work(Work::Load { bytes });
        node.reach().await;
        node.now().0
    });
    outcome.answers
}

/// How much later than with an L2 of their own.
fn delays(l2_line_ns: f64, ranks: u32) -> Vec<u64> {
    let (own, shared) = (ends(nanopu(), ranks), ends(machine(l2_line_ns), ranks));
    let pairs = own.into_iter().zip(shared);
    pairs.map(|(own, shared)| shared - own).collect()
}

#[test]
fn a_core_that_loads_alone_takes_a_miss_or_the_cache_s_time_for_each_line() {
    // A miss of 24.25 ticks takes 7.578 ns.
    assert_eq!(delays(7.5, 1), [0]);
    assert_eq!(delays(15.0, 1), [48 * (LINES - 1) + MISS - ALONE]);
}

/// Lines of 8 ticks: three cores keep an L2 busy for less than they take by themselves.
#[test]
fn three_cores_leave_room_for_each_other() {
    assert_eq!(delays(2.5, 3), [0, 0, 0]);
}

/// Four take 32 ticks for what takes one 24.25. The last waits, 300 ticks less as it starts 300 later.
#[test]
fn four_cores_wait_for_their_l2_and_a_fifth_has_another() {
    let last = 8 * (4 * LINES - 1) + MISS - ALONE - 300;
    assert_eq!(delays(2.5, 5), [0, 0, 0, last, 0]);
    let of = |number: u64| 24 * (number * LINES - 1) + MISS - ALONE - 100 * (number - 1);
    assert_eq!(delays(7.5, 4), [0, of(2), of(3), of(4)]);
}

/// A scan that fits the first cache loads no lines.
#[test]
fn only_long_scans_wait() {
    let ends = |words| {
        let outcome = run(machine(7.5), Setting::new(4), move |node| async move {
            node.work(Work::Scan { words });
            node.now().0
        });
        outcome.answers
    };
    assert_eq!(ends(2048), [2048 * 4; 4]);
    // 512 lines; the work on their words leaves room for those of another core.
    let alone = 4096 * 4 + 12_416;
    let of = |number: u64| 24 * (512 * number - 1) + MISS;
    assert_eq!(ends(4096), [alone, alone, of(3), of(4)]);
}

/// Two leaves, on one and two threads.
#[test]
fn threads_do_not_change_the_waits() {
    let ends = |threads| {
        let setting = Setting {
            threads,
            ..Setting::new(512)
        };
        let outcome = run(machine(2.5), setting, |node| async move {
            let late = node.random() % 1000;
            let until = node.now().after(late);
            node.bind(PORT).next_until(&node, until).await;
            for lines in [1, 30, 7] {
                node.work(Work::Load { bytes: 64 * lines });
                node.reach().await;
            }
            node.now().0
        });
        outcome.answers
    };
    let (one, two) = (ends(1), ends(2));
    assert_eq!(one, two);
    assert!(
        one.iter().any(|end| *end > 1000 + 38 * 25 + 20),
        "some waited"
    );
}

/// The tasks of a rank with four cores.
#[test]
fn tasks_of_one_rank_share_its_cache() {
    let nodes = Profile::named("nanopu-nodes").unwrap();
    let nodes = nodes.with_caches(None, Some(7.5)).unwrap();
    let outcome = run(nodes, Setting::new(1), |node| async move {
        let load = |node: node::Node| async move {
            node.work(Work::Load { bytes: 64 * LINES });
            node.reach().await;
            node.now().0
        };
        let begun: Vec<_> = (0..3)
            .map(|task| node.spawn(format!("{task}"), load))
            .collect();
        let mut ends = Vec::new();
        for task in begun {
            ends.push(task.wait(&node).await.unwrap());
        }
        ends.sort_unstable();
        ends
    });
    let ends = &outcome.answers[0];
    assert!(
        ends[2] >= 24 * (3 * LINES - 1) && ends[0] < 2 * ALONE,
        "{ends:?}"
    );
}

/// Loads miss on every line, scans only beyond 2,048 words; copies and sorts never.
#[test]
fn missed_lines_are_counted_with_and_without_a_shared_cache() {
    for profile in [nanopu(), machine(2.5)] {
        let outcome = run(profile, Setting::new(3), |node| async move {
            node.work(Work::Load { bytes: 65 });
            node.work(Work::Scan { words: 2048 });
            node.work(Work::Scan { words: 2056 });
            node.work(Work::Copy { bytes: 6400 });
            node.work(Work::Sort { records: 9999 });
        });
        assert_eq!(outcome.report.counts.misses, 3 * (2 + 257));
    }
}
