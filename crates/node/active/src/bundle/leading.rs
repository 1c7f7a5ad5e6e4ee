//! The one task that receives, and those that wait for it.

use std::collections::VecDeque;

use node::{Address, Node, Panic, Time, caught};

use super::Bundle;
use super::receiving::{Letter, letters};
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
            let served = caught(|| {
                let message = message.as_ref();
                let mut letters =
                    message.map_or_else(Vec::new, |message| self.receive(node, message));
                letters.extend(self.repeat(node));
                letters
            });
            let letters = self.or_step_down(served);
            self.send_all(node, letters).await;
            // A message that is there is served even if the deadline is over.
            let is_late =
                message.is_none() && deadline.is_some_and(|deadline| deadline <= node.now());
            let ended = self.state().change_now(|state| {
                let answer = step(state);
                let ends = answer.is_some() || is_late;
                if ends {
                    state.step_down();
                }
                ends.then_some(answer)
            });
            if let Some(answer) = ended {
                return answer;
            }
        }
    }

    /// A handler that panics for a reply is a bug of this task, but others may lead on.
    fn or_step_down<R>(&self, run: Result<R, Panic>) -> R {
        run.unwrap_or_else(|Panic(text)| {
            self.state().change_now(State::step_down);
            panic!("{text}");
        })
    }

    /// Sends frames. Receives while the NIC has no room, unless another task does.
    pub(crate) async fn send(&self, node: &Node, to: Address, frames: Vec<Vec<u64>>) {
        let letters: Vec<Letter> = letters(to, frames).collect();
        if !self.state().change_now(State::lead) {
            for (to, words) in &letters {
                node.send(*to, words).await;
            }
            return;
        }
        self.send_all(node, letters).await;
        self.state().change_now(State::step_down);
    }

    /// As the leader.
    async fn send_all(&self, node: &Node, letters: Vec<Letter>) {
        let mut letters = VecDeque::from(letters);
        while let Some((to, words)) = letters.front() {
            match node.send_or_next(*to, words, &self.shared.port).await {
                None => drop(letters.pop_front()),
                Some(message) => {
                    let served = caught(|| self.receive(node, &message));
                    letters.extend(self.or_step_down(served));
                }
            }
        }
    }
}
