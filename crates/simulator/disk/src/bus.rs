//! Buses and controllers that disks and links of a node share.
//!
//! A bus passes transfers in any order: one that begins early takes the time that others, which were asked for
//! before and begin later, leave.
//!
//! ```text
//! disk A    |=== 1 ===|=== 2 ===|        two requests in flight, each at the rate of the disk
//! bus       |A1|      |A2|               the bus is faster
//! disk B       |B1 |..                   asked for last, and not behind A2
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use node::Time;

use crate::device::{Clock, KIB, Rates};
use crate::platter::Transfer;

/// The buses of a node.
#[derive(Default)]
pub(super) struct Buses {
    all: Vec<Bus>,
}

struct Bus {
    model: Rates,
    /// The bus that this one hangs on.
    on: Option<usize>,
    /// When it passes something, in order, without those that have ended.
    busy: VecDeque<Range<Time>>,
}

/// Bytes that cross a bus from a time on.
#[derive(Clone, Copy)]
pub(super) struct Crossing {
    pub transfer: Transfer,
    pub bytes: u64,
    pub begin: Time,
}

impl Buses {
    pub(super) fn add(&mut self, model: Rates, on: Option<usize>) -> usize {
        self.all.push(Bus {
            model,
            on,
            busy: VecDeque::new(),
        });
        self.all.len() - 1
    }

    /// Forgets the transfers on their way.
    pub(super) fn fail(&mut self) {
        self.all.iter_mut().for_each(|bus| bus.busy.clear());
    }

    /// When bytes have crossed a bus, and those that it hangs on.
    pub(super) fn pass(&mut self, bus: usize, crossing: Crossing, clock: Clock) -> Time {
        let kib = crossing.bytes.div_ceil(KIB);
        let (mut end, mut next) = (crossing.begin, Some(bus));
        while let Some(bus) = next.and_then(|bus| self.all.get_mut(bus)) {
            let ticks = clock.ticks(kib.saturating_mul(bus.model.of(crossing.transfer)));
            end = end.max(bus.pass(crossing.begin, ticks, clock.now));
            next = bus.on;
        }
        end
    }
}

impl Bus {
    /// The end of a transfer that takes the bus for so many ticks from `begin` on.
    fn pass(&mut self, begin: Time, ticks: u64, now: Time) -> Time {
        while self.busy.front().is_some_and(|passed| passed.end <= now) {
            self.busy.pop_front();
        }
        let first = self.busy.partition_point(|passed| passed.end < begin);
        let (mut end, mut left, mut last) = (begin, ticks, first);
        while let Some(passed) = self.busy.get(last) {
            if passed.start > end {
                let gap = passed.start.since(end);
                if gap >= left {
                    break;
                }
                left -= gap;
            }
            end = end.max(passed.end);
            last += 1;
        }
        let end = end.after(left);
        // It has filled all gaps from its begin to its end.
        let touched = self.busy.get(first).filter(|_| last > first);
        let start = touched.map_or(begin, |passed| passed.start.min(begin));
        self.busy.drain(first..last);
        self.busy.insert(first, start..end);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_transfers_take_the_time_that_later_ones_leave() {
        let mut bus = Bus {
            model: Rates::default(),
            on: None,
            busy: VecDeque::new(),
        };
        let mut pass = |begin, ticks| bus.pass(Time(begin), ticks, Time(0)).0;
        assert_eq!(pass(100, 10), 110);
        assert_eq!(pass(200, 10), 210, "asked for before it begins");
        assert_eq!(pass(0, 50), 50);
        assert_eq!(pass(60, 50), 120, "40 before the first, 10 behind it");
        assert_eq!(pass(60, 90), 220, "80 until the second, 10 behind it");
        assert_eq!(pass(0, 5), 55, "behind one that began as early");
        assert_eq!(pass(0, 6), 221, "5 before 60, 1 behind all");
    }

    #[test]
    fn a_bus_hangs_on_another() {
        let ns = |read_ns_per_kib| Rates {
            read_ns_per_kib,
            write_ns_per_kib: 0,
        };
        let mut buses = Buses::default();
        let slow = buses.add(ns(100), None);
        let first = buses.add(ns(10), Some(slow));
        let second = buses.add(ns(20), Some(slow));
        let clock = Clock {
            now: Time(0),
            tick_fs: 1_000_000,
        };
        let crossing = Crossing {
            transfer: Transfer::Read,
            bytes: 2048,
            begin: Time(7),
        };
        assert_eq!(buses.pass(first, crossing, clock), Time(207));
        assert_eq!(buses.pass(second, crossing, clock), Time(407));
    }
}
