//! The inputs as one task reads them.

use std::sync::Arc;

use node::{File, Node};
use pipeline::{Failure, Worker};

use crate::files::input::Inputs;
use crate::files::input::index::Index;

/// The input files of one task, of which the last one used stays open.
pub(crate) struct Files {
    inputs: Arc<Inputs>,
    last: Option<(usize, File)>,
}

impl Files {
    pub(crate) fn new(inputs: &Arc<Inputs>) -> Files {
        Files {
            inputs: Arc::clone(inputs),
            last: None,
        }
    }

    pub(crate) async fn of(&mut self, node: &Node, number: usize) -> Result<File, Failure> {
        match &self.last {
            Some((last, file)) if *last == number => Ok(file.clone()),
            _ => {
                // Closed before the next one takes its place.
                self.last = None;
                let file = self.inputs.files[number].open(node).await?;
                self.last = Some((number, file.clone()));
                Ok(file)
            }
        }
    }
}

/// Memory of an input: its name a few times, its facts, and what a list of them has spare.
const INPUT_BYTES: u64 = 1 << 10;

impl Inputs {
    pub(crate) fn memory_bytes(&self) -> u64 {
        let indexes = self.indexes().map(Index::memory_bytes);
        self.files.len() as u64 * INPUT_BYTES + indexes.sum::<u64>()
    }

    /// Reads that a worker may have in flight, each of another file that is open for it alone. Half of the
    /// files that may be open are for those who draw samples meanwhile. Of many workers some get none.
    pub(crate) fn reads_of(&self, worker: &Worker) -> usize {
        if self.files.iter().all(|input| input.kept.is_some()) {
            return usize::MAX;
        }
        let (all, workers) = ((self.at_once / 2).max(1), worker.siblings());
        all / workers + usize::from(worker.index < all % workers)
    }
}
