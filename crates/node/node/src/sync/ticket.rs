//! Tickets: the promise of an answer, for requests that run while the task continues.
//!
//! A dropped ticket loses the answer, but the operation goes on: the backend keeps its buffer until
//! the end.

use std::sync::Arc;

use crate::sync::Guarded;
use crate::{Node, Time};

/// The right to receive one answer.
#[derive(Debug)]
#[must_use = "a dropped ticket loses its answer, and the buffer in it"]
pub struct Ticket<T> {
    shared: Arc<Guarded<Option<Answer<T>>>>,
    label: &'static str,
}

/// The duty to give one answer; a backend holds it.
///
/// A panic that drops it breaks the ticket, so that the waiting task panics too instead of waiting
/// forever. Dropping it without a panic does nothing: a simulated kill drops tasks, and no other
/// task may notice.
#[derive(Debug)]
pub struct Completer<T> {
    shared: Arc<Guarded<Option<Answer<T>>>>,
}

#[derive(Debug)]
enum Answer<T> {
    Given(T),
    /// The thread that had to give the answer panicked.
    Broken,
}

/// A ticket and its completer; `label` names the ticket in the report of a task that waits forever.
pub fn ticket<T>(node: &Node, label: &'static str) -> (Ticket<T>, Completer<T>) {
    let shared = Arc::new(Guarded::new(node, label, None));
    (
        Ticket {
            shared: Arc::clone(&shared),
            label,
        },
        Completer { shared },
    )
}

impl<T> Ticket<T> {
    /// Waits for the answer.
    ///
    /// # Panics
    /// When the thread that had to give the answer panicked.
    pub async fn wait(self, node: &Node) -> T {
        match self.shared.wait_for(node, Option::take).await {
            Answer::Given(answer) => answer,
            Answer::Broken => panic!("no answer to a {}: its thread panicked", self.label),
        }
    }

    /// Waits for the answer (true), or until the deadline passes first (false).
    pub async fn done_by(&self, node: &Node, deadline: Time) -> bool {
        let step = |slot: &mut Option<Answer<T>>| slot.is_some().then_some(());
        self.shared.wait(node, Some(deadline), step).await.is_some()
    }

    /// Whether the answer was given.
    pub fn is_done(&self) -> bool {
        self.shared.look(Option::is_some)
    }
}

impl<T> Completer<T> {
    /// Gives the answer and wakes the waiting task.
    pub fn complete(self, answer: T) {
        self.shared
            .change_now(|slot| *slot = Some(Answer::Given(answer)));
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Keeps an answer that was given.
            self.shared.change_now(|slot| {
                slot.get_or_insert(Answer::Broken);
            });
        }
    }
}
