//! State that tasks share, and the one way to wait for it.
//!
//! Queues, pools, tokens and tickets are each a [`Guarded`] state: a value behind a lock, and a
//! signal that every change advances. A waiter reads the epoch, then tries; if it cannot continue,
//! it waits past that epoch. So it misses no change.

use std::sync::Arc;
use std::task::{Poll, ready};

use super::Mutex;
use crate::backend::{Backend, Signal};
use crate::{Node, Time};

/// The error of a wait whose pipeline ended early: a stage failed, or the run was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

/// Something whose waiters can be ended with [`Closed`].
pub trait Close: Send + Sync {
    /// Ends all waits, now and later. Touches memory and a signal only, so it needs no task; a task
    /// that calls it lets the world reach its clock first.
    fn close(&self);
}

impl<C: Close + ?Sized> Close for Arc<C> {
    fn close(&self) {
        C::close(self);
    }
}

/// A value that tasks of one node share.
#[derive(Debug)]
pub struct Guarded<S> {
    state: Mutex<S>,
    signal: Arc<dyn Signal>,
}

impl<S> Guarded<S> {
    /// Shares `state`; `label` names it in the report of a task that waits for it forever.
    pub fn new(node: &Node, label: &'static str, state: S) -> Guarded<S> {
        Guarded::over(node.backend().signal(label), state)
    }

    /// Shares `state` over a signal that a backend made.
    pub fn over(signal: Arc<dyn Signal>, state: S) -> Guarded<S> {
        Guarded {
            state: Mutex::new(state),
            signal,
        }
    }

    /// Changes the state and wakes all waiters, once the world has reached the task's clock.
    pub async fn change<R>(&self, node: &Node, change: impl FnOnce(&mut S) -> R) -> R {
        node.reach().await;
        self.change_now(change)
    }

    /// As [`Guarded::change`] without a node: for backends and for closing.
    pub fn change_now<R>(&self, change: impl FnOnce(&mut S) -> R) -> R {
        let answer = change(&mut self.state.lock());
        self.signal.advance();
        answer
    }

    /// Looks at the state without changing it.
    pub fn look<R>(&self, look: impl FnOnce(&S) -> R) -> R {
        look(&self.state.lock())
    }

    /// Tries until `step` has an answer (`None`: not yet, nothing changed) or the deadline passes.
    /// A deadline of `node.now()` tries once.
    pub async fn wait<R>(
        &self,
        node: &Node,
        deadline: Option<Time>,
        mut step: impl FnMut(&mut S) -> Option<R>,
    ) -> Option<R> {
        node.reach().await;
        loop {
            let epoch = self.signal.epoch();
            let answer = self.attempt(&mut step);
            if answer.is_some() {
                return answer;
            }
            if !node.past(&self.signal, epoch, deadline).await {
                return None;
            }
        }
    }

    fn attempt<R>(&self, step: &mut impl FnMut(&mut S) -> Option<R>) -> Option<R> {
        let answer = step(&mut self.state.lock());
        if answer.is_some() {
            self.signal.advance();
        }
        answer
    }

    /// As [`Guarded::wait`], for a backend's own poll.
    pub(crate) fn poll_wait<R, B: Backend + ?Sized>(
        &self,
        backend: &B,
        deadline: Option<Time>,
        mut step: impl FnMut(&mut S) -> Option<R>,
    ) -> Poll<Option<R>> {
        ready!(backend.poll_reach());
        loop {
            let epoch = self.signal.epoch();
            let answer = self.attempt(&mut step);
            if answer.is_some() {
                return Poll::Ready(answer);
            }
            if !ready!(backend.poll_past(&self.signal, epoch, deadline)) {
                return Poll::Ready(None);
            }
        }
    }

    /// As [`Guarded::wait`] without a deadline.
    pub async fn wait_for<R>(&self, node: &Node, step: impl FnMut(&mut S) -> Option<R>) -> R {
        self.wait(node, None, step)
            .await
            .expect("a wait without deadline ends with an answer")
    }
}
