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

mod table;

use std::error::Error;
use std::sync::Arc;
use std::{fmt, io};

use node::{Mutex, Node, Rank, Time};

use crate::bulk::Bulk;
use crate::bundle::{BulkService, Bundle};
use crate::endpoint::Endpoint;
use crate::handlers::Handlers;
use crate::message::{Job, MEDIUM_BYTES, Region, Request, Returned, Target};
use crate::state::State;
use table::{BYTES, ENVELOPE, Envelope, FREE, MEMORY, Met, Number, Posted, TOO_LITTLE, Table};

/// Tasks that receive the bytes of long messages.
const TASKS: usize = 2;

/// Why two messages did not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMet {
    /// The receive that matches has less memory, or no message may be that long.
    TooLong {
        /// Bytes of the message.
        bytes: usize,
    },
    /// A message to the other node was returned, now or before.
    Returned(Returned),
    /// The bytes of a message that was matched have not come from that node.
    Silent(Rank),
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
            NotMet::Silent(rank) => {
                write!(out, "the bytes of a message of rank {rank} do not come")
            }
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
    service: BulkService,
    /// Bytes of the longest message.
    most: usize,
}

impl TwoSided {
    /// Takes part with messages of up to `bytes` bytes. All nodes call this, in the same order among the endpoints of
    /// a bundle; it owns the bundle's bulk.
    ///
    /// # Errors
    /// When the system has no memory or no threads.
    ///
    /// # Panics
    /// When the bundle serves bulk already, or `bytes` needs more than 32 bits.
    pub async fn open(
        node: &Node,
        bundle: &Bundle,
        job: Job,
        bytes: usize,
    ) -> io::Result<TwoSided> {
        assert!(u32::try_from(bytes).is_ok(), "{bytes} bytes of a message");
        let table = Arc::<Mutex<Table>>::default();
        let endpoint = bundle.endpoint(node, job, handlers(&table)).await;
        let service = bundle.serve_bulk(node, bytes, TASKS)?;
        Ok(TwoSided {
            endpoint,
            table,
            service,
            most: bytes,
        })
    }

    /// Sends a message; returns its memory when the bytes have left. A long message waits for its receive.
    ///
    /// # Errors
    /// When the receive has too little memory, or a message to that node was returned. The memory is lost then.
    pub async fn send(
        &self,
        node: &Node,
        to: Rank,
        tag: u32,
        memory: Bulk,
    ) -> Result<Bulk, NotMet> {
        let bytes = memory.bytes().len();
        if bytes > self.most {
            return Err(NotMet::TooLong { bytes });
        }
        if let Some(returned) = self.table.lock().failed.get(&to) {
            return Err(NotMet::Returned(returned.clone()));
        }
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
        let take = |table: &mut Table| table.memory.remove(&(to, number));
        let region = self.wait(node, Some(to), None, take).await?;
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
    /// When the memory is too little, the bytes do not come, or a message to that node was returned: to any node, if
    /// it receives from any.
    pub async fn receive(
        &self,
        node: &Node,
        from: Option<Rank>,
        tag: Option<u32>,
        memory: &Arc<Mutex<Bulk>>,
    ) -> Result<Received, NotMet> {
        let region = self.endpoint.export(node, memory).await;
        let receive = {
            let mut table = self.table.lock();
            table.receives += 1;
            let receive = table.receives;
            let posted = Posted {
                receive,
                from,
                tag,
                region,
                memory: Arc::clone(memory),
            };
            table.post(posted);
            receive
        };
        let received = self.receive_posted(node, from, receive).await;
        let forgotten = self.table.lock().forget(receive);
        if let Some(mut met) = forgotten {
            met.word.region = TOO_LITTLE;
            self.say(node, &met).await;
        }
        self.endpoint.withdraw(node, region).await;
        received
    }

    async fn receive_posted(
        &self,
        node: &Node,
        from: Option<Rank>,
        receive: u64,
    ) -> Result<Received, NotMet> {
        let take = |table: &mut Table| table.met.remove(&receive);
        let met = self.wait(node, from, None, take).await?;
        if !met.is_said {
            self.say(node, &met).await;
        }
        let Envelope {
            from,
            number,
            tag,
            bytes,
            ..
        } = met.envelope;
        if met.word.region == TOO_LITTLE {
            return Err(NotMet::TooLong { bytes });
        }
        if !met.is_short {
            let deadline = self.endpoint.bundle().patience_from(node);
            let take = |table: &mut Table| table.filled.remove(&(from, number)).then_some(());
            self.wait(node, Some(from), Some(deadline), take).await?;
        }
        Ok(Received { from, tag, bytes })
    }

    /// Tells the sender of an envelope that it has met its receive.
    async fn say(&self, node: &Node, met: &Met) {
        let to = self.endpoint.name().at(met.envelope.from);
        let request = Request::new(to, met.word.handler, &met.word.args());
        self.endpoint.request(node, request).await;
    }

    /// Ends the tasks that receive long messages.
    ///
    /// # Panics
    /// When one of them did.
    pub async fn end(self, node: &Node) {
        self.service.end(node).await;
    }

    /// The number of the next envelope to a node, and whether the bytes go with it.
    fn envelope_to(&self, to: Rank, bytes: usize) -> (Number, bool) {
        let mut table = self.table.lock();
        let next = table.next.entry(to).or_default();
        let number = *next;
        *next = next.wrapping_add(1);
        let is_short = bytes < MEDIUM_BYTES && table.taken.insert(to);
        (number, is_short)
    }

    /// Serves until the table has an answer, or a message to `of` was returned, to any if it is none.
    async fn wait<R>(
        &self,
        node: &Node,
        of: Option<Rank>,
        deadline: Option<Time>,
        mut take: impl FnMut(&mut Table) -> Option<R>,
    ) -> Result<R, NotMet> {
        let step = |_: &mut State| {
            let mut table = self.table.lock();
            if let Some(answer) = take(&mut table) {
                return Some(Ok(answer));
            }
            let failed = match of {
                Some(rank) => table.failed.get(&rank),
                None => table.failed.values().next(),
            };
            failed.map(|returned| Err(NotMet::Returned(returned.clone())))
        };
        let ended = self.endpoint.bundle().drive(node, deadline, step).await;
        ended.unwrap_or_else(|| Err(NotMet::Silent(of.unwrap_or_default())))
    }
}

fn handlers(table: &Arc<Mutex<Table>>) -> Handlers {
    let of = || Arc::clone(table);
    let (arrives, memory, free, filled, returned) = (of(), of(), of(), of(), of());
    Handlers::new()
        .on(ENVELOPE, move |token, args, payload| {
            let &[number, tag, bytes, is_short] = args else {
                return;
            };
            let held = (is_short > 0).then(|| payload.to_vec());
            let envelope = Envelope {
                from: token.from().rank,
                number,
                tag,
                bytes: held.as_ref().map_or(bytes as usize, Vec::len),
                held,
            };
            if let Some(word) = arrives.lock().arrive(envelope) {
                let replied = token.reply(word.handler, &word.args(), Vec::new());
                replied.expect("the first reply to a request");
            }
        })
        .on(MEMORY, move |token, args, _| {
            if let &[number, region] = args {
                let place = (token.from().rank, number);
                memory.lock().memory.insert(place, region);
            }
        })
        .on(FREE, move |token, _, _| {
            free.lock().taken.remove(&token.from().rank);
        })
        .on(BYTES, move |token, args, _| {
            if let &[number] = args {
                filled.lock().filled.insert((token.from().rank, number));
            }
        })
        .on_return(move |back| {
            let mut table = returned.lock();
            let failed = table.failed.entry(back.request.to.rank);
            failed.or_insert_with(|| back.clone());
        })
}
