//! Messages between nodes (Berkeley NOW's thin layer, with credits).
//!
//! Small messages travel as words and arrive in the order of their arrival. Bulk travels in
//! buffers: the receiver lends the buffers, so the size of its pool is the senders' credit, and a
//! sender has its own buffer back when the data have left it.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use crate::backend::{Backend, Outgoing, Signal, Target};
use crate::guarded::{Close, Closed, Guarded};
use crate::ticket::{Completer, Ticket, ticket};
use crate::{Address, Buffer, Group, Node, Pool, Port, Rank, Time, Words, Work};

/// The longest small message: two segments of 1,024 bytes, the nanoPU's limit (NanoSort,
/// section 5.1).
pub const MESSAGE_BYTES: usize = 2048;

/// The longest small message in words.
pub const MESSAGE_WORDS: usize = MESSAGE_BYTES / 8;

/// Who waits for what another node sends looks so often whether the port was closed meanwhile: that
/// node may have died.
const LOOK_S: f64 = 0.25;

/// A small message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sent it.
    pub from: Rank,
    /// What it says.
    pub words: Words,
}

/// What a backend delivers to a mailbox.
pub enum Letter {
    /// A small message.
    Message(Message),
    /// A buffer that waits until the receiver has room for its contents.
    Shipment {
        /// Who sent it.
        from: Rank,
        /// Where what it says lies.
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
    fn bytes(&self) -> usize {
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
    /// shipment from another process is left where it is: that one does not run what we run, and
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

impl Close for Inbox {
    fn close(&self) {
        self.shared.change_now(|state| state.closed = true);
    }
}

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

    /// Whom to send so many words for all of a group to hear them.
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
    /// Who sent it.
    pub from: Rank,
    /// How much it is.
    pub bytes: usize,
    /// Gives the filled buffer.
    pub filled: Ticket<Buffer>,
}

/// Why nothing came that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// Whoever waited was sent home.
    Closed,
    /// That node sent what does not belong there: it may run another program, or another version of
    /// it.
    Foreign {
        /// Who sent it.
        from: Rank,
        /// What is wrong with it.
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
    inbox: Arc<Inbox>,
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
            if self.inbox.shared.look(|state| state.closed) {
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
        let step = |state: &mut State| {
            if state.closed {
                return Some(Err(Closed));
            }
            state.letters.pop_front().map(Ok)
        };
        let letter = self.inbox.shared.wait_for(node, step).await?;
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
