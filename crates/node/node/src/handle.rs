//! The handle that programs are written against.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use crate::backend::{Backend, Signal};
use crate::sync::{Ticket, ticket};
use crate::{Buffer, Filled, Rank, Time, Work};

/// One task's handle to its node: clock, work, messages, disks, random numbers.
///
/// Each task has its own handle, which stays on the task's thread.
pub struct Node {
    backend: Box<dyn Backend>,
}

impl Node {
    /// The handle of a backend's task. Backends call this, programs do not.
    pub fn new(backend: Box<dyn Backend>) -> Node {
        Node { backend }
    }

    /// The rank of this node in the run.
    pub fn rank(&self) -> Rank {
        self.backend.rank()
    }

    /// The number of nodes in the run.
    pub fn nodes(&self) -> u32 {
        self.backend.nodes()
    }

    /// The current time on the task's clock.
    pub fn now(&self) -> Time {
        self.backend.now()
    }

    /// Length of a tick in femtoseconds.
    pub fn tick_fs(&self) -> u64 {
        self.backend.tick_fs()
    }

    /// Converts ticks to seconds.
    pub fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 * self.tick_fs() as f64 * 1e-15
    }

    /// Converts seconds to whole ticks.
    pub fn ticks(&self, seconds: f64) -> u64 {
        (seconds / self.seconds(1)) as u64
    }

    /// Reports work that this task did: moves its clock by the cost in the node's table.
    pub fn work(&self, work: Work) {
        self.backend.work(work);
    }

    /// Computes for so many ticks and does not look at messages. A real node spins.
    pub fn compute(&self, ticks: u64) {
        let end = self.now().after(ticks);
        self.work(Work::Compute { ticks });
        while self.now() < end {
            std::hint::spin_loop();
        }
    }

    /// Begins the program's next stage, for machines that measure time and idle time by stage.
    pub fn stage(&self, name: &'static str) {
        self.backend.stage(name);
    }

    /// Sets how urgent this task is among the tasks of its node; the default is 0, the least. The
    /// cores of a simulated node run the most urgent ready task, and of equals the oldest.
    pub fn urgency(&self, level: u8) {
        self.backend.urgency(level);
    }

    /// The number of ranks that share this node's NIC: consecutive ones, from a multiple on.
    pub fn ranks_per_nic(&self) -> u32 {
        self.backend.ranks_per_nic()
    }

    /// The next number of this node's random stream, decided by the run's seed.
    pub fn random(&self) -> u64 {
        self.backend.random()
    }

    /// Memory for `count` buffers of `bytes` each: aligned for direct I/O, in huge pages where they
    /// pay. The system provides memory when it is touched.
    ///
    /// # Errors
    /// When the system has no memory for them.
    pub fn buffers(&self, count: usize, bytes: usize, filled: Filled) -> io::Result<Vec<Buffer>> {
        self.backend.buffers(count, bytes, filled)
    }

    /// Lets the world reach this task's clock. Every verb on shared state does so first.
    pub async fn reach(&self) {
        poll_fn(|_| self.backend.poll_reach()).await;
    }

    /// Waits until the task's clock is at `deadline`.
    pub async fn sleep_until(&self, deadline: Time) {
        let never = self.backend.signal("sleep");
        self.past(&never, never.epoch(), Some(deadline)).await;
    }

    /// As [`Node::try_spawn`], for programs that cannot continue without the task.
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

    /// Starts a task on this node; the ticket gives its result or its panic.
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

/// A panic, which is a bug, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic(pub String);

impl Panic {
    /// The panic with this payload.
    pub fn of(payload: &(dyn Any + Send)) -> Panic {
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Panic(text.unwrap_or_else(|| "a panic without a message".to_owned()))
    }
}

/// Runs something that may panic. Everything that `run` refers to must be given up after a panic.
///
/// # Errors
/// The panic, if it panics.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    // Unwind safe: callers do not use anything of a run that panicked.
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Panic::of(&*payload))
}

/// Runs a future to its end, and catches its panic.
///
/// # Errors
/// The panic, if the future panics.
pub async fn catch<T>(task: impl Future<Output = T>) -> Result<T, Panic> {
    let mut task = std::pin::pin!(task);
    // Unwind safe: a task that panicked is not polled again, and state that it shares with others
    // changes in single steps.
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(payload) => Poll::Ready(Err(Panic::of(&*payload))),
        },
    )
    .await
}
