//! Turns: workers finish in any order, but write in one (for outputs without positions).

use std::sync::Arc;

use node::{Close, Closed, Guarded, Node};

/// A counter that workers wait for; clones share it.
#[derive(Clone)]
pub(crate) struct Turn {
    shared: Arc<Guarded<State>>,
}

struct State {
    next: u64,
    closed: bool,
}

impl Turn {
    /// The first turn is number 0.
    pub(crate) fn new(node: &Node) -> Turn {
        let state = State {
            next: 0,
            closed: false,
        };
        Turn {
            shared: Arc::new(Guarded::new(node, "its turn", state)),
        }
    }

    pub(crate) async fn wait(&self, node: &Node, number: u64) -> Result<(), Closed> {
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            (state.next == number).then_some(Ok(()))
        };
        self.shared.wait_for(node, step).await
    }

    pub(crate) async fn pass(&self, node: &Node, next: u64) {
        self.shared.change(node, |state| state.next = next).await;
    }
}

impl Close for Turn {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
