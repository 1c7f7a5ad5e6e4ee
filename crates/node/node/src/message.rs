//! Messages between nodes (Berkeley NOW's thin layer, with credits).
//!
//! Small messages travel as words, and a port hands them out in the order of their arrival. Bulk
//! travels in buffers: the receiver lends the buffers, so the size of its pool is the senders'
//! credit, and a sender gets its own buffer back when the data have left it.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use crate::backend::{Contents, Letter, Message, Outgoing, PortInbox, Target};
use crate::sync::{Close, Closed, Ticket, ticket};
use crate::{Address, Buffer, Group, Node, Pool, Port, Rank, Time, Words, Work};

/// The longest small message: two segments of 1,024 bytes, the nanoPU's limit (NanoSort,
/// section 5.1).
pub const MESSAGE_BYTES: usize = 2048;

/// The longest small message in words.
pub const MESSAGE_WORDS: usize = MESSAGE_BYTES / 8;

/// The interval in seconds at which a waiting receiver checks whether its port was closed, since
/// the sender may have died.
const CHECK_INTERVAL_S: f64 = 0.25;

impl Node {
    /// Makes this task the owner of a port for small messages.
    ///
    /// # Panics
    /// When the port has an owner already.
    pub fn bind(&self, port: Port) -> MessagePort {
        self.backend().bind(port);
        MessagePort { port }
    }

    /// Makes this task the owner of a port for bulk.
    ///
    /// # Panics
    /// When the port has an owner already.
    pub fn bind_bulk(&self, port: Port) -> BulkPort {
        let inbox = self.backend().inbox(port);
        inbox.bind(port);
        BulkPort { inbox }
    }

    /// Sends a small message; it leaves at the task's clock. Waits while the node's NIC has no room
    /// for it.
    ///
    /// # Panics
    /// When there are more than [`MESSAGE_WORDS`] words.
    pub async fn send(&self, to: Address, words: &[u64]) {
        let words = Words::from(words);
        self.go_out(Outgoing::new(Target::One(to), &words)).await;
    }

    pub(crate) async fn send_to(&self, to: Target, words: &Words) {
        self.go_out(Outgoing::new(to, words)).await;
    }

    /// Passes a received message on. On a nanoPU one instruction per word reads it from the
    /// receiving register and writes it to the sending one.
    pub async fn forward(&self, to: Address, message: &Message) {
        self.go_out(Outgoing {
            forwarded: true,
            ..Outgoing::new(Target::One(to), &message.words)
        })
        .await;
    }

    /// Sends a small message to every member of a group: one message if the network multicasts it,
    /// else one to each member in turn.
    pub async fn multicast(&self, to: Group, port: Port, words: &[u64]) {
        let words = Words::from(words);
        for to in self.targets(to, port, words.len()) {
            self.send_to(to, &words).await;
        }
    }

    /// The targets of a message of `words` words to a group.
    pub(crate) fn targets(
        &self,
        to: Group,
        port: Port,
        words: usize,
    ) -> impl Iterator<Item = Target> + use<> {
        let at_once = to.count > 1 && self.backend().multicasts(words);
        let each = to
            .members()
            .map(move |rank| Target::One(Address { rank, port }));
        let group = at_once.then_some(Target::Group(to, port));
        group
            .into_iter()
            .chain(each.take(if at_once { 0 } else { usize::MAX }))
    }

    async fn go_out(&self, outgoing: Outgoing<'_>) {
        check_length(outgoing.words);
        poll_fn(|_| self.backend().poll_send(&outgoing)).await;
    }

    /// Sends a small message (`None`), or receives one from `port` while the NIC has no room. So two nodes
    /// that both send more than a NIC holds do not wait for each other for ever.
    ///
    /// # Panics
    /// As [`Node::send`].
    pub async fn send_or_next(
        &self,
        to: Address,
        words: &Words,
        port: &MessagePort,
    ) -> Option<Message> {
        self.send_to_or_next(Target::One(to), words, port).await
    }

    pub(crate) async fn send_to_or_next(
        &self,
        to: Target,
        words: &Words,
        port: &MessagePort,
    ) -> Option<Message> {
        check_length(words);
        let outgoing = Outgoing::new(to, words);
        poll_fn(|_| match self.backend().poll_send(&outgoing) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => self.backend().poll_next(port.port, None),
        })
        .await
    }

    /// Ships the filled part of a buffer as bulk; the ticket gives the buffer back.
    pub fn ship(&self, to: Address, buffer: Buffer) -> Ticket<Buffer> {
        let (ticket, done) = ticket(self, "room at the receiver");
        let contents = Contents::Here { buffer, done };
        let from = self.rank();
        self.backend().post(to, Letter::Shipment { from, contents });
        ticket
    }
}

fn check_length(words: &Words) {
    let (words, most) = (words.len(), MESSAGE_WORDS);
    assert!(
        words <= most,
        "a message of {words} words does not fit in {most}: ship a buffer"
    );
}

/// The owner's end of a port for small messages. Tasks of one node may share it: each message goes
/// to the first one that asks.
#[derive(Debug)]
pub struct MessagePort {
    port: Port,
}

impl MessagePort {
    /// The next message in arrival order; `None` at the deadline.
    pub async fn next_until(&self, node: &Node, deadline: Time) -> Option<Message> {
        poll_fn(|_| node.backend().poll_next(self.port, Some(deadline))).await
    }

    /// The next message in arrival order.
    pub async fn next(&self, node: &Node) -> Message {
        let message = poll_fn(|_| node.backend().poll_next(self.port, None)).await;
        message.expect("a wait without deadline ends with a message")
    }
}

/// A shipment on its way to a lent buffer.
#[derive(Debug)]
pub struct Arrival {
    /// The sending node.
    pub from: Rank,
    /// The length of the contents in bytes.
    pub bytes: usize,
    /// Gives the filled buffer.
    pub filled: Ticket<Buffer>,
}

/// The reason why a shipment was not received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// The port or the pool was closed.
    Closed,
    /// A node sent something that does not belong there: it may run another program, or another
    /// version of this one.
    Foreign {
        /// The sending node.
        from: Rank,
        /// The mistake, as a clause for a message.
        what: String,
    },
}

impl From<Closed> for Undelivered {
    fn from(_: Closed) -> Undelivered {
        Undelivered::Closed
    }
}

impl fmt::Display for Undelivered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undelivered::Closed => write!(out, "it was closed"),
            Undelivered::Foreign { from, what } => write!(
                out,
                "rank {from} sent data that does not belong there ({what}); run the same version \
                 on all ranks, and test the memory and network of that machine"
            ),
        }
    }
}

impl Error for Undelivered {}

/// The owner's end of a port for bulk.
pub struct BulkPort {
    inbox: Arc<PortInbox>,
}

impl BulkPort {
    /// Receives the next shipment into a buffer of `pool`, and returns its sender and its contents.
    ///
    /// # Errors
    /// [`Undelivered::Closed`] when the port or the pool was closed, [`Undelivered::Foreign`] for a
    /// small message or a shipment larger than the buffer.
    pub async fn accept(&self, node: &Node, pool: &Pool) -> Result<(Rank, Buffer), Undelivered> {
        let Arrival { from, filled, .. } = self.lend(node, pool).await?;
        let interval = node.ticks(CHECK_INTERVAL_S);
        while !filled.done_by(node, node.now().after(interval)).await {
            if self.inbox.is_closed() {
                return Err(Undelivered::Closed);
            }
        }
        Ok((from, filled.wait(node).await))
    }

    /// As [`BulkPort::accept`], but does not wait for the contents, so that several shipments can
    /// be on their way at once.
    ///
    /// # Errors
    /// As [`BulkPort::accept`].
    pub async fn lend(&self, node: &Node, pool: &Pool) -> Result<Arrival, Undelivered> {
        let lent = pool.take(node).await?;
        let (from, contents) = match self.inbox.next(node).await? {
            Letter::Shipment { from, contents } => (from, contents),
            Letter::Message(Message { from, .. }) => {
                let what = "a small message for bulk".into();
                return Err(Undelivered::Foreign { from, what });
            }
        };
        let (bytes, room) = (contents.bytes(), lent.capacity());
        if bytes > room {
            let what = format!("a shipment of {bytes} bytes for a buffer of {room}");
            return Err(Undelivered::Foreign { from, what });
        }
        let filled = fill(node, lent, contents).await;
        Ok(Arrival {
            from,
            bytes,
            filled,
        })
    }
}

/// Begins to fill a lent buffer with the contents of a shipment.
async fn fill(node: &Node, mut lent: Buffer, contents: Contents) -> Ticket<Buffer> {
    let (ticket, filled) = ticket(node, "a shipment");
    match contents {
        Contents::Here { buffer, done } => {
            let bytes = buffer.len();
            lent.copy_from(0, &buffer, 0..bytes);
            lent.set_len(bytes);
            node.work(Work::Copy {
                bytes: bytes as u64,
            });
            node.reach().await;
            done.complete(buffer);
            filled.complete(lent);
        }
        Contents::Away { fetch, .. } => fetch(lent, filled),
    }
    ticket
}

impl Close for BulkPort {
    fn close(&self) {
        self.inbox.close();
    }
}
