//! The handle that programs are written against.

use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use crate::backend::{Backend, Signal};
use crate::sync::{Ticket, ticket};
use crate::{Buffer, Rank, Time, Work};

/// One task's handle of the node it runs on: clock, work, messages, disks, random numbers.
///
/// Each task has its own; it never changes thread.
pub struct Node {
    backend: Box<dyn Backend>,
}

impl Node {
    /// The handle of a backend's task. Backends call this, programs do not.
    pub fn new(backend: Box<dyn Backend>) -> Node {
        Node { backend }
    }

    /// This node among the nodes of the run.
    pub fn rank(&self) -> Rank {
        self.backend.rank()
    }

    /// How many nodes the run has.
    pub fn nodes(&self) -> u32 {
        self.backend.nodes()
    }

    /// The task's clock.
    pub fn now(&self) -> Time {
        self.backend.now()
    }

    /// Length of a tick in femtoseconds.
    pub fn tick_fs(&self) -> u64 {
        self.backend.tick_fs()
    }

    /// Ticks as seconds.
    pub fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 * self.tick_fs() as f64 * 1e-15
    }

    /// Says that this task did some work: moves its clock by what the cost table asks.
    pub fn work(&self, work: Work) {
        self.backend.work(work);
    }

    /// Says that the program's next stage begins; a machine that measures tells time and idle time
    /// by stage.
    pub fn stage(&self, name: &'static str) {
        self.backend.stage(name);
    }

    /// Says how urgent this task is among those of its node; 0 until it says so, more is more. A
    /// simulated node's cores take the most urgent of the ready tasks, and the oldest of those.
    pub fn urgency(&self, level: u8) {
        self.backend.urgency(level);
    }

    /// How many ranks share this node's NIC: they follow each other, from a multiple on.
    pub fn ranks_per_nic(&self) -> u32 {
        self.backend.ranks_per_nic()
    }

    /// The next number of this node's random stream, decided by the run's seed.
    pub fn random(&self) -> u64 {
        self.backend.random()
    }

    /// Memory for `count` buffers of `bytes` each: aligned for direct I/O, in huge pages where the
    /// machine has them. Memory is used when it is touched.
    ///
    /// # Errors
    /// When the system has no memory for them.
    pub fn buffers(&self, count: usize, bytes: usize) -> io::Result<Vec<Buffer>> {
        self.backend.buffers(count, bytes)
    }

    /// Lets the world reach this task's clock. Every verb on something shared does so first.
    pub async fn reach(&self) {
        poll_fn(|_| self.backend.poll_reach()).await;
    }

    /// Waits until `deadline`.
    pub async fn sleep_until(&self, deadline: Time) {
        let never = self.backend.signal("sleep");
        self.past(&never, never.epoch(), Some(deadline)).await;
    }

    /// As [`Node::try_spawn`], for programs that cannot go on without the task.
    ///
    /// # Panics
    /// When the system has no thread for it.
    pub fn spawn<T, F, Task>(&self, name: impl Into<String>, start: F) -> Ticket<Result<T, Panic>>
    where
        T: Send + 'static,
        F: FnOnce(Node) -> Task + Send + 'static,
        Task: Future<Output = T> + 'static,
    {
        self.try_spawn(name, start)
            .expect("the system has a thread for the task")
    }

    /// Starts a task on this node; the ticket gives what it returns, or its panic.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn try_spawn<T, F, Task>(
        &self,
        name: impl Into<String>,
        start: F,
    ) -> io::Result<Ticket<Result<T, Panic>>>
    where
        T: Send + 'static,
        F: FnOnce(Node) -> Task + Send + 'static,
        Task: Future<Output = T> + 'static,
    {
        let (ticket, completer) = ticket(self, "end of a task");
        let start = move |node: Node| -> Pin<Box<dyn Future<Output = ()>>> {
            Box::pin(async move {
                completer.complete(catch(start(node)).await);
            })
        };
        self.backend.spawn(name.into(), Box::new(start))?;
        Ok(ticket)
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    pub(crate) async fn past(
        &self,
        signal: &Arc<dyn Signal>,
        epoch: u64,
        deadline: Option<Time>,
    ) -> bool {
        poll_fn(|_| self.backend.poll_past(signal, epoch, deadline)).await
    }
}

/// A task's panic: a bug, with what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic(pub String);

/// Runs a task to its end, and catches its panic.
///
/// # Errors
/// When the task panics.
pub async fn catch<T>(task: impl Future<Output = T>) -> Result<T, Panic> {
    let mut task = std::pin::pin!(task);
    // Unwind safe: a task that panicked is not polled again, and what it shared with others is
    // changed in single steps.
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(payload) => Poll::Ready(Err(Panic(said(&*payload)))),
        },
    )
    .await
}

fn said(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}
