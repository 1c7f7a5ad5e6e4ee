//! A worker's handle: its node, and waits that are metered.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use node::{Buffer, Closed, Node, Pool, Posted, Queue, Time};

use crate::meter::{Meter, add_since};

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

    /// Counts its whole life.
    pub(crate) fn lived_since(&self, begin: Time) {
        add_since(&self.meter.alive, &self.node, begin);
    }

    /// How many workers its stage has.
    pub fn siblings(&self) -> usize {
        self.meter.workers
    }

    /// The next unit of work; `None` at the end. Waiting counts as starved.
    pub async fn pop<T: Send + 'static>(&self, queue: &Queue<T>) -> Result<Option<T>, Closed> {
        let begin = self.node.now();
        let unit = queue.pop(&self.node).await;
        add_since(&self.meter.starved, &self.node, begin);
        unit
    }

    /// The next unit if there is one now.
    pub async fn try_pop<T: Send + 'static>(
        &self,
        queue: &Queue<T>,
    ) -> Option<Result<Option<T>, Closed>> {
        queue.pop_until(&self.node, self.node.now()).await
    }

    /// Reads what an earlier stage posts. Waiting counts as starved.
    pub async fn read<T: Send + Sync + 'static>(
        &self,
        posted: &Posted<T>,
    ) -> Result<Arc<T>, Closed> {
        let begin = self.node.now();
        let value = posted.read(&self.node).await;
        add_since(&self.meter.starved, &self.node, begin);
        value
    }

    /// Hands a unit on. Waiting counts as blocked.
    pub async fn push<T: Send + 'static>(&self, queue: &Queue<T>, unit: T) -> Result<(), Closed> {
        let begin = self.node.now();
        let pushed = queue.push(&self.node, unit).await;
        add_since(&self.meter.blocked, &self.node, begin);
        pushed
    }

    /// Takes a buffer. Waiting counts as blocked.
    pub async fn take(&self, pool: &Pool) -> Result<Buffer, Closed> {
        let begin = self.node.now();
        let buffer = pool.take(&self.node).await;
        add_since(&self.meter.blocked, &self.node, begin);
        buffer
    }

    /// Takes a buffer if there is one now.
    pub async fn try_take(&self, pool: &Pool) -> Option<Result<Buffer, Closed>> {
        pool.take_until(&self.node, self.node.now()).await
    }

    /// Waits for its turn. Waiting counts as blocked.
    pub async fn hold(&self, wait: impl Future<Output = Result<(), Closed>>) -> Result<(), Closed> {
        let begin = self.node.now();
        let held = wait.await;
        add_since(&self.meter.blocked, &self.node, begin);
        held
    }

    /// Counts one unit of `bytes` as done.
    pub fn did(&self, bytes: usize) {
        self.meter.units.fetch_add(1, Ordering::Relaxed);
        self.meter.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
