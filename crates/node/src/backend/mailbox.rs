//! Mailboxes: where a backend puts the letters for a port.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Poll;

use super::{Backend, Signal};
use crate::sync::{Close, Closed, Completer, Guarded};
use crate::{Buffer, Node, Port, Rank, Time, Words};

/// A small message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The node that sent it.
    pub from: Rank,
    /// Its contents.
    pub words: Words,
}

/// A letter that a backend delivers to a mailbox.
pub enum Letter {
    /// A small message.
    Message(Message),
    /// A buffer that waits until the receiver has room for its contents.
    Shipment {
        /// The node that sent it.
        from: Rank,
        /// Its contents, or where they lie.
        contents: Contents,
    },
}

/// The contents of a shipment, which the receiver has yet to take.
pub enum Contents {
    /// In memory here.
    Here {
        /// The sender's buffer.
        buffer: Buffer,
        /// Gives the buffer back to the sender.
        done: Completer<Buffer>,
    },
    /// In another process, whose buffer comes back to it there.
    Away {
        /// How much it is.
        bytes: usize,
        /// Begins to fill a buffer with it.
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

/// Fills the buffer it is given, sets its length, and gives it back when that is done.
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

    /// Puts a letter in; the world is at the moment of its arrival.
    pub fn deliver(&self, letter: Letter) {
        self.shared
            .change_now(|state| state.letters.push_back(letter));
    }

    /// Marks it as owned.
    ///
    /// # Panics
    /// When it has an owner.
    pub fn bind(&self, port: Port) {
        self.shared.change_now(|state| {
            assert!(!state.bound, "port {} has an owner already", port.0);
            state.bound = true;
        });
    }

    /// The next small message, for backends that keep them in mailboxes; `None` at the deadline. A
    /// shipment from another process is dropped: that process runs another program, and its task
    /// waits for ever.
    ///
    /// # Panics
    /// When a node of this process has shipped something here.
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

    /// The next letter, of either kind.
    pub(crate) async fn next(&self, node: &Node) -> Result<Letter, Closed> {
        let step = |state: &mut State| match state.closed {
            true => Some(Err(Closed)),
            false => state.letters.pop_front().map(Ok),
        };
        self.shared.wait_for(node, step).await
    }
}

impl Close for Inbox {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}
