//! The handle that programs are written against.

use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use crate::backend::{Backend, Disks, RenameError, Signal};
use crate::disk::{DiskError, File, KEEP_THE_NAME};
use crate::opening::{Access, Metadata, Open, Standard};
use crate::ticket::{Ticket, ticket};
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

    /// Opens or creates a file.
    pub async fn open(&self, path: &Path, how: Open) -> Result<File, DiskError> {
        self.reach().await;
        let verb = if how.is_create() { "create" } else { "open" };
        let handle = self
            .disks()
            .open(path, how)
            .map_err(|cause| DiskError::new(verb, path, cause))?;
        File::new(handle, path).map_err(|cause| DiskError::new(verb, path, cause))
    }

    /// Standard input or output.
    pub async fn standard(&self, which: Standard) -> Result<File, DiskError> {
        self.reach().await;
        let path = Path::new(which.name());
        let failed = |cause| DiskError::new("open", path, cause);
        let handle = self.disks().standard(which).map_err(failed)?;
        File::new(handle, path).map_err(failed)
    }

    /// The owner, group and permissions of the file at a path, links followed.
    ///
    /// # Errors
    /// When the path leads to nothing, or cannot be looked at.
    pub async fn access(&self, path: &Path) -> Result<Access, DiskError> {
        self.on_path("look at", path, |disks| disks.access(path))
            .await
    }

    /// What is known of a path, links followed.
    pub async fn metadata(&self, path: &Path) -> Result<Metadata, DiskError> {
        self.on_path("look at", path, |disks| disks.metadata(path))
            .await
    }

    /// The path with all links followed; its last part need not exist.
    pub async fn resolve(&self, path: &Path) -> Result<PathBuf, DiskError> {
        self.on_path("find", path, |disks| disks.resolve(path))
            .await
    }

    /// Replaces `to` by `from` in one step; durable when it returns.
    ///
    /// # Errors
    /// After an error `to` may still name the new file without being durable: check which file has
    /// the name.
    pub async fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.reach().await;
        self.disks().rename(from, to).map_err(|error| match error {
            RenameError::NotRenamed(cause) => DiskError::new("rename to", to, cause),
            RenameError::NotDurable(cause) => DiskError::new(KEEP_THE_NAME, to, cause),
        })
    }

    /// Removes a file.
    pub async fn remove(&self, path: &Path) -> Result<(), DiskError> {
        self.on_path("remove", path, |disks| disks.remove(path))
            .await
    }

    /// Names in a directory, sorted.
    pub async fn list(&self, directory: &Path) -> Result<Vec<String>, DiskError> {
        let mut names = self
            .on_path("list", directory, |disks| disks.list(directory))
            .await?;
        names.sort();
        Ok(names)
    }

    /// Free bytes of the file system that holds `path`.
    pub async fn space(&self, path: &Path) -> Result<u64, DiskError> {
        self.on_path("ask the free space of", path, |disks| disks.space(path))
            .await
    }

    async fn on_path<T>(
        &self,
        verb: &'static str,
        path: &Path,
        call: impl FnOnce(&dyn Disks) -> io::Result<T>,
    ) -> Result<T, DiskError> {
        self.reach().await;
        call(&*self.disks()).map_err(|cause| DiskError::new(verb, path, cause))
    }

    fn disks(&self) -> Arc<dyn Disks> {
        self.backend.disks()
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

/// What the task returns, or its panic.
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
