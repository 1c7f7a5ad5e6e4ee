//! The L2 that the cores of a NIC share.

use std::collections::VecDeque;

use crate::schedule::Ticks;

/// A cache that hands out one line at a time.
///
/// A working core's clock runs ahead of the others', so lines are asked for out of order: each
/// takes the first free time from its core's clock on.
pub struct SharedCache {
    /// For which a line occupies the cache.
    line: Ticks,
    /// When it hands out lines, in order.
    busy: VecDeque<Busy>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Busy {
    from: Ticks,
    until: Ticks,
}

impl SharedCache {
    pub fn new(line: Ticks) -> SharedCache {
        let busy = VecDeque::new();
        SharedCache { line, busy }
    }

    /// Hands out lines to a core from `from` on, and returns when the last is handed out. No core's
    /// clock is before `now`.
    pub fn take(&mut self, lines: u64, from: Ticks, now: Ticks) -> Ticks {
        while self.busy.front().is_some_and(|busy| busy.until < now) {
            self.busy.pop_front();
        }
        if lines == 0 {
            return from;
        }
        let first = self.busy.partition_point(|busy| busy.until < from);
        let mut end = from + self.line * lines;
        let mut begin = from;
        // The time up to the last line will be busy without a gap.
        while let Some(&next) = self.busy.get(first).filter(|next| next.from < end) {
            begin = begin.min(next.from);
            end += next.until - next.from.max(from);
            self.busy.remove(first);
        }
        let busy = Busy {
            from: begin,
            until: end,
        };
        self.busy.insert(first, busy);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(cache: &mut SharedCache, lines: u64, from: u64) -> u64 {
        cache.take(lines, Ticks(from), Ticks(0)).0
    }

    #[test]
    fn lines_of_one_moment_are_handed_out_one_after_the_other() {
        let mut cache = SharedCache::new(Ticks(8));
        assert_eq!(taken(&mut cache, 2, 100), 116);
        assert_eq!(taken(&mut cache, 2, 100), 132);
        assert_eq!(taken(&mut cache, 1, 110), 140);
        assert_eq!(taken(&mut cache, 1, 200), 208);
        assert_eq!(taken(&mut cache, 0, 200), 200);
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
    fn times_that_are_over_are_forgotten() {
        let mut cache = SharedCache::new(Ticks(1));
        (0..100).for_each(|at| _ = cache.take(1, Ticks(10 * at), Ticks(10 * at)));
        assert_eq!(cache.busy.len(), 1);
    }
}
