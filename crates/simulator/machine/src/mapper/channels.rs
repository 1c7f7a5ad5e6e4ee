//! Channels that wait for each other.
//!
//! A packet that is blocked holds the channels behind it and waits for the next one. Packets can block
//! each other for ever only if some channels wait for each other in a circle (Dally and Seitz 1987).

use std::collections::{BTreeMap, BTreeSet};

use super::Port;

/// A cable in one direction: the port by which packets leave.
pub type Channel = Port;

/// Channels that wait for each other in a circle, if ways make one; each way is the channels of a packet in
/// order.
pub fn circle<'a>(ways: impl IntoIterator<Item = &'a [Channel]>) -> Option<Vec<Channel>> {
    let mut after: BTreeMap<Channel, BTreeSet<Channel>> = BTreeMap::new();
    for way in ways {
        for pair in way.windows(2) {
            after.entry(pair[0]).or_default().insert(pair[1]);
        }
    }
    let mut before: BTreeMap<Channel, usize> = BTreeMap::new();
    for next in after.values().flatten() {
        *before.entry(*next).or_default() += 1;
    }
    let free = |channel: &&Channel| !before.contains_key(channel);
    let mut sorted: Vec<Channel> = after.keys().filter(free).copied().collect();
    while let Some(channel) = sorted.pop() {
        for next in after.remove(&channel).unwrap_or_default() {
            let waiting = before.get_mut(&next).expect("it was counted");
            *waiting -= 1;
            if *waiting == 0 {
                before.remove(&next);
                sorted.push(next);
            }
        }
    }
    // Each channel that is left comes behind another one that is left: backwards, the way meets itself.
    let mut way = vec![*after.keys().next()?];
    loop {
        let last = way[way.len() - 1];
        let mut waiting = after.iter().filter(|(_, next)| next.contains(&last));
        let previous = *waiting.next().expect("a channel before it").0;
        if let Some(at) = way.iter().position(|known| *known == previous) {
            let mut found = way.split_off(at);
            found.reverse();
            return Some(found);
        }
        way.push(previous);
    }
}
