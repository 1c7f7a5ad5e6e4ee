//! The trait behind [`crate::Node`]: what a backend provides. Programs never see it.
//!
//! It is object-safe and poll-shaped. On a real node a poll may block the thread, and then returns
//! `Ready`; on a simulated one it returns `Pending` and the event loop polls the task again. No
//! waker is used.

mod disks;
mod mailbox;
mod session;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::{fmt, io};

use crate::{Address, Buffer, Group, Node, Port, Rank, Time, Words, Work};

pub use crate::sync::{Completer as Completion, ticket};
pub use disks::{
    Control, Disks, Done, FileHandle, RenameError, Request, chain_capacity, set_chain_len,
};
pub use mailbox::{Contents, Fetch, Inbox as PortInbox, Letter, Message};
pub use session::{Hook, NetworkError, Session, Transport};

/// How a task starts: a constructor that may change threads, of a future that does not.
pub type Start = Box<dyn FnOnce(Node) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// One task's way to the machine below it.
pub trait Backend {
    /// The node this task runs on.
    fn rank(&self) -> Rank;
    /// How many nodes the run has.
    fn nodes(&self) -> u32;
    /// Length of a tick in femtoseconds.
    fn tick_fs(&self) -> u64;
    /// The task's clock.
    fn now(&self) -> Time;
    /// Moves the task's clock ahead of the world's, by what the work costs.
    fn work(&self, work: Work);
    /// Names what the task does from here on.
    fn stage(&self, _name: &'static str) {}
    /// Ready when the world has reached the task's clock.
    fn poll_reach(&self) -> Poll<()>;
    /// A new signal; `label` names it to people when a task waits for it forever.
    fn signal(&self, label: &'static str) -> Arc<dyn Signal>;
    /// Ready with `true` when `signal` is past `epoch`, with `false` at the deadline.
    fn poll_past(&self, signal: &Arc<dyn Signal>, epoch: u64, deadline: Option<Time>)
    -> Poll<bool>;
    /// The next number of this node's random stream.
    fn random(&self) -> u64;
    /// Starts a task on this node; an error when the system has no thread for it.
    fn spawn(&self, name: String, start: Start) -> io::Result<()>;
    /// How urgent this task is among the tasks of its node.
    fn urgency(&self, _level: u8) {}
    /// How many ranks share a NIC.
    fn ranks_per_nic(&self) -> u32 {
        1
    }
    /// Whether the network carries one message of `words` words to a group.
    fn multicasts(&self, _words: usize) -> bool {
        false
    }
    /// Ready when the NIC has taken the message, at the task's clock. Without a NIC to wait for, a
    /// letter to the receiver's mailbox.
    fn poll_send(&self, outgoing: &Outgoing<'_>) -> Poll<()> {
        let message = Message {
            from: self.rank(),
            words: outgoing.words.clone(),
        };
        self.post(outgoing.to.one(), Letter::Message(message));
        Poll::Ready(())
    }
    /// Makes a port for small messages one that has an owner.
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
    /// Memory for `count` buffers of `bytes` each: aligned for direct I/O, in huge pages.
    fn buffers(&self, count: usize, bytes: usize) -> io::Result<Vec<Buffer>>;
    /// This node's disks.
    fn disks(&self) -> Arc<dyn Disks>;
}

/// How letters reach nodes of other processes, for a backend whose nodes are not all in one.
///
/// It carries letters and nothing else: threads, clocks and files are the backend's.
pub trait Network: Send + Sync {
    /// The one node of this process.
    fn rank(&self) -> Rank;
    /// How many nodes the run has in all processes.
    fn nodes(&self) -> u32;
    /// Sends a letter to a node of another process. Letters of one process to one other arrive in
    /// the order of these calls. May block while too many small messages have not left.
    fn post(&self, to: Address, letter: Letter);
    /// Where letters for this process go from now on; those that came before wait for this call.
    fn attach(&self, inboxes: Arc<dyn Inboxes>);
}

/// The mailboxes of a process's own node.
pub trait Inboxes: Send + Sync {
    /// The mailbox of a port.
    fn inbox(&self, port: Port) -> Arc<PortInbox>;
}

/// A small message on its way out.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// Its receivers.
    pub to: Target,
    /// Its words.
    pub words: &'a Words,
    /// Whether these words are passed on as they were received.
    pub forwarded: bool,
}

/// The receivers of a message.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// One node.
    One(Address),
    /// Every member of a group; only where the network multicasts.
    Group(Group, Port),
}

impl Target {
    /// The node, where the network does not multicast.
    pub fn one(self) -> Address {
        match self {
            Target::One(address) => address,
            Target::Group(..) => panic!("this network does not multicast"),
        }
    }
}

/// An epoch that a change advances and a task waits past: the one primitive of waiting.
pub trait Signal: std::any::Any + Send + Sync {
    /// How often it was advanced.
    fn epoch(&self) -> u64;
    /// Wakes all who wait past an earlier epoch.
    fn advance(&self);
}

impl fmt::Debug for dyn Signal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Signal({})", self.epoch())
    }
}
