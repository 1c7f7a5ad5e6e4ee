//! How many messages a run of MilliSort sends, found without sending any.
//!
//! With M cores, S sorters and sets that fit one message each:
//!
//! ```text
//!   pivots, second pivots, bounds    (M - S) + (S - 1) + (S - 1)
//!   exchange                         S (S - 1)
//!   splitters                        S (M - 1)
//!   items                            M (M - 1), and one more for each item of a pair beyond the first
//!   answers                          one for each question
//! ```
//!
//! The last two depend on the keys, and long sets are several messages: so the steps are done here
//! by naive code over the keys of all cores.

use node::{Matching, Rank};

use super::MilliSort;
use super::layout::Layout;
use super::pivots::{cut, pick};
use super::post::{Window, set_of};
use super::sorter::ITEM_WORDS;
use crate::program::Program;

impl MilliSort {
    /// Messages that so many cores send for their keys by the seed; none if there is an objection.
    pub fn messages_on(&self, cores: u32) -> u64 {
        if self.objection(cores).is_some() {
            return 0;
        }
        let keys = (0..cores).map(|core| self.records().of(Rank(core), cores));
        self.messages_of(keys.collect())
    }

    /// Messages that cores with these keys send, as many as there are lists.
    pub fn messages_of(&self, mut keys: Vec<Vec<u64>>) -> u64 {
        keys.iter_mut().for_each(|keys| keys.sort_unstable());
        let layout = Layout::new(keys.len() as u32, self.reduction);
        let known = Known::of(layout, &keys);
        let sent = keys.iter().enumerate().map(|(core, keys)| {
            let mut sent = Sent::new(self.reorder.matching());
            sent.partition(Rank(core as u32), keys, &known);
            sent.shuffle(Rank(core as u32), keys, &known);
            sent.messages
        });
        sent.sum()
    }
}

/// What the cores find out together.
struct Known {
    layout: Layout,
    /// The pivots that each sorter sorts.
    pivots: Vec<Vec<u64>>,
    bounds: Vec<u64>,
    splitters: Vec<u64>,
}

impl Known {
    fn of(layout: Layout, keys: &[Vec<u64>]) -> Known {
        let mut pivots = vec![Vec::new(); layout.sorters() as usize];
        for (core, keys) in keys.iter().enumerate() {
            let sorter = layout.number_of(Rank(core as u32)) as usize;
            pivots[sorter].extend(pick(keys, layout.cores()));
        }
        pivots.iter_mut().for_each(|pivots| pivots.sort_unstable());
        let seconds = pivots
            .iter()
            .flat_map(|pivots| pick(pivots, pivots_of(layout)));
        let bounds = pick(&sorted(seconds.collect()), pivots_of(layout));
        let splitters = pick(&sorted(pivots.concat()), layout.cores());
        Known {
            layout,
            pivots,
            bounds,
            splitters,
        }
    }
}

/// Second pivots of a sorter.
fn pivots_of(layout: Layout) -> usize {
    layout.sorters() as usize
}

fn sorted(mut keys: Vec<u64>) -> Vec<u64> {
    keys.sort_unstable();
    keys
}

/// What one core sends, with the answers to it.
struct Sent {
    matching: Matching,
    window: Window,
    messages: u64,
}

impl Sent {
    fn new(matching: Matching) -> Sent {
        Sent {
            matching,
            window: Window::new(matching),
            messages: 0,
        }
    }

    fn partition(&mut self, core: Rank, keys: &[u64], known: &Known) {
        let layout = known.layout;
        let (number, sorters) = (layout.number_of(core), layout.sorters());
        if layout.sorter_of(core) != core {
            return self.set(None, &pick(keys, layout.cores()));
        }
        let pivots = &known.pivots[number as usize];
        match core {
            Rank(0) => (1..sorters).for_each(|_| self.set(Some(0), &known.bounds)),
            _ => self.set(Some(0), &pick(pivots, pivots_of(layout))),
        }
        let pieces = cut(pivots, &known.bounds, sorters as usize);
        for other in 1..sorters {
            let piece = pieces[((number + other) % sorters) as usize].clone();
            self.set(Some(0), &pivots[piece]);
        }
        let ranges = cut(&known.splitters, &known.bounds, sorters as usize);
        let found = &known.splitters[ranges[number as usize].clone()];
        (1..layout.cores()).for_each(|_| self.set(None, found));
    }

    fn shuffle(&mut self, core: Rank, keys: &[u64], known: &Known) {
        let layout = known.layout;
        let pieces = cut(keys, &known.splitters, layout.cores());
        for round in 1..layout.cores() as u32 {
            let items = pieces[layout.core_after(core, round).0 as usize].len();
            let words = if items == 0 { 0 } else { ITEM_WORDS };
            (0..items.max(1)).for_each(|_| self.message(words));
        }
    }

    fn set(&mut self, first: Option<usize>, words: &[u64]) {
        set_of(first, words, self.matching)
            .iter()
            .for_each(|words| self.message(words.len()));
    }

    fn message(&mut self, words: usize) {
        self.messages += 1 + u64::from(self.window.asks(words));
    }
}
