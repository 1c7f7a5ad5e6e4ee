//! Two-sided messages: a send and a receive that match by sender and tag, as MPI's do (Berkeley NOW, section 4).
//!
//! ```text
//!   below 8 KB    envelope with the bytes > matched in the handler, or kept in the sender's buffer there
//!                 < the buffer is free; or that comes later, as a request of the receive that matches
//!   else          envelope > matched < its memory            bytes > the memory, by bulk
//!                 envelope > kept; later: its memory, as a request of the receive that matches
//! ```
//!
//! Each node has one buffer for each sender, and each sender knows whether its own is free: while it is not, short
//! messages go as long ones do. Messages from one node to another are matched in the order in which they were sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;
use std::sync::Arc;
use std::{fmt, io};

use node::{Mutex, Node, Rank};

use crate::bulk::Bulk;
use crate::bundle::{BulkService, Bundle};
use crate::endpoint::Endpoint;
use crate::handlers::Handlers;
use crate::message::{Handler, Job, MEDIUM_BYTES, Region, Request, Returned, Target};

/// An envelope: its number among those of its sender, the tag, the number of bytes, and whether they follow.
const ENVELOPE: Handler = Handler(1);
/// The memory for the bytes of an envelope, as a reply or later.
const MEMORY: Handler = Handler(2);
/// The sender's buffer is free, as a reply or later.
const FREE: Handler = Handler(3);
/// The bytes have come, by bulk.
const BYTES: Handler = Handler(4);

/// Tasks that receive the bytes of long messages.
const TASKS: usize = 2;

/// In place of a region: the receive has too little memory.
const TOO_LITTLE: u32 = u32::MAX;

/// Why two messages did not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMet {
    /// The receive that matches has less memory than the message has bytes.
    TooLong {
        /// Bytes of the message.
        bytes: usize,
    },
    /// A message to the other node was returned.
    Returned(Returned),
}

impl fmt::Display for NotMet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMet::TooLong { bytes } => {
                write!(
                    out,
                    "the receive has less memory than the {bytes} bytes of the message"
                )
            }
            NotMet::Returned(returned) => returned.fmt(out),
        }
    }
}

impl Error for NotMet {}

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The sender.
    pub from: Rank,
    /// The tag.
    pub tag: u32,
    /// The number of bytes, which begin the memory of the receive.
    pub bytes: usize,
}

/// Two-sided messages of a node; tasks may share it.
pub struct TwoSided {
    endpoint: Endpoint,
    table: Arc<Mutex<Table>>,
    service: Option<BulkService>,
}

/// The number of an envelope among those of its sender to this node.
type Number = u32;

#[derive(Default)]
struct Table {
    /// As a sender, by receiver: the number of the next envelope, and whether its buffer there is taken.
    next: BTreeMap<Rank, Number>,
    taken: BTreeSet<Rank>,
    /// As a sender: the memory for an envelope's bytes.
    memory: BTreeMap<(Rank, Number), u32>,
    /// As a receiver, by sender: envelopes that were matched or kept, and those that overtook others.
    seen: BTreeMap<Rank, Number>,
    early: BTreeMap<(Rank, Number), Envelope>,
    /// Envelopes without a receive, and receives without an envelope, each in their order.
    kept: VecDeque<Envelope>,
    posted: VecDeque<Posted>,
    receives: u64,
    met: BTreeMap<u64, Met>,
    /// Envelopes whose bytes have come.
    filled: BTreeSet<(Rank, Number)>,
    returned: Option<Returned>,
}

#[derive(Debug)]
struct Envelope {
    from: Rank,
    number: Number,
    tag: u32,
    bytes: usize,
    /// The bytes of a short message, in the sender's buffer.
    held: Option<Vec<u8>>,
}

/// An envelope with its receive.
#[derive(Debug)]
struct Met {
    envelope: Envelope,
    /// Whether its bytes came with it.
    is_short: bool,
    word: Word,
    /// Whether a handler has replied with the word.
    is_said: bool,
}

/// The message to the sender of an envelope that was matched.
#[derive(Clone, Copy, Debug)]
struct Word {
    handler: Handler,
    number: Number,
    region: u32,
}

impl Word {
    fn args(self) -> [u32; 2] {
        [self.number, self.region]
    }
}

struct Posted {
    receive: u64,
    from: Option<Rank>,
    tag: Option<u32>,
    region: Region,
    memory: Arc<Mutex<Bulk>>,
}

impl Posted {
    fn matches(&self, envelope: &Envelope) -> bool {
        self.from.is_none_or(|from| from == envelope.from)
            && self.tag.is_none_or(|tag| tag == envelope.tag)
    }

    /// Meets an envelope: its bytes go to the memory, if they are here.
    fn meet(&self, envelope: Envelope) -> Met {
        let mut memory = self.memory.lock();
        let fits = memory.capacity() >= envelope.bytes;
        if fits {
            memory.set_len(envelope.bytes);
            if let Some(held) = &envelope.held {
                memory.bytes_mut().copy_from_slice(held);
            }
        }
        let is_short = envelope.held.is_some();
        let word = Word {
            handler: if is_short { FREE } else { MEMORY },
            number: envelope.number,
            region: if fits { self.region.0 } else { TOO_LITTLE },
        };
        Met {
            envelope,
            is_short,
            word,
            is_said: false,
        }
    }
}

impl Table {
    /// Takes an envelope, and those that waited for it, in their order. The word to its own sender, if it has met
    /// its receive; of the others the tasks that receive them say theirs.
    fn arrive(&mut self, envelope: Envelope) -> Option<Word> {
        let (from, number) = (envelope.from, envelope.number);
        self.early.insert((from, number), envelope);
        let mut said = None;
        while let Some(next) = self.next_of(from) {
            let at = self.posted.iter().position(|posted| posted.matches(&next));
            let Some(posted) = at.and_then(|at| self.posted.remove(at)) else {
                self.kept.push_back(next);
                continue;
            };
            let mut met = posted.meet(next);
            met.is_said = met.word.number == number;
            if met.is_said {
                said = Some(met.word);
            }
            self.met.insert(posted.receive, met);
        }
        said
    }

    /// The envelope of a sender whose turn it is.
    fn next_of(&mut self, from: Rank) -> Option<Envelope> {
        let seen = self.seen.entry(from).or_default();
        let next = self.early.remove(&(from, *seen))?;
        *seen += 1;
        Some(next)
    }

    /// Posts a receive; it ends with an envelope that it matches, the oldest first.
    fn post(&mut self, posted: Posted) {
        let at = self.kept.iter().position(|kept| posted.matches(kept));
        match at.and_then(|at| self.kept.remove(at)) {
            Some(envelope) => {
                let met = posted.meet(envelope);
                self.met.insert(posted.receive, met);
            }
            None => self.posted.push_back(posted),
        }
    }
}

impl TwoSided {
    /// Takes part with messages of up to `bytes` bytes. All nodes call this, in the same order among the endpoints of
    /// a bundle; it owns the bundle's bulk.
    ///
    /// # Errors
    /// When the system has no memory or no threads.
    pub async fn open(
        node: &Node,
        bundle: &Bundle,
        job: Job,
        bytes: usize,
    ) -> io::Result<TwoSided> {
        let table = Arc::<Mutex<Table>>::default();
        let endpoint = bundle.endpoint(node, job, handlers(&table)).await;
        let service = Some(bundle.serve_bulk(node, bytes, TASKS)?);
        Ok(TwoSided {
            endpoint,
            table,
            service,
        })
    }

    /// Sends a message; returns its memory when the bytes have left. A long message waits for its receive.
    ///
    /// # Errors
    /// When the receive has too little memory, or a message is returned. The memory is lost then.
    pub async fn send(
        &self,
        node: &Node,
        to: Rank,
        tag: u32,
        memory: Bulk,
    ) -> Result<Bulk, NotMet> {
        let bytes = memory.bytes().len();
        let (number, is_short) = self.envelope_to(to, bytes);
        let args = [number, tag, bytes as u32, is_short.into()];
        let held = if is_short {
            memory.bytes().to_vec()
        } else {
            Vec::new()
        };
        let name = self.endpoint.name().at(to);
        let envelope = Request::new(name, ENVELOPE, &args).with(held);
        self.endpoint.request(node, envelope).await;
        if is_short {
            return Ok(memory);
        }
        let region = self
            .wait(node, |table| table.memory.remove(&(to, number)))
            .await?;
        if region == TOO_LITTLE {
            return Err(NotMet::TooLong { bytes });
        }
        let target = Target {
            region: Region(region),
            offset: 0,
        };
        let request = Request::new(name, BYTES, &[number]).into(target);
        let sent = self.endpoint.call_bulk(node, request, memory).await;
        sent.map(|(_, memory)| memory).map_err(NotMet::Returned)
    }

    /// Receives a message into `memory`: from a node or any, with a tag or any.
    ///
    /// # Errors
    /// When the memory is too little, or a message is returned.
    pub async fn receive(
        &self,
        node: &Node,
        from: Option<Rank>,
        tag: Option<u32>,
        memory: &Arc<Mutex<Bulk>>,
    ) -> Result<Received, NotMet> {
        let region = self.endpoint.export(node, memory).await;
        let received = self.receive_in(node, (from, tag), region, memory).await;
        self.endpoint.withdraw(node, region).await;
        received
    }

    async fn receive_in(
        &self,
        node: &Node,
        wanted: (Option<Rank>, Option<u32>),
        region: Region,
        memory: &Arc<Mutex<Bulk>>,
    ) -> Result<Received, NotMet> {
        let receive = {
            let mut table = self.table.lock();
            table.receives += 1;
            let receive = table.receives;
            let posted = Posted {
                receive,
                from: wanted.0,
                tag: wanted.1,
                region,
                memory: Arc::clone(memory),
            };
            table.post(posted);
            receive
        };
        let met = self.wait(node, |table| table.met.remove(&receive)).await?;
        let Envelope {
            from,
            number,
            tag,
            bytes,
            ..
        } = met.envelope;
        if !met.is_said {
            let to = self.endpoint.name().at(from);
            let request = Request::new(to, met.word.handler, &met.word.args());
            self.endpoint.request(node, request).await;
        }
        if met.word.region == TOO_LITTLE {
            return Err(NotMet::TooLong { bytes });
        }
        if !met.is_short {
            let is_filled = |table: &mut Table| table.filled.remove(&(from, number)).then_some(());
            self.wait(node, is_filled).await?;
        }
        Ok(Received { from, tag, bytes })
    }

    /// Ends the tasks that receive long messages.
    pub async fn end(mut self, node: &Node) {
        if let Some(service) = self.service.take() {
            service.end(node).await;
        }
    }

    /// The number of the next envelope to a node, and whether the bytes go with it.
    fn envelope_to(&self, to: Rank, bytes: usize) -> (Number, bool) {
        let mut table = self.table.lock();
        let next = table.next.entry(to).or_default();
        let number = *next;
        *next += 1;
        let is_short = bytes < MEDIUM_BYTES && table.taken.insert(to);
        (number, is_short)
    }

    /// Serves until the table has an answer.
    async fn wait<R>(
        &self,
        node: &Node,
        mut take: impl FnMut(&mut Table) -> Option<R>,
    ) -> Result<R, NotMet> {
        let mut answer = None;
        let is_over = |_: &_| {
            let mut table = self.table.lock();
            answer = take(&mut table);
            answer.is_some() || table.returned.is_some()
        };
        self.endpoint.bundle().serve_until(node, is_over).await;
        answer.ok_or_else(|| {
            let returned = self.table.lock().returned.clone();
            NotMet::Returned(returned.expect("one of them ended the wait"))
        })
    }
}

fn handlers(table: &Arc<Mutex<Table>>) -> Handlers {
    let of = || Arc::clone(table);
    let (arrives, memory, free, filled, returned) = (of(), of(), of(), of(), of());
    Handlers::new()
        .on(ENVELOPE, move |token, args, payload| {
            let is_short = args[3] > 0;
            let envelope = Envelope {
                from: token.from().rank,
                number: args[0],
                tag: args[1],
                bytes: args[2] as usize,
                held: is_short.then(|| payload.to_vec()),
            };
            if let Some(word) = arrives.lock().arrive(envelope) {
                let replied = token.reply(word.handler, &word.args(), Vec::new());
                replied.expect("the first reply to a request");
            }
        })
        .on(MEMORY, move |token, args, _| {
            let place = (token.from().rank, args[0]);
            memory.lock().memory.insert(place, args[1]);
        })
        .on(FREE, move |token, _, _| {
            free.lock().taken.remove(&token.from().rank);
        })
        .on(BYTES, move |token, args, _| {
            let place = (token.from().rank, args[0]);
            filled.lock().filled.insert(place);
        })
        .on_return(move |back| {
            returned.lock().returned.get_or_insert(back.clone());
        })
}
