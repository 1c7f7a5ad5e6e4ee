//! The nodes of this process, whose tasks are threads: all nodes of a run, or one of them.

use std::future::Future;
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use node::backend::{FileHandle, Network, Start, measure_lock_waits};
use node::{Mutex, Node, Rank};

use crate::disks::{RealDisks, Streams};
use crate::task::{MailboxesOf, Shared};

/// The beginning of the clock by which waits for locks are measured.
static BEGAN: OnceLock<Instant> = OnceLock::new();

/// The nodes of this process; most runs have one.
pub struct Cluster {
    shared: Arc<Shared>,
}

impl Cluster {
    /// `nodes` nodes that share the files of this machine; `seed` decides their random numbers.
    pub fn new(nodes: u32, seed: u64) -> Cluster {
        Cluster::with(nodes, 0..nodes, None, seed)
    }

    /// One node whose standard input and output are streams in memory, where given. The run owns
    /// them: when it ends, so do they.
    pub fn alone(
        seed: u64,
        input: Option<Arc<dyn FileHandle>>,
        output: Option<Arc<dyn FileHandle>>,
    ) -> Cluster {
        let cluster = Cluster::new(1, seed);
        let disks = &cluster.shared.disks;
        disks.set_streams(Streams { input, output });
        cluster
    }

    /// The one node of this process in a run of several processes, connected by `network`. Each
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
        measure_lock_waits(|| BEGAN.get_or_init(Instant::now).elapsed());
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

    /// The files of this machine, with the record of unfinished ones.
    pub fn disks(&self) -> Arc<RealDisks> {
        Arc::clone(&self.shared.disks)
    }

    /// Runs `program` to its end on every node of this process. Returns the answers in the order of
    /// ranks.
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

    /// As [`Cluster::run`], for callers that can continue with fewer nodes. Programs begin when
    /// every node has a thread, so that none waits for a missing node.
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
        let none: Vec<Option<T>> = (0..self.shared.nodes).map(|_| None).collect();
        let answers = Arc::new(Mutex::new(none));
        self.run_all(&|rank, complete| {
            let (program, answers) = (program.clone(), Arc::clone(&answers));
            Box::new(move |node| {
                Box::pin(async move {
                    if *complete.wait() {
                        let answer = program(node).await;
                        answers.lock()[rank as usize] = Some(answer);
                    }
                })
            })
        })?;
        let answers = std::mem::take(&mut *answers.lock());
        Ok(answers.into_iter().flatten().collect())
    }

    /// The same for programs of any type, so that it is compiled once for all of them: `start` makes the
    /// task of a rank, which begins when it knows that all are there.
    fn run_all(&self, start: &dyn Fn(u32, Arc<OnceLock<bool>>) -> Start) -> io::Result<()> {
        let complete = Arc::new(OnceLock::new());
        for rank in self.shared.here.clone() {
            let start = start(rank, Arc::clone(&complete));
            let name = format!("node-{rank}");
            if rank + 1 == self.shared.here.end {
                // The last node runs on this thread, so a single node needs no other.
                complete.get_or_init(|| true);
                self.shared.run_here(Rank(rank), &name, start);
            } else if let Err(cause) = self.shared.start(Rank(rank), name, start) {
                complete.get_or_init(|| false);
                self.join();
                return Err(cause);
            }
        }
        self.join();
        Ok(())
    }

    /// Waits for all threads, including those that start meanwhile.
    fn join(&self) {
        loop {
            // In its own statement, which releases the lock: a running task may start another.
            let last = self.shared.threads.lock().pop();
            let Some(thread) = last else { return };
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
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
