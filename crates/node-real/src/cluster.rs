//! The nodes of this process, their tasks on threads: all of a run, or one of many processes'.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use node::backend::Network;
use node::{Node, Rank};

use crate::disks::RealDisks;
use crate::task::{MailboxesOf, Shared};

/// The nodes of this process; most runs have one.
pub struct Cluster {
    shared: Arc<Shared>,
}

impl Cluster {
    /// `nodes` nodes on this machine that share its files; `seed` decides their random numbers.
    pub fn new(nodes: u32, seed: u64) -> Cluster {
        Cluster::with(nodes, 0..nodes, None, seed)
    }

    /// The one node of this process among those of other processes, which `network` reaches. Each
    /// process has its own clock and its own files.
    pub fn over(network: Arc<dyn Network>, seed: u64) -> Cluster {
        let rank = network.rank();
        let here = rank.0..rank.0 + 1;
        let cluster = Cluster::with(network.nodes(), here, Some(Arc::clone(&network)), seed);
        let mailboxes = Arc::clone(&cluster.shared.mailboxes);
        network.attach(Arc::new(MailboxesOf(rank, mailboxes)));
        cluster
    }

    fn with(nodes: u32, here: Range<u32>, network: Option<Arc<dyn Network>>, seed: u64) -> Cluster {
        let shared = Shared {
            began: Instant::now(),
            nodes,
            here,
            network,
            seed,
            disks: Arc::new(RealDisks::new()),
            mailboxes: Arc::default(),
            threads: Mutex::default(),
        };
        Cluster {
            shared: Arc::new(shared),
        }
    }

    /// The files, with what the run has made and not finished.
    pub fn disks(&self) -> Arc<RealDisks> {
        Arc::clone(&self.shared.disks)
    }

    /// Runs `program` on every node that is here to its end; the answers in the order of ranks.
    ///
    /// # Panics
    /// When a program panics, or the system has no thread for a node.
    pub fn run<T, P, Task>(&self, program: P) -> Vec<T>
    where
        T: Send + 'static,
        P: Fn(Node) -> Task + Clone + Send + 'static,
        Task: Future<Output = T> + 'static,
    {
        self.try_run(program)
            .expect("the system has a thread for each node")
    }

    /// The same for whoever can do with fewer nodes. No program begins before all have a thread, so
    /// none waits for a node that never comes.
    ///
    /// # Errors
    /// When the system has no thread for a node.
    ///
    /// # Panics
    /// When a program panics.
    pub fn try_run<T, P, Task>(&self, program: P) -> io::Result<Vec<T>>
    where
        T: Send + 'static,
        P: Fn(Node) -> Task + Clone + Send + 'static,
        Task: Future<Output = T> + 'static,
    {
        let answers = Arc::new(Mutex::new(BTreeMap::new()));
        let complete = Arc::new(OnceLock::new());
        for rank in self.shared.here.clone() {
            let (program, answers) = (program.clone(), Arc::clone(&answers));
            let begins = Arc::clone(&complete);
            let start = move |node: Node| -> Pin<Box<dyn Future<Output = ()>>> {
                Box::pin(async move {
                    if *begins.wait() {
                        let answer = program(node).await;
                        answers
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .insert(rank, answer);
                    }
                })
            };
            let name = format!("node-{rank}");
            if rank + 1 == self.shared.here.end {
                // The last one has this thread: a single node needs no other.
                complete.get_or_init(|| true);
                self.shared.run_here(Rank(rank), &name, Box::new(start));
            } else if let Err(cause) = self.shared.start(Rank(rank), name, Box::new(start)) {
                complete.get_or_init(|| false);
                self.join();
                return Err(cause);
            }
        }
        self.join();
        let answers = std::mem::take(&mut *answers.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(answers.into_values().collect())
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
        self.shared
            .threads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_nodes_have_no_answers() {
        assert!(Cluster::new(0, 1).run(|_| async {}).is_empty());
    }
}
