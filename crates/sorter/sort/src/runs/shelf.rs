//! The shelf: sorted loads between the sorters and the run writers.
//!
//! ```text
//! loads   0  1  2  3 | 4  5  6 | 7 ..
//!         to disk    | stay    | being sorted
//!                    ^ the bound, which only goes up
//! ```
//!
//! As in two passes, no load goes to disk before memory is full, and loads that are in memory at
//! the end stay there as far as the merge has room.

use crate::plan::Room;
use std::collections::BTreeMap;
use std::sync::Arc;

use node::{Close, Closed, Guarded, Node};

use crate::records::contents::Contents;
use crate::runs::partition::Spilled;
use crate::runs::sorted_run::{SortedLoad, SortedRun, Stretch};

/// The loads of a phase; clones share them.
#[derive(Clone)]
pub(crate) struct Shelf {
    shared: Arc<Guarded<State>>,
    contents: Arc<dyn Contents>,
}

/// The first and the last record of a load; empty if records are only counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    pub first: Vec<u8>,
    pub last: Vec<u8>,
}

#[derive(Default)]
struct State {
    in_memory: BTreeMap<u64, SortedLoad>,
    on_disk: BTreeMap<u64, Vec<Spilled>>,
    /// By load: whether it continues the order of the previous load.
    continues: Vec<bool>,
    /// First records of loads whose predecessor is not sorted yet, and last records of loads whose
    /// successor is not.
    firsts: BTreeMap<u64, Vec<u8>>,
    lasts: BTreeMap<u64, Vec<u8>>,
    sorted: u64,
    /// Loads with smaller numbers go to disk.
    below: u64,
    /// Whether the bound is final.
    settled: bool,
    closed: bool,
}

impl Shelf {
    pub(crate) fn new(node: &Node, contents: Arc<dyn Contents>) -> Shelf {
        Shelf {
            contents,
            shared: Arc::new(Guarded::new(node, "sorted loads", State::default())),
        }
    }

    pub(crate) async fn add(&self, node: &Node, number: u64, load: SortedLoad, ends: Ends) {
        let contents = &*self.contents;
        self.shared
            .change(node, |state| {
                state.in_memory.insert(number, load);
                state.sorted += 1;
                state.firsts.insert(number, ends.first);
                state.lasts.insert(number, ends.last);
                state.compare(contents, number);
                state.compare(contents, number + 1);
            })
            .await;
    }

    /// Sends the loads with numbers less than `below` to disk.
    pub(crate) async fn send_below(&self, node: &Node, below: u64) {
        self.shared
            .change(node, |state| state.below = state.below.max(below))
            .await;
    }

    /// Waits until all loads are sorted, then settles the bound: by the chunks of loads in memory,
    /// and by the loads that continue a run.
    pub(crate) async fn settle(&self, node: &Node, loads: u64, room: Room) -> Result<(), Closed> {
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            (state.sorted == loads).then(|| {
                state.settle(room);
                Ok(())
            })
        };
        self.shared.wait_for(node, step).await
    }

    /// The next load that goes to disk; `None` at the end.
    pub(crate) async fn next(&self, node: &Node) -> Result<Option<(u64, SortedLoad)>, Closed> {
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            let first = state
                .in_memory
                .first_entry()
                .filter(|first| *first.key() < state.below);
            match first.map(|first| first.remove_entry()) {
                Some(load) => Some(Ok(Some(load))),
                None => state.settled.then_some(Ok(None)),
            }
        };
        self.shared.wait_for(node, step).await
    }

    pub(crate) async fn written(&self, node: &Node, number: u64, runs: Vec<Spilled>) {
        self.shared
            .change(node, |state| state.on_disk.insert(number, runs))
            .await;
    }

    /// All loads as sorted runs in input order, at the end of the phase.
    pub(crate) async fn take(&self, node: &Node) -> Vec<SortedRun> {
        self.shared.change(node, State::runs).await
    }
}

impl State {
    /// Compares a load with the one before, once both are sorted.
    fn compare(&mut self, contents: &dyn Contents, number: u64) {
        let before = number.wrapping_sub(1);
        if !self.lasts.contains_key(&before) || !self.firsts.contains_key(&number) {
            return;
        }
        let (last, first) = (self.lasts.remove(&before), self.firsts.remove(&number));
        let (last, first) = last.zip(first).expect("looked for above");
        let counted = last.is_empty();
        let at = number as usize;
        self.continues
            .resize(self.continues.len().max(at + 1), false);
        // Where the last of equal records is the first, one of a later load comes before them.
        let is_before = || contents.keeps_last() && contents.keys_equal(&last, &first);
        self.continues[at] = !counted && contents.in_order(&last, &first) && !is_before();
    }

    /// Sends loads to disk until memory has room for two reads of each run.
    fn settle(&mut self, room: Room) {
        let begin = |from: u64| {
            self.continues
                .iter()
                .skip(from as usize)
                .filter(|continues| !**continues)
                .count()
        };
        let all = 1 + begin(1);
        let mut held: usize = self
            .in_memory
            .values()
            .map(|load| load.bucket.chunks.len())
            .sum();
        for (&number, load) in &self.in_memory {
            if number < self.below {
                held -= load.bucket.chunks.len();
                continue;
            }
            // A run that is only in memory takes a chunk at a time.
            let in_memory = if number == 0 { all } else { begin(number) };
            let reads = 2 * (in_memory + (all - in_memory) * room.read);
            if held + reads <= room.chunks {
                break;
            }
            held -= load.bucket.chunks.len();
            self.below = number + 1;
        }
        self.settled = true;
    }

    fn runs(&mut self) -> Vec<SortedRun> {
        let mut runs: Vec<SortedRun> = Vec::new();
        for number in 0..self.sorted {
            let stretches = match self.on_disk.remove(&number) {
                Some(runs) => runs.into_iter().map(Stretch::Disk).collect(),
                None => {
                    let load = self
                        .in_memory
                        .remove(&number)
                        .expect("it is in memory or on disk");
                    vec![Stretch::Memory(Box::new(load))]
                }
            };
            if !self
                .continues
                .get(number as usize)
                .copied()
                .unwrap_or(false)
            {
                runs.push(SortedRun::default());
            }
            runs.last_mut()
                .expect("the first load begins one")
                .extend(stretches);
        }
        runs
    }
}

impl Close for Shelf {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
