//! The work of the communication thread: it visits all peers in turn, and each visit moves a
//! bounded amount (TritonSort, sections 3.3 and 4.1: one sender and one receiver that never block
//! beat a thread per peer).
//!
//! ```text
//!   a turn    commands of tasks -> batches and shipments for each peer
//!             completed requests of the wire
//!             each peer: received batches -> mailboxes          (peer.rs)
//!                        a few batches and pieces of bulk leave (peer.rs, bulk.rs)
//! ```
//!
//! Every message has a posted receive. A batch costs a *credit*, which stands for a receive that
//! the peer has posted. Bulk leaves when the receiver has lent a buffer and posted receives into it
//! (a rendezvous), so neither MPI nor the engine copies it, and it never waits in MPI's memory.
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
use crate::last_heard::LastHeard;
use crate::outbox::{Command, Outbox};
use crate::wire::{AllToAll, Completed, Hold, NetworkError, Request, Tag, Wire, Wired};

/// The stream of batches between two ranks.
const BATCHES: Tag = 1;

/// The stream of bulk between two ranks. One is enough: the receiver posts receives in the order in
/// which it clears shipments, and the sender sends in that order.
const BULK: Tag = 2;

/// Buffers for batches that are kept for later; those of a burst beyond this number are freed.
const MOST_SPARE: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    /// Data moved.
    Busy,
    /// No data moved. `is_waiting`: bulk is under way, or a batch waits for more frames.
    Idle { is_waiting: bool },
    /// This process and its peers have sent and received everything.
    Over,
    /// A task wants this thread to stop.
    Quit,
    /// A task wants all processes to stop.
    Abort(i32),
    /// A peer broke the protocol; from now on it is ignored.
    Foreign(NetworkError),
}

#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// Sends a batch from this memory.
    BatchOut(Hold),
    /// Receives a batch from a peer, by rank and number of the batch.
    BatchIn(u32, u64),
    /// Sends a piece of a shipment, by rank and number of the shipment.
    PieceOut(u32, u32),
    /// Receives a piece of a shipment, by rank, number of the shipment, and expected length.
    PieceIn(u32, u32, usize),
}

/// The state of all peers.
pub(crate) struct Engine<W> {
    line: Line<W>,
    outbox: Arc<Outbox>,
    last_heard: Arc<LastHeard>,
    peers: Vec<Peer>,
    /// The peer that the latest turn visited first.
    first: usize,
    is_ending: bool,
    /// An all-to-all that begins when everything else has left.
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
    fn set_purpose(&mut self, request: Request, purpose: Purpose) {
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
        self.set_purpose(request, Purpose::BatchIn(from, number));
        Ok(())
    }

    fn send_batch(&mut self, batch: Buffer, to: u32) -> Wired {
        let bytes = batch.len();
        let hold = self.wire.hold(batch);
        let request = self.wire.send(hold, 0..bytes, to, BATCHES)?;
        self.set_purpose(request, Purpose::BatchOut(hold));
        Ok(())
    }
}

impl<W: Wire> Engine<W> {
    /// An engine over a wire, with receives for batches of every peer. No process may send before
    /// all processes are here ([`Engine::meet`]).
    pub(crate) fn new(wire: W, outbox: Arc<Outbox>) -> Wired<Engine<W>> {
        let (rank, size) = (wire.rank(), wire.size());
        let last_heard = Arc::new(LastHeard::new(size));
        last_heard.done(rank);
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
            last_heard,
            peers,
            first: 0,
            is_ending: false,
            all_to_all: None,
            commands: Vec::new(),
            completed: Vec::new(),
        })
    }

    pub(crate) fn last_heard(&self) -> Arc<LastHeard> {
        Arc::clone(&self.last_heard)
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

    pub(crate) fn abort(&mut self, code: i32) {
        self.line.wire.abort(code);
    }

    /// Moves as much as is possible without waiting.
    pub(crate) fn turn(&mut self, now: Instant) -> Wired<Turn> {
        self.last_heard.turn(now);
        let mut is_busy = false;
        if let Some(turn) = self.take_commands(now, &mut is_busy)? {
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
        is_busy |= self.start_all_to_all()?;
        Ok(if is_busy { Turn::Busy } else { self.rest() })
    }

    /// The result of a turn that moved no data.
    fn rest(&self) -> Turn {
        let own = self.line.wire.rank();
        let others = || self.peers.iter().filter(|peer| peer.rank != own);
        if self.is_ending && others().all(Peer::is_over) && self.is_all_sent() {
            return Turn::Over;
        }
        let is_waiting = self.all_to_all.is_some() || others().any(Peer::is_waiting);
        Turn::Idle { is_waiting }
    }

    /// Runs a waiting all-to-all when all earlier letters have left: a peer that still waits for
    /// one could never take part.
    fn start_all_to_all(&mut self) -> Wired<bool> {
        let has_left = self.is_all_sent() && self.peers.iter().all(Peer::has_sent_all);
        let Some((mut strings, done)) = self.all_to_all.take_if(|_| has_left) else {
            return Ok(false);
        };
        self.line.wire.all_to_all(&mut strings)?;
        // Fails if the task that asked for it is gone.
        let _ = done.send(strings);
        Ok(true)
    }

    /// Receives from a peer and sends to it; whether any data moved.
    fn visit(&mut self, number: usize, inboxes: Option<&dyn Inboxes>, now: Instant) -> Wired<bool> {
        let peer = &mut self.peers[number];
        let mut moved = false;
        if inboxes.is_some() || self.is_ending {
            moved |= peer.receive_batches(&mut self.line, inboxes, &self.outbox)?;
        }
        if peer.has_said_goodbye() {
            self.last_heard.done(peer.rank);
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
        let is_batch = |purpose: &_| matches!(purpose, Some(Purpose::BatchOut(_)));
        !self.line.purposes.iter().any(is_batch)
    }

    /// Turns commands into batches and shipments. Returns the turn that a task wants to end with.
    fn take_commands(&mut self, now: Instant, is_busy: &mut bool) -> Wired<Option<Turn>> {
        let mut commands = std::mem::take(&mut self.commands);
        self.outbox.take(&mut commands);
        *is_busy |= !commands.is_empty();
        let mut stop = None;
        for command in commands.drain(..) {
            match command {
                Command::Message { to, words } => {
                    let port = to.port;
                    let frame = Frame::Message { port, words };
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
                    let (peer, line) = (&mut self.peers[from as usize], &mut self.line);
                    let frame = peer.bulk.fetch(from, shipment, (buffer, done), line)?;
                    peer.write(&frame, line, now);
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
                    self.last_heard.heard(from);
                    self.peers[from as usize].batch_arrived(number, bytes);
                }
                Purpose::PieceOut(to, number) => {
                    let bulk = &mut self.peers[to as usize].bulk;
                    bulk.piece_left(number, &mut self.line);
                }
                Purpose::PieceIn(from, number, expected) => {
                    self.last_heard.heard(from);
                    let peer = &mut self.peers[from as usize];
                    if bytes == expected {
                        peer.bulk.piece_arrived(number, &mut self.line)
                    } else {
                        peer.wrong_piece_arrived(bytes, expected)
                    }
                }
            }
        }
        self.completed = completed;
        Ok(is_busy)
    }
}
