//! Partitions that wait to be read back, where each is on one disk.
//!
//! ```text
//! temporary directory     0     1     2        a loader for each
//! output directory  A     3 5   1     4        takes the next of the output directory that is the
//!                   B     8     6 7   9        furthest behind, of those for which it has one
//! ```
//!
//! So all disks that are read are busy, and sorters feed all disks that are written (as TritonSort 3.3).

use std::collections::VecDeque;
use std::sync::Arc;

use node::{Guarded, Node};

use crate::files::output::Begun;
use crate::records::block::Bucket;
use crate::runs::partition::SpilledRun;

/// A bucket, which holds the chunks that stayed in memory, and its runs on disk.
pub(crate) type Kept = (Bucket, Vec<SpilledRun>);

/// The partitions of all loaders; clones share them.
#[derive(Clone)]
pub(crate) struct Waiting {
    shared: Arc<Guarded<State>>,
}

#[derive(Default)]
struct State {
    /// By loader and output directory.
    lists: Vec<Vec<VecDeque<Kept>>>,
    /// By output directory.
    shares: Vec<Begun>,
}

impl Waiting {
    /// The partitions of so many loaders, each with its loader and its output directory.
    pub(crate) fn new(
        node: &Node,
        loaders: usize,
        all: impl Iterator<Item = (Kept, usize, usize)>,
    ) -> Waiting {
        let mut state = State::default();
        state.lists.resize_with(loaders, Vec::new);
        for (kept, loader, directory) in all {
            if state.shares.len() <= directory {
                state.shares.resize(directory + 1, Begun::default());
            }
            state.shares[directory].all += kept.0.size.records;
            let lists = &mut state.lists[loader];
            if lists.len() <= directory {
                lists.resize_with(directory + 1, VecDeque::new);
            }
            lists[directory].push_back(kept);
        }
        Waiting {
            shared: Arc::new(Guarded::new(node, "partitions", state)),
        }
    }

    /// The next partition of a loader.
    pub(crate) async fn next(&self, node: &Node, loader: usize) -> Option<Kept> {
        self.shared.change(node, |state| state.next(loader)).await
    }
}

impl State {
    fn next(&mut self, loader: usize) -> Option<Kept> {
        let State { lists, shares } = self;
        let lists = &mut lists[loader];
        let open = (0..lists.len()).filter(|&directory| !lists[directory].is_empty());
        let behind = open.min_by(|&a, &b| shares[a].cmp(&shares[b]))?;
        let kept = lists[behind].pop_front()?;
        shares[behind].begun += kept.0.size.records;
        Some(kept)
    }
}
