//! Bounded queues between stages.
//!
//! A queue ends when all its producers have finished and its consumers have taken every unit.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::sync::{Close, Closed, Guarded};
use crate::{Node, Time};

/// A bounded queue of units of work; clones share it.
#[derive(Debug)]
pub struct Queue<T> {
    shared: Arc<Guarded<State<T>>>,
}

#[derive(Debug)]
struct State<T> {
    units: VecDeque<T>,
    capacity: usize,
    producers: usize,
    closed: bool,
}

impl<T: Send + 'static> Queue<T> {
    /// A queue of at most `capacity` units, for `producers` producers; `label` names it in the
    /// report of a task that waits forever.
    ///
    /// # Panics
    /// When the capacity is 0.
    pub fn new(node: &Node, label: &'static str, capacity: usize, producers: usize) -> Queue<T> {
        assert!(capacity > 0, "a queue without room would block forever");
        let units = VecDeque::new();
        let state = State {
            units,
            capacity,
            producers,
            closed: false,
        };
        Queue {
            shared: Arc::new(Guarded::new(node, label, state)),
        }
    }

    /// Adds a unit, waiting while the queue is full.
    ///
    /// # Errors
    /// When the queue was closed.
    pub async fn push(&self, node: &Node, unit: T) -> Result<(), Closed> {
        let mut unit = Some(unit);
        let step = |state: &mut State<T>| {
            if state.closed {
                return Some(Err(Closed));
            }
            if state.units.len() == state.capacity {
                return None;
            }
            state.units.push_back(unit.take().expect("pushed once"));
            Some(Ok(()))
        };
        self.shared.wait_for(node, step).await
    }

    /// Takes the oldest unit, waiting for one; `None` when the queue has ended.
    ///
    /// # Errors
    /// When the queue was closed.
    pub async fn pop(&self, node: &Node) -> Result<Option<T>, Closed> {
        self.shared.wait_for(node, State::take).await
    }

    /// As [`Queue::pop`], but takes the unit with the least `rank`, the oldest of those alike.
    ///
    /// # Errors
    /// When the queue was closed.
    pub async fn pop_least<R: Ord>(
        &self,
        node: &Node,
        rank: impl Fn(&T) -> R,
    ) -> Result<Option<T>, Closed> {
        let step = |state: &mut State<T>| {
            let units = state.units.iter().enumerate();
            let least = units.min_by_key(|(_, unit)| rank(unit));
            if let Some((least, _)) = least {
                let chosen = state.units.remove(least).expect("it is there");
                state.units.push_front(chosen);
            }
            state.take()
        };
        self.shared.wait_for(node, step).await
    }

    /// As [`Queue::pop`], but `None` if no unit is there by the deadline.
    ///
    /// # Errors
    /// When the queue was closed.
    pub async fn pop_until(
        &self,
        node: &Node,
        deadline: Time,
    ) -> Option<Result<Option<T>, Closed>> {
        self.shared.wait(node, Some(deadline), State::take).await
    }

    /// Announces that one producer will push no more.
    ///
    /// # Panics
    /// When all producers have finished before.
    pub async fn finish(&self, node: &Node) {
        let finish = |state: &mut State<T>| {
            let left = state.producers.checked_sub(1);
            state.producers = left.expect("more producers ended than began");
        };
        self.shared.change(node, finish).await;
    }
}

impl<T> State<T> {
    fn take(&mut self) -> Option<Result<Option<T>, Closed>> {
        if self.closed {
            return Some(Err(Closed));
        }
        match self.units.pop_front() {
            Some(unit) => Some(Ok(Some(unit))),
            None if self.producers == 0 => Some(Ok(None)),
            None => None,
        }
    }
}

impl<T: Send> Close for Queue<T> {
    fn close(&self) {
        self.shared.change_now(|state| {
            state.closed = true;
            state.units.clear();
        });
    }
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Queue<T> {
        Queue {
            shared: Arc::clone(&self.shared),
        }
    }
}
