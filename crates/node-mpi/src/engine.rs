//! The communication thread's work: all peers are visited in turn, and each visit moves a bounded
//! amount (TritonSort, sections 3.3 and 4.1: one sender and one receiver that never block beat a
//! thread for each peer).
//!
//! ```text
//!   a turn    commands of tasks -> batches and shipments of each peer
//!             what the wire has done
//!             each peer: batches that came -> mailboxes        (peer.rs)
//!                        a few batches and pieces of bulk leave (peer.rs, bulk.rs)
//! ```
//!
//! Nothing is sent that its receiver does not expect. A batch costs a *credit*: a receive that the
//! peer has posted for it. Bulk goes when the receiver has lent a buffer and posted receives into
//! it (a rendezvous), so it is copied neither by MPI nor here, and never waits in MPI's memory.
//!
//! The engine never blocks and reads no clock.

mod bulk;
mod peer;
#[cfg(test)]
mod tests;

use std::sync::{Arc, mpsc};
use std::time::Instant;

use node::Buffer;
use node::backend::Inboxes;

use crate::engine::peer::Peer;
use crate::frame::{BATCH_BYTES, Batch, Frame};
use crate::hearing::Hearing;
use crate::outbox::{Command, Outbox};
use crate::wire::{AllToAll, Completed, Hold, NetworkError, Request, Tag, Wire, Wired};

/// The stream of batches between two ranks.
const BATCHES: Tag = 1;

/// The stream of bulk between two ranks. One is enough: the receiver posts receives in the order in
/// which it clears shipments, and the sender sends in that order.
const BULK: Tag = 2;

/// Memory for batches is used again; what a burst needed beyond this is given back.
const MOST_SPARE: usize = 64;

/// What became of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    /// Something moved.
    Busy,
    /// Nothing did; whether bulk is under way, or a batch waits for company.
    Idle { is_waiting: bool },
    /// All has been said and heard.
    Over,
    /// A task wants this thread to stop.
    Quit,
    /// A task wants all processes to stop.
    Abort(i32),
    /// A peer does not keep to the protocol; it is heard no more.
    Foreign(NetworkError),
}

/// What a request is for.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// A batch leaves; its memory.
    BatchOut(Hold),
    /// A batch comes from that peer; its number among those.
    BatchIn(u32, u64),
    /// A piece of that shipment to a peer leaves.
    PieceOut(u32, u32),
    /// A piece of that shipment from a peer comes; its length.
    PieceIn(u32, u32, usize),
}

/// The state of all peers.
pub(crate) struct Engine<W> {
    line: Line<W>,
    outbox: Arc<Outbox>,
    hearing: Arc<Hearing>,
    peers: Vec<Peer>,
    /// Who is visited first.
    first: usize,
    is_ending: bool,
    /// To be carried when nothing else is on its way from here.
    all_to_all: Option<(AllToAll, mpsc::Sender<AllToAll>)>,
    commands: Vec<Command>,
    completed: Vec<Completed>,
}

/// The wire with the purposes of its requests, and memory for batches.
struct Line<W> {
    wire: W,
    purposes: Vec<Option<Purpose>>,
    spare: Vec<Buffer>,
}

impl<W: Wire> Line<W> {
    fn note(&mut self, request: Request, purpose: Purpose) {
        if request.0 >= self.purposes.len() {
            self.purposes.resize(request.0 + 1, None);
        }
        self.purposes[request.0] = Some(purpose);
    }

    fn batch(&mut self) -> Batch {
        Batch::new(self.spare.pop().unwrap_or_else(Batch::room))
    }

    fn expect_batch(&mut self, hold: Hold, from: u32, number: u64) -> Wired {
        let request = self.wire.receive(hold, 0..BATCH_BYTES, from, BATCHES)?;
        self.note(request, Purpose::BatchIn(from, number));
        Ok(())
    }

    fn send_batch(&mut self, batch: Buffer, to: u32) -> Wired {
        let bytes = batch.len();
        let hold = self.wire.hold(batch);
        let request = self.wire.send(hold, 0..bytes, to, BATCHES)?;
        self.note(request, Purpose::BatchOut(hold));
        Ok(())
    }
}

impl<W: Wire> Engine<W> {
    /// An engine over a wire, which expects batches from every peer. Nobody may send before all are
    /// so far ([`Engine::meet`]).
    pub(crate) fn new(wire: W, outbox: Arc<Outbox>) -> Wired<Engine<W>> {
        let (rank, size) = (wire.rank(), wire.size());
        let hearing = Arc::new(Hearing::new(size));
        hearing.done(rank);
        let mut line = Line {
            wire,
            purposes: Vec::new(),
            spare: Vec::new(),
        };
        let mut peers = Vec::new();
        for number in 0..size {
            peers.push(Peer::new(number));
            if number != rank {
                peers[number as usize].expect_batches(&mut line)?;
            }
        }
        Ok(Engine {
            line,
            outbox,
            hearing,
            peers,
            first: 0,
            is_ending: false,
            all_to_all: None,
            commands: Vec::new(),
            completed: Vec::new(),
        })
    }

    /// When each peer was heard.
    pub(crate) fn hearing(&self) -> Arc<Hearing> {
        Arc::clone(&self.hearing)
    }

    /// Waits for all processes.
    pub(crate) fn meet(&mut self) -> Wired {
        self.line.wire.barrier()
    }

    /// Leaves in good order, after [`Turn::Over`].
    pub(crate) fn end(&mut self) -> Wired {
        self.line.wire.barrier()?;
        self.line.wire.end()
    }

    /// Ends all processes.
    pub(crate) fn abort(&mut self, code: i32) {
        self.line.wire.abort(code);
    }

    /// Does what can be done now.
    pub(crate) fn turn(&mut self, now: Instant) -> Wired<Turn> {
        self.hearing.turn(now);
        let mut is_busy = false;
        if let Some(turn) = self.obey(now, &mut is_busy)? {
            return Ok(turn);
        }
        is_busy |= self.take_completed()?;
        let inboxes = self.outbox.inboxes();
        let count = self.peers.len();
        self.first = (self.first + 1) % count;
        for step in 0..count {
            let number = (self.first + step) % count;
            if number == self.line.wire.rank() as usize {
                continue;
            }
            match self.visit(number, inboxes.as_deref(), now) {
                Ok(moved) => is_busy |= moved,
                Err(error) if error.is_foreign => {
                    self.peers[number].ignore();
                    return Ok(Turn::Foreign(error));
                }
                Err(error) => return Err(error),
            }
        }
        is_busy |= self.carry_strings()?;
        if is_busy {
            return Ok(Turn::Busy);
        }
        let own = self.line.wire.rank();
        let others = || self.peers.iter().filter(|peer| peer.rank != own);
        if self.is_ending && others().all(Peer::is_over) && self.is_all_sent() {
            return Ok(Turn::Over);
        }
        let is_waiting = self.all_to_all.is_some() || others().any(Peer::is_waiting);
        Ok(Turn::Idle { is_waiting })
    }

    /// Carries a string from each process to each, when all that was posted before has left: a peer
    /// that still waits for it could never come.
    fn carry_strings(&mut self) -> Wired<bool> {
        let is_through = self.is_all_sent() && self.peers.iter().all(Peer::is_through);
        let Some((mut strings, done)) = self.all_to_all.take_if(|_| is_through) else {
            return Ok(false);
        };
        self.line.wire.all_to_all(&mut strings)?;
        // Whoever asked for it waits.
        let _ = done.send(strings);
        Ok(true)
    }

    /// Takes over what a peer has sent, and sends it what may go: whether anything moved.
    fn visit(&mut self, number: usize, inboxes: Option<&dyn Inboxes>, now: Instant) -> Wired<bool> {
        let peer = &mut self.peers[number];
        let mut moved = false;
        if inboxes.is_some() || self.is_ending {
            moved |= peer.take_in(&mut self.line, inboxes, &self.outbox)?;
        }
        if peer.has_parted() {
            self.hearing.done(peer.rank);
        }
        if self.is_ending {
            peer.say_goodbye(&mut self.line, now);
        }
        let (messages, left) = peer.send_batches(&mut self.line, now)?;
        if messages > 0 {
            self.outbox.left(messages);
        }
        Ok(moved | left | peer.bulk.send_pieces(peer.rank, &mut self.line)?)
    }

    fn is_all_sent(&self) -> bool {
        !self
            .line
            .purposes
            .iter()
            .any(|purpose| matches!(purpose, Some(Purpose::BatchOut(_))))
    }

    /// Commands become batches and shipments.
    fn obey(&mut self, now: Instant, is_busy: &mut bool) -> Wired<Option<Turn>> {
        let mut commands = std::mem::take(&mut self.commands);
        self.outbox.take(&mut commands);
        *is_busy |= !commands.is_empty();
        let mut stop = None;
        for command in commands.drain(..) {
            match command {
                Command::Message { to, words } => {
                    let frame = Frame::Message {
                        port: to.port,
                        words,
                    };
                    self.peers[to.rank.0 as usize].write(&frame, &mut self.line, now);
                }
                Command::Ship { to, buffer, done } => {
                    let peer = &mut self.peers[to.rank.0 as usize];
                    let frame = peer.bulk.announce(to.port, buffer, done);
                    peer.write(&frame, &mut self.line, now);
                }
                Command::Fetch {
                    from,
                    shipment,
                    buffer,
                    done,
                } => {
                    let peer = &mut self.peers[from as usize];
                    let frame = peer
                        .bulk
                        .fetch(from, shipment, (buffer, done), &mut self.line)?;
                    peer.write(&frame, &mut self.line, now);
                }
                Command::AllToAll { strings, done } => self.all_to_all = Some((strings, done)),
                Command::End => self.is_ending = true,
                Command::Quit => stop = Some(Turn::Quit),
                Command::Abort(code) => stop = Some(Turn::Abort(code)),
            }
        }
        self.commands = commands;
        Ok(stop)
    }

    fn take_completed(&mut self) -> Wired<bool> {
        let mut completed = std::mem::take(&mut self.completed);
        self.line.wire.completed(&mut completed)?;
        let is_busy = !completed.is_empty();
        for Completed { request, bytes } in completed.drain(..) {
            let purpose = self.line.purposes[request.0].take().expect("it was begun");
            match purpose {
                Purpose::BatchOut(hold) => {
                    let buffer = self.line.wire.release(hold);
                    if self.line.spare.len() < MOST_SPARE {
                        self.line.spare.push(buffer);
                    }
                }
                Purpose::BatchIn(from, number) => {
                    self.hearing.heard(from);
                    self.peers[from as usize].came(number, bytes);
                }
                Purpose::PieceOut(to, number) => {
                    self.peers[to as usize]
                        .bulk
                        .piece_left(number, &mut self.line);
                }
                Purpose::PieceIn(from, number, expected) => {
                    self.hearing.heard(from);
                    let peer = &mut self.peers[from as usize];
                    match bytes == expected {
                        true => peer.bulk.piece_came(number, &mut self.line),
                        false => peer.wrong_piece(bytes, expected),
                    }
                }
            }
        }
        self.completed = completed;
        Ok(is_busy)
    }
}
