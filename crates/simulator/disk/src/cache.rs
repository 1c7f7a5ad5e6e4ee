//! A write-back cache of a drive or a controller: writes end when they are in it, and reach the platters later.
//!
//! ```text
//! a write    | enters the cache |                       it ends here, or later: when there is room
//!              | latency, seek | transfer |             then it has left the cache
//! a sync     .............................|             ends when all have left
//! ```
//!
//! Writes that wait are made in the order of their places, as by an elevator or a drive's queue. Of k places at random on
//! a line, neighbours are 1/(k + 1) of it apart on the mean, and two one after the other 1/3: so a seek crosses
//! 3/(k + 2) of its way, when k - 1 others wait. Left out: reads that overtake writes, and reads of cached bytes.

use std::collections::VecDeque;

use node::Time;

use super::device::KIB;

/// A cache of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteCache {
    /// Bytes that it holds.
    pub bytes: u64,
    /// Time per KiB of a write into it.
    pub ns_per_kib: u64,
}

/// The writes in a cache.
pub(super) struct Cached {
    cache: WriteCache,
    /// The end of the last write into it.
    entered: Time,
    /// When each write leaves, in order, and its bytes.
    waiting: VecDeque<(Time, u64)>,
}

impl Cached {
    pub(super) fn new(cache: WriteCache) -> Cached {
        Cached {
            cache,
            entered: Time(0),
            waiting: VecDeque::new(),
        }
    }

    /// The part of its way that the seek of a write crosses that comes now.
    pub(super) fn seek_part(&mut self, now: Time) -> f64 {
        while self.waiting.front().is_some_and(|(left, _)| *left <= now) {
            self.waiting.pop_front();
        }
        3.0 / (self.waiting.len() + 3) as f64
    }

    /// The end of a write that comes now and leaves at a time. One that does not fit ends then.
    pub(super) fn enter(
        &mut self,
        bytes: u64,
        (now, leaves): (Time, Time),
        ticks: impl Fn(u64) -> u64,
    ) -> Time {
        let mut held: u64 = self.waiting.iter().map(|(_, bytes)| bytes).sum();
        let mut has_room = now;
        for (left, others) in &self.waiting {
            if held + bytes <= self.cache.bytes {
                break;
            }
            (held, has_room) = (held - others, *left);
        }
        self.waiting.push_back((leaves, bytes));
        if bytes > self.cache.bytes {
            self.entered = leaves;
        } else {
            let begins = has_room.max(self.entered).max(now);
            self.entered = begins.after(ticks(
                bytes.div_ceil(KIB).saturating_mul(self.cache.ns_per_kib),
            ));
        }
        self.entered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 KiB that are filled in a nanosecond a KiB.
    fn cached() -> Cached {
        Cached::new(WriteCache {
            bytes: 4 * KIB,
            ns_per_kib: 1,
        })
    }

    #[test]
    fn a_write_ends_when_there_is_room() {
        let mut cached = cached();
        let mut enter = |kib: u64, now, leaves| {
            let at = (Time(now), Time(leaves));
            cached.enter(kib * KIB, at, |ns| ns).0
        };
        assert_eq!(enter(2, 0, 100), 2);
        assert_eq!(enter(2, 0, 200), 4, "behind the first");
        assert_eq!(enter(1, 10, 250), 101, "when the first has left");
        assert_eq!(enter(3, 10, 400), 203, "when the second has left, too");
        assert_eq!(enter(5, 500, 900), 900, "it never fits");
        assert_eq!(enter(1, 2000, 2100), 2001, "in an empty one");
    }

    #[test]
    fn seeks_are_shorter_as_more_writes_wait() {
        let mut cached = cached();
        assert_eq!(cached.seek_part(Time(0)), 1.0);
        for leaves in [10, 20, 30] {
            cached.enter(KIB, (Time(0), Time(leaves)), |ns| ns);
        }
        assert_eq!(cached.seek_part(Time(0)), 0.5);
        assert_eq!(cached.seek_part(Time(20)), 0.75);
        assert_eq!(cached.seek_part(Time(30)), 1.0);
    }
}
