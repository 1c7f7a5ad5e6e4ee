//! Pools of buffers, which bound a pipeline's memory and slow down stages that are ahead.

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
    /// A pool of these buffers; `label` names it in the report of a task that waits forever.
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

    /// As [`Pool::take`], but `None` if no buffer is idle by the deadline.
    ///
    /// # Errors
    /// When the pool was closed.
    pub async fn take_until(&self, node: &Node, deadline: Time) -> Option<Result<Buffer, Closed>> {
        self.shared.wait(node, Some(deadline), State::take).await
    }

    /// Gives a buffer back, emptied.
    pub async fn give(&self, node: &Node, mut buffer: Buffer) {
        buffer.set_len(0);
        let give = |state: &mut State| state.idle.push(buffer);
        self.shared.change(node, give).await;
    }

    /// Whether the pool was closed because its pipeline ended early.
    pub fn is_closed(&self) -> bool {
        self.shared.look(|state| state.closed)
    }

    /// Buffers that are idle now.
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
