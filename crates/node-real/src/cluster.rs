//! Several nodes in one process, their tasks on threads.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use node::{Node, Rank};

use crate::disks::RealDisks;
use crate::task::Shared;

/// Nodes of one process; most runs have one.
pub struct Cluster {
    shared: Arc<Shared>,
}

impl Cluster {
    /// `nodes` nodes on this machine that share its files; `seed` decides their random numbers.
    pub fn new(nodes: u32, seed: u64) -> Cluster {
        let shared = Shared {
            began: Instant::now(),
            nodes,
            seed,
            disks: Arc::new(RealDisks::new()),
            inboxes: Mutex::default(),
            threads: Mutex::default(),
        };
        Cluster { shared: Arc::new(shared) }
    }

    /// The files, with what the run has made and not finished.
    pub fn disks(&self) -> Arc<RealDisks> {
        Arc::clone(&self.shared.disks)
    }

    /// Runs `program` on every node to its end; the answers in the order of ranks.
    ///
    /// # Panics
    /// When a program panics, or the system has no thread for a node.
    pub fn run<T, P, Task>(&self, program: P) -> Vec<T>
    where
        T: Send + 'static,
        P: Fn(Node) -> Task + Clone + Send + 'static,
        Task: Future<Output = T> + 'static,
    {
        let answers = Arc::new(Mutex::new(BTreeMap::new()));
        for rank in 0..self.shared.nodes {
            let (program, answers) = (program.clone(), Arc::clone(&answers));
            let start = move |node: Node| -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
                Box::pin(async move {
                    let answer = program(node).await;
                    answers.lock().unwrap_or_else(PoisonError::into_inner).insert(rank, answer);
                })
            };
            let (rank, name) = (Rank(rank), format!("node-{rank}"));
            if rank.0 + 1 == self.shared.nodes {
                // The last one has this thread: a single node needs no other.
                self.shared.run_here(rank, &name, Box::new(start));
            } else {
                let started = self.shared.start(rank, name, Box::new(start));
                started.expect("the system has a thread for each node");
            }
        }
        self.join();
        let answers = std::mem::take(&mut *answers.lock().unwrap_or_else(PoisonError::into_inner));
        answers.into_values().collect()
    }

    /// Waits for every thread, those too that were started meanwhile.
    fn join(&self) {
        while let Some(thread) = self.last_thread() {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }

    fn last_thread(&self) -> Option<std::thread::JoinHandle<()>> {
        self.shared.threads.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}
