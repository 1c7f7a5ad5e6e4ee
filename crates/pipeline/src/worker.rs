//! A worker's handle: its node, and waits that are metered.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use node::{Buffer, Closed, Node, Pool, Posted, Queue};

use crate::clock::Doing;
use crate::meter::Meter;

/// One worker of a stage.
pub struct Worker {
    /// The node it runs on.
    pub node: Node,
    /// Its number among the workers of its stage.
    pub index: usize,
    meter: Arc<Meter>,
}

impl Worker {
    pub(crate) fn new(node: Node, index: usize, meter: Arc<Meter>) -> Worker {
        Worker { node, index, meter }
    }

    /// Its stage's name.
    pub(crate) fn stage(&self) -> &'static str {
        self.meter.name
    }

    /// From now on it does something else.
    pub(crate) fn turn_to(&self, doing: Doing) {
        self.meter.clocks[self.index].turn_to(doing, self.node.now());
    }

    /// It has ended: no more work comes, for its siblings neither.
    pub(crate) async fn ends(&self) {
        self.meter.gate.end(&self.node).await;
    }

    /// A wait, and what it is.
    async fn metered<T>(&self, doing: Doing, wait: impl Future<Output = T>) -> T {
        // A simulated worker's clock runs ahead while it works: its time is told when it has come.
        self.node.reach().await;
        self.turn_to(doing);
        let answer = wait.await;
        self.turn_to(Doing::Busy);
        answer
    }

    /// How many workers its stage has. What is divided among them beforehand waits for those that
    /// are parked, so the stage must call them all.
    pub fn siblings(&self) -> usize {
        self.meter.clocks.len()
    }

    /// Whether it is called at present. Workers that do not come to [`Worker::pop`] look at this
    /// where they begin with something new; one that is not called ends what it has in flight,
    /// hands on what it holds, and comes to [`Worker::called`].
    pub fn is_called(&self) -> bool {
        self.meter.gate.is_called(self.index)
    }

    /// Parks until it is called. It must hold nothing that others wait for.
    pub async fn called(&self) -> Result<(), Closed> {
        if self.is_called() {
            return Ok(());
        }
        self.metered(Doing::Away, self.meter.gate.wait(&self.node, self.index))
            .await
    }

    /// The next unit of work; `None` at the end. Waiting counts as starved. A worker that is not
    /// called parks first.
    pub async fn pop<T: Send + 'static>(&self, queue: &Queue<T>) -> Result<Option<T>, Closed> {
        self.called().await?;
        self.metered(Doing::Starved, queue.pop(&self.node)).await
    }

    /// The next unit if there is one now; none for a worker that is not called.
    pub async fn try_pop<T: Send + 'static>(
        &self,
        queue: &Queue<T>,
    ) -> Option<Result<Option<T>, Closed>> {
        if !self.is_called() {
            return None;
        }
        queue.pop_until(&self.node, self.node.now()).await
    }

    /// Reads what an earlier stage posts. Waiting counts as starved.
    pub async fn read<T: Send + Sync + 'static>(
        &self,
        posted: &Posted<T>,
    ) -> Result<Arc<T>, Closed> {
        self.metered(Doing::Starved, posted.read(&self.node)).await
    }

    /// Waits for what an earlier stage makes. Waiting counts as starved.
    pub async fn starve<T, E>(&self, wait: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        self.metered(Doing::Starved, wait).await
    }

    /// Hands a unit on. Waiting counts as blocked.
    pub async fn push<T: Send + 'static>(&self, queue: &Queue<T>, unit: T) -> Result<(), Closed> {
        self.metered(Doing::Blocked, queue.push(&self.node, unit))
            .await
    }

    /// Takes a buffer. Waiting counts as blocked.
    pub async fn take(&self, pool: &Pool) -> Result<Buffer, Closed> {
        self.metered(Doing::Blocked, pool.take(&self.node)).await
    }

    /// Takes a buffer if there is one now.
    pub async fn try_take(&self, pool: &Pool) -> Option<Result<Buffer, Closed>> {
        pool.take_until(&self.node, self.node.now()).await
    }

    /// Waits for its turn. Waiting counts as blocked.
    pub async fn hold<T>(
        &self,
        wait: impl Future<Output = Result<T, Closed>>,
    ) -> Result<T, Closed> {
        self.metered(Doing::Blocked, wait).await
    }

    /// Counts one unit of `bytes` as done.
    pub fn did(&self, bytes: usize) {
        self.meter.units.fetch_add(1, Ordering::Relaxed);
        self.meter.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
