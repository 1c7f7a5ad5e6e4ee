//! The gate of a stage: some of its workers are called at present, and the others park.
//!
//! ```text
//!   workers   0  1  2 | 3  4  5
//!             called  | parked, at the gate
//! ```
//!
//! No deadlock: worker 0 is always called, and a worker holds nothing that others wait for when it
//! parks. It comes to the gate where it would wait for a unit, with no request in flight and no
//! buffer of a shared pool. The buffers that it keeps (a distributor's open chunks) are its own
//! share of the plan's memory, and it hands them on at the end: when one worker of a stage ends,
//! no more work comes, and the gate opens for all.

use std::sync::Arc;

use node::{Close, Closed, Guarded, Node};

/// The number of called workers of a stage; clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    shared: Arc<Guarded<State>>,
}

#[derive(Debug)]
struct State {
    called: usize,
    /// The largest value of `called` so far.
    most: usize,
    ended: bool,
    closed: bool,
}

impl Gate {
    pub(crate) fn new(node: &Node, called: usize) -> Gate {
        let state = State {
            called,
            most: called,
            ended: false,
            closed: false,
        };
        Gate {
            shared: Arc::new(Guarded::new(node, "its call", state)),
        }
    }

    pub(crate) fn called(&self) -> usize {
        self.shared.look(|state| state.called)
    }

    /// The most workers that were called at a time.
    pub(crate) fn most(&self) -> usize {
        self.shared.look(|state| state.most)
    }

    pub(crate) fn is_called(&self, index: usize) -> bool {
        self.shared.look(|state| state.is_called(index))
    }

    /// Whether a worker of the stage has ended, so that no more work comes.
    pub(crate) fn has_ended(&self) -> bool {
        self.shared.look(|state| state.ended)
    }

    /// Parks until the worker is called.
    pub(crate) async fn wait(&self, node: &Node, index: usize) -> Result<(), Closed> {
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            state.is_called(index).then_some(Ok(()))
        };
        self.shared.wait_for(node, step).await
    }

    /// Calls the first `called` workers, and at least one.
    pub(crate) async fn call(&self, node: &Node, called: usize) {
        let change = |state: &mut State| {
            state.called = called.max(1);
            state.most = state.most.max(state.called);
        };
        self.shared.change(node, change).await;
    }

    /// Opens the gate for all workers, because one has ended.
    pub(crate) async fn end(&self, node: &Node) {
        self.shared.change(node, |state| state.ended = true).await;
    }
}

impl State {
    fn is_called(&self, index: usize) -> bool {
        index < self.called || self.ended
    }
}

impl Close for Gate {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_open_for_called_workers_and_at_the_end_for_all() {
        let ends = rehearsal::Driver::new(1, 1).run(|node| async move {
            let gate = Gate::new(&node, 2);
            let called = |gate: &Gate| [0, 1, 2, 3].map(|index| gate.is_called(index));
            assert_eq!(called(&gate), [true, true, false, false]);
            gate.call(&node, 3).await;
            gate.call(&node, 0).await;
            assert_eq!(called(&gate), [true, false, false, false]);
            assert_eq!(
                (gate.called(), gate.most(), gate.has_ended()),
                (1, 3, false)
            );
            gate.end(&node).await;
            assert_eq!((called(&gate), gate.has_ended()), ([true; 4], true));
            gate.close();
            gate.wait(&node, 0).await
        });
        assert_eq!(
            ends.unwrap_or_else(|stuck| panic!("{stuck}")),
            [Err(Closed)]
        );
    }
}
