//! The trait behind [`crate::Node`], which backends implement and programs never see.
//!
//! It is object-safe and poll-shaped. On a real node a poll may block the thread, and then returns
//! `Ready`; on a simulated one it returns `Pending` and the event loop polls the task again. There
//! are no wakers.

mod disks;
mod mailbox;
mod session;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::{fmt, io};

use crate::{Address, Buffer, Filled, Group, Node, Port, Rank, Time, Words, Work};

pub use crate::sync::{Completer as Completion, measure_lock_waits, ticket};
pub use disks::{
    Coded, Control, Disks, Done, FileHandle, RenameError, Request, chain_capacity, set_chain_len,
};
pub use mailbox::{Contents, Fetch, Inbox as PortInbox, Letter, Message};
pub use session::{Hook, NetworkError, Session};

/// Makes the future of a task. It may move to another thread first; the future stays on one.
pub type Start = Box<dyn FnOnce(Node) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// One task's access to the machine below it.
pub trait Backend {
    /// The node this task runs on.
    fn rank(&self) -> Rank;
    /// The number of nodes in the run.
    fn nodes(&self) -> u32;
    /// Length of a tick in femtoseconds.
    fn tick_fs(&self) -> u64;
    /// The task's clock, which may be ahead of the world's.
    fn now(&self) -> Time;
    /// Moves the task's clock ahead of the world's by the cost of the work.
    fn work(&self, work: Work);
    /// Begins a stage of the program, for measurements.
    fn stage(&self, _name: &'static str) {}
    /// Ready when the world has reached the task's clock.
    fn poll_reach(&self) -> Poll<()>;
    /// A new signal; `label` names it in the report of a task that waits for it forever.
    fn signal(&self, label: &'static str) -> Arc<dyn Signal>;
    /// Ready with `true` when `signal` is past `epoch`, with `false` at the deadline.
    fn poll_past(&self, signal: &Arc<dyn Signal>, epoch: u64, deadline: Option<Time>)
    -> Poll<bool>;
    /// The next number of this node's random stream.
    fn random(&self) -> u64;
    /// Starts a task on this node.
    ///
    /// # Errors
    /// When the system has no thread for it.
    fn spawn(&self, name: String, start: Start) -> io::Result<()>;
    /// Sets how urgent this task is among the tasks of its node.
    fn urgency(&self, _level: u8) {}
    /// The number of ranks that share a NIC.
    fn ranks_per_nic(&self) -> u32 {
        1
    }
    /// Whether the network multicasts a message of `words` words.
    fn multicasts(&self, _words: usize) -> bool {
        false
    }
    /// Ready when the NIC has taken the message, at the task's clock. The default is for a backend
    /// without a NIC: it posts a letter to the receiver's mailbox.
    fn poll_send(&self, outgoing: &Outgoing<'_>) -> Poll<()> {
        let message = Message {
            from: self.rank(),
            words: outgoing.words.clone(),
        };
        self.post(outgoing.to.one(), Letter::Message(message));
        Poll::Ready(())
    }
    /// Marks a port for small messages as owned.
    fn bind(&self, port: Port) {
        self.inbox(port).bind(port);
    }
    /// The next small message of a port, `None` at the deadline.
    fn poll_next(&self, port: Port, deadline: Option<Time>) -> Poll<Option<Message>> {
        self.inbox(port).poll_next(self, deadline)
    }
    /// The mailbox of a port of this node.
    fn inbox(&self, port: Port) -> Arc<PortInbox>;
    /// Delivers to a mailbox of any node, by an event at the task's clock.
    fn post(&self, to: Address, letter: Letter);
    /// Memory for `count` buffers of `bytes` each: aligned for direct I/O, in huge pages where they
    /// pay.
    ///
    /// # Errors
    /// When the system has no memory for them.
    fn buffers(&self, count: usize, bytes: usize, filled: Filled) -> io::Result<Vec<Buffer>>;
    /// This node's disks.
    fn disks(&self) -> Arc<dyn Disks>;
}

/// Carries letters to the nodes of other processes. Threads, clocks and files are the backend's.
pub trait Network: Send + Sync {
    /// The one node of this process.
    fn rank(&self) -> Rank;
    /// The number of nodes in the run, over all processes.
    fn nodes(&self) -> u32;
    /// Sends a letter to a node of another process. Between two processes, letters arrive in the
    /// order of these calls. May block while too many small messages wait to leave.
    fn post(&self, to: Address, letter: Letter);
    /// Sets the mailboxes for letters to this process. Earlier letters wait for this call.
    fn attach(&self, inboxes: Arc<dyn Inboxes>);
}

/// The mailboxes of a process's own node.
pub trait Inboxes: Send + Sync {
    /// The mailbox of a port, made on first use.
    fn inbox(&self, port: Port) -> Arc<PortInbox>;
}

/// A small message on its way out.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The receiving node, or the group.
    pub to: Target,
    /// The message's contents.
    pub words: &'a Words,
    /// Whether these words are passed on as they were received.
    pub forwarded: bool,
}

impl<'a> Outgoing<'a> {
    /// A message that this node composed.
    pub(crate) fn new(to: Target, words: &'a Words) -> Outgoing<'a> {
        Outgoing {
            to,
            words,
            forwarded: false,
        }
    }
}

/// The receivers of a message.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// A port of one node.
    One(Address),
    /// A port of every member of a group; only where the network multicasts.
    Group(Group, Port),
}

impl Target {
    /// The address, on a network that does not multicast.
    ///
    /// # Panics
    /// When the target is a group.
    pub fn one(self) -> Address {
        match self {
            Target::One(address) => address,
            Target::Group(..) => panic!("this network does not multicast"),
        }
    }
}

/// An epoch that a change advances and a task waits past: the one primitive of waiting.
pub trait Signal: std::any::Any + Send + Sync {
    /// The number of advances so far.
    fn epoch(&self) -> u64;
    /// Advances the epoch, and wakes every task that waits past an earlier one.
    fn advance(&self);
}

impl fmt::Debug for dyn Signal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Signal({})", self.epoch())
    }
}
