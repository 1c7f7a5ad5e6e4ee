//! The L2 that the cores of a NIC share.

use machine::{Profile, Setting};
use node::Work;

use crate::common::*;

/// Lines that each core loads, and what one takes alone: 24.25 cycles, rounded up at the end.
const LINES: u64 = 100;
const ALONE: u64 = 2425;

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
fn a_core_that_loads_alone_does_not_wait() {
    // 24.25 ticks a line are 7.578 ns.
    assert_eq!(delays(7.5, 1), [0]);
    assert_eq!(delays(15.0, 1), [48 * LINES - ALONE]);
}

/// Lines of 8 ticks: three cores keep an L2 busy for less than they take by themselves.
#[test]
fn three_cores_leave_room_for_each_other() {
    assert_eq!(delays(2.5, 3), [0, 0, 0]);
}

/// Four take 32 ticks for what takes one 24.25; the last of them waits, by less than it starts late.
#[test]
fn four_cores_wait_for_their_l2_and_a_fifth_has_another() {
    let last = 4 * 8 * LINES - ALONE - 300;
    assert_eq!(delays(2.5, 5), [0, 0, 0, last, 0]);
    let all = delays(7.5, 4);
    assert_eq!(all, [0, 2400 - 125, 4800 - 225, 7200 - 325]);
}
