//! The places of buckets whose size is known only when they are sorted, because records with equal
//! keys are dropped.
//!
//! ```text
//! bucket   |.. 0 ..|.... 1 ....|... 2 ...|        as large as they came
//! place    |. 0 .|.. 1 ..|. 2 .|                  behind the bucket before, when that is sorted
//! ```
//!
//! A bucket also learns the last record before it: its own first one is dropped if their keys are
//! equal, since splitters divide equal keys like any others.
//!
//! In a set of files the first bucket of a file ends the file before it, whose length is known then. So
//! the buckets of a set are begun in key order, and its directories are written one after the other.
//! In a resumable sort the chain of a group begins where the group before it ended.

use std::sync::Arc;

use node::{Close, Closed, Guarded, Node};

use crate::records::size::Size;

/// A chain of places; clones share it.
#[derive(Clone)]
pub(crate) struct Placing {
    shared: Arc<Guarded<State>>,
}

struct State {
    /// Bytes that came before the next bucket to be placed.
    next: u64,
    place: Place,
    closed: bool,
}

/// Where a chain of places begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlacedBefore {
    /// Bytes that came before the first bucket.
    pub came: u64,
    pub place: Place,
}

/// The end of the output so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// Records before it.
    pub before: Size,
    /// The file that they end in, and the bytes of their records there.
    pub file: usize,
    pub file_bytes: u64,
    /// The last one; empty if there is none.
    pub last: Vec<u8>,
}

impl Placing {
    pub(crate) fn new(node: &Node, before: PlacedBefore) -> Placing {
        let state = State {
            next: before.came,
            place: before.place,
            closed: false,
        };
        Placing {
            shared: Arc::new(Guarded::new(node, "its place", state)),
        }
    }

    /// Waits for the place of the bucket before which `came` bytes came.
    pub(crate) async fn wait(&self, node: &Node, came: u64) -> Result<Place, Closed> {
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            (state.next == came).then(|| Ok(std::mem::take(&mut state.place)))
        };
        self.shared.wait_for(node, step).await
    }

    /// Gives the bucket before which `came` bytes came its place.
    pub(crate) async fn pass(&self, node: &Node, came: u64, place: Place) {
        let step = |state: &mut State| (state.next, state.place) = (came, place);
        self.shared.change(node, step).await;
    }
}

impl Close for Placing {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
