//! Tasks that wait for one thing, first come first served.

use crate::schedule::Waiter;

/// There is rarely more than one, so the first needs no allocation.
#[derive(Default)]
pub struct Waiters {
    first: Option<Waiter>,
    others: Vec<Waiter>,
}

impl Waiters {
    /// Adds a task at the end, where it waits in its present turn only.
    #[inline]
    pub fn push(&mut self, waiter: Waiter) {
        match self.first {
            None => self.first = Some(waiter),
            Some(_) => {
                self.remove(waiter.task);
                if self.first.is_none() {
                    self.first = Some(waiter);
                } else {
                    self.others.push(waiter);
                }
            }
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Waiter> {
        let first = self.first.take();
        if !self.others.is_empty() {
            self.first = Some(self.others.remove(0));
        }
        first
    }

    /// Removes a task that waits.
    pub fn remove(&mut self, task: u32) {
        if self.first.is_some_and(|waiter| waiter.task == task) {
            self.pop();
        }
        self.others.retain(|waiter| waiter.task != task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Ticks;

    #[test]
    fn the_first_comes_first_and_a_task_waits_once() {
        let waiter = |task, turn| Waiter {
            task,
            turn,
            clock: Ticks(0),
        };
        let mut waiters = Waiters::default();
        for (task, turn) in [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1)] {
            waiters.push(waiter(task, turn));
        }
        waiters.remove(9);
        let order = std::iter::from_fn(|| waiters.pop()).map(|next| (next.task, next.turn));
        assert_eq!(order.collect::<Vec<_>>(), [(3, 0), (1, 1), (2, 1)]);
        waiters.push(waiter(4, 0));
        waiters.remove(4);
        assert!(waiters.pop().is_none());
    }
}
