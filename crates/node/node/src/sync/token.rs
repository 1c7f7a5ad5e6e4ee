//! Numbered tokens, which limit what each of several consumers may have outstanding (TritonSort
//! 4.5).
//!
//! A task can ask for any one of several tokens, with or without a deadline, in one wait.

use std::sync::Arc;

use crate::sync::{Close, Closed, Guarded};
use crate::{Node, Time};

/// A set of tokens, each with the number of a consumer; clones share it.
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
    /// A set of these tokens; a number may occur several times.
    pub fn new(node: &Node, label: &'static str, tokens: Vec<u32>) -> Tokens {
        let state = State {
            idle: tokens,
            closed: false,
        };
        Tokens {
            shared: Arc::new(Guarded::new(node, label, state)),
        }
    }

    /// Takes one token of `wanted`, the longest idle first; `None` if there is none by the
    /// deadline.
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
        let give = |state: &mut State| state.idle.push(token);
        self.shared.change(node, give).await;
    }
}

impl Close for Tokens {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
