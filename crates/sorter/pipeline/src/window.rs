//! A worker's window: its requests in flight, oldest first, bounded by their greatest number.
//!
//! ```text
//!   Begin(unit) ---> push    | newest ... oldest |    pop_oldest ---> Finish(request)
//!                              at most `depth`
//! ```
//!
//! A stage that keeps a disk busy begins several requests before it waits for the first one. It
//! must not wait for a unit or a buffer while requests are in flight, because the buffers of
//! finished requests are often what the other stages wait for. So [`Window::pop`] and
//! [`Window::take`] never wait while the window holds a request: they return the oldest one to
//! finish instead. They also return it when the window is full.
//!
//! Requests finish in the order in which they began; a stage that wants them in order of completion
//! needs something else. The window does not await a request: only the stage knows its errors and
//! what its result is for.

use std::collections::VecDeque;

use node::{Buffer, Closed, Pool, Queue};

use crate::worker::Worker;

/// The requests that one worker has in flight.
///
/// A reader takes a buffer for each request, and hands the blocks on in order:
///
/// ```
/// use node::{Buffer, DiskTicket, File, Pool, Queue};
/// use pipeline::{Failure, Step, Window, Worker};
///
/// struct Reader {
///     file: File,
///     units: u64,
///     unit_bytes: usize,
///     depth: usize,
///     pool: Pool,
///     out: Queue<Buffer>,
/// }
///
/// async fn read(worker: &Worker, reader: &Reader) -> Result<(), Failure> {
///     let mut reads = Window::new(reader.depth);
///     for unit in 0..reader.units {
///         let buffer = loop {
///             match reads.take(worker, &reader.pool).await? {
///                 Step::Begin(buffer) => break buffer,
///                 Step::Finish(read) => hand_on(worker, reader, read).await?,
///             }
///         };
///         let offset = unit * reader.unit_bytes as u64;
///         reads.push(reader.file.read(&worker.node, offset, reader.unit_bytes, buffer));
///     }
///     while let Some(read) = reads.pop_oldest() {
///         hand_on(worker, reader, read).await?;
///     }
///     reader.out.finish(&worker.node).await;
///     Ok(())
/// }
///
/// async fn hand_on(worker: &Worker, reader: &Reader, read: DiskTicket) -> Result<(), Failure> {
///     let (block, result) = read.wait(&worker.node).await;
///     result?;
///     worker.did(block.len());
///     Ok(worker.push(&reader.out, block).await?)
/// }
/// ```
///
/// A writer's loop is shorter, because [`Window::pop`] also drains the window at the end of the
/// queue:
///
/// ```
/// # use node::{Buffer, DiskTicket, File, Pool, Queue};
/// # use pipeline::{Failure, Step, Window, Worker};
/// # struct Writer { file: File, depth: usize, pool: Pool, pieces: Queue<(u64, Buffer)> }
/// async fn write(worker: &Worker, writer: &Writer) -> Result<(), Failure> {
///     let mut writes: Window<DiskTicket> = Window::new(writer.depth);
///     while let Some(step) = writes.pop(worker, &writer.pieces).await? {
///         match step {
///             Step::Begin((offset, piece)) => {
///                 let range = 0..piece.len();
///                 writes.push(writer.file.write(&worker.node, offset, piece, range));
///             }
///             Step::Finish(write) => {
///                 let (buffer, result) = write.wait(&worker.node).await;
///                 result?;
///                 writer.pool.give(&worker.node, buffer).await;
///             }
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Window<R> {
    requests: VecDeque<R>,
    depth: usize,
}

/// A worker's next step: begin a request with a unit or buffer, or finish its oldest request.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<N, R> {
    /// A unit or a buffer for a new request; the window has room for it.
    Begin(N),
    /// The oldest request, which has left the window.
    Finish(R),
}

impl<R> Window<R> {
    /// An empty window of at most `depth` requests; 0 counts as 1.
    pub fn new(depth: usize) -> Window<R> {
        Window {
            requests: VecDeque::with_capacity(depth),
            depth: depth.max(1),
        }
    }

    /// Adds the newest request, even to a full window: ask [`Window::is_full`] first.
    pub fn push(&mut self, request: R) {
        self.requests.push_back(request);
    }

    /// Removes the oldest request. Repeated, this drains the window.
    pub fn pop_oldest(&mut self) -> Option<R> {
        self.requests.pop_front()
    }

    /// Whether the oldest request must finish before another one begins.
    pub fn is_full(&self) -> bool {
        self.len() >= self.depth
    }

    /// Whether no request is in flight.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Requests in flight.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// The requests in flight, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        self.requests.iter()
    }

    /// The next unit of a queue if the window has room and a unit is ready, else the oldest
    /// request. Waits for a unit only while the window is empty. Returns `None` when the queue has ended and the window is empty.
    ///
    /// # Errors
    /// [`Closed`] when the queue was closed.
    pub async fn pop<U: Send + 'static>(
        &mut self,
        worker: &Worker,
        queue: &Queue<U>,
    ) -> Result<Option<Step<U, R>>, Closed> {
        if !self.is_full()
            && let Some(next) = worker.try_pop(queue).await
            && let Some(unit) = next?
        {
            return Ok(Some(Step::Begin(unit)));
        }
        match self.pop_oldest() {
            Some(oldest) => Ok(Some(Step::Finish(oldest))),
            None => Ok(worker.pop(queue).await?.map(Step::Begin)),
        }
    }

    /// A buffer of a pool if the window has room and a buffer is idle, else the oldest request.
    /// Waits for a buffer only while the window is empty.
    ///
    /// # Errors
    /// [`Closed`] when the pool was closed.
    pub async fn take(&mut self, worker: &Worker, pool: &Pool) -> Result<Step<Buffer, R>, Closed> {
        if !self.is_full()
            && let Some(buffer) = worker.try_take(pool).await
        {
            return Ok(Step::Begin(buffer?));
        }
        match self.pop_oldest() {
            Some(oldest) => Ok(Step::Finish(oldest)),
            None => Ok(Step::Begin(worker.take(pool).await?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use node::{Close, Node};

    use super::*;
    use crate::meter::Meter;

    /// Runs `test` as the only worker of a stage on a simulated node.
    fn on_worker(test: impl AsyncFn(&Worker) + Clone + Send + 'static) {
        let ends = rehearsal::Driver::new(1, 1).run(move |node: Node| {
            let test = test.clone();
            async move {
                let meter = Meter::new("stage", 1);
                test(&Worker::new(node, 0, Arc::new(meter))).await;
            }
        });
        ends.unwrap_or_else(|stuck| panic!("{stuck}"));
    }

    #[test]
    fn requests_leave_in_the_order_in_which_they_came() {
        let mut window = Window::new(3);
        assert!(window.is_empty() && window.pop_oldest().is_none());
        (1..=3).for_each(|request| window.push(request));
        assert_eq!(window.iter().collect::<Vec<_>>(), [&1, &2, &3]);
        assert_eq!((window.pop_oldest(), window.len()), (Some(1), 2));
    }

    #[test]
    fn a_full_window_finishes_its_oldest_before_it_takes_a_unit() {
        on_worker(async |worker: &Worker| {
            let queue = Queue::new(&worker.node, "units", 4, 1);
            for unit in [1, 2, 3] {
                worker.push(&queue, unit).await.unwrap();
            }
            queue.finish(&worker.node).await;
            let (mut window, mut seen) = (Window::new(2), Vec::new());
            while let Some(step) = window.pop(worker, &queue).await.unwrap() {
                if let Step::Begin(unit) = step {
                    window.push(unit * 10);
                }
                seen.push(step);
            }
            use Step::{Begin, Finish};
            assert_eq!(
                seen,
                [
                    Begin(1),
                    Begin(2),
                    Finish(10),
                    Begin(3),
                    Finish(20),
                    Finish(30)
                ]
            );
            assert_eq!(window.pop(worker, &queue).await, Ok(None));
        });
    }

    #[test]
    fn a_worker_finishes_a_request_rather_than_wait_for_a_unit() {
        on_worker(async |worker: &Worker| {
            let queue = Queue::<u8>::new(&worker.node, "units", 1, 1);
            let mut window = Window::new(2);
            window.push('a');
            // The queue has no unit and has not ended: a wait for a unit would last forever.
            let step = window.pop(worker, &queue).await;
            assert_eq!(step, Ok(Some(Step::Finish('a'))));
            queue.close();
            assert_eq!(window.pop(worker, &queue).await, Err(Closed));
        });
    }

    #[test]
    fn a_worker_finishes_a_request_rather_than_wait_for_a_buffer() {
        on_worker(async |worker: &Worker| {
            let pool = Pool::new(&worker.node, "buffers", vec![Buffer::heap(1)]);
            let mut window = Window::new(2);
            let Ok(Step::Begin(buffer)) = window.take(worker, &pool).await else {
                panic!("a buffer is idle and the window is empty");
            };
            window.push('a');
            let is_a = |step| matches!(step, Ok(Step::Finish('a')));
            assert!(is_a(window.take(worker, &pool).await), "no buffer is idle");
            pool.give(&worker.node, buffer).await;
            ('a'..='b').for_each(|request| window.push(request));
            assert!(is_a(window.take(worker, &pool).await), "the window is full");
            pool.close();
            assert!(matches!(window.take(worker, &pool).await, Err(Closed)));
        });
    }
}
