//! Chunks that were read of each run, until the merge needs them.
//!
//! ```text
//! run 0   [chunk][chunk]|[chunk][chunk]      two reads ahead, each of some chunks
//! run 1         [chunk]|[chunk][chunk]       when the last chunk of a read is merged, the run wants
//! run 2   [chunk][chunk]|                    one more (double buffering, TritonSort 2.5)
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use node::{Close, Closed, Guarded, Node};

use crate::records::block::Chunk;

#[derive(Debug)]
pub(crate) struct Arrived {
    pub chunk: Chunk,
    /// Whether it is the last chunk of its read.
    pub ends_read: bool,
}

/// The next read of a run.
pub(crate) enum ArrivedRead {
    Chunks(Vec<Chunk>),
    /// It has not arrived.
    Nothing,
    End,
}

/// Chunks of all runs; clones share them.
#[derive(Clone)]
pub(crate) struct Arrivals {
    shared: Arc<Guarded<State>>,
}

struct State {
    runs: Vec<Waiting>,
    closed: bool,
}

#[derive(Default)]
struct Waiting {
    chunks: VecDeque<Arrived>,
    ended: bool,
}

impl Arrivals {
    pub(crate) fn new(node: &Node, runs: usize) -> Arrivals {
        let runs = (0..runs).map(|_| Waiting::default()).collect();
        let state = State {
            runs,
            closed: false,
        };
        Arrivals {
            shared: Arc::new(Guarded::new(node, "chunks of runs", state)),
        }
    }

    pub(crate) async fn add(&self, node: &Node, run: usize, chunks: Vec<Chunk>) {
        let last = chunks.len() - 1;
        let arrived = chunks.into_iter().enumerate();
        let arrived = arrived.map(|(n, chunk)| Arrived {
            chunk,
            ends_read: n == last,
        });
        self.shared
            .change(node, |state| state.runs[run].chunks.extend(arrived))
            .await;
    }

    pub(crate) async fn end(&self, node: &Node, run: usize) {
        self.shared
            .change(node, |state| state.runs[run].ended = true)
            .await;
    }

    /// The next chunk of a run; `None` at its end.
    pub(crate) async fn next(&self, node: &Node, run: usize) -> Result<Option<Arrived>, Closed> {
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            let waiting = &mut state.runs[run];
            match waiting.chunks.pop_front() {
                Some(arrived) => Some(Ok(Some(arrived))),
                None => waiting.ended.then_some(Ok(None)),
            }
        };
        self.shared.wait_for(node, step).await
    }

    /// The next read of a run; `waits` until it has arrived.
    pub(crate) async fn read_of(
        &self,
        node: &Node,
        run: usize,
        waits: bool,
    ) -> Result<ArrivedRead, Closed> {
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            let waiting = &mut state.runs[run];
            match waiting.read() {
                Some(chunks) => Some(Ok(ArrivedRead::Chunks(chunks))),
                None if waiting.ended => Some(Ok(ArrivedRead::End)),
                None => (!waits).then_some(Ok(ArrivedRead::Nothing)),
            }
        };
        self.shared.wait_for(node, step).await
    }
}

impl Waiting {
    /// The chunks up to the end of the first read. Those of one read arrive together.
    fn read(&mut self) -> Option<Vec<Chunk>> {
        let last = self.chunks.iter().position(|arrived| arrived.ends_read)?;
        let chunks = self.chunks.drain(..=last);
        Some(chunks.map(|arrived| arrived.chunk).collect())
    }
}

impl Close for Arrivals {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
