//! Mailboxes: a backend puts the letters for a port there.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Poll;

use super::{Backend, Signal};
use crate::sync::{Close, Closed, Completer, Guarded};
use crate::{Buffer, Node, Port, Rank, Time, Words};

/// A small message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sending node.
    pub from: Rank,
    /// The message's contents.
    pub words: Words,
}

/// A letter that a backend delivers to a mailbox.
pub enum Letter {
    /// A message that the mailbox holds by value.
    Message(Message),
    /// A buffer that waits until the receiver has room for its contents.
    Shipment {
        /// The sending node.
        from: Rank,
        /// The contents, or the way to fetch them.
        contents: Contents,
    },
}

/// The contents of a shipment, which the receiver has yet to take.
pub enum Contents {
    /// In the memory of this process.
    Here {
        /// The sender's buffer.
        buffer: Buffer,
        /// Gives the buffer back to the sender.
        done: Completer<Buffer>,
    },
    /// In another process, which gets its buffer back there.
    Away {
        /// The length of the contents in bytes.
        bytes: usize,
        /// Begins to copy the contents into a buffer.
        fetch: Fetch,
    },
}

impl Contents {
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Contents::Here { buffer, .. } => buffer.len(),
            Contents::Away { bytes, .. } => *bytes,
        }
    }
}

/// Fills the given buffer, sets its length, and then gives it back through the completer.
pub type Fetch = Box<dyn FnOnce(Buffer, Completer<Buffer>) + Send>;

/// A port's mailbox; backends keep one for each port that is used.
pub struct Inbox {
    shared: Guarded<State>,
}

#[derive(Default)]
struct State {
    letters: VecDeque<Letter>,
    bound: bool,
    closed: bool,
}

impl Inbox {
    /// An empty mailbox.
    pub fn new(signal: Arc<dyn Signal>) -> Inbox {
        Inbox {
            shared: Guarded::over(signal, State::default()),
        }
    }

    /// Adds a letter, at the world's time of its arrival.
    pub fn deliver(&self, letter: Letter) {
        self.shared
            .change_now(|state| state.letters.push_back(letter));
    }

    /// Marks it as owned; `port` names it in the panic.
    ///
    /// # Panics
    /// When it has an owner already.
    pub fn bind(&self, port: Port) {
        self.shared.change_now(|state| {
            assert!(!state.bound, "port {} has an owner already", port.0);
            state.bound = true;
        });
    }

    /// The next small message, for backends that keep them in mailboxes; `None` at the deadline. A
    /// shipment from another process is dropped: that process runs another program, and its task
    /// waits forever.
    ///
    /// # Panics
    /// When a node of this process has shipped a buffer here.
    pub fn poll_next<B: Backend + ?Sized>(
        &self,
        backend: &B,
        deadline: Option<Time>,
    ) -> Poll<Option<Message>> {
        self.shared.poll_wait(backend, deadline, |state| {
            loop {
                match state.letters.pop_front()? {
                    Letter::Message(message) => return Some(message),
                    Letter::Shipment {
                        contents: Contents::Away { .. },
                        ..
                    } => {}
                    Letter::Shipment { .. } => panic!("a shipment to a port for small messages"),
                }
            }
        })
    }
}

impl Inbox {
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.look(|state| state.closed)
    }

    pub(crate) async fn next(&self, node: &Node) -> Result<Letter, Closed> {
        let step = |state: &mut State| {
            if state.closed {
                Some(Err(Closed))
            } else {
                state.letters.pop_front().map(Ok)
            }
        };
        self.shared.wait_for(node, step).await
    }
}

impl Close for Inbox {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
