//! Messages between nodes (Berkeley NOW's thin layer, with credits).
//!
//! Small messages travel as words and arrive in the order of their arrival. Bulk travels in
//! buffers: the receiver lends the buffers, so the size of its pool is the senders' credit, and a
//! sender has its own buffer back when the data have left it.

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

/// How often a waiting receiver checks whether its port was closed, since the sender may have died.
const LOOK_S: f64 = 0.25;

impl Node {
    /// Makes this task the owner of a port for small messages.
    pub fn bind(&self, port: Port) -> MessagePort {
        self.backend().bind(port);
        MessagePort { port }
    }

    /// Makes this task the owner of a port for bulk.
    pub fn bind_bulk(&self, port: Port) -> BulkPort {
        let inbox = self.backend().inbox(port);
        inbox.bind(port);
        BulkPort { inbox }
    }

    /// Sends a small message; it leaves at the task's clock. Waits while the node's NIC has no room
    /// for it.
    pub async fn send(&self, to: Address, words: &[u64]) {
        self.send_to(Target::One(to), &Words::from(words)).await;
    }

    pub(crate) async fn send_to(&self, to: Target, words: &Words) {
        self.go_out(Outgoing {
            to,
            words,
            forwarded: false,
        })
        .await;
    }

    /// Passes a message on. On a nanoPU each word goes from the receiving to the sending register
    /// by the instruction that reads it.
    pub async fn forward(&self, to: Address, message: &Message) {
        let words = &message.words;
        self.go_out(Outgoing {
            to: Target::One(to),
            words,
            forwarded: true,
        })
        .await;
    }

    /// Sends a small message to every member of a group: once if the network can multicast, else to
    /// one member after the other.
    pub async fn multicast(&self, to: Group, port: Port, words: &[u64]) {
        let words = Words::from(words);
        for to in self.targets(to, port, words.len()) {
            self.send_to(to, &words).await;
        }
    }

    /// The targets of a message of `words` words that all members of a group are to receive.
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

    /// Sends a small message, or takes one of a port while the NIC has no room: `None` when it is
    /// sent.
    pub(crate) async fn send_or_next(
        &self,
        to: Target,
        words: &Words,
        port: &MessagePort,
    ) -> Option<Message> {
        check_length(words);
        let outgoing = Outgoing {
            to,
            words,
            forwarded: false,
        };
        poll_fn(|_| match self.backend().poll_send(&outgoing) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => self.backend().poll_next(port.port, None),
        })
        .await
    }

    /// Ships the filled part of a buffer; the ticket gives the buffer back.
    pub fn ship(&self, to: Address, buffer: Buffer) -> Ticket<Buffer> {
        let (ticket, done) = ticket(self, "room at the receiver");
        let contents = Contents::Here { buffer, done };
        self.backend().post(
            to,
            Letter::Shipment {
                from: self.rank(),
                contents,
            },
        );
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

/// The owner's end of a port for small messages. Tasks of one node may share it: then each message
/// goes to the one that asks first.
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

/// A shipment that comes to a lent buffer.
#[derive(Debug)]
pub struct Arrival {
    /// The node that sent it.
    pub from: Rank,
    /// How much it is.
    pub bytes: usize,
    /// Gives the filled buffer.
    pub filled: Ticket<Buffer>,
}

/// Why a shipment was not received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// The port was closed.
    Closed,
    /// That node sent something that does not belong there: it may run another program, or another
    /// version of it.
    Foreign {
        /// The node that sent it.
        from: Rank,
        /// The mistake in it.
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
                "what rank {from} sent does not belong there ({what}); run the same version on all ranks, and test that \
                 machine's memory and network"
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
    /// Lends a buffer of `pool` to the next shipment: who sent it, and its contents.
    ///
    /// # Errors
    /// When the port or the pool was closed, or what came is no shipment for such a buffer.
    pub async fn accept(&self, node: &Node, pool: &Pool) -> Result<(Rank, Buffer), Undelivered> {
        let Arrival { from, filled, .. } = self.lend(node, pool).await?;
        let look = (LOOK_S / node.seconds(1)) as u64;
        while !filled.done_by(node, node.now().after(look)).await {
            if self.inbox.is_closed() {
                return Err(Undelivered::Closed);
            }
        }
        Ok((from, filled.wait(node).await))
    }

    /// Lends a buffer of `pool` to the next shipment, and does not wait for its contents: several
    /// may be on their way at once.
    ///
    /// # Errors
    /// As of [`BulkPort::accept`].
    pub async fn lend(&self, node: &Node, pool: &Pool) -> Result<Arrival, Undelivered> {
        let mut lent = pool.take(node).await?;
        let letter = self.inbox.next(node).await?;
        let (from, contents) = match letter {
            Letter::Shipment { from, contents } => (from, contents),
            Letter::Message(Message { from, .. }) => {
                return Err(Undelivered::Foreign {
                    from,
                    what: "a small message for bulk".into(),
                });
            }
        };
        let (bytes, room) = (contents.bytes(), lent.capacity());
        if bytes > room {
            let what = format!("a shipment of {bytes} bytes for a buffer of {room}");
            return Err(Undelivered::Foreign { from, what });
        }
        let (arrival, filled) = ticket(node, "a shipment");
        match contents {
            Contents::Here { buffer, done } => {
                lent.copy_from(0, &buffer, 0..buffer.len());
                lent.set_len(buffer.len());
                node.work(Work::Copy {
                    bytes: buffer.len() as u64,
                });
                node.reach().await;
                done.complete(buffer);
                filled.complete(lent);
            }
            Contents::Away { fetch, .. } => fetch(lent, filled),
        }
        Ok(Arrival {
            from,
            bytes,
            filled: arrival,
        })
    }
}

impl Close for BulkPort {
    fn close(&self) {
        self.inbox.close();
    }
}
