//! Waits on other nodes that also end when this node's run ends: the other node may have died.

use std::collections::VecDeque;

use node::{Buffer, Closed, Pool, Queue, Ticket};
use pipeline::Worker;

/// Interval at which a waiting worker checks whether the run has ended: it costs nothing, and people
/// do not notice it.
const LOOK_S: f64 = 0.25;

/// Interval at which a worker checks whether another request finished before the oldest one: the time
/// of a chunk on a link of 1 GB/s.
const OTHERS_S: f64 = 1e-3;

/// Another node's answer, or an error once the run has ended and closed the pool.
pub(crate) async fn outlast<T>(
    worker: &Worker,
    ticket: Ticket<T>,
    pool: &Pool,
) -> Result<T, Closed> {
    let wait = async {
        while !is_done_soon(worker, &ticket, LOOK_S, pool).await? {}
        Ok(ticket.wait(&worker.node).await)
    };
    worker.starve(wait).await
}

/// Whether the answer comes in time.
async fn is_done_soon<T>(
    worker: &Worker,
    ticket: &Ticket<T>,
    seconds: f64,
    pool: &Pool,
) -> Result<bool, Closed> {
    let node = &worker.node;
    let until = node.now().after(node.ticks(seconds));
    match ticket.done_by(node, until).await {
        true => Ok(true),
        false if pool.is_closed() => Err(Closed),
        false => Ok(false),
    }
}

/// Requests to other nodes in flight. They finish in any order, so a slow node does not hold up the
/// others.
pub(crate) struct UnderWay<Q> {
    queue: Queue<Q>,
    more: bool,
    waiting: VecDeque<Q>,
    ticket: fn(&Q) -> &Ticket<Buffer>,
    /// Closed when the run ends early.
    pool: Pool,
}

impl<Q: Send + 'static> UnderWay<Q> {
    pub(crate) fn new(queue: Queue<Q>, ticket: fn(&Q) -> &Ticket<Buffer>, pool: Pool) -> Self {
        UnderWay {
            queue,
            more: true,
            waiting: VecDeque::new(),
            ticket,
            pool,
        }
    }

    /// The next finished request; `None` at the end.
    pub(crate) async fn next(&mut self, worker: &Worker) -> Result<Option<Q>, Closed> {
        loop {
            while self.more
                && let Some(next) = worker.try_pop(&self.queue).await
            {
                self.add(next?);
            }
            let is_done = |one: &Q| (self.ticket)(one).is_done();
            if let Some(at) = self.waiting.iter().position(is_done) {
                return Ok(self.waiting.remove(at));
            }
            match self.waiting.front() {
                Some(oldest) => {
                    let soon = is_done_soon(worker, (self.ticket)(oldest), OTHERS_S, &self.pool);
                    worker.starve(soon).await?;
                }
                None if self.more => self.add(worker.pop(&self.queue).await?),
                None => return Ok(None),
            }
        }
    }

    fn add(&mut self, next: Option<Q>) {
        self.more = next.is_some();
        self.waiting.extend(next);
    }
}
