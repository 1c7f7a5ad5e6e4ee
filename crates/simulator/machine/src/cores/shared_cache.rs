//! The L2 that the cores of a NIC share.
//!
//! It hands out one line at a time. It has no capacity and no banks: it models how cores wait for each
//! other, and not which lines are there.

use std::collections::VecDeque;

use crate::schedule::Ticks;

/// A cache that hands out one line at a time.
///
/// A working core's clock runs ahead of the others', so lines are asked for out of order. The lines of
/// one piece of work are handed out together, in the first free time from its core's clock on. So a
/// core may wait for all lines of another one's work; programs with long work divide it.
pub struct SharedCache {
    /// The time that a line occupies the cache.
    line: Ticks,
    /// When it hands out lines, in order.
    busy: VecDeque<Busy>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Busy {
    from: Ticks,
    until: Ticks,
}

/// Times that are kept apart; the gaps of the oldest beyond them count as busy. Cores that run far
/// ahead leave many.
const MOST_APART: usize = 64;

impl SharedCache {
    pub fn new(line: Ticks) -> SharedCache {
        let busy = VecDeque::new();
        SharedCache { line, busy }
    }

    /// Hands out at least one line to a core from `from` on; returns when the turn of the last of them begins. No
    /// core's clock is before `now`.
    pub fn take(&mut self, lines: u64, from: Ticks, now: Ticks) -> Ticks {
        while self.busy.front().is_some_and(|busy| busy.until < now) {
            self.busy.pop_front();
        }
        let first = self.busy.partition_point(|busy| busy.until < from);
        let later = |time: Ticks, ticks: u64| Ticks(time.0.saturating_add(ticks));
        let mut end = later(from, self.line.0.saturating_mul(lines));
        let mut begin = from;
        // The time up to the last line will be busy without a gap.
        while let Some(&next) = self.busy.get(first).filter(|next| next.from < end) {
            begin = begin.min(next.from);
            end = later(end, next.until.since(next.from.max(from)).0);
            self.busy.remove(first);
        }
        let busy = Busy {
            from: begin,
            until: end,
        };
        self.busy.insert(first, busy);
        if self.busy.len() > MOST_APART
            && let Some(oldest) = self.busy.pop_front()
        {
            self.busy[0].from = oldest.from;
        }
        Ticks(end.since(self.line).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of the last line of 8 ticks.
    fn taken(cache: &mut SharedCache, lines: u64, from: u64) -> u64 {
        cache.take(lines, Ticks(from), Ticks(0)).0 + 8
    }

    #[test]
    fn lines_of_one_moment_are_handed_out_one_after_the_other() {
        let mut cache = SharedCache::new(Ticks(8));
        assert_eq!(taken(&mut cache, 2, 100), 116);
        assert_eq!(taken(&mut cache, 2, 100), 132);
        assert_eq!(taken(&mut cache, 1, 110), 140);
        assert_eq!(taken(&mut cache, 1, 200), 208);
        assert_eq!(cache.busy.len(), 2);
    }

    #[test]
    fn an_earlier_core_takes_the_time_before() {
        let mut cache = SharedCache::new(Ticks(8));
        assert_eq!(taken(&mut cache, 2, 100), 116);
        assert_eq!(taken(&mut cache, 2, 200), 216);
        assert_eq!(taken(&mut cache, 1, 50), 58);
        assert_eq!(taken(&mut cache, 2, 90), 122);
        assert_eq!(
            taken(&mut cache, 20, 0),
            200,
            "all free time up to the next"
        );
        assert_eq!(taken(&mut cache, 1, 0), 224);
    }

    #[test]
    fn few_times_are_kept() {
        let mut cache = SharedCache::new(Ticks(1));
        (0..100).for_each(|at| _ = cache.take(1, Ticks(10 * at), Ticks(10 * at)));
        assert_eq!(cache.busy.len(), 1);
        (100..300).for_each(|at| _ = cache.take(1, Ticks(10 * at), Ticks(1000)));
        assert_eq!(cache.busy.len(), MOST_APART);
        assert_eq!(cache.take(1, Ticks(1005), Ticks(1000)), Ticks(2361));
    }

    #[test]
    fn endless_work_does_not_overflow() {
        let mut cache = SharedCache::new(Ticks(1000));
        for _ in 0..2 {
            cache.take(u64::MAX, Ticks(5), Ticks(0));
        }
        assert_eq!(cache.busy[0].until, Ticks::NEVER);
    }
}
