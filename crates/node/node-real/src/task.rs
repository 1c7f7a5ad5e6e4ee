//! One task's access to this machine: the wall clock, threads, the run's mailboxes, and the network
//! to the nodes of other processes.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{io, thread};

use node::backend::{Backend, Disks, Inboxes, Letter, Network, PortInbox, Signal, Start};
use node::{Address, Buffer, Filled, Mutex, Node, Port, Random, Rank, Time, Work};

use crate::disks::RealDisks;
use crate::signal::ThreadSignal;
use crate::sys::arena;

/// The tick of a real node is a nanosecond.
const TICK_FS: u64 = 1_000_000;

/// Stack of a task's thread: stages keep their state in buffers, not on the stack.
const STACK_BYTES: usize = 512 << 10;

/// The state that all tasks of a run share.
pub(crate) struct Shared {
    pub began: Instant,
    /// The number of nodes in the run, over all processes.
    pub nodes: u32,
    /// The ranks of the nodes in this process.
    pub here: Range<u32>,
    /// The network to the other nodes.
    pub network: Option<Arc<dyn Network>>,
    pub seed: u64,
    pub disks: Arc<RealDisks>,
    pub mailboxes: Arc<Mailboxes>,
    pub threads: Mutex<Vec<JoinHandle<()>>>,
}

/// The mailboxes of the nodes in this process.
#[derive(Default)]
pub(crate) struct Mailboxes {
    inboxes: Mutex<BTreeMap<Address, Arc<PortInbox>>>,
}

impl Mailboxes {
    fn inbox(&self, at: Address) -> Arc<PortInbox> {
        let new = || Arc::new(PortInbox::new(Arc::new(ThreadSignal::default())));
        Arc::clone(self.inboxes.lock().entry(at).or_insert_with(new))
    }
}

/// One node's mailboxes, as a network sees them.
pub(crate) struct MailboxesOf(pub Rank, pub Arc<Mailboxes>);

impl Inboxes for MailboxesOf {
    fn inbox(&self, port: Port) -> Arc<PortInbox> {
        self.1.inbox(Address { rank: self.0, port })
    }
}

impl Shared {
    /// Starts a task on its own thread.
    pub(crate) fn start(
        self: &Arc<Self>,
        rank: Rank,
        name: String,
        start: Start,
    ) -> io::Result<()> {
        let shared = Arc::clone(self);
        let task_name = name.clone();
        let body = move || shared.run_here(rank, &task_name, start);
        self.join_ended();
        let builder = thread::Builder::new().name(name).stack_size(STACK_BYTES);
        let thread = builder.spawn(body)?;
        self.threads.lock().push(thread);
        Ok(())
    }

    /// Joins the threads that have ended: each keeps its stack until then, and a run may start
    /// thousands.
    fn join_ended(&self) {
        let mut threads = self.threads.lock();
        let ended: Vec<_> = threads
            .extract_if(.., |thread| thread.is_finished())
            .collect();
        drop(threads);
        for thread in ended {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }

    /// Runs a task to its end on this thread.
    pub(crate) fn run_here(self: &Arc<Self>, rank: Rank, name: &str, start: Start) {
        let backend = TaskBackend::new(self, rank, name);
        run(start(Node::new(Box::new(backend))));
    }
}

/// Runs a task to its end: every wait of a real node blocks inside the poll.
fn run(mut task: Pin<Box<dyn Future<Output = ()>>>) {
    let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(
        polled.is_ready(),
        "a task awaited something that does not belong to its node"
    );
}

pub(crate) struct TaskBackend {
    shared: Arc<Shared>,
    rank: Rank,
    random: RefCell<Random>,
}

impl TaskBackend {
    fn new(shared: &Arc<Shared>, rank: Rank, name: &str) -> TaskBackend {
        // A stream per task, chosen by the name, which is the same in every run.
        let stream = name.bytes().fold(u64::from(rank.0), |hash, byte| {
            hash.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(byte)
        });
        let random = RefCell::new(Random::stream(shared.seed, stream));
        TaskBackend {
            shared: Arc::clone(shared),
            rank,
            random,
        }
    }
}

impl Backend for TaskBackend {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn nodes(&self) -> u32 {
        self.shared.nodes
    }

    fn tick_fs(&self) -> u64 {
        TICK_FS
    }

    fn now(&self) -> Time {
        Time(self.shared.began.elapsed().as_nanos() as u64)
    }

    /// Does nothing: the clock measures real time.
    fn work(&self, _: Work) {}

    fn poll_reach(&self) -> Poll<()> {
        Poll::Ready(())
    }

    fn signal(&self, _: &'static str) -> Arc<dyn Signal> {
        Arc::new(ThreadSignal::default())
    }

    fn poll_past(
        &self,
        signal: &Arc<dyn Signal>,
        epoch: u64,
        deadline: Option<Time>,
    ) -> Poll<bool> {
        let any: &dyn Any = &**signal;
        let signal: &ThreadSignal = any.downcast_ref().expect("a signal of this backend");
        let deadline = deadline.map(|time| self.shared.began + Duration::from_nanos(time.0));
        Poll::Ready(signal.wait_past(epoch, deadline))
    }

    fn random(&self) -> u64 {
        self.random.borrow_mut().next_u64()
    }

    fn spawn(&self, name: String, start: Start) -> io::Result<()> {
        self.shared.start(self.rank, name, start)
    }

    fn inbox(&self, port: Port) -> Arc<PortInbox> {
        let rank = self.rank;
        self.shared.mailboxes.inbox(Address { rank, port })
    }

    fn post(&self, to: Address, letter: Letter) {
        assert!(
            to.rank.0 < self.shared.nodes,
            "there is no node {}",
            to.rank
        );
        match &self.shared.network {
            Some(network) if to.rank != self.rank => network.post(to, letter),
            _ => self.shared.mailboxes.inbox(to).deliver(letter),
        }
    }

    fn buffers(&self, count: usize, bytes: usize, filled: Filled) -> io::Result<Vec<Buffer>> {
        arena::carve(count, bytes, filled)
    }

    fn disks(&self) -> Arc<dyn Disks> {
        Arc::clone(&self.shared.disks) as Arc<dyn Disks>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::sync::mpsc::channel;

    #[test]
    fn a_task_has_a_stack_and_its_thread_is_joined() {
        let shared = Arc::new(Shared {
            began: Instant::now(),
            nodes: 1,
            here: 0..1,
            network: None,
            seed: 1,
            disks: Arc::new(RealDisks::new()),
            mailboxes: Arc::default(),
            threads: Mutex::default(),
        });
        let threads = || shared.threads.lock();
        for number in 0..3 {
            let (sender, receiver) = channel();
            let use_stack = move |_| -> Pin<Box<dyn Future<Output = ()>>> {
                sender.send(black_box([1_u8; 256 << 10]).len()).unwrap();
                Box::pin(async {})
            };
            let start = shared.start(Rank(0), format!("task-{number}"), Box::new(use_stack));
            start.unwrap();
            assert_eq!(receiver.recv(), Ok(256 << 10));
            assert_eq!(threads().len(), 1, "threads that have ended are joined");
            while !threads()[0].is_finished() {
                thread::yield_now();
            }
        }
    }
}
