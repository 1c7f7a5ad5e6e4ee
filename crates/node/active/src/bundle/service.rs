//! Bulk messages of a bundle: tasks that receive them, one each at a time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use node::{
    Arrival, Buffer, BulkPort, Close, Filled, Node, Panic, Pool, Port, Rank, Ticket, Undelivered,
};

use super::Bundle;
use crate::bulk::{Arrived, Bulk, TAIL_BYTES};
use crate::frame::Frame;
use crate::state::State;

/// The tasks that receive bulk messages for a bundle.
#[must_use = "its tasks run until it is ended"]
pub struct BulkService {
    port: Arc<BulkPort>,
    is_over: Arc<AtomicBool>,
    tasks: Vec<Ticket<Result<(), Panic>>>,
}

impl BulkService {
    /// Ends the tasks; bulk messages that have not arrived are lost.
    ///
    /// # Panics
    /// When one of them did.
    pub async fn end(self, node: &Node) {
        node.reach().await;
        self.is_over.store(true, Ordering::SeqCst);
        self.port.close();
        for task in self.tasks {
            if let Err(Panic(text)) = task.wait(node).await {
                panic!("{text}");
            }
        }
    }
}

impl Bundle {
    /// Memory for messages of up to `bytes` bytes, or to receive them.
    ///
    /// # Errors
    /// When the system has no memory.
    pub fn memory(node: &Node, bytes: usize) -> io::Result<Bulk> {
        let mut buffers = node.buffers(1, bytes + TAIL_BYTES, Filled::Often)?;
        let mut buffer = buffers.pop().expect("one buffer");
        buffer.set_capacity(bytes + TAIL_BYTES);
        Ok(Bulk::over(buffer))
    }

    /// Receives bulk messages of up to `bytes` bytes, as many at once as there are `tasks`, at the port after that
    /// of the bundle. Their handlers run in these tasks. Longer ones are dropped without an answer.
    ///
    /// # Errors
    /// When the system has no memory or no threads.
    ///
    /// # Panics
    /// When that port has an owner.
    pub fn serve_bulk(&self, node: &Node, bytes: usize, tasks: usize) -> io::Result<BulkService> {
        let port = Arc::new(node.bind_bulk(self.bulk_port()));
        let mut service = BulkService {
            port: Arc::clone(&port),
            is_over: Arc::default(),
            tasks: Vec::new(),
        };
        for number in 0..tasks {
            let memory = Bundle::memory(node, bytes)?;
            let receiver = Receiver {
                bundle: self.clone(),
                port: Arc::clone(&port),
                is_over: Arc::clone(&service.is_over),
            };
            let receive = async move |node: Node| receiver.receive(&node, memory).await;
            let started = node.try_spawn(format!("bulk {number}"), receive);
            // Those that have started end.
            service
                .tasks
                .push(started.inspect_err(|_| service.port.close())?);
        }
        Ok(service)
    }

    /// The port of bulk messages to a bundle.
    fn bulk_port(&self) -> Port {
        self.shared.here.bulk().port
    }

    /// Takes a shipment; returns memory for the next one.
    async fn take_bulk(&self, node: &Node, from: Rank, shipment: Buffer) -> Buffer {
        let (memory, words) = Bulk::open(shipment);
        let frame = words.as_deref().and_then(Frame::read);
        let target = frame.as_ref().and_then(Frame::target);
        let Some((frame, target)) = frame.zip(target) else {
            self.state().change_now(|state| state.counts.foreign += 1);
            return memory.into_buffer();
        };
        let from = frame.sender(from);
        let mut arrived = Arrived { target, memory };
        let letters = self.receive_request(node, from, &frame, Some(&mut arrived));
        self.send(node, letters).await;
        self.wake_leader(node).await;
        arrived.memory.into_buffer()
    }
}

/// A task that receives shipments, until its service is ended.
struct Receiver {
    bundle: Bundle,
    port: Arc<BulkPort>,
    is_over: Arc<AtomicBool>,
}

impl Receiver {
    async fn receive(self, node: &Node, memory: Bulk) {
        let (bytes, first) = (memory.capacity(), memory.into_buffer());
        let pool = Pool::new(node, "memory for bulk", vec![first]);
        loop {
            let next = match self.port.lend(node, &pool).await {
                Ok(Arrival { from, filled, .. }) => match self.filled(node, filled).await {
                    Some(shipment) => Some(self.bundle.take_bulk(node, from, shipment).await),
                    None => None,
                },
                Err(Undelivered::Closed) => return,
                Err(Undelivered::Foreign { .. }) => {
                    let count = |state: &mut State| state.counts.foreign += 1;
                    self.bundle.state().change_now(count);
                    None
                }
            };
            // The memory of a shipment whose sender is gone went with it.
            let next = next.unwrap_or_else(|| Buffer::heap(bytes + TAIL_BYTES));
            pool.give(node, next).await;
        }
    }

    /// The bytes of a shipment, unless its sender takes longer than a request may, or the service ends.
    async fn filled(&self, node: &Node, filled: Ticket<Buffer>) -> Option<Buffer> {
        let until = self.bundle.patience_from(node);
        while !filled
            .done_by(node, node.now().after(self.bundle.shared.ticks.again))
            .await
        {
            if node.now() >= until || self.is_over.load(Ordering::SeqCst) {
                return None;
            }
        }
        Some(filled.wait(node).await)
    }
}
