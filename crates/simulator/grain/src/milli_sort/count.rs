//! The number of messages that MilliSort sends, without sending any.
//!
//! With M cores, S sorters, and sets of words that fit one message each:
//!
//! ```text
//!   pivots, super-pivots, boundaries   (M - S) + (S - 1) + (S - 1)
//!   pivot shuffle                      S (S - 1)
//!   splitters                          S (M - 1)
//!   records                            M (M - 1), and one per further record of a pair
//!   acknowledgements                   one per request
//! ```
//!
//! The last two depend on the keys, and long sets have several fragments, so naive code repeats the
//! steps over the keys of all cores.

use node::{Matching, Rank};

use super::MilliSort;
use super::layout::Layout;
use super::pivots::{cut, select};
use super::records::RECORD_WORDS;
use super::transport::{Window, fragments};
use crate::program::Program;

impl MilliSort {
    /// Messages of a run on `cores` cores with this seed; 0 if there is an objection.
    pub fn messages_on(&self, cores: u32) -> u64 {
        if self.objection(cores).is_some() {
            return 0;
        }
        let keys = (0..cores).map(|core| self.records().of(Rank(core), cores));
        self.messages_of(keys.collect())
    }

    /// Messages of a run on these keys, a list per core.
    pub fn messages_of(&self, mut keys: Vec<Vec<u64>>) -> u64 {
        keys.iter_mut().for_each(|keys| keys.sort_unstable());
        let partition = Partition::of(Layout::new(keys.len() as u32, self.reduction), &keys);
        let sent = keys.iter().enumerate().map(|(core, keys)| {
            let mut sent = Sent::new(self.reorder.matching());
            sent.partition(Rank(core as u32), keys, &partition);
            sent.record_shuffle(Rank(core as u32), keys, &partition);
            sent.messages
        });
        sent.sum()
    }
}

/// The results of the partition.
struct Partition {
    layout: Layout,
    /// The pivots of each sorter, in order.
    pivots: Vec<Vec<u64>>,
    boundaries: Vec<u64>,
    splitters: Vec<u64>,
}

impl Partition {
    fn of(layout: Layout, keys: &[Vec<u64>]) -> Partition {
        let sorters = layout.sorters() as usize;
        let mut pivots = vec![Vec::new(); sorters];
        for (core, keys) in (0..).map(Rank).zip(keys) {
            pivots[layout.number_of(core) as usize].extend(select(keys, layout.cores()));
        }
        pivots.iter_mut().for_each(|pivots| pivots.sort_unstable());
        let super_pivots = pivots.iter().flat_map(|pivots| select(pivots, sorters));
        let boundaries = select(&sorted(super_pivots.collect()), sorters);
        let splitters = select(&sorted(pivots.concat()), layout.cores());
        Partition {
            layout,
            pivots,
            boundaries,
            splitters,
        }
    }
}

fn sorted(mut keys: Vec<u64>) -> Vec<u64> {
    keys.sort_unstable();
    keys
}

/// Messages that one core sends, with the acknowledgements that they request.
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

    fn partition(&mut self, core: Rank, keys: &[u64], partition: &Partition) {
        let layout = partition.layout;
        if layout.sorter_of(core) != core {
            return self.set(None, &select(keys, layout.cores()));
        }
        let (number, sorters) = (layout.number_of(core), layout.sorters());
        let pivots = &partition.pivots[number as usize];
        match core {
            Rank(0) => (1..sorters).for_each(|_| self.set(Some(0), &partition.boundaries)),
            _ => self.set(Some(0), &select(pivots, sorters as usize)),
        }
        let ranges = cut(pivots, &partition.boundaries, sorters as usize);
        for other in 1..sorters {
            let range = ranges[((number + other) % sorters) as usize].clone();
            self.set(Some(0), &pivots[range]);
        }
        let ranges = cut(
            &partition.splitters,
            &partition.boundaries,
            sorters as usize,
        );
        let own = &partition.splitters[ranges[number as usize].clone()];
        (1..layout.cores()).for_each(|_| self.set(None, own));
    }

    fn record_shuffle(&mut self, core: Rank, keys: &[u64], partition: &Partition) {
        let layout = partition.layout;
        let parts = cut(keys, &partition.splitters, layout.cores());
        for round in 1..layout.cores() as u32 {
            let records = parts[layout.core_after(core, round).0 as usize].len();
            let words = if records == 0 { 0 } else { RECORD_WORDS };
            (0..records.max(1)).for_each(|_| self.message(words));
        }
    }

    fn set(&mut self, lead: Option<usize>, words: &[u64]) {
        fragments(lead, words, self.matching)
            .iter()
            .for_each(|words| self.message(words.len()));
    }

    fn message(&mut self, words: usize) {
        self.messages += 1 + u64::from(self.window.requests_ack(words));
    }
}
