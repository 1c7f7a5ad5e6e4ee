//! The one task that receives, and those that wait for it.

use std::collections::VecDeque;

use node::{Node, Panic, Time, caught};

use super::Bundle;
use super::receiving::Letter;
use crate::state::State;

enum Turn<R> {
    Ended(R),
    Lead,
}

impl Bundle {
    /// Waits until `step` has an answer, `None` at the deadline, and serves meanwhile.
    pub(crate) async fn drive<R>(
        &self,
        node: &Node,
        deadline: Option<Time>,
        mut step: impl FnMut(&mut State) -> Option<R>,
    ) -> Option<R> {
        let turn = |state: &mut State| match step(state) {
            Some(answer) => Some(Turn::Ended(answer)),
            None => state.lead().then_some(Turn::Lead),
        };
        match self.state().wait(node, deadline, turn).await? {
            Turn::Ended(answer) => Some(answer),
            Turn::Lead => self.lead(node, deadline, step).await,
        }
    }

    async fn lead<R>(
        &self,
        node: &Node,
        deadline: Option<Time>,
        mut step: impl FnMut(&mut State) -> Option<R>,
    ) -> Option<R> {
        let port = &self.shared.port;
        loop {
            let wakes = self.state().change_now(|state| state.wait_until(deadline));
            let message = match wakes {
                Some(wakes) => port.next_until(node, wakes).await,
                None => Some(port.next(node).await),
            };
            let mut letters = message
                .as_ref()
                .map_or_else(Vec::new, |message| self.receive(node, message));
            letters.extend(self.repeat(node));
            self.send_all(node, letters).await;
            // A message that is there is served even if the deadline is over.
            let is_late =
                message.is_none() && deadline.is_some_and(|deadline| deadline <= node.now());
            let look = |state: &mut State| {
                let answer = step(state);
                let ends = answer.is_some() || is_late || state.panicked.is_some();
                if ends {
                    state.step_down();
                }
                ends.then_some(answer)
            };
            // Others lead on if this task's own look panics.
            match caught(|| self.state().change_now(look)) {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    self.raise();
                    return answer;
                }
                Err(Panic(text)) => {
                    self.state().change_now(State::step_down);
                    panic!("{text}");
                }
            }
        }
    }

    /// Sends frames, and receives while the NIC has no room, unless another task leads.
    pub(crate) async fn send(&self, node: &Node, letters: Vec<Letter>) {
        if !self.state().change_now(State::lead) {
            for (to, words) in &letters {
                node.send(*to, words).await;
            }
            return;
        }
        self.send_all(node, letters).await;
        self.state().change_now(State::step_down);
        self.raise();
    }

    /// As the leader.
    async fn send_all(&self, node: &Node, letters: Vec<Letter>) {
        let mut letters = VecDeque::from(letters);
        while let Some((to, words)) = letters.front() {
            match node.send_or_next(*to, words, &self.shared.port).await {
                None => drop(letters.pop_front()),
                Some(message) => letters.extend(self.receive(node, &message)),
            }
        }
    }

    /// Lets the leader look again, if there is one: the state has changed, and no message tells it.
    pub(crate) async fn wake_leader(&self, node: &Node) {
        if self.state().look(State::is_led) {
            self.wake(node).await;
        }
    }
}
