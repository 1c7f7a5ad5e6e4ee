//! The cores of the driver's nodes, and the time that stages take on them.
//!
//! ```text
//! task a    work ======|                      3 tasks on 2 cores: the third waits for the first core
//! task b    work ==========|                  that is free, and holds it until its work is done
//! task c    work ......======|
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use node::{Mutex, Time, Work};

/// Thousandths of a tick per byte, by stage.
type Rates = BTreeMap<&'static str, u64>;

const PARTS: u128 = 1000;

#[derive(Default)]
pub(crate) struct Processors(Mutex<State>);

/// A stage that writes memory for the first time.
#[derive(Clone, Copy, Debug)]
pub struct FirstTouch {
    /// The stage.
    pub stage: &'static str,
    /// Bytes of the memory of each node, of which a byte of a unit takes one.
    pub bytes: u64,
    /// Thousandths of a nanosecond for each, on top of those of the stage.
    pub rate: u64,
}

#[derive(Default)]
struct State {
    rates: Rates,
    fresh: Option<FirstTouch>,
    /// By node: bytes of memory that were not written yet.
    untouched: BTreeMap<u32, u64>,
    /// Cores of each node; as many as it has tasks if that is not limited.
    cores: Option<usize>,
    /// By node: when each core that was used is free.
    free: BTreeMap<u32, BinaryHeap<Reverse<Time>>>,
}

impl Processors {
    pub(crate) fn set_rates(&self, rates: &[(&'static str, u64)]) {
        self.0.lock().rates = rates.iter().copied().collect();
    }

    pub(crate) fn set_first_touch(&self, fresh: FirstTouch) {
        self.0.lock().fresh = Some(fresh);
    }

    pub(crate) fn limit(&self, cores: usize) {
        assert!(cores > 0, "tasks would wait for ever");
        self.0.lock().cores = Some(cores);
    }

    /// Frees all cores, for another run.
    pub(crate) fn begin(&self) {
        let mut state = self.0.lock();
        state.free.clear();
        state.untouched.clear();
    }

    /// Ticks that the work of a stage takes on a unit.
    pub(crate) fn ticks(&self, rank: u32, work: Work) -> u64 {
        let Work::Unit { stage, bytes } = work else {
            return 0;
        };
        let mut state = self.0.lock();
        let rate = state.rates.get(stage).copied().unwrap_or(0);
        let mut parts = u128::from(rate) * u128::from(bytes);
        if let Some(fresh) = state.fresh.filter(|fresh| fresh.stage == stage) {
            let left = state.untouched.entry(rank).or_insert(fresh.bytes);
            let touched = bytes.min(*left);
            *left -= touched;
            parts += u128::from(fresh.rate) * u128::from(touched);
        }
        parts.div_ceil(PARTS) as u64
    }

    /// Gives the first core of a node that is free to a task, for so many ticks from `now` on or later.
    /// Returns their end.
    pub(crate) fn run(&self, rank: u32, now: Time, ticks: u64) -> Time {
        let mut state = self.0.lock();
        let Some(cores) = state.cores else {
            return now.after(ticks);
        };
        let free = state.free.entry(rank).or_default();
        let begin = if free.len() < cores {
            now
        } else {
            let Reverse(first) = free.pop().expect("a node has a core");
            first.max(now)
        };
        let end = begin.after(ticks);
        free.push(Reverse(end));
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_queue_for_the_first_core_that_is_free() {
        let processors = Processors::default();
        assert_eq!(processors.run(0, Time(5), 10), Time(15), "no limit");
        processors.limit(2);
        let ends = [10, 30, 5, 5].map(|ticks| processors.run(0, Time(0), ticks).0);
        assert_eq!(ends, [10, 30, 15, 20]);
        assert_eq!(processors.run(1, Time(0), 1), Time(1), "another node");
        assert_eq!(processors.run(0, Time(40), 1), Time(41), "both are free");
        processors.begin();
        assert_eq!(processors.run(0, Time(0), 3), Time(3));
    }

    #[test]
    fn a_stage_is_charged_by_its_own_rate() {
        let processors = Processors::default();
        let unit = |stage, bytes| Work::Unit { stage, bytes };
        assert_eq!(processors.ticks(0, unit("reader", 100)), 0);
        processors.set_rates(&[("reader", 250), ("sorter", 4000)]);
        assert_eq!(processors.ticks(0, unit("reader", 1001)), 251);
        assert_eq!(processors.ticks(0, unit("sorter", 3)), 12);
        assert_eq!(processors.ticks(0, unit("writer", 3)), 0);
        assert_eq!(processors.ticks(0, Work::Sort { records: 100 }), 0);
        processors.set_first_touch(FirstTouch {
            stage: "sorter",
            bytes: 4,
            rate: 1000,
        });
        let touching = [0, 0, 1].map(|rank| processors.ticks(rank, unit("sorter", 3)));
        assert_eq!(touching, [15, 13, 15], "4 bytes of each node");
        processors.begin();
        assert_eq!(processors.ticks(0, unit("sorter", 3)), 15);
    }
}
