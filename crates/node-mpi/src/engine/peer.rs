//! One peer's batches: what leaves for it, what comes from it, and the credits between.
//!
//! A batch leaves
//!
//! * at once while most credits are there: the line is idle, and waiting would only cost latency;
//! * else when it is full, or its oldest frame is 50 us old.
//!
//! Credits go back with whatever leaves. With nothing to say, a batch of credits alone goes when
//! half of them are owed; it may take the last credit, which nothing else may. So two peers without
//! credits never wait for each other: who spent the last one gave at least half of them with it.
//!
//! The end takes two words, since credits must go back until the other has nothing to say any more:
//! *goodbye* (nothing new will come), and, when both have said it, *last*, for which one more
//! receive than there are credits is posted.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use node::backend::{Contents, Inboxes, Letter, PortInbox};
use node::{Buffer, Message, Port, Rank};

use super::Line;
use super::bulk::Bulk;
use crate::frame::{Batch, Frame, Reading};
use crate::outbox::{Command, Outbox, Shipment};
use crate::wire::{Hold, NetworkError, TOO_LONG, Wire, Wired};

/// Batches that a peer may have sent before we have taken them over: 64 KiB of posted memory for
/// each peer, and 48 KiB under way, which a link of 10 Gbit/s needs for 38 us.
pub(super) const CREDITS: u32 = 4;

/// How long a frame waits for company: what a send over TCP costs, a few times.
pub(super) const OLDEST: Duration = Duration::from_micros(50);

/// How far a side is with taking its leave.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Farewell {
    None,
    Goodbye,
    Last,
}

/// A receive for a batch.
struct Posted {
    hold: Hold,
    came: Option<usize>,
}

pub(super) struct Peer {
    pub rank: u32,
    pub bulk: Bulk,
    /// The batch that is being filled, and since when.
    open: Option<(Batch, Instant)>,
    full: VecDeque<Batch>,
    credits: u32,
    /// Batches taken over for which the peer has no credit yet.
    owed: u32,
    /// In the order in which batches come, from number `gone` on.
    posted: VecDeque<Posted>,
    gone: u64,
    said: Farewell,
    heard: Farewell,
    /// It does not keep to the protocol, and is heard no more.
    is_foreign: bool,
    /// What it has sent instead of a piece.
    wrong: Option<String>,
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
            gone: 0,
            said: Farewell::None,
            heard: Farewell::None,
            is_foreign: false,
            wrong: None,
        }
    }

    /// Posts the receives that the peer's credits stand for, and one for its last word.
    pub(super) fn expect_batches<W: Wire>(&mut self, line: &mut Line<W>) -> Wired {
        for _ in 0..=CREDITS {
            let hold = line.wire.hold(Batch::room());
            self.expect_batch(hold, line)?;
        }
        Ok(())
    }

    fn expect_batch<W: Wire>(&mut self, hold: Hold, line: &mut Line<W>) -> Wired {
        let number = self.gone + self.posted.len() as u64;
        self.posted.push_back(Posted { hold, came: None });
        line.expect_batch(hold, self.rank, number)
    }

    /// A batch has come, maybe before an earlier one is known to have.
    pub(super) fn came(&mut self, number: u64, bytes: usize) {
        self.posted[(number - self.gone) as usize].came = Some(bytes);
    }

    /// Adds a frame to what leaves.
    pub(super) fn write<W: Wire>(&mut self, frame: &Frame, line: &mut Line<W>, now: Instant) {
        assert!(self.said == Farewell::None, "nothing is sent after the end");
        if self
            .open
            .as_ref()
            .is_some_and(|(batch, _)| !batch.fits(frame))
        {
            self.full.extend(self.open.take().map(|(batch, _)| batch));
        }
        let (batch, _) = self.open.get_or_insert_with(|| (line.batch(), now));
        batch.add(frame);
    }

    /// Sends what may go: how many small messages that was, and whether anything went.
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
        if self.credits >= 2 {
            let is_idle = self.credits > CREDITS / 2;
            let goes = |since: Instant| is_idle || now.duration_since(since) >= OLDEST;
            let open = self
                .open
                .take_if(|(_, since)| self.full.is_empty() && goes(*since));
            if let Some(batch) = self.full.pop_front().or(open.map(|(batch, _)| batch)) {
                self.credits -= 1;
                return Some(batch);
            }
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

    /// This side has nothing new to say; once.
    pub(super) fn say_goodbye<W: Wire>(&mut self, line: &mut Line<W>, now: Instant) {
        if self.said == Farewell::None {
            self.write(&Frame::Goodbye, line, now);
            self.said = Farewell::Goodbye;
        }
    }

    /// Something else came where a piece of bulk belongs.
    pub(super) fn wrong_piece(&mut self, bytes: usize, expected: usize) {
        self.wrong = Some(match bytes {
            TOO_LONG => format!("more came than the piece of {expected} bytes that belongs there"),
            _ => format!("a piece of {bytes} bytes came where {expected} belong"),
        });
    }

    /// From here on it is not heard.
    pub(super) fn ignore(&mut self) {
        self.is_foreign = true;
    }

    /// Whether no task of it will say anything any more: then it may be silent.
    pub(super) fn has_parted(&self) -> bool {
        self.heard >= Farewell::Goodbye
    }

    /// Whether both sides have said all, and bulk is through.
    pub(super) fn is_over(&self) -> bool {
        self.said == Farewell::Last && self.heard == Farewell::Last && !self.bulk.is_under_way()
    }

    /// Whether all that was written has left, and all that was shipped.
    pub(super) fn is_through(&self) -> bool {
        self.open.is_none() && self.full.is_empty() && !self.bulk.is_leaving()
    }

    /// Whether the next turn should come soon.
    pub(super) fn is_waiting(&self) -> bool {
        self.open.is_some() || self.bulk.is_under_way()
    }

    /// Takes over the batches that have come, in their order.
    pub(super) fn take_in<W: Wire>(
        &mut self,
        line: &mut Line<W>,
        inboxes: Option<&dyn Inboxes>,
        outbox: &Arc<Outbox>,
    ) -> Wired<bool> {
        let mut moved = false;
        if self.is_foreign {
            return Ok(false);
        }
        if let Some(what) = self.wrong.take() {
            return Err(NetworkError::foreign(self.rank, what));
        }
        while let Some(Posted {
            came: Some(bytes),
            hold,
        }) = self.posted.front()
        {
            let (bytes, hold) = (*bytes, *hold);
            moved = true;
            self.posted.pop_front();
            self.gone += 1;
            let Some(batch) = line.wire.held(hold).bytes().get(..bytes) else {
                return Err(NetworkError::foreign(
                    self.rank,
                    "a batch is longer than any may be",
                ));
            };
            let mut desk = Desk {
                inboxes,
                outbox,
                last: None,
            };
            self.read(batch, &mut desk)
                .map_err(|what| NetworkError::foreign(self.rank, what))?;
            if self.heard == Farewell::Last {
                line.wire.release(hold);
                return Ok(true);
            }
            self.owed += 1;
            self.expect_batch(hold, line)?;
        }
        Ok(moved)
    }

    fn read(&mut self, batch: &[u8], desk: &mut Desk<'_>) -> Result<(), String> {
        let mut reading = Reading::new(batch)?;
        self.credits = self.credits.saturating_add(reading.credits);
        if self.credits > CREDITS {
            return Err(format!("{} credits of {CREDITS}", self.credits));
        }
        while let Some(frame) = reading.next()? {
            self.hear(frame, desk)?;
        }
        Ok(())
    }

    fn hear(&mut self, frame: Frame, desk: &mut Desk<'_>) -> Result<(), String> {
        if self.heard > Farewell::None && frame != Frame::Last {
            return Err(format!("after its goodbye it said {frame:?}"));
        }
        match frame {
            Frame::Message { port, words } => {
                let message = Message {
                    from: Rank(self.rank),
                    words,
                };
                desk.deliver(port, Letter::Message(message));
            }
            Frame::Ready {
                port,
                number,
                bytes,
            } => {
                let bytes = usize::try_from(bytes).map_err(|_| format!("ships {bytes} bytes"))?;
                let contents = desk.away(self.rank, Shipment { number, bytes });
                desk.deliver(
                    port,
                    Letter::Shipment {
                        from: Rank(self.rank),
                        contents,
                    },
                );
            }
            Frame::Cleared { number } => self.bulk.cleared(number)?,
            Frame::Goodbye => self.heard = Farewell::Goodbye,
            Frame::Last if self.heard == Farewell::Goodbye => self.heard = Farewell::Last,
            Frame::Last => return Err("its last word came before its goodbye".into()),
        }
        Ok(())
    }
}

/// Where letters of a batch go.
struct Desk<'a> {
    /// Nowhere, when the process leaves without having had a node.
    inboxes: Option<&'a dyn Inboxes>,
    outbox: &'a Arc<Outbox>,
    /// Letters for one port often follow each other.
    last: Option<(Port, Arc<PortInbox>)>,
}

impl Desk<'_> {
    fn deliver(&mut self, port: Port, letter: Letter) {
        let Some(inboxes) = self.inboxes else { return };
        if self.last.as_ref().is_none_or(|(last, _)| *last != port) {
            self.last = Some((port, inboxes.inbox(port)));
        }
        if let Some((_, inbox)) = &self.last {
            inbox.deliver(letter);
        }
    }

    fn away(&self, from: u32, shipment: Shipment) -> Contents {
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
