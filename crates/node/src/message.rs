//! Messages between nodes (Berkeley NOW's thin layer, with credits).
//!
//! Small messages travel inline and arrive in the order of their arrival. Bulk travels in buffers:
//! the receiver lends the buffers, so the size of its pool is the senders' credit, and a sender has
//! its own buffer back when the data have left it.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::backend::Signal;
use crate::guarded::{Close, Closed, Guarded};
use crate::ticket::{Completer, Ticket, ticket};
use crate::{Address, Buffer, Node, Pool, Port, Rank, Time, Work};

/// The longest message that travels inline: two segments of 1,024 bytes, the nanoPU's limit
/// (NanoSort, section 5.1).
pub const INLINE_BYTES: usize = 2048;

/// A small message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sent it.
    pub from: Rank,
    /// What it says.
    pub bytes: Box<[u8]>,
}

/// What a backend delivers to a mailbox.
pub enum Letter {
    /// A small message.
    Message(Message),
    /// A buffer that waits until the receiver has room for its contents.
    Shipment {
        /// Who sent it.
        from: Rank,
        /// The sender's buffer.
        buffer: Buffer,
        /// Gives the buffer back to the sender.
        done: Completer<Buffer>,
    },
}

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
        Inbox { shared: Guarded::over(signal, State::default()) }
    }

    /// Puts a letter in; the world is at the moment of its arrival.
    pub fn deliver(&self, letter: Letter) {
        self.shared.change_now(|state| state.letters.push_back(letter));
    }

    fn bind(&self, port: Port) {
        self.shared.change_now(|state| {
            assert!(!state.bound, "port {} has an owner already", port.0);
            state.bound = true;
        });
    }
}

impl Close for Inbox {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}

impl Node {
    /// Makes this task the owner of a port for small messages.
    pub fn bind(&self, port: Port) -> MessagePort {
        let inbox = self.backend().inbox(port);
        inbox.bind(port);
        MessagePort { inbox }
    }

    /// Makes this task the owner of a port for bulk.
    pub fn bind_bulk(&self, port: Port) -> BulkPort {
        let inbox = self.backend().inbox(port);
        inbox.bind(port);
        BulkPort { inbox }
    }

    /// Sends a small message; it leaves at the task's clock.
    pub fn send(&self, to: Address, bytes: &[u8]) {
        assert!(
            bytes.len() <= INLINE_BYTES,
            "a message of {} bytes does not fit in {INLINE_BYTES}: ship a buffer",
            bytes.len()
        );
        let message = Message { from: self.rank(), bytes: bytes.into() };
        self.backend().post(to, Letter::Message(message));
    }

    /// Ships the filled part of a buffer; the ticket gives the buffer back.
    pub fn ship(&self, to: Address, buffer: Buffer) -> Ticket<Buffer> {
        let (ticket, done) = ticket(self, "room at the receiver");
        self.backend().post(to, Letter::Shipment { from: self.rank(), buffer, done });
        ticket
    }
}

/// The owner's end of a port for small messages.
pub struct MessagePort {
    inbox: Arc<Inbox>,
}

impl MessagePort {
    /// The next message in arrival order; `None` at the deadline.
    pub async fn next(
        &self,
        node: &Node,
        deadline: Option<Time>,
    ) -> Result<Option<Message>, Closed> {
        let step = |state: &mut State| match state.letters.front() {
            _ if state.closed => Some(Err(Closed)),
            None => None,
            Some(_) => match state.letters.pop_front() {
                Some(Letter::Message(message)) => Some(Ok(message)),
                _ => panic!("a shipment came to a port for small messages"),
            },
        };
        self.inbox.shared.wait(node, deadline, step).await.transpose()
    }
}

/// The owner's end of a port for bulk.
pub struct BulkPort {
    inbox: Arc<Inbox>,
}

impl BulkPort {
    /// Lends a buffer of `pool` to the next shipment: who sent it, and its contents.
    pub async fn accept(&self, node: &Node, pool: &Pool) -> Result<(Rank, Buffer), Closed> {
        let mut lent = pool.take(node).await?;
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            state.letters.pop_front().map(Ok)
        };
        let Letter::Shipment { from, buffer, done } =
            self.inbox.shared.wait_for(node, step).await?
        else {
            panic!("a small message came to a port for bulk")
        };
        lent.copy_from(0, &buffer, 0..buffer.len());
        lent.set_len(buffer.len());
        node.work(Work::Copy { bytes: buffer.len() as u64 });
        node.reach().await;
        done.complete(buffer);
        Ok((from, lent))
    }
}

impl Close for MessagePort {
    fn close(&self) {
        self.inbox.close();
    }
}

impl Close for BulkPort {
    fn close(&self) {
        self.inbox.close();
    }
}
