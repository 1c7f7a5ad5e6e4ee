//! A worker's handle: its node, and waits that are measured.

use std::sync::Arc;
use std::time::Duration;

use node::{Buffer, Closed, Node, Pool, Posted, Queue, Work};

use crate::clock::Doing;
use crate::meter::Meter;

/// One worker of a stage.
pub struct Worker {
    /// The worker's task on its node.
    pub node: Node,
    /// Its number among the workers of its stage, from 0.
    pub index: usize,
    meter: Arc<Meter>,
}

impl Worker {
    pub(crate) fn new(node: Node, index: usize, meter: Arc<Meter>) -> Worker {
        Worker { node, index, meter }
    }

    pub(crate) fn stage(&self) -> &'static str {
        self.meter.name
    }

    pub(crate) fn turn_to(&self, doing: Doing) {
        self.meter.workers[self.index]
            .clock
            .turn_to(doing, self.node.now());
    }

    async fn metered<T>(&self, doing: Doing, wait: impl Future<Output = T>) -> T {
        // A simulated worker's clock runs ahead while it works: the world catches up first.
        self.node.reach().await;
        self.turn_to(doing);
        let answer = wait.await;
        self.turn_to(Doing::Busy);
        answer
    }

    /// The number of workers of its stage.
    pub fn siblings(&self) -> usize {
        self.meter.workers.len()
    }

    /// The next unit of work; `None` at the end. Waiting counts as starved.
    ///
    /// # Errors
    /// When the queue was closed.
    pub async fn pop<T: Send + 'static>(&self, queue: &Queue<T>) -> Result<Option<T>, Closed> {
        self.metered(Doing::Starved, queue.pop(&self.node)).await
    }

    /// As [`Worker::pop`], of the unit with the least `rank`.
    ///
    /// # Errors
    /// When the queue was closed.
    pub async fn pop_least<T: Send + 'static, R: Ord>(
        &self,
        queue: &Queue<T>,
        rank: impl Fn(&T) -> R,
    ) -> Result<Option<T>, Closed> {
        self.metered(Doing::Starved, queue.pop_least(&self.node, rank))
            .await
    }

    /// As [`Worker::pop`] without waiting: `None` if the queue has no unit now.
    ///
    /// # Errors
    /// When the queue was closed.
    pub async fn try_pop<T: Send + 'static>(
        &self,
        queue: &Queue<T>,
    ) -> Option<Result<Option<T>, Closed>> {
        queue.pop_until(&self.node, self.node.now()).await
    }

    /// Reads a value that an earlier stage posts. Waiting counts as starved.
    ///
    /// # Errors
    /// When the cell was closed.
    pub async fn read<T: Send + Sync + 'static>(
        &self,
        posted: &Posted<T>,
    ) -> Result<Arc<T>, Closed> {
        self.metered(Doing::Starved, posted.read(&self.node)).await
    }

    /// Counts a wait for the output of an earlier stage as starved.
    ///
    /// # Errors
    /// The error of the wait.
    pub async fn starve<T, E>(&self, wait: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        self.metered(Doing::Starved, wait).await
    }

    /// Hands a unit on. Waiting counts as blocked.
    ///
    /// # Errors
    /// When the queue was closed.
    pub async fn push<T: Send + 'static>(&self, queue: &Queue<T>, unit: T) -> Result<(), Closed> {
        self.metered(Doing::Blocked, queue.push(&self.node, unit))
            .await
    }

    /// Takes a buffer. Waiting counts as blocked.
    ///
    /// # Errors
    /// When the pool was closed.
    pub async fn take(&self, pool: &Pool) -> Result<Buffer, Closed> {
        self.metered(Doing::Blocked, pool.take(&self.node)).await
    }

    /// As [`Worker::take`] without waiting: `None` if no buffer is idle now.
    ///
    /// # Errors
    /// When the pool was closed.
    pub async fn try_take(&self, pool: &Pool) -> Option<Result<Buffer, Closed>> {
        pool.take_until(&self.node, self.node.now()).await
    }

    /// Counts a wait for room downstream, such as a token, as blocked.
    ///
    /// # Errors
    /// The error of the wait.
    pub async fn hold<T>(
        &self,
        wait: impl Future<Output = Result<T, Closed>>,
    ) -> Result<T, Closed> {
        self.metered(Doing::Blocked, wait).await
    }

    /// Counts one unit of `bytes` bytes as done, whose records the stage does not know.
    pub fn did(&self, bytes: usize) {
        self.did_records(0, bytes as u64);
    }

    /// Counts one unit as done, and reports the work, as its stage is charged for it.
    pub fn did_records(&self, records: u64, bytes: u64) {
        self.meter.workers[self.index].add_unit(records, bytes);
        self.node.work(Work::Unit {
            stage: self.meter.name,
            bytes,
        });
    }

    pub(crate) fn add_locked(&self, time: Duration) {
        self.meter.workers[self.index].add_locked(time);
    }
}
