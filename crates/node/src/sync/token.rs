//! Tokens with a name each: feedback against the flow (TritonSort 4.5).
//!
//! A token pool may be asked for any one of a set of tokens, now or by a deadline: one wait.

use std::sync::Arc;

use crate::sync::{Close, Closed, Guarded};
use crate::{Node, Time};

/// A set of tokens, each with the number of its owner; clones share it.
#[derive(Clone, Debug)]
pub struct Tokens {
    shared: Arc<Guarded<State>>,
}

#[derive(Debug)]
struct State {
    idle: Vec<u32>,
    closed: bool,
}

impl Tokens {
    /// A pool of these tokens; a number may occur several times.
    pub fn new(node: &Node, label: &'static str, tokens: Vec<u32>) -> Tokens {
        let state = State {
            idle: tokens,
            closed: false,
        };
        Tokens {
            shared: Arc::new(Guarded::new(node, label, state)),
        }
    }

    /// Takes any one token of `wanted`, the longest idle first; `None` when the deadline passes.
    ///
    /// # Errors
    /// When the tokens were closed.
    pub async fn take_any(
        &self,
        node: &Node,
        wanted: &[u32],
        deadline: Option<Time>,
    ) -> Result<Option<u32>, Closed> {
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            let at = state.idle.iter().position(|token| wanted.contains(token))?;
            Some(Ok(state.idle.remove(at)))
        };
        self.shared.wait(node, deadline, step).await.transpose()
    }

    /// Gives a token back.
    pub async fn give(&self, node: &Node, token: u32) {
        self.shared
            .change(node, |state| state.idle.push(token))
            .await;
    }
}

impl Close for Tokens {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
