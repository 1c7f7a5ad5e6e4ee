//! Pools of buffers: the bound on a pipeline's memory, and its back-pressure.

use std::sync::Arc;

use crate::sync::{Close, Closed, Guarded};
use crate::{Buffer, Node, Time};

/// A fixed set of buffers that stages take and give back; clones share it.
///
/// A buffer that is dropped instead of given back is lost to the pool: its memory is freed.
#[derive(Clone, Debug)]
pub struct Pool {
    shared: Arc<Guarded<State>>,
}

#[derive(Debug)]
struct State {
    idle: Vec<Buffer>,
    closed: bool,
}

impl Pool {
    /// A pool of these buffers.
    pub fn new(node: &Node, label: &'static str, buffers: Vec<Buffer>) -> Pool {
        let state = State {
            idle: buffers,
            closed: false,
        };
        Pool {
            shared: Arc::new(Guarded::new(node, label, state)),
        }
    }

    /// Takes an empty buffer, waiting for one.
    ///
    /// # Errors
    /// When the pool was closed.
    pub async fn take(&self, node: &Node) -> Result<Buffer, Closed> {
        self.shared.wait_for(node, State::take).await
    }

    /// As [`Pool::take`], but `None` when the deadline passes first.
    pub async fn take_until(&self, node: &Node, deadline: Time) -> Option<Result<Buffer, Closed>> {
        self.shared.wait(node, Some(deadline), State::take).await
    }

    /// Gives a buffer back.
    pub async fn give(&self, node: &Node, mut buffer: Buffer) {
        buffer.set_len(0);
        self.shared
            .change(node, |state| state.idle.push(buffer))
            .await;
    }

    /// Whether its pipeline has ended early.
    pub fn is_closed(&self) -> bool {
        self.shared.look(|state| state.closed)
    }

    /// How many buffers are idle now.
    pub fn idle(&self) -> usize {
        self.shared.look(|state| state.idle.len())
    }
}

impl State {
    fn take(&mut self) -> Option<Result<Buffer, Closed>> {
        if self.closed {
            return Some(Err(Closed));
        }
        self.idle.pop().map(Ok)
    }
}

impl Close for Pool {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
