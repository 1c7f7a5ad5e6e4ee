//! The shelf: sorted loads between those who sort and those who write.
//!
//! ```text
//! loads   0  1  2  3 | 4  5  6 | 7 ..
//!         to disk    | stay    | being sorted
//!                    ^ the bound, which only goes up
//! ```
//!
//! As in two passes, nothing goes to disk before memory is full, and what is in memory at the end
//! stays there as far as the merge has room.

use crate::plan::Room;
use std::collections::BTreeMap;
use std::sync::Arc;

use node::{Close, Closed, Guarded, Node};

use crate::records::contents::Contents;
use crate::runs::partition::Spilled;
use crate::runs::sorted_run::{SortedLoad, SortedRun, Stretch};

/// All loads of a phase; clones share them.
#[derive(Clone)]
pub(crate) struct Shelf {
    shared: Arc<Guarded<State>>,
}

/// The first and the last record of a load; nothing where records are only counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    pub first: Vec<u8>,
    pub last: Vec<u8>,
}

#[derive(Default)]
struct State {
    /// Sorted loads that are in memory.
    here: BTreeMap<u64, SortedLoad>,
    /// Those that are on disk.
    gone: BTreeMap<u64, Vec<Spilled>>,
    /// Whether a load begins where the one before it ended.
    goes_on: Vec<bool>,
    /// The first records of loads before which one is not sorted yet, and the last ones of those
    /// behind which one is not.
    firsts: BTreeMap<u64, Vec<u8>>,
    lasts: BTreeMap<u64, Vec<u8>>,
    sorted: u64,
    /// Loads with smaller numbers go to disk.
    below: u64,
    /// Whether the bound stays where it is.
    settled: bool,
    closed: bool,
}

impl Shelf {
    pub(crate) fn new(node: &Node) -> Shelf {
        Shelf {
            shared: Arc::new(Guarded::new(node, "sorted loads", State::default())),
        }
    }

    /// A load is sorted.
    pub(crate) async fn add(
        &self,
        node: &Node,
        contents: &dyn Contents,
        (number, load): (u64, SortedLoad),
        ends: Ends,
    ) {
        self.shared
            .change(node, |state| {
                state.here.insert(number, load);
                state.sorted += 1;
                state.firsts.insert(number, ends.first);
                state.lasts.insert(number, ends.last);
                state.compare(contents, number);
                state.compare(contents, number + 1);
            })
            .await;
    }

    /// Loads with numbers below that one are to go to disk.
    pub(crate) async fn send_below(&self, node: &Node, below: u64) {
        self.shared
            .change(node, |state| state.below = state.below.max(below))
            .await;
    }

    /// Waits until all loads are sorted, and then settles the bound, by the chunks that loads have
    /// in memory and whether they go on where others end.
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

    /// The next load that goes to disk; `None` when there will be no more.
    pub(crate) async fn next(&self, node: &Node) -> Result<Option<(u64, SortedLoad)>, Closed> {
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            let first = state
                .here
                .first_entry()
                .filter(|first| *first.key() < state.below);
            match first.map(|first| first.remove_entry()) {
                Some(load) => Some(Ok(Some(load))),
                None => state.settled.then_some(Ok(None)),
            }
        };
        self.shared.wait_for(node, step).await
    }

    /// A load is on disk.
    pub(crate) async fn written(&self, node: &Node, number: u64, runs: Vec<Spilled>) {
        self.shared
            .change(node, |state| state.gone.insert(number, runs))
            .await;
    }

    /// All loads as sorted runs in input order, when the phase is over.
    pub(crate) async fn take(&self, node: &Node) -> Vec<SortedRun> {
        self.shared.change(node, State::runs).await
    }
}

impl State {
    /// Finds out whether a load goes on where the one before it ended, once both are sorted.
    fn compare(&mut self, contents: &dyn Contents, number: u64) {
        let before = number.wrapping_sub(1);
        if !self.lasts.contains_key(&before) || !self.firsts.contains_key(&number) {
            return;
        }
        let (last, first) = (self.lasts.remove(&before), self.firsts.remove(&number));
        let (last, first) = last.zip(first).expect("looked for above");
        let counted = last.is_empty();
        let at = number as usize;
        self.goes_on.resize(self.goes_on.len().max(at + 1), false);
        self.goes_on[at] = !counted && contents.in_order(&last, &first);
    }

    /// Sends as many more loads to disk as leave room for two reads of each run.
    fn settle(&mut self, room: Room) {
        let begin = |from: u64| {
            self.goes_on
                .iter()
                .skip(from as usize)
                .filter(|goes_on| !**goes_on)
                .count()
        };
        let all = 1 + begin(1);
        let mut held: usize = self
            .here
            .values()
            .map(|load| load.bucket.chunks.len())
            .sum();
        for (&number, load) in &self.here {
            if number < self.below {
                held -= load.bucket.chunks.len();
                continue;
            }
            // What is in memory alone takes a chunk at a time.
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
            let stretches = match self.gone.remove(&number) {
                Some(runs) => runs.into_iter().map(Stretch::Disk).collect(),
                None => {
                    let load = self.here.remove(&number).expect("it is here or gone");
                    vec![Stretch::Memory(Box::new(load))]
                }
            };
            if !self.goes_on.get(number as usize).copied().unwrap_or(false) {
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
