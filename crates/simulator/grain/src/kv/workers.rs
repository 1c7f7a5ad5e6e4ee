//! Several tasks of one rank that serve its shard.
//!
//! ```text
//!   requests --> REQUESTS, shared: the first free worker takes each, and replies to the client
//!   replies, done, end --> PORT: the rank's first task, which is client and counts
//!   end --> first task --one end per worker--> REQUESTS
//! ```
//!
//! When the end is announced every request has its reply, so the shared port is empty, and each
//! worker takes one end. One lock guards the shard, held for a look-up and never across a wait. The
//! cost of a lock on such cores is not modelled.

use std::sync::Arc;

use node::{MessagePort, Mutex, Node, Panic, Ticket};

use super::{END, Kv, PORT, REQUESTS, Stock, WORK, send, take};

pub(super) struct Workers {
    stock: Arc<Mutex<Stock>>,
    tasks: Vec<Ticket<Result<(), Panic>>>,
}

impl Workers {
    /// Starts the workers of a rank that owns keys; `None` where the first task serves.
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

    /// Ends the workers, after the last request; returns the rank's keys.
    pub async fn end(self, node: &Node) -> Stock {
        for _ in &self.tasks {
            send(node, node.rank(), REQUESTS, &[END]).await;
        }
        for task in self.tasks {
            if let Err(panic) = task.wait(node).await {
                panic!("a worker panicked: {}", panic.0);
            }
        }
        let alone = Arc::into_inner(self.stock).expect("the workers are gone");
        alone.into_inner()
    }
}

async fn work(node: Node, port: Arc<MessagePort>, stock: Arc<Mutex<Stock>>) {
    node.stage(WORK);
    let mut words = Vec::new();
    loop {
        let (from, kind) = take(&node, &port, &mut words).await;
        if kind == END {
            return;
        }
        stock.lock().serve(&node, &mut words);
        send(&node, from, PORT, &words).await;
    }
}
