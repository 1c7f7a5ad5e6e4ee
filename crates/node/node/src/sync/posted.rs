//! A value that one task posts once and others wait for.

use std::sync::Arc;

use crate::Node;
use crate::sync::{Close, Closed, Guarded};

/// A write-once cell that tasks can wait for; clones share it.
#[derive(Debug)]
pub struct Posted<T> {
    shared: Arc<Guarded<State<T>>>,
}

#[derive(Debug)]
struct State<T> {
    value: Option<Arc<T>>,
    closed: bool,
}

impl<T: Send + Sync + 'static> Posted<T> {
    /// An empty cell; `label` names it in the report of a task that waits forever.
    pub fn new(node: &Node, label: &'static str) -> Posted<T> {
        let state = State {
            value: None,
            closed: false,
        };
        Posted {
            shared: Arc::new(Guarded::new(node, label, state)),
        }
    }

    /// Posts the value.
    ///
    /// # Panics
    /// When a value was posted before.
    pub async fn post(&self, node: &Node, value: T) {
        let post = |state: &mut State<T>| {
            assert!(state.value.is_none(), "posted twice");
            state.value = Some(Arc::new(value));
        };
        self.shared.change(node, post).await;
    }

    /// Waits for the value.
    ///
    /// # Errors
    /// When the cell was closed.
    pub async fn read(&self, node: &Node) -> Result<Arc<T>, Closed> {
        let step = |state: &mut State<T>| {
            if state.closed {
                Some(Err(Closed))
            } else {
                state.value.clone().map(Ok)
            }
        };
        self.shared.wait_for(node, step).await
    }
}

impl<T: Send + Sync> Close for Posted<T> {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}

impl<T> Clone for Posted<T> {
    fn clone(&self) -> Posted<T> {
        Posted {
            shared: Arc::clone(&self.shared),
        }
    }
}
