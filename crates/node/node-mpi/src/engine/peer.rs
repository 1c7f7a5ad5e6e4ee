//! One peer's batches: those that leave, those that arrive, and the credits for them.
//!
//! A batch leaves
//!
//! * at once while most credits are here: the line is idle, and waiting would only add latency;
//! * else when it is full, or its oldest frame is 50 us old.
//!
//! Credits go back with any batch. If there is no other frame, a batch of credits alone leaves when
//! half of them are owed. Only such a batch may take the last credit. So two peers without credits
//! never wait for each other: the one that spent its last credit gave back at least half of the
//! other's with it.
//!
//! The end takes two frames, since credits must go back until the peer has nothing more to send:
//! *goodbye* (only credits will follow), and *last* when both sides have said goodbye. One more
//! receive than there are credits is posted, for *last*.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use node::backend::{Contents, Inboxes, Letter, PortInbox};
use node::{Buffer, Message, Port, Rank};

use super::Line;
use super::bulk::Bulk;
use crate::frame::{Batch, BatchReader, Frame};
use crate::outbox::{Command, Outbox, Shipment};
use crate::wire::{Hold, NetworkError, TOO_LONG, Wire, Wired};

/// Batches of a peer that may be on their way: 64 KiB of posted memory per peer. Of these, 48 KiB
/// carry frames, which keep a link of 10 Gbit/s busy for 38 us.
pub(super) const CREDITS: u32 = 4;

/// The longest time that a frame waits for others: a few times the cost of a send over TCP.
pub(super) const OLDEST: Duration = Duration::from_micros(50);

/// The state of a side's end.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Farewell {
    None,
    Goodbye,
    Last,
}

/// A receive for a batch.
struct Posted {
    hold: Hold,
    /// The length of the batch, once it has arrived.
    arrived: Option<usize>,
}

pub(super) struct Peer {
    pub rank: u32,
    pub bulk: Bulk,
    /// The batch that is being filled, and the time of its first frame.
    open: Option<(Batch, Instant)>,
    full: VecDeque<Batch>,
    /// Batches that may leave.
    credits: u32,
    /// Received batches whose credits have not gone back.
    owed: u32,
    /// Receives in the order of batches, from number `received` on.
    posted: VecDeque<Posted>,
    received: u64,
    said: Farewell,
    heard: Farewell,
    /// Whether it broke the protocol, and is ignored.
    is_foreign: bool,
    /// The mistake in a piece that it sent.
    wrong_piece: Option<String>,
}

impl Peer {
    pub(super) fn new(rank: u32) -> Peer {
        Peer {
            rank,
            bulk: Bulk::default(),
            open: None,
            full: VecDeque::new(),
            credits: CREDITS,
            owed: 0,
            posted: VecDeque::new(),
            received: 0,
            said: Farewell::None,
            heard: Farewell::None,
            is_foreign: false,
            wrong_piece: None,
        }
    }

    /// Posts the receives for the peer's credits, and one for its *last*.
    pub(super) fn expect_batches<W: Wire>(&mut self, line: &mut Line<W>) -> Wired {
        for _ in 0..=CREDITS {
            let hold = line.wire.hold(Batch::room());
            self.expect_batch(hold, line)?;
        }
        Ok(())
    }

    fn expect_batch<W: Wire>(&mut self, hold: Hold, line: &mut Line<W>) -> Wired {
        let number = self.received + self.posted.len() as u64;
        let arrived = None;
        self.posted.push_back(Posted { hold, arrived });
        line.expect_batch(hold, self.rank, number)
    }

    /// Notes that a batch has arrived. The wire may report batches in another order.
    pub(super) fn batch_arrived(&mut self, number: u64, bytes: usize) {
        self.posted[(number - self.received) as usize].arrived = Some(bytes);
    }

    /// Adds a frame to the batches that leave.
    pub(super) fn write<W: Wire>(&mut self, frame: &Frame, line: &mut Line<W>, now: Instant) {
        assert!(self.said == Farewell::None, "nothing is sent after the end");
        let is_full = |(batch, _): &mut (Batch, Instant)| !batch.fits(frame);
        let full = self.open.take_if(is_full);
        self.full.extend(full.map(|(batch, _)| batch));
        let (batch, _) = self.open.get_or_insert_with(|| (line.batch(), now));
        batch.add(frame);
    }

    /// Sends the batches that may leave. Returns the number of small messages in them, and whether
    /// there was a batch.
    pub(super) fn send_batches<W: Wire>(
        &mut self,
        line: &mut Line<W>,
        now: Instant,
    ) -> Wired<(usize, bool)> {
        let (mut messages, mut moved) = (0, false);
        while let Some(batch) = self.next_batch(line, now) {
            messages += batch.messages;
            moved = true;
            let owed = std::mem::take(&mut self.owed);
            line.send_batch(batch.close(owed), self.rank)?;
        }
        Ok((messages, moved))
    }

    fn next_batch<W: Wire>(&mut self, line: &mut Line<W>, now: Instant) -> Option<Batch> {
        if self.credits >= 2
            && let Some(batch) = self.next_with_frames(now)
        {
            self.credits -= 1;
            return Some(batch);
        }
        if self.said == Farewell::Last {
            return None;
        }
        let is_silent = self.open.is_none() && self.full.is_empty();
        if is_silent && self.said == Farewell::Goodbye && self.heard >= Farewell::Goodbye {
            self.said = Farewell::Last;
            let mut batch = line.batch();
            batch.add(&Frame::Last);
            return Some(batch);
        }
        if self.credits >= 1 && self.owed >= CREDITS / 2 && self.heard < Farewell::Last {
            self.credits -= 1;
            return Some(line.batch());
        }
        None
    }

    /// The next full batch, or the open one if it may leave.
    fn next_with_frames(&mut self, now: Instant) -> Option<Batch> {
        if let Some(batch) = self.full.pop_front() {
            return Some(batch);
        }
        let is_idle = self.credits > CREDITS / 2;
        let leaves = |since: Instant| is_idle || now.duration_since(since) >= OLDEST;
        let open = self.open.take_if(|(_, since)| leaves(*since));
        open.map(|(batch, _)| batch)
    }

    /// Announces, once, that only credits will follow.
    pub(super) fn say_goodbye<W: Wire>(&mut self, line: &mut Line<W>, now: Instant) {
        if self.said == Farewell::None {
            self.write(&Frame::Goodbye, line, now);
            self.said = Farewell::Goodbye;
        }
    }

    /// Notes that a piece of bulk has the wrong length.
    pub(super) fn wrong_piece_arrived(&mut self, bytes: usize, expected: usize) {
        self.wrong_piece = Some(match bytes {
            TOO_LONG => format!("a piece is longer than its {expected} bytes"),
            _ => format!("a piece has {bytes} bytes, not {expected}"),
        });
    }

    pub(super) fn ignore(&mut self) {
        self.is_foreign = true;
    }

    /// Whether it has said goodbye, so it may be silent.
    pub(super) fn has_said_goodbye(&self) -> bool {
        self.heard >= Farewell::Goodbye
    }

    /// Whether both sides have sent everything.
    pub(super) fn is_over(&self) -> bool {
        self.said == Farewell::Last && self.heard == Farewell::Last && !self.bulk.is_under_way()
    }

    /// Whether all frames and shipments have left.
    pub(super) fn has_sent_all(&self) -> bool {
        self.open.is_none() && self.full.is_empty() && !self.bulk.is_leaving()
    }

    /// Whether the next turn should come soon.
    pub(super) fn is_waiting(&self) -> bool {
        self.open.is_some() || self.bulk.is_under_way()
    }

    /// Reads the batches that have arrived, in their order; whether there was one.
    pub(super) fn receive_batches<W: Wire>(
        &mut self,
        line: &mut Line<W>,
        inboxes: Option<&dyn Inboxes>,
        outbox: &Arc<Outbox>,
    ) -> Wired<bool> {
        if self.is_foreign {
            return Ok(false);
        }
        let rank = self.rank;
        let foreign = |what: String| NetworkError::foreign(rank, what);
        if let Some(what) = self.wrong_piece.take() {
            return Err(foreign(what));
        }
        let mut moved = false;
        while let Some(&Posted {
            arrived: Some(bytes),
            hold,
        }) = self.posted.front()
        {
            moved = true;
            self.posted.pop_front();
            self.received += 1;
            let batch = line.wire.held(hold).bytes().get(..bytes);
            let batch = batch.ok_or_else(|| foreign("a batch is too long".into()))?;
            let mut delivery = Delivery {
                inboxes,
                outbox,
                last: None,
            };
            self.read(batch, &mut delivery).map_err(foreign)?;
            if self.heard == Farewell::Last {
                line.wire.release(hold);
                return Ok(true);
            }
            self.owed += 1;
            self.expect_batch(hold, line)?;
        }
        Ok(moved)
    }

    fn read(&mut self, batch: &[u8], delivery: &mut Delivery<'_>) -> Result<(), String> {
        let mut reading = BatchReader::new(batch)?;
        self.credits = self.credits.saturating_add(reading.credits);
        if self.credits > CREDITS {
            return Err(format!("{} credits of {CREDITS}", self.credits));
        }
        while let Some(frame) = reading.next()? {
            self.read_frame(frame, delivery)?;
        }
        Ok(())
    }

    fn read_frame(&mut self, frame: Frame, delivery: &mut Delivery<'_>) -> Result<(), String> {
        if self.heard > Farewell::None && frame != Frame::Last {
            return Err(format!("after its goodbye it sent {frame:?}"));
        }
        let from = Rank(self.rank);
        match frame {
            Frame::Message { port, words } => {
                delivery.deliver(port, Letter::Message(Message { from, words }));
            }
            Frame::Ready {
                port,
                number,
                bytes,
            } => {
                let bytes = usize::try_from(bytes).map_err(|_| format!("ships {bytes} bytes"))?;
                let contents = delivery.contents(self.rank, Shipment { number, bytes });
                delivery.deliver(port, Letter::Shipment { from, contents });
            }
            Frame::Cleared { number } => self.bulk.cleared(number)?,
            Frame::Goodbye => self.heard = Farewell::Goodbye,
            Frame::Last if self.heard == Farewell::Goodbye => self.heard = Farewell::Last,
            Frame::Last => return Err("its last frame came before its goodbye".into()),
        }
        Ok(())
    }
}

/// Delivers the letters of a batch to mailboxes.
struct Delivery<'a> {
    /// `None` in a process that ends without having had a node: its letters are dropped.
    inboxes: Option<&'a dyn Inboxes>,
    outbox: &'a Arc<Outbox>,
    /// The mailbox of the previous letter, since the next one is often for the same port.
    last: Option<(Port, Arc<PortInbox>)>,
}

impl Delivery<'_> {
    fn deliver(&mut self, port: Port, letter: Letter) {
        let Some(inboxes) = self.inboxes else { return };
        if self.last.as_ref().is_none_or(|(last, _)| *last != port) {
            self.last = Some((port, inboxes.inbox(port)));
        }
        if let Some((_, inbox)) = &self.last {
            inbox.deliver(letter);
        }
    }

    /// The contents of a shipment, which a task fetches through the outbox.
    fn contents(&self, from: u32, shipment: Shipment) -> Contents {
        let outbox = Arc::clone(self.outbox);
        let fetch = Box::new(move |buffer: Buffer, done| {
            assert!(
                !buffer.is_counted(),
                "bytes do not fit in a buffer of counts"
            );
            outbox.push(Command::Fetch {
                from,
                shipment,
                buffer,
                done,
            });
        });
        Contents::Away {
            bytes: shipment.bytes,
            fetch,
        }
    }
}
