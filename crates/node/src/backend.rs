//! The trait behind [`crate::Node`]: what a backend provides. Programs never see it.
//!
//! It is object-safe and poll-shaped. On a real node a poll may block the thread, and then returns
//! `Ready`; on a simulated one it returns `Pending` and the event loop polls the task again. No
//! waker is used.

use std::future::Future;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::{fmt, io};

use crate::message::{Inbox, Message};
use crate::opening::{Access, Metadata, Open, Standard};
use crate::ticket::Completer;
use crate::{Address, Buffer, Group, Node, Port, Rank, Time, Words, Work};

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
    /// Whether the network carries one message of so many words to a group.
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
    fn inbox(&self, port: Port) -> Arc<Inbox>;
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
    fn inbox(&self, port: Port) -> Arc<Inbox>;
}

/// A small message on its way out.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// Where it goes.
    pub to: Target,
    /// What it says.
    pub words: &'a Words,
    /// Whether these words are passed on as they were received.
    pub forwarded: bool,
}

/// Who hears a message.
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

/// Paths of a node. Calls happen at the world's time and may block on a real node.
pub trait Disks: Send + Sync + 'static {
    /// Opens or creates a file.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn FileHandle>>;
    /// Standard input or output.
    fn standard(&self, which: Standard) -> io::Result<Arc<dyn FileHandle>>;
    /// What is known of a path, links followed.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;
    /// The access that the file at a path gives, links followed.
    fn access(&self, path: &Path) -> io::Result<Access>;
    /// The path with all links followed; its last part need not exist.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
    /// Replaces `to` by `from` in one step, and makes that durable.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), RenameError>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Names in a directory.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;
    /// Free bytes of the file system that holds `path`.
    fn space(&self, path: &Path) -> io::Result<u64>;
}

/// How a rename failed.
#[derive(Debug)]
pub enum RenameError {
    /// Both names are as they were.
    NotRenamed(io::Error),
    /// The new name is there, but a crash may take it back.
    NotDurable(io::Error),
}

impl From<io::Error> for RenameError {
    fn from(cause: io::Error) -> RenameError {
        RenameError::NotRenamed(cause)
    }
}

impl From<io::ErrorKind> for RenameError {
    fn from(kind: io::ErrorKind) -> RenameError {
        RenameError::NotRenamed(kind.into())
    }
}

/// An open file of a backend.
pub trait FileHandle: Send + Sync + 'static {
    /// What is known of it.
    fn metadata(&self) -> io::Result<Metadata>;
    /// Whether requests bypass the page cache and need whole blocks.
    fn is_direct(&self) -> bool;
    /// Starts a data request at the task's clock `at`.
    fn submit(&self, at: Time, request: Request);
    /// Changes the file, at once.
    fn control(&self, control: Control) -> io::Result<u64>;
}

/// What a data request gives back: the buffer always (or the chain), and how it went.
pub type Done<Held = Buffer> = (Held, io::Result<()>);

/// A data request; its completer gives the buffer back.
pub enum Request {
    /// Fill the buffer's first `bytes` from `offset` (`None`: the next ones of a sequential
    /// source), short only at the end of the file; sets the buffer's length.
    Read {
        /// Where in the file.
        offset: Option<u64>,
        /// How much.
        bytes: usize,
        /// Into what.
        buffer: Buffer,
        /// Whom to tell.
        done: Completer<Done>,
    },
    /// Write that range of the buffer, all of it, at `offset` (`None`: behind what was written).
    Write {
        /// Where in the file.
        offset: Option<u64>,
        /// Which part of the buffer.
        range: Range<usize>,
        /// From what.
        buffer: Buffer,
        /// Whom to tell.
        done: Completer<Done>,
    },
    /// Fill the whole memory of each buffer, one behind the other, from `offset` on, short only at
    /// the end of the file; sets the lengths.
    ReadChain {
        /// Where in the file.
        offset: u64,
        /// Into what.
        buffers: Vec<Buffer>,
        /// Whom to tell.
        done: Completer<Done<Vec<Buffer>>>,
    },
    /// Write the whole memory of each buffer, one behind the other, from `offset` on.
    WriteChain {
        /// Where in the file.
        offset: u64,
        /// From what.
        buffers: Vec<Buffer>,
        /// Whom to tell.
        done: Completer<Done<Vec<Buffer>>>,
    },
    /// Make all completed writes durable.
    Sync {
        /// Whom to tell.
        done: Completer<io::Result<()>>,
    },
}

/// How much a chain of buffers holds.
pub fn chain_capacity(buffers: &[Buffer]) -> usize {
    buffers.iter().map(Buffer::capacity).sum()
}

/// Says that the first `len` bytes of a chain's memory are filled.
pub fn set_chain_len(buffers: &mut [Buffer], len: usize) {
    let mut rest = len;
    for buffer in buffers {
        buffer.set_len(rest.min(buffer.capacity()));
        rest -= buffer.len();
    }
}

/// A change of a file that moves no data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Reserve a range's space; make the file at least so long.
    Preallocate(Range<u64>),
    /// Make the file this long.
    Truncate(u64),
    /// Give a range's space back; it reads as zeros.
    Release(Range<u64>),
    /// Lock the file for this run; answers 1, or 0 when another run holds it.
    Lock,
    /// How many bytes of the range lie in the page cache.
    Resident(Range<u64>),
    /// Set owner, group and permission bits, as far as the caller may.
    Access(Access),
}

impl fmt::Debug for dyn Signal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Signal({})", self.epoch())
    }
}

pub use crate::message::{Contents, Fetch, Inbox as PortInbox, Letter};
pub use crate::ticket::{Completer as Completion, ticket};
