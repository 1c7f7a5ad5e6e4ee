//! Several tasks of one rank that serve its shard.
//!
//! ```text
//!   requests --> REQUESTS, shared: each goes to the worker that asks first --> its answer to the client
//!   answers, done, end --> PORT: the rank's first task, which asks and counts
//!   end told: nobody asks any more --> first task --one end for each worker--> REQUESTS
//! ```
//!
//! When the end is told every request has its answer, so the shared port is empty, and each worker
//! takes one end and is gone. The shard is behind one lock, held for a look-up and never across a
//! wait. What a lock costs on such cores is not charged.

use std::sync::{Arc, Mutex, PoisonError};

use node::{Address, MessagePort, Node, Panic, Ticket};

use super::{END, Kv, REQUESTS, Stock, WORK, take};

/// The tasks that serve a shard.
pub(super) struct Workers {
    stock: Arc<Mutex<Stock>>,
    tasks: Vec<Ticket<Result<(), Panic>>>,
}

impl Workers {
    /// Starts them, on ranks that own keys; none where the first task serves.
    pub fn begin(program: &Kv, node: &Node) -> Option<Workers> {
        if program.workers == 1 || !program.owns(node) {
            return None;
        }
        let stock = Arc::new(Mutex::new(Stock::new(program.value_words())));
        let port = Arc::new(node.bind(REQUESTS));
        let begin = |worker| {
            let (stock, port) = (Arc::clone(&stock), Arc::clone(&port));
            node.spawn(format!("worker {worker}"), |node| work(node, port, stock))
        };
        let tasks = (0..program.workers).map(begin).collect();
        Some(Workers { stock, tasks })
    }

    /// Ends them, when nobody asks any more: what the rank owns then.
    pub async fn end(self, node: &Node) -> Stock {
        for _ in &self.tasks {
            node.send(
                Address {
                    rank: node.rank(),
                    port: REQUESTS,
                },
                &[END],
            )
            .await;
        }
        for task in self.tasks {
            if let Err(panic) = task.wait(node).await {
                panic!("a worker panicked: {}", panic.0);
            }
        }
        let alone = Arc::into_inner(self.stock).expect("the workers are gone");
        alone.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request after the other, until the end is told.
async fn work(node: Node, port: Arc<MessagePort>, stock: Arc<Mutex<Stock>>) {
    node.stage(WORK);
    let mut words = Vec::new();
    loop {
        let (from, kind) = take(&node, &port, &mut words).await;
        if kind == END {
            return;
        }
        stock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .serve(&node, &mut words);
        node.send(
            Address {
                rank: from,
                port: super::PORT,
            },
            &words,
        )
        .await;
    }
}
